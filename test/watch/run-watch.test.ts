/** The life of a watch, on a clock that is told to go on. */
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { sumiError } from '../../src/errors.ts';
import { openStore } from '../../src/store/open-store.ts';
import { runWatch, type WatchLife } from '../../src/watch/run-watch.ts';
import type { TickEvent } from '../../src/watch/watch-event.ts';
import type { Watch } from '../../src/watch/watch-project.ts';
import { settingsOf } from '../../src/watch/watch-settings.ts';
import { type CrawlOptions, page } from '../crawls/crawl-site.ts';
import { FakeClock } from '../fake-clock.ts';
import { answer, type Exchange, type FakeWebOptions } from '../web/fake-web.ts';
import { DAY_MS, HOUR_MS, useWatches, type WatchBench } from './watch-bench.ts';

const bench = useWatches();

const SITE: FakeWebOptions['pages'] = { '/': page('home', '/a'), '/a': page('A') };

interface Wanted {
  pages?: FakeWebOptions['pages'];
  flags?: CrawlOptions;
  /** Before it begins. */
  first?: (started: WatchBench) => Promise<unknown>;
}

/** Begins a watch, and hears when it waits. */
async function live(options: Partial<WatchLife> = {}, { pages = SITE, flags = {}, first }: Wanted = {}) {
  const common = { every: 3600, budget: '48/day', ...flags };
  const started = await bench({ pages }, common);
  await first?.(started);
  const settings = settingsOf(await loadConfig({ env: {}, options: common }));
  const abort = new AbortController();
  const missed: string[] = [];
  const waits: number[] = [];
  let onWait: (() => void) | null = null;
  const end = runWatch({
    watch: await started.open(),
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

it('ticks every so often until it is told to stop, and then lets another one in at once', async () => {
  const { waited, clock, abort, end, ticks, open, asked } = await live({}, { flags: { budget: '96/day' } });
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

it('ends after one tick when that is all it is for', async () => {
  const { end, ticks } = await live({ isOnce: true });
  expect(await end).toBe('done');
  expect(ticks().length).toBe(1);
});

it('visits nothing where it is told to stop before its run has begun, and goes on with that the next time', async () => {
  const { abort, end, asked, open } = await live({ isOnce: true });
  abort.abort();
  expect(await end).toBe('interrupted');
  expect(asked()).toEqual([]);
  const next = await open();
  expect(await next.prepare()).toMatchObject({ run: 1, status: 'completed', pages: 2 });
  await next.close();
});

it('visits nothing of a tick where it is told to stop while pages are chosen', async () => {
  const { crawl, clock, asked, open } = await bench({ pages: SITE }, { budget: '48/day' });
  await crawl();
  clock.advance(DAY_MS);
  asked();
  const watch = await open();
  const ticked = watch.tick();
  watch.stop();
  expect(await ticked).toMatchObject({ run: 2, status: 'interrupted', due: 2 });
  expect(asked()).toEqual([]);
  await watch.close();
  const next = await open();
  expect(await next.tick()).toMatchObject({ run: 2, status: 'completed', unchanged: 2 });
  await next.close();
});

it('says after its only tick that nobody answered', async () => {
  let isDown = false;
  const home = (exchange: Exchange) => {
    if (isDown) exchange.response.socket!.resetAndDestroy();
    else answer(exchange, { body: page('home') });
  };
  const first = async ({ crawl }: WatchBench) => {
    await crawl();
    isDown = true;
  };
  const { end, ticks } = await live({ isOnce: true }, { pages: { '/': home }, flags: { retries: 0 }, first });
  expect(await end).toBe('failed');
  expect(ticks()).toMatchObject([{ status: 'failed', due: 1, failed: 1 }]);
});

it('misses a tick while somebody else has the store, and goes on after that', async () => {
  const { waited, clock, path, missed, ticks, abort, end } = await live();
  await waited(1);
  const other = await openStore({ address: path, clock, onFailure: () => {} });
  clock.advance(HOUR_MS);
  await waited(2);
  expect(missed).toEqual(['db-open-here']);
  expect(ticks().length).toBe(1);
  await other.close();
  clock.advance(HOUR_MS);
  await waited(3);
  expect(ticks().at(-1)).toMatchObject({ status: 'completed', due: 2 });
  abort.abort();
  expect(await end).toBe('stopped');
});

it('ends as it would have though somebody else has the store', async () => {
  const { waited, clock, path, missed, abort, end, open } = await live();
  await waited(1);
  const other = await openStore({ address: path, clock, onFailure: () => {} });
  abort.abort();
  expect(await end).toBe('stopped');
  expect(missed).toEqual(['db-open-here']);
  await other.close();
  clock.advance(DAY_MS);
  const next = await open();
  expect(await next.prepare()).toBeNull();
  await next.close();
});

it('misses ticks while the database is away, but ends where it never was there', async () => {
  const away = sumiError('store-unreachable', { store: 'postgres://db', reason: 'connect ECONNREFUSED' });
  const outcomes = [null, away, away, null];
  const watch: Watch = {
    ...{ isPrepared: true, refused: [], handle: null, unanswered: null },
    prepare: async () => null,
    stop: () => {},
    async tick() {
      const error = outcomes.shift();
      if (error) throw error;
      return { status: 'completed' } as TickEvent;
    },
    close: async () => {},
  };
  const clock = new FakeClock(0);
  const settings = settingsOf(await loadConfig({ env: {}, options: { every: 3600 } }));
  const abort = new AbortController();
  const heard: string[] = [];
  const life: WatchLife = {
    ...{ watch, settings, clock, isOnce: false, signal: abort.signal },
    onPrepared: () => {},
    onMissed: ({ code }) => void heard.push(code),
    onWait(until) {
      heard.push('waits');
      if (outcomes.length === 0) abort.abort();
      else queueMicrotask(() => clock.advance(until - clock.now()));
    },
  };
  expect(await runWatch(life)).toBe('stopped');
  expect(heard).toEqual(['waits', away.code, 'waits', away.code, 'waits', 'waits']);
  outcomes.push(away);
  await expect(
    runWatch({
      ...life,
      watch: { ...watch, prepare: watch.tick as never },
      signal: new AbortController().signal,
    }),
  ).rejects.toBe(away);
});

it('sleeps through the hours in which it may not visit', async () => {
  // Midnight is outside of them.
  const { waited, waits, clock, abort, end, asked, ticks } = await live({}, { flags: { hours: '5-7' } });
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

describe('at the end of its hours', () => {
  const flags = { hours: '0-6', budget: '5000/day', concurrency: 1, perHost: 1 };
  const paths = ['/', ...Array.from({ length: 12 }, (_, n) => `/p${n}`)];

  /** A second before six, and six o'clock while the fourth page is asked for. */
  function closingSite() {
    const state = { left: Number.POSITIVE_INFINITY, strikes: () => {} };
    const serve = (exchange: Exchange) => {
      if (--state.left === 0) state.strikes();
      answer(exchange, { body: page(exchange.path, ...(exchange.path === '/' ? paths : [])) });
    };
    const closeSoon = ({ clock }: WatchBench, from: number) => {
      clock.advance(from - 1000);
      state.left = 4;
      state.strikes = () => clock.advance(1000);
    };
    return { pages: { '/': serve, '/p*': serve }, closeSoon };
  }

  it('ends the first crawl with what is under way, and goes on in the next ones', async () => {
    const { pages, closeSoon } = closingSite();
    const first = async (started: WatchBench) => closeSoon(started, 6 * HOUR_MS);
    const { waited, waits, clock, abort, end, asked, ticks, read } = await live({}, { pages, flags, first });
    await waited(1);
    const before = asked();
    expect(before.length).toBe(4);
    expect(ticks().map(({ skipped }) => skipped)).toEqual(['hours']);
    expect(waits[0] - clock.now()).toBe(18 * HOUR_MS);
    clock.advance(18 * HOUR_MS);
    await waited(2);
    expect([...before, ...asked()].sort()).toEqual([...paths].sort());
    expect(await read((side) => side.lastRun(1))).toMatchObject({ run: 1, status: 'completed' });
    abort.abort();
    await end;
  });

  it('ends a tick with what is under way, and goes on with it in the next ones: each has its tick', async () => {
    const { pages, closeSoon } = closingSite();
    const first = async (started: WatchBench) => {
      await started.crawl();
      started.asked();
      closeSoon(started, DAY_MS + 6 * HOUR_MS);
    };
    const { waited, clock, abort, end, asked, ticks } = await live({}, { pages, flags, first });
    await waited(1);
    const before = asked();
    expect(before.length).toBe(4);
    clock.advance(18 * HOUR_MS);
    await waited(2);
    expect([...before, ...asked()].sort()).toEqual([...paths].sort());
    expect(ticks()).toMatchObject([
      { run: 2, status: 'interrupted', due: 13, unchanged: 4 },
      { run: 2, status: 'completed', unchanged: 13 },
    ]);
    abort.abort();
    await end;
  });
});
