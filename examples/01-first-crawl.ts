// A first crawl from a program: start it, follow it, then read what it found.
// Run it: npx tsx examples/01-first-crawl.ts https://example.com/
import { crawl, openResults } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

// Options have the names of docs/options.md in camelCase. The crawler is polite by default: it obeys robots.txt and
// sends a host at most two requests per second. So a limit of pages keeps a first try short.
const run = await crawl({ startUrls: [start], db: 'first-crawl.db', maxPages: 20 });

// Ctrl-C stops the run and loses nothing: the same crawl, started again, continues it.
process.once('SIGINT', () => run.stop());

for await (const event of run.events) {
  if (event.type === 'page') console.log(`${event.status_code ?? '---'} ${event.url}`);
}
const { status, pages } = await run.finished;
console.log(`${status}: ${pages} pages`);

// The result is the database. Programs can read it at any time, also during a crawl.
const results = await openResults('first-crawl.db');
for await (const { title, depth } of results.pages({ states: ['Processed'], limit: 3 })) {
  console.log(`depth ${depth}: ${title}`);
}
await results.close();
