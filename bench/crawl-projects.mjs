// Several crawls on one opened file, as a program would start them: the built library. Tells how long they took, from
// the first begin to the last end, and what CPU that cost.
import { crawl, openStore } from 'sumi-ripple';

const { db, crawls } = JSON.parse(process.argv[2]);
const store = await openStore(db, (error) => {
  throw error;
});
const before = process.cpuUsage();
const began = performance.now();
const runs = await Promise.all(crawls.map((request) => crawl({ ...request, env: {}, store })));
const summaries = await Promise.all(runs.map(({ finished }) => finished));
const wallMs = performance.now() - began;
const { user, system } = process.cpuUsage(before);
await store.close();
const pages = summaries.reduce((sum, summary) => sum + summary.pages, 0);
console.log(JSON.stringify({ pages, wallMs, cpuMs: (user + system) / 1000 }));
