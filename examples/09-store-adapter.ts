// A store is opened once, and runs are sessions on it. Its methods are in ports by role (frontier, run, hosts, sitemaps,
// history, projects); the files src/store/*-port.ts say what each guarantees. An adapter has the same methods.
// The smallest useful adapter wraps the built-in store: this one measures how the store spends its time.
// Run it: npx tsx examples/09-store-adapter.ts https://example.com/
import { crawl, openStore, type Store } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';
const PORTS = new Set(['frontier', 'run', 'hosts', 'sitemaps', 'history', 'projects']);
const spent = new Map<string, { calls: number; ms: number }>();

function measuredVerb(name: string, call: (...args: unknown[]) => unknown) {
  const entry = { calls: 0, ms: 0 };
  spent.set(name, entry);
  return (...args: unknown[]) => {
    const startedAt = performance.now();
    // The built-in store does its work before it returns the promise, so this measures it.
    const answer = call(...args);
    entry.calls++;
    entry.ms += performance.now() - startedAt;
    return answer;
  };
}

/** The same object with every method measured, those of its ports included. */
function measured<Part extends object>(part: Part): Part {
  const verbs = Object.entries(part).map(([name, value]) => {
    if (typeof value === 'function') return [name, measuredVerb(name, value)];
    return [name, PORTS.has(name) ? measured(value) : value];
  });
  return Object.fromEntries(verbs) as Part;
}

const stopping = new AbortController();
const inner = await openStore('measured.db', (error) => stopping.abort(error));
const store: Store = { ...inner, begin: async (request) => measured(await inner.begin(request)) };
const run = await crawl({ startUrls: [start], maxPages: 20, store, signal: stopping.signal });
const { pages } = await run.finished;
// The program opened the store and closes it. More runs could use it, also at the same time.
await store.close();
for (const [name, { calls, ms }] of spent) {
  if (calls > 0) console.log(`${name}: ${calls} calls, ${ms.toFixed(1)} ms`);
}
console.log(`${pages} pages`);
