// What a crawl found, read from a program: pages, why a URL was not fetched, and whether the crawl was polite.
// Run it: npx tsx examples/11-read-and-explain.ts https://example.com/
import { audit, crawl, openReading, why, writePages } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';
const run = await crawl({ startUrls: [start], db: 'explained.db', maxPages: 10 });
await run.finished;

// A reading is the database, open for questions. It can be opened at any time, also during a crawl.
const reading = await openReading('explained.db');
const { violations, requests } = await audit(reading, run.runId);
console.log(`${requests} requests, ${violations} violations`);

for await (const page of reading.side.pages({ states: ['Skipped'], limit: 1 })) {
  // Any spelling of a URL will do. There is one explanation for each project that knows it.
  const [explained] = await why(reading, page.url);
  console.log(`${explained.state}: ${explained.reason}, found on ${explained.referrers.at(-1)}`);
}

// Lists go to any stream: a file, the answer of a server, standard output.
await writePages(reading.side.pages({ states: ['Processed'], limit: 1 }), 'jsonl', process.stdout);
await reading.close();
