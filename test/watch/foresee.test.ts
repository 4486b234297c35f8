/** What `sumi why` tells of a page's next visit while a watch is at work, held against the server's log of later ticks. */
import { expect, it } from 'vitest';
import { explainPage } from '../../src/project/explain-page.ts';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { numbers, site } from './small-site.ts';
import { HOUR_MS, useWatches, type WatchBench } from './watch-bench.ts';

const bench = useWatches();
const QUARTER_MS = HOUR_MS / 4;

interface Foreseen {
  /** 1 is the next one. */
  tick: number;
  afterMs: number;
  waitsFor: string | null;
}

/** What `why` tells of pages, by path. */
async function foresee({ read, clock, web }: WatchBench, paths: readonly string[], host = 0) {
  return read(async (side) => {
    const told = new Map<string, Foreseen>();
    for (const path of paths) {
      const row = (await side.page(1, web.url(path, host)))!;
      const { revisit } = await explainPage(side, row, {
        now: clock.now(),
        kind: undefined,
        visitsPerDay: 1000,
      });
      const { visit_at, waits_for } = revisit!.watch!;
      const afterMs = Date.parse(visit_at!) - clock.now();
      told.set(path, { tick: Math.ceil(afterMs / QUARTER_MS), afterMs, waitsFor: waits_for });
    }
    return told;
  });
}

/** Looks a quarter of an hour apart, from beginning to beginning, as `sumi watch` makes them. */
function ticksOf({ clock, asked }: WatchBench, watch: { tick(): Promise<unknown> }) {
  let next = clock.now() + QUARTER_MS;
  /** So many of them: in which each page was asked first. */
  return async (count: number) => {
    const visited = new Map<string, number>();
    asked();
    for (let tick = 1; tick <= count; tick++) {
      clock.advance(next - clock.now());
      next += QUARTER_MS;
      await watch.tick();
      for (const path of asked()) if (!visited.has(path)) visited.set(path, tick);
    }
    return visited;
  };
}

it('is the tick in which the page is then visited, where the budget decides', async () => {
  const { pages } = site(30);
  const serve = pages!['/'] as (exchange: Exchange) => void;
  let own: WatchBench | null = null;
  // No two pages are visited at the same moment: between pages of which all is the same, nobody could tell.
  const slowly = (exchange: Exchange) => {
    own?.clock.advance(1000);
    serve(exchange);
  };
  own = await bench({ pages: { '/': slowly, '/p*': slowly } }, { budget: '480/day', perHost: 1 });
  const watch = await own.open();
  await watch.prepare();
  const tick = ticksOf(own, watch);
  await watch.tick();
  // What the first crawl spent has to come again first; some ticks are made, so that pages have visits of several ages.
  await tick(4);
  const paths = ['/', ...numbers(30).map((n) => `/p${n}`)];
  const foreseen = await foresee(own, paths);
  const visited = await tick(12);
  expect(visited.size).toBe(31);
  for (const path of paths) expect([path, foreseen.get(path)!.tick]).toEqual([path, visited.get(path)!]);
  // Five visits a tick for 31 pages: most have to wait for others.
  expect(new Set(visited.values()).size).toBeGreaterThan(4);
  expect([...foreseen.values()].filter(({ waitsFor }) => waitsFor === 'budget').length).toBeGreaterThan(15);
  await watch.close();
  // When none is at work, the plan is all there is to tell.
  const after = await own.read(async (side) => {
    const row = (await side.page(1, own.web.url('/')))!;
    return explainPage(side, row, { now: own.clock.now(), kind: undefined, visitsPerDay: 1000 });
  });
  expect(after.revisit).toMatchObject({ is_watched: true, watch: null, next_visit: expect.any(String) });
});

it('waits for the hours that are open', async () => {
  const { pages } = site(3);
  const own = await bench({ pages }, { budget: '1000/day', hours: '0-1' });
  const watch = await own.open();
  await watch.prepare();
  await watch.tick();
  own.clock.advance(2 * HOUR_MS);
  await watch.tick();
  const foreseen = await foresee(own, ['/p1']);
  // The bench's clock begins at midnight of this machine.
  const midnight = new Date(2026, 2, 5).getTime();
  const { afterMs, waitsFor } = foreseen.get('/p1')!;
  expect([own.clock.now() + afterMs, waitsFor]).toEqual([midnight, 'hours']);
  own.asked();
  own.clock.advance(midnight - own.clock.now() - QUARTER_MS);
  await watch.tick();
  expect(own.asked()).toEqual([]);
  own.clock.advance(QUARTER_MS);
  await watch.tick();
  expect(own.asked()).toContain('/p1');
  await watch.close();
});

it('waits for the pause that the host asked for, and for the budget of the host', async () => {
  const state = { isBusy: false };
  let own: WatchBench | null = null;
  const serve = (exchange: Exchange) => {
    const { host, path, url } = exchange;
    own?.clock.advance(1000);
    if (path === '/robots.txt') return answer(exchange, { body: '' });
    if (host === 1 && state.isBusy)
      return answer(exchange, { status: 429, headers: { 'retry-after': '3000' }, body: '' });
    const links = [0, 1].flatMap((of) => numbers(4).map((n) => url(`/p${n}`, of)));
    answer(exchange, { body: page(path, ...(host === 0 && path === '/' ? links : [])) });
  };
  const web = { pages: { '/': serve, '/p*': serve, '/robots.txt': serve }, hosts: 2 };
  own = await bench(web, {
    budget: '4000/day',
    hostBudget: '96/day',
    allowedHosts: ['any'],
    perHost: 1,
  });
  const watch = await own.open();
  await watch.prepare();
  const tick = ticksOf(own, watch);
  await watch.tick();
  await tick(2);
  state.isBusy = true;
  const refused = await tick(1);
  expect([...refused.keys()].filter((path) => path.startsWith('1:')).length).toBeGreaterThan(0);
  state.isBusy = false;
  const paths = numbers(4).map((n) => `/p${n}`);
  const foreseen = await foresee(own, paths, 1);
  const others = await foresee(own, paths, 0);
  const visited = await tick(28);
  for (const path of paths) {
    expect([path, foreseen.get(path)!.tick]).toEqual([path, visited.get(`1:${path}`)!]);
    expect(foreseen.get(path)!.afterMs).toBeGreaterThan(0.8 * HOUR_MS);
    expect([path, others.get(path)!.tick]).toEqual([path, visited.get(path)!]);
  }
  expect([...foreseen.values()].some(({ waitsFor }) => waitsFor === 'pause')).toBe(true);
  expect([...others.values()].some(({ waitsFor }) => waitsFor === 'host budget')).toBe(true);
  await watch.close();
});
