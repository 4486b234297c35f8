// Orders that meet each other, or the end of a run, on both stores: each is obeyed, and none is lost. The judge is the
// fake web's own log.
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { joinCrawl, startCrawl } from '../../src/crawl/start-crawl.ts';
import type { CrawlEvent } from '../../src/events/events.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store-port.ts';
import { LOOKUP_NOTES } from '../../src/store/unfinished-run.ts';
import { candidate } from '../contracts/store/harness.ts';
import { answer, type Exchange, type FakeWeb } from '../web/fake-web.ts';
import { asked, type CrawlOptions, page, useBench } from './crawl-site.ts';
import { eachStore, type StorePlace } from './each-store.ts';

const bench = useBench();
const stores = eachStore(bench);
const PAGES = 24;
const paths = Array.from({ length: PAGES }, (_, i) => `/${i % 2 === 0 ? 'even' : 'odd'}/p${i}`);
const SLOW: CrawlOptions = {
  perHost: 1,
  concurrency: 1,
  delay: 0,
  adaptiveDelay: false,
  discover: ['links'],
};

/** From `hold` on no page is answered before `open`. */
async function site() {
  let held: (() => void)[] | null = null;
  const respond = (exchange: Exchange) => {
    const give = () => answer(exchange, { body: page(exchange.path) });
    if (held === null) give();
    else held.push(give);
  };
  const web = await bench.web({
    pages: { '/': page('home', ...paths), '/even/*': respond, '/odd/*': respond },
  });
  return {
    web,
    hold() {
      held = [];
    },
    open() {
      for (const give of held ?? []) give();
      held = null;
    },
  };
}
const pagesAsked = (web: FakeWeb) => asked(web).filter((path) => path !== '/robots.txt');
const configOf = (place: StorePlace, options: CrawlOptions = {}) =>
  loadConfig({ env: {}, options: { ...place.options, ...SLOW, ...options } });

const openAt = (place: StorePlace): Promise<Store> =>
  openStore({ address: (place.options.store ?? place.options.db)!, clock: systemClock, onFailure: () => {} });

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Until the store has the order, and then until the loop has long heard of it. */
async function untilStanding(store: Store, { runId }: CrawlHandle, status: string): Promise<void> {
  while ((await store.projects.standing(runId))?.status !== status) await nextTurn();
  for (let round = 0; round < 100; round++) {
    await store.projects.standing(runId);
    await nextTurn();
  }
}

/** A crawl on an opened store, paused after some pages. */
async function pausedCrawl(place: StorePlace, store: Store) {
  const { web, hold, open } = await site();
  const events: CrawlEvent[] = [];
  const handle = await startCrawl({
    config: await configOf(place),
    startUrls: [web.url('/')],
    extensions: { store },
    listeners: [(event) => void events.push(event)],
  });
  await new Promise<void>((resolve) => {
    const pages = handle.subscribe(() => {
      pages.unsubscribe();
      resolve();
    }, ['page']);
  });
  hold();
  const paused = handle.pause();
  await untilStanding(store, handle, 'paused');
  open();
  await paused;
  const before = [...pagesAsked(web)];
  expect(before.length).toBeLessThan(PAGES);
  return { web, hold, open, handle, events, before };
}

describe.each(['SQLite', 'PostgreSQL'] as const)('orders on %s', (name) => {
  async function onStore(work: (place: StorePlace, store: Store) => Promise<void>): Promise<void> {
    const place = await stores[name]();
    const store = await openAt(place);
    try {
      await work(place, store);
    } finally {
      await store.close();
    }
  }

  it('a stop that meets a resume leaves the run', () =>
    onStore(async (place, store) => {
      const { web, hold, open, handle } = await pausedCrawl(place, store);
      hold();
      const resumed = handle.resume();
      handle.stop();
      await resumed;
      open();
      expect((await handle.finished).status).toBe('interrupted');
      expect(pagesAsked(web).length).toBeLessThan(PAGES);
    }));

  it('a cancel that meets a resume ends the run, and begins no other', () =>
    onStore(async (place, store) => {
      const { web, hold, open, handle } = await pausedCrawl(place, store);
      hold();
      const resumed = handle.resume();
      const cancelled = handle.cancel();
      await resumed;
      await untilStanding(store, handle, 'stopped');
      open();
      const summary = await cancelled;
      expect(summary).toMatchObject({ status: 'stopped', run: handle.runId, waiting: 0 });
      expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'stopped' }]);
      expect(pagesAsked(web).length).toBeLessThan(PAGES);
    }));

  it('a pause that meets a resume rests, and the next resume goes on', () =>
    onStore(async (place, store) => {
      const { web, hold, open, handle } = await pausedCrawl(place, store);
      hold();
      const resumed = handle.resume();
      const paused = handle.pause();
      await resumed;
      await untilStanding(store, handle, 'paused');
      open();
      await paused;
      expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'paused' }]);
      expect(pagesAsked(web).length).toBeLessThan(PAGES);
      await handle.resume();
      expect(await handle.finished).toMatchObject({ status: 'completed', pages: PAGES + 1 });
    }));

  it('of two changes of settings at once, neither is lost: the last one rules', () =>
    onStore(async (place, store) => {
      const { web, hold, open, handle, before } = await pausedCrawl(place, store);
      hold();
      const first = handle.adjust(await configOf(place, { exclude: ['/even/'] }));
      const second = handle.adjust(await configOf(place, { exclude: ['/even/', '/odd/'] }));
      let isTaken = false;
      const taken = second.then(() => {
        isTaken = true;
      });
      await first;
      // The second may come before the first has asked for a page.
      while (!isTaken && pagesAsked(web).length === before.length) await nextTurn();
      if (!isTaken) await untilStanding(store, handle, 'paused');
      open();
      await taken;
      expect((await handle.finished).status).toBe('completed');
      const late = pagesAsked(web).filter((path) => !before.includes(path));
      expect(late.length).toBeLessThan(2);
      expect(await place.rows("SELECT count(*) AS n FROM pages WHERE reason = 'exclude: /odd/'")).not.toEqual(
        [{ n: 0 }],
      );
    }));

  it('settings that cannot be taken leave the run paused, with the settings it had', () =>
    onStore(async (place, store) => {
      const { web, handle } = await pausedCrawl(place, store);
      const broken = await configOf(place, { bodies: 'files:/proc/none' });
      await expect(handle.adjust(broken)).rejects.toThrow();
      expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'paused' }]);
      await handle.resume();
      expect(await handle.finished).toMatchObject({ status: 'completed', pages: PAGES + 1 });
      expect(pagesAsked(web).sort()).toEqual(['/', ...paths].sort());
    }));

  it('a paused run that others have ended is over, and is not begun anew under its old number', () =>
    onStore(async (place, store) => {
      const { web, handle } = await pausedCrawl(place, store);
      const other = await startCrawl({
        config: await configOf(place),
        startUrls: [web.url('/')],
        extensions: { store },
      });
      expect(other.runId).toBe(handle.runId);
      await other.finished;
      const asks = web.log.length;
      await handle.resume().catch(() => {});
      handle.stop();
      await handle.finished;
      expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'completed' }]);
      expect(web.log.length).toBe(asks);
    }));

  it('a subscriber whose promise is rejected ends nothing', () =>
    onStore(async (place, store) => {
      const { handle, events } = await pausedCrawl(place, store);
      const broken = handle.subscribe(async () => {
        throw new Error('no room');
      });
      await handle.resume();
      expect((await handle.finished).status).toBe('completed');
      expect(broken.failure).toMatchObject({ code: 'subscriber-failed' });
      expect(events.filter(({ type }) => type === 'fault')).toHaveLength(1);
    }));

  it('a run that cannot be wired gives its session back', () =>
    onStore(async (place, store) => {
      const config = await configOf(place);
      const session = await store.begin({
        ...{ project: 'one', owner: 'one', configHash: 'x', config: '{}', fresh: false, metadata: null },
        now: store.clock.now(),
      });
      const { runId } = session.start;
      await session.run.knowsNoMore();
      await session.frontier.offer([]);
      await session.leave();
      const configOfRun = async () => {
        throw new Error('no such file');
      };
      const joined = joinCrawl({ runId, worker: config, configOf: configOfRun, extensions: { store } });
      await expect(joined).rejects.toThrow('no such file');
      expect((await store.projects.standing(runId))!.workers).toBe(0);
    }));

  it('an order to a run that cannot be is refused, and the store stays open for others', () =>
    onStore(async (_, store) => {
      const unknown = store.projects.steer(1e12, 'pause', Date.now());
      await expect(unknown).rejects.toMatchObject({ code: 'unknown-run' });
      expect(await store.projects.standing(1e12)).toBeNull();
      // PostgreSQL takes no NUL in a text: that question fails, or finds nothing.
      const odd = await store.projects.settings('a\0b').catch((error) => error.code);
      expect([null, 'store-failed']).toContain(odd);
      expect(await store.projects.standing(1)).toBeNull();
    }));

  it('a run that is stopped keeps its project until its last page is settled', () =>
    onStore(async (place, store) => {
      const { web, hold, open, handle, before } = await pausedCrawl(place, store);
      hold();
      await handle.resume();
      while (pagesAsked(web).length === before.length) await nextTurn();
      const cancelled = handle.cancel();
      await untilStanding(store, handle, 'stopped');
      const again = async () =>
        startCrawl({ config: await configOf(place), startUrls: [web.url('/')], extensions: { store } });
      await expect(again()).rejects.toMatchObject({ httpStatus: 409 });
      open();
      expect((await cancelled).status).toBe('stopped');
      const next = await again();
      expect(await next.finished).toMatchObject({ status: 'completed', pages: PAGES + 1 });
      expect(next.runId).not.toBe(handle.runId);
    }));

  it('an earlier run of the project is stopped without touching the pages of the one under way', () =>
    onStore(async (_, store) => {
      const request = { project: 'one', owner: 'one', configHash: 'x', config: '{}', fresh: false };
      const now = store.clock.now();
      const lookup = await store.begin({ ...request, metadata: LOOKUP_NOTES, now });
      await lookup.leave();
      const crawl = await store.begin({ ...request, metadata: null, now });
      expect(crawl.start.runId).not.toBe(lookup.start.runId);
      await crawl.frontier.offer([candidate('https://one.test/a')]);
      const standing = await store.projects.steer(lookup.start.runId, 'stop', now);
      expect(standing).toEqual({ status: 'stopped', workers: 0 });
      expect((await crawl.run.counts()).byState).toEqual({ Queued: 1 });
      const [lease] = await crawl.frontier.lease(1, now, 60_000);
      expect((await crawl.frontier.claim(lease, 1, now)).claims).toHaveLength(1);
    }));
});
