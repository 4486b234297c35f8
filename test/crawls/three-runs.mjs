// A process with several runs open on one store, to be killed: the built library, as a program of its own uses it.
import { crawl, openStore } from 'sumi-ripple';

const { address, crawls } = JSON.parse(process.argv[2]);
const store = await openStore(address, (error) => {
  throw error;
});
const runs = await Promise.all(crawls.map((request) => crawl({ ...request, env: {}, store })));
await Promise.all(runs.map(({ finished }) => finished));
await store.close();
