// Orders to a run under way, on both stores: pause, resume, stop, other settings. The judge is the fake web's own log.
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { createSlots } from '../../src/crawl/run/slots.ts';
import { joinCrawl, startCrawl } from '../../src/crawl/start-crawl.ts';
import type { CrawlEvent } from '../../src/events/events.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { configOfRun } from '../../src/project/config-of-run.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store-port.ts';
import { answer, type Exchange, type FakeWeb } from '../web/fake-web.ts';
import { asked, type CrawlOptions, page, useBench } from './crawl-site.ts';
import { crawlInto, eachStore, type StorePlace } from './each-store.ts';

const bench = useBench();
const stores = eachStore(bench);
const PAGES = 24;
const paths = Array.from({ length: PAGES }, (_, i) => `/${i % 2 === 0 ? 'even' : 'odd'}/p${i}`);

/** A home page with links to all others. What is asked from page `heldFrom` on gets no answer before `open`. */
async function siteThatHolds(heldFrom = Number.POSITIVE_INFINITY) {
  let held: (() => void)[] = [];
  let isOpen = false;
  let seen = 0;
  const respond = (exchange: Exchange) => {
    const give = () => answer(exchange, { body: page(exchange.path) });
    if (++seen < heldFrom || isOpen) give();
    else held.push(give);
  };
  const web = await bench.web({
    pages: { '/': page('home', ...paths), '/even/*': respond, '/odd/*': respond },
  });
  return {
    web,
    open() {
      isOpen = true;
      for (const give of held) give();
      held = [];
    },
  };
}

const pagesAsked = (web: FakeWeb) => asked(web).filter((path) => path !== '/robots.txt');

/** Resolves with the n-th page event of the run. */
function nthPage(handle: CrawlHandle, n: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    handle.subscribe(() => {
      if (++seen === n) resolve();
    }, ['page']);
  });
}

/** Reads the run's status again and again: until it is this one, and then until the worker has long read it, too. */
async function untilStatus(place: StorePlace, status: string): Promise<void> {
  const read = async () => (await place.rows('SELECT status FROM runs ORDER BY id DESC LIMIT 1'))[0].status;
  while ((await read()) !== status);
  for (let round = 0; round < 100; round++) {
    await read();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The order is given while the server holds an answer: the run rests when that has come. */
async function pauseInFlight(handle: CrawlHandle, place: StorePlace, open: () => void): Promise<void> {
  const paused = handle.pause();
  await untilStatus(place, 'paused');
  open();
  await paused;
}

/** Another crawl from its beginning to its end, while the paused one must not do anything. */
async function meanwhile(place: StorePlace): Promise<void> {
  const other = await bench.web({ graph: { seed: 3, pages: 12 } });
  const own = await stores[place.options.store === undefined ? 'SQLite' : 'PostgreSQL']();
  const { handle } = await crawlInto(own, other.url('/'));
  expect((await handle.finished).status).toBe('completed');
}

const SLOW: CrawlOptions = { perHost: 1, concurrency: 1 };

describe.each(['SQLite', 'PostgreSQL'] as const)('a run on %s', (name) => {
  it('rests when it is paused, and goes on as the same run when it is resumed', async () => {
    const place = await stores[name]();
    const { web, open } = await siteThatHolds(8);
    const { handle, events } = await crawlInto(place, web.url('/'), SLOW);
    await nthPage(handle, 5);
    await pauseInFlight(handle, place, open);
    const before = web.log.length;
    expect(pagesAsked(web).length).toBeLessThan(PAGES);
    expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'paused' }]);
    expect(await place.rows('SELECT name FROM host WHERE lease_owner IS NOT NULL')).toEqual([]);
    expect(await place.rows('SELECT url FROM url WHERE state = 2')).toEqual([]);
    await meanwhile(place);
    expect(web.log.length).toBe(before);
    await handle.resume();
    const summary = await handle.finished;
    expect(summary).toMatchObject({ status: 'completed', run: handle.runId, pages: PAGES + 1 });
    expect(pagesAsked(web).sort()).toEqual(['/', ...paths].sort());
    const told = events.filter(({ type }) => type === 'run' || type === 'standing' || type === 'summary');
    expect(told.map(({ type }) => type)).toEqual(['run', 'standing', 'run', 'summary']);
    expect(new Set(events.map(({ run }) => run))).toEqual(new Set([handle.runId]));
  });

  it('that is left while it is paused stays so, and goes on when it is begun again', async () => {
    const place = await stores[name]();
    const { web, open } = await siteThatHolds(6);
    const first = await crawlInto(place, web.url('/'), SLOW);
    await nthPage(first.handle, 3);
    await pauseInFlight(first.handle, place, open);
    first.handle.stop();
    expect(await first.handle.finished).toMatchObject({ status: 'paused' });
    expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'paused' }]);
    const second = await crawlInto(place, web.url('/'), SLOW);
    expect(await second.handle.finished).toMatchObject({ status: 'completed', run: first.handle.runId });
    expect(pagesAsked(web).sort()).toEqual(['/', ...paths].sort());
  });

  it.each(['under way', 'paused'])(
    '%s is over when it is stopped for good, with a reason for every page',
    async (how) => {
      const place = await stores[name]();
      const { web, open } = await siteThatHolds(8);
      const { handle } = await crawlInto(place, web.url('/'), SLOW);
      await nthPage(handle, 6);
      if (how === 'paused') await pauseInFlight(handle, place, open);
      const ended = handle.cancel();
      await untilStatus(place, 'stopped');
      open();
      const summary = await ended;
      expect(summary).toMatchObject({ status: 'stopped', waiting: 0 });
      const states = await place.rows(
        'SELECT state, reason, count(*) AS n FROM pages GROUP BY state, reason',
      );
      const of = (state: string) => states.filter((row) => row.state === state);
      expect(of('Queued').concat(of('Fetching'))).toEqual([]);
      expect(of('Skipped')).toMatchObject([{ reason: 'limit: stopped' }]);
      expect(Number(of('Skipped')[0].n) + pagesAsked(web).length).toBe(PAGES + 1);
      expect(summary.by_state.Skipped).toBe(Number(of('Skipped')[0].n));
      expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'stopped' }]);
      // It is over: the next crawl is another run, in which all pages are due.
      const next = await crawlInto(place, web.url('/'), SLOW);
      expect(await next.handle.finished).toMatchObject({ status: 'completed' });
      expect(next.handle.runId).not.toBe(handle.runId);
      expect(new Set(pagesAsked(web))).toEqual(new Set(['/', ...paths]));
    },
  );

  it('judges waiting pages by new settings, and goes on with them', async () => {
    const place = await stores[name]();
    const { web, open } = await siteThatHolds(7);
    const { handle } = await crawlInto(place, web.url('/'), SLOW);
    await nthPage(handle, 4);
    await pauseInFlight(handle, place, open);
    const before = new Set(pagesAsked(web));
    const options = { ...place.options, ...SLOW, delay: 0, adaptiveDelay: false, exclude: ['/odd/'] };
    await handle.adjust(await loadConfig({ env: {}, options: { ...options, discover: ['links'] } }));
    expect(await handle.finished).toMatchObject({ status: 'completed', run: handle.runId });
    const late = pagesAsked(web).filter((path) => !before.has(path));
    expect(late.length).toBeGreaterThan(0);
    expect(late.filter((path) => path.startsWith('/odd/'))).toEqual([]);
    const left = paths.filter((path) => path.startsWith('/odd/') && !before.has(path));
    expect(left.length).toBeGreaterThan(0);
    const reasons = await place.rows("SELECT DISTINCT reason FROM pages WHERE state = 'Skipped'");
    expect(reasons).toEqual([{ reason: 'exclude: /odd/' }]);
    expect(await place.rows("SELECT count(*) AS n FROM pages WHERE state = 'Skipped'")).toEqual([
      { n: left.length },
    ]);
  });

  it('that is over takes no order, and an unknown one none either', async () => {
    const place = await stores[name]();
    const { web } = await siteThatHolds();
    const { handle } = await crawlInto(place, web.url('/'));
    await handle.finished;
    const store = await openStore({
      address: (place.options.store ?? place.options.db)!,
      clock: systemClock,
      onFailure: () => {},
    });
    try {
      for (const order of ['pause', 'resume', 'stop'] as const) {
        const refused = store.projects.steer(handle.runId, order, Date.now());
        await expect(refused).rejects.toMatchObject({ code: 'run-not-steerable', exitCode: 2 });
        await expect(refused).rejects.toThrow('it is completed');
      }
      const unknown = store.projects.steer(99, 'pause', Date.now());
      await expect(unknown).rejects.toMatchObject({ code: 'unknown-run' });
      expect(await store.projects.standing(99)).toBeNull();
      expect(await place.rows('SELECT status FROM runs')).toEqual([{ status: 'completed' }]);
    } finally {
      await store.close();
    }
  });

  it('hears page events only while somebody subscribes to them, and a broken subscriber ends nothing', async () => {
    const place = await stores[name]();
    const { web } = await siteThatHolds();
    const config = await loadConfig({
      env: {},
      options: { ...place.options, ...SLOW, delay: 0, adaptiveDelay: false, discover: ['links'] },
    });
    const faults: CrawlEvent[] = [];
    const handle = await startCrawl({ config, startUrls: [web.url('/')] });
    handle.subscribe(
      (event) => {
        if (event.type === 'fault') faults.push(event);
      },
      ['run'],
    );
    const broken = handle.subscribe(() => {
      throw new Error('broken pipe');
    }, ['page']);
    const heard: string[] = [];
    const some = handle.subscribe(
      (event) => {
        if (event.type !== 'page') return;
        expect(event.page_id).toBeGreaterThan(0);
        heard.push(event.url);
        if (heard.length === 5) some.unsubscribe();
      },
      ['page'],
    );
    expect((await handle.finished).status).toBe('completed');
    expect(heard).toHaveLength(5);
    expect(broken.failure).toMatchObject({ code: 'subscriber-failed' });
    expect(faults).toHaveLength(1);
    expect(pagesAsked(web)).toHaveLength(PAGES + 1);
  });
});

describe('runs of one process', () => {
  it('share one limit of connections', async () => {
    let open = 0;
    let most = 0;
    const slow = (exchange: Exchange) => {
      most = Math.max(most, ++open);
      // The other run has its turns while this one waits.
      setImmediate(() =>
        setImmediate(() => {
          open--;
          answer(exchange, { body: page(exchange.path) });
        }),
      );
    };
    const links = Array.from({ length: 15 }, (_, i) => `/s/${i}`);
    const pages = { '/': page('home', ...links), '/s/*': slow };
    const webs = [await bench.web({ pages }), await bench.web({ pages })];
    const slots = createSlots(2);
    const handles: CrawlHandle[] = [];
    for (const web of webs) {
      const options = { db: bench.file().path, delay: 0, adaptiveDelay: false, perHost: 4 };
      const config = await loadConfig({ env: {}, options: { ...options, discover: ['links'] } });
      handles.push(await startCrawl({ config, startUrls: [web.url('/')], slots }));
    }
    for (const handle of handles) expect(await handle.finished).toMatchObject({ pages: 16 });
    expect(most).toBe(2);
  });
});

describe('workers on one run', () => {
  it('all rest when it is paused by somebody else, and all go on when it is resumed', async () => {
    const place = await stores.PostgreSQL();
    const { web, open } = await siteThatHolds(6);
    const first = await crawlInto(place, web.url('/'), { perHost: 2, leaseSeconds: 5 });
    await web.asked('/even/p4');
    const worker = await loadConfig({ env: {}, options: place.options });
    const configOf = (run: { config: string }) => configOfRun(run, { options: place.options, env: {} });
    const second = await joinCrawl({ runId: first.handle.runId, worker, configOf });
    const desk: Store = await openStore({
      address: place.options.store!,
      clock: systemClock,
      onFailure: () => {},
    });
    try {
      const standing = await desk.projects.steer(first.handle.runId, 'pause', desk.clock.now());
      expect(standing).toEqual({ status: 'paused', workers: 2 });
      open();
      expect((await second!.finished).status).toBe('interrupted');
      // The one that began the run rests and stays.
      await first.handle.pause();
      const before = web.log.length;
      expect(await desk.projects.standing(first.handle.runId)).toEqual({ status: 'paused', workers: 0 });
      await meanwhile(place);
      expect(web.log.length).toBe(before);
      await desk.projects.steer(first.handle.runId, 'resume', desk.clock.now());
      expect(await first.handle.finished).toMatchObject({ status: 'completed', pages: PAGES + 1 });
      expect(pagesAsked(web).sort()).toEqual(['/', ...paths].sort());
    } finally {
      await desk.close();
    }
  });
});
