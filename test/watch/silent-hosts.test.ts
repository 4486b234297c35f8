/** A host that does not answer costs a watch one page a tick, no waiting, and nothing of what is due to the others. */
import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { numbers } from './small-site.ts';
import { DAY_MS, HOUR_MS, useWatches, type WatchBench } from './watch-bench.ts';

const bench = useWatches();

/** Two hosts with so many pages each, of which the second may be dead, or have its robots.txt so. */
function twoHosts(count: number) {
  const state = { isDead: false, isAllDead: false, isRobotsDown: false, mute: new Set<string>() };
  const serve = (exchange: Exchange) => {
    const { host, path, url, request } = exchange;
    const isMute = host === 1 && (state.isDead || state.mute.has(path));
    if (isMute || state.isAllDead) return void request.socket.destroy();
    if (path === '/robots.txt') {
      const isDown = host === 1 && state.isRobotsDown;
      return answer(exchange, { status: isDown ? 503 : 200, body: '' });
    }
    const names = numbers(count).map((n) => `/p${n}`);
    const links = [0, 1].flatMap((of) => names.map((name) => url(name, of)));
    answer(exchange, { body: page(path, ...(path === '/' ? links : [])) });
  };
  return { state, pages: { '/': serve, '/p*': serve, '/robots.txt': serve } };
}

const OPTIONS = { allowedHosts: ['any'], breakerFailures: 2, robotsTtl: 60 };

/** Until it is over, time goes by. */
async function passing<T>({ clock }: WatchBench, work: Promise<T>): Promise<T> {
  const over = { is: false };
  const done = work.finally(() => {
    over.is = true;
  });
  while (!over.is) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
  }
  return done;
}

/** A tick of a watch that begins anew, as by cron: how often the living host was asked for pages, and the other one for anything. */
async function tickOnce({ open, asked, web }: WatchBench): Promise<[living: number, other: number]> {
  const before = web.log.length;
  const watch = await open();
  await watch.prepare();
  await watch.tick();
  await watch.close();
  const other = web.log.slice(before).filter(({ host }) => host === 1).length;
  return [asked().filter((path) => !path.startsWith('1:')).length, other];
}

it.each([
  ['its pages were never asked', { isDead: true }, DAY_MS, 20],
  ['robots.txt is not to be had', { isRobotsDown: true }, DAY_MS, 20],
  ['robots.txt is known', { isDead: true, robotsTtl: 2_000_000 }, DAY_MS, 20],
  ['there are two visits a tick', { isDead: true }, 6 * HOUR_MS, 8],
])(
  'asks a silent host once a tick and waits for nothing, where %s, and the other as ever',
  async (_, how, apartMs, perDay) => {
    const { robotsTtl = 60, ...trouble } = how as { robotsTtl?: number };
    const { state, pages } = twoHosts(30);
    const watched = await bench({ pages, hosts: 2 }, { ...OPTIONS, robotsTtl, budget: `${perDay}/day` });
    const { crawl, clock, asked } = watched;
    await crawl();
    asked();
    const room = perDay * (apartMs / DAY_MS);
    clock.advance(3 * DAY_MS);
    await tickOnce(watched);
    Object.assign(state, trouble);
    clock.advance(DAY_MS);
    // Until it was silent once nobody knows.
    for (let tick = 0, met = false; !met; tick++) {
      const startedAt = clock.now();
      const [, other] = await passing(watched, tickOnce(watched));
      met = other > 0;
      expect(tick).toBeLessThan(40);
      clock.advance(startedAt + apartMs - clock.now());
    }
    const ticks: [number, number][] = [];
    for (let tick = 0; tick < 8; tick++) {
      // The clock stands still: a tick that waited would never end.
      ticks.push(await tickOnce(watched));
      clock.advance(apartMs);
    }
    for (const [living, other] of ticks) {
      expect(living).toBeGreaterThanOrEqual(room - Math.max(1, room / 10));
      expect(other).toBeLessThanOrEqual(1);
    }
    expect(ticks.filter(([, other]) => other > 0).length).toBeGreaterThan(3);
    Object.assign(state, { isDead: false, isRobotsDown: false });
    const after: number[] = [];
    for (let tick = 0; tick < 10; tick++) {
      await tickOnce(watched);
      const { log } = watched.web;
      after.push(log.length);
      clock.advance(apartMs);
    }
    const pagesAsked = watched.web.log
      .slice(after[1])
      .filter(({ host, path }) => host === 1 && path !== '/robots.txt');
    // Half of what was visited, as both have as many pages.
    expect(pagesAsked.length).toBeGreaterThan(0.3 * 8 * room);
  },
  30_000,
);

it('visits all pages of a host as soon as one of them is answered, however long it was silent', async () => {
  const { state, pages } = twoHosts(3);
  const watched = await bench({ pages, hosts: 2 }, { ...OPTIONS, budget: '1000/day', every: 3600 });
  const { clock, web, crawl } = watched;
  await crawl();
  clock.advance(HOUR_MS);
  await tickOnce(watched);
  state.isDead = true;
  clock.advance(HOUR_MS);
  await passing(watched, tickOnce(watched));
  const asksOfTick = async () => {
    clock.advance(HOUR_MS);
    const before = web.log.length;
    await tickOnce(watched);
    return web.log.slice(before).filter(({ host }) => host === 1);
  };
  let asks = 0;
  for (let hour = 0; hour < 3 * 24; hour++) asks += (await asksOfTick()).length;
  // Ever more rarely.
  expect([asks > 3, asks < 20]).toEqual([true, true]);
  // One of them has just been tried in vain, and would be left alone for days.
  let last = 0;
  for (let hour = 0; hour < 4 * 24 && last === 0; hour++) last = (await asksOfTick()).length;
  expect(last).toBe(1);
  state.isDead = false;
  const found = (await asksOfTick()).filter(({ path }) => path !== '/robots.txt');
  expect(found.length).toBe(1);
  const others = (await asksOfTick()).filter(({ path }) => path !== '/robots.txt').map(({ path }) => path);
  expect(new Set([found[0].path, ...others])).toEqual(new Set(['/p0', '/p1', '/p2']));
}, 60_000);

it('waits for no pause that an earlier run left on a silent host: it is asked at the first tick after that', async () => {
  const { state, pages } = twoHosts(30);
  const watched = await bench({ pages, hosts: 2 }, { ...OPTIONS, budget: '1000/day', every: 3600 });
  const { clock, crawl, path } = watched;
  await crawl();
  clock.advance(DAY_MS);
  await tickOnce(watched);
  state.isDead = true;
  clock.advance(HOUR_MS);
  await passing(watched, tickOnce(watched));
  // As a run leaves it that is killed while it waits.
  const db = new Sqlite(path);
  db.prepare('UPDATE host SET blocked_until = ? WHERE failures > 0').run(clock.now() + 8.5 * HOUR_MS);
  db.close();
  const asks: number[] = [];
  for (let tick = 0; tick < 14; tick++) {
    clock.advance(HOUR_MS);
    // The clock stands still: a tick that waited would never end.
    const [living, other] = await tickOnce(watched);
    expect(living).toBeGreaterThan(0);
    asks.push(other);
  }
  // Its pages are due again after six hours.
  expect(Math.max(...asks.slice(0, 8))).toBe(0);
  expect(Math.max(...asks)).toBe(1);
}, 30_000);

it('takes a page that never answers for what it is, where the others of its host do', async () => {
  const { state, pages } = twoHosts(6);
  const watched = await bench({ pages, hosts: 2 }, { ...OPTIONS, budget: '1000/day', every: 3600 });
  const { clock, web, crawl } = watched;
  await crawl();
  state.mute.add('/p5');
  for (let hour = 0; hour < 9; hour++) {
    clock.advance(HOUR_MS);
    const before = web.log.length;
    await tickOnce(watched);
    const asked = web.log.slice(before).filter(({ host, path }) => host === 1 && path.startsWith('/p'));
    expect(new Set(asked.map(({ path }) => path)).size).toBeGreaterThanOrEqual(5);
  }
  // Left alone for six hours after the first try.
  expect(web.requestsTo('/p5', 1).length).toBe(3);
});

it('visits a page that was given up before its first visit, though another one was answered in the same tick', async () => {
  const down = new Set<number>();
  const links: [path: string, host: number][] = [['/p0', 1]];
  const serve = (exchange: Exchange) => {
    const { host, path, url } = exchange;
    if (down.has(host)) return answer(exchange, { status: 503, body: '' });
    const found = host === 0 && path === '/' ? links.map(([name, of]) => url(name, of)) : [];
    answer(exchange, { body: path === '/robots.txt' ? '' : page(path, ...found) });
  };
  const { open, clock, asked } = await bench(
    { pages: { '/': serve, '/p*': serve, '/robots.txt': serve }, hosts: 3 },
    { ...OPTIONS, robotsRetries: 0, budget: '1000/day', every: 3600 },
  );
  const watch = await open();
  const tick = async () => {
    clock.advance(DAY_MS);
    await watch.tick();
    return asked();
  };
  down.add(1);
  await watch.prepare();
  await tick();
  expect(await tick()).not.toContain('1:/p0');
  down.delete(1);
  down.add(2);
  links.push(['/p1', 2]);
  expect(await tick()).toContain('1:/p0');
  down.delete(2);
  expect([...(await tick()), ...(await tick())]).toContain('2:/p1');
  await watch.close();
});

it('gives the only visit of a tick to another host where the silent one used none, and fails where nobody answers', async () => {
  const { state, pages } = twoHosts(1);
  const { crawl, open, asked, clock, web } = await bench(
    { pages, hosts: 2 },
    { ...OPTIONS, breakerProbes: 0, robotsRetries: 0, budget: '1/day' },
  );
  await crawl();
  state.isDead = true;
  const watch = await open();
  asked();
  const before = web.log.length;
  for (let day = 0; day < 30; day++) {
    clock.advance(DAY_MS);
    expect(await watch.tick()).toMatchObject({ status: 'completed' });
    expect(watch.unanswered).toBeNull();
    expect(asked().filter((path) => !path.startsWith('1:')).length).toBe(1);
  }
  // It was asked nevertheless.
  expect(web.log.slice(before).some(({ host }) => host === 1)).toBe(true);
  state.isAllDead = true;
  clock.advance(DAY_MS);
  expect(await watch.tick()).toMatchObject({ status: 'failed' });
  expect(watch.unanswered).toMatchObject({ page: 'page that was due' });
  expect([0, 1].map((host) => new URL(web.url('/', host)).host)).toContain(
    new URL(watch.unanswered!.url).host,
  );
  await watch.close();
});

it('gives others their visits though many pages of a silent host were found, none of which was ever visited', async () => {
  const { state, pages } = twoHosts(20);
  const home = (exchange: Exchange) => {
    const hosts = state.isDead ? [0, 1] : [0];
    const links = hosts.flatMap((host) => numbers(20).map((n) => exchange.url(`/p${n}`, host)));
    answer(exchange, { body: page('home', ...links) });
  };
  const watched = await bench(
    { pages: { ...pages, '0:/': home }, hosts: 2 },
    { ...OPTIONS, robotsRetries: 0, budget: '25/day' },
  );
  await tickOnce(watched);
  state.isDead = true;
  for (let day = 0; day < 4; day++) {
    watched.clock.advance(DAY_MS);
    const [living] = await tickOnce(watched);
    expect(living).toBe(21);
  }
});

it('gives many silent hosts a tenth of a tick together, and each of them a page in turn', async () => {
  const dead = numbers(10).map((n) => n + 1);
  const state = { isDead: false };
  const serve = (exchange: Exchange) => {
    const { host, path, url, request } = exchange;
    if (host > 0 && state.isDead) return void request.socket.destroy();
    const names = numbers(host === 0 ? 60 : 0).map((n) => url(`/p${n}`, 0));
    const links = host === 0 && path === '/' ? [...names, ...dead.map((n) => url('/p', n))] : [];
    answer(exchange, { body: path === '/robots.txt' ? '' : page(path, ...links) });
  };
  // What is known of robots.txt stays known: a dead host is asked for its page, which costs a visit.
  const watched = await bench(
    { pages: { '/': serve, '/p*': serve, '/robots.txt': serve }, hosts: 11 },
    { ...OPTIONS, breakerFailures: 1, breakerProbes: 0, robotsTtl: 2_000_000, budget: '20/day' },
  );
  const { crawl, clock, asked } = watched;
  await crawl();
  clock.advance(DAY_MS);
  state.isDead = true;
  // All are met dead once.
  for (let day = 0; day < 8; day++) {
    await tickOnce(watched);
    clock.advance(DAY_MS);
  }
  asked();
  const found = new Set<number>();
  for (let day = 0; day < 16; day++) {
    const before = watched.web.log.length;
    const [living] = await tickOnce(watched);
    const tried = watched.web.log.slice(before).filter(({ host }) => host > 0);
    expect(living).toBeGreaterThanOrEqual(18);
    expect(tried.length).toBeLessThanOrEqual(2);
    for (const { host } of tried) found.add(host);
    clock.advance(DAY_MS);
  }
  expect(found.size).toBeGreaterThan(4);
}, 30_000);
