// A first crawl from a program: start it, watch it, then ask what it found.
// Run it: npx tsx examples/01-first-crawl.ts https://example.com/
import { crawl, openResults } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

// Options have the names of docs/options.md in camelCase. Politeness is the default: robots.txt is obeyed and a host
// is asked twice a second at most, so a limit of pages keeps a first try short.
const run = await crawl({ startUrls: [start], db: 'first-crawl.db', maxPages: 20 });

// Ctrl-C ends the run so that nothing is lost: start the same crawl again and it goes on.
process.once('SIGINT', () => run.stop());

for await (const event of run.events) {
  if (event.type === 'page') console.log(`${event.status_code ?? '---'} ${event.url}`);
}
const { status, pages } = await run.finished;
console.log(`${status}: ${pages} pages`);

// The database is the result. It can be read at any time, also while a crawl is writing.
const results = await openResults('first-crawl.db');
for await (const { title, depth } of results.pages({ states: ['Processed'], limit: 3 })) {
  console.log(`depth ${depth}: ${title}`);
}
await results.close();
