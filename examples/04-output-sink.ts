// An output sink gets pages and links while the crawl finds them, to write them somewhere else: here JSON lines.
// Run it: npx tsx examples/04-output-sink.ts https://example.com/
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { crawl, type OutputSink } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

function jsonLines(path: string): OutputSink {
  const file = createWriteStream(path);
  const write = (line: object) => void file.write(`${JSON.stringify(line)}\n`);
  // Every method is optional. It takes time to list the links, so the crawl does this only if recordLink exists.
  return {
    recordPage: (page) => write({ kind: 'page', ...page }),
    recordLink: (from, to) => write({ kind: 'link', from, to }),
    recordError: (url, error) => write({ kind: 'error', url, ...error }),
    // The crawl waits for this: when `finished` resolves, the file is complete.
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
