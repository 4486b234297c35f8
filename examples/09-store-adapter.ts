// A store adapter is an object with the methods of the type `Store`; src/store/port.ts says what each guarantees.
// The smallest useful adapter wraps the built-in store: this one measures how the store spends its time.
// Run it: npx tsx examples/09-store-adapter.ts https://example.com/
import { crawl, openStore, type Store } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

function measured(store: Store): { store: Store; print: () => void } {
  const spent = new Map<string, { calls: number; ms: number }>();
  const verbs = Object.entries(store).map(([name, call]) => {
    // Its clock is not a method.
    if (typeof call !== 'function') return [name, call];
    const entry = { calls: 0, ms: 0 };
    spent.set(name, entry);
    const timed = (...args: unknown[]) => {
      const startedAt = performance.now();
      // The built-in store does its work before it returns the promise, so this measures it.
      const answer = call(...args);
      entry.calls++;
      entry.ms += performance.now() - startedAt;
      return answer;
    };
    return [name, timed];
  });
  return {
    store: Object.fromEntries(verbs) as Store,
    print() {
      for (const [name, { calls, ms }] of spent) {
        if (calls > 0) console.log(`${name}: ${calls} calls, ${ms.toFixed(1)} ms`);
      }
    },
  };
}

const stopping = new AbortController();
const inner = await openStore('measured.db', (error) => stopping.abort(error));
const { store, print } = measured(inner);
// The crawl closes the store at its end, whoever opened it.
const run = await crawl({ startUrls: [start], maxPages: 20, store, signal: stopping.signal });
const { pages } = await run.finished;
print();
console.log(`${pages} pages`);
