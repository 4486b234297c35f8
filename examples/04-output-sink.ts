// An output sink gets the map as it grows, to put it somewhere else: here a file of JSON lines.
// Run it: npx tsx examples/04-output-sink.ts https://example.com/
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { crawl, type OutputSink } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

function jsonLines(path: string): OutputSink {
  const file = createWriteStream(path);
  const write = (line: object) => void file.write(`${JSON.stringify(line)}\n`);
  // Every verb is optional. Links cost time to spell out, so they are only made when recordLink is there.
  return {
    recordPage: (page) => write({ kind: 'page', ...page }),
    recordLink: (from, to) => write({ kind: 'link', from, to }),
    recordError: (url, error) => write({ kind: 'error', url, ...error }),
    // Awaited by the crawl: when `finished` resolves, the file is whole.
    async finalize(status) {
      write({ kind: 'end', status });
      file.end();
      await once(file, 'finish');
    },
  };
}

const run = await crawl({
  startUrls: [start],
  db: 'sink.db',
  maxPages: 20,
  sinks: [jsonLines('map.jsonl')],
});
const { pages } = await run.finished;
console.log(`${pages} pages written to map.jsonl`);
