/** The life of a watch, on a clock that is told to go on. */
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { openStore } from '../../src/store/open-store.ts';
import { runWatch, type WatchLife } from '../../src/watch/run-watch.ts';
import { settingsOf } from '../../src/watch/watch-settings.ts';
import { page } from '../crawls/crawl-site.ts';
import { HOUR_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

/** Begins a watch, and hears when it waits. */
async function live(options: Partial<WatchLife> = {}, flags: { hours?: string } = {}) {
  const started = await bench({ pages: { '/': page('home', '/a'), '/a': page('A') } }, { budget: '48/day' });
  const settings = settingsOf(
    await loadConfig({ env: {}, options: { every: 3600, budget: '48/day', ...flags } }),
  );
  const abort = new AbortController();
  const missed: string[] = [];
  const waits: number[] = [];
  let onWait: (() => void) | null = null;
  const end = runWatch({
    watch: await started.open({ every: 3600, ...flags }),
    settings,
    clock: started.clock,
    isOnce: false,
    signal: abort.signal,
    onPrepared: () => {},
    onMissed: ({ code }) => void missed.push(code),
    onWait(until) {
      waits.push(until);
      onWait?.();
    },
    ...options,
  });
  return {
    ...started,
    ...{ end, abort, missed, waits },
    /** Resolves when it has waited so often. */
    waited: (times: number) =>
      new Promise<void>((resolve) => {
        onWait = () => waits.length >= times && resolve();
        onWait();
      }),
  };
}

it('looks every so often until it is told to stop, and then lets another one in at once', async () => {
  const { waited, clock, abort, end, ticks, open, asked } = await live();
  await waited(1);
  asked();
  for (let hour = 2; hour <= 4; hour++) {
    clock.advance(HOUR_MS);
    await waited(hour);
  }
  expect(ticks().map(({ skipped }) => skipped)).toEqual(['nothing due', null, null, null]);
  expect(asked().length).toBe(6);
  abort.abort();
  expect(await end).toBe('stopped');
  expect(await (await open()).prepare()).toBeNull();
});

it('ends after one look when that is all it is for', async () => {
  const { end, ticks } = await live({ isOnce: true });
  expect(await end).toBe('done');
  expect(ticks().length).toBe(1);
});

it('misses a look while somebody else has the store, and goes on after that', async () => {
  const { waited, clock, path, missed, ticks, abort, end } = await live();
  await waited(1);
  const other = await openStore({ address: path, clock, onFailure: () => {} });
  clock.advance(HOUR_MS);
  await waited(2);
  expect(missed).toEqual(['db-locked']);
  expect(ticks().length).toBe(1);
  await other.close();
  clock.advance(HOUR_MS);
  await waited(3);
  expect(ticks().at(-1)).toMatchObject({ status: 'completed', due: 2 });
  abort.abort();
  expect(await end).toBe('stopped');
});

it('sleeps through the hours in which it may not visit', async () => {
  // Midnight is outside of them.
  const { waited, waits, clock, abort, end, asked, ticks } = await live({}, { hours: '5-7' });
  await waited(1);
  // Not even the first crawl is made.
  expect(asked()).toEqual([]);
  expect(waits[0] - clock.now()).toBe(5 * HOUR_MS);
  clock.advance(5.5 * HOUR_MS);
  await waited(2);
  expect(ticks().map(({ skipped }) => skipped)).toEqual(['hours', 'nothing due']);
  expect(asked().length).toBe(2);
  abort.abort();
  await end;
});
