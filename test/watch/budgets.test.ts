/** How a watch spends its budgets, of all pages and of each host: on the first crawl, at each tick, over restarts and crashes. */
import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { numbers, site } from './small-site.ts';
import { DAY_MS, HOUR_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

it('crawls an unknown project first, and then visits what comes with the time, no more than a day has', async () => {
  const { pages } = site(11);
  const { open, asked, clock, ticks } = await bench({ pages }, { budget: '24/day' });
  const watch = await open();
  expect((await watch.prepare())?.status).toBe('completed');
  expect(asked().length).toBe(12);
  const made: number[] = [];
  for (let tick = 0; tick < 6; tick++) {
    await watch.tick();
    made.push(asked().length);
    clock.advance(6 * HOUR_MS);
  }
  expect(ticks().map(({ skipped }) => skipped)).toEqual(['nothing due', null, null, 'budget', null, null]);
  expect(made).toEqual([0, 6, 6, 0, 6, 6]);
  await watch.close();
});

it.each([
  ['all pages', { budget: '20/day' }],
  ['a host', { budget: '1000/day', hostBudget: '20/day' }],
])('spends the budget of %s on the first crawl, tick by tick, over restarts too', async (_, budgets) => {
  const { pages } = site(60);
  const { open, asked, clock, ticks, changes, read } = await bench({ pages }, budgets);
  const made: number[] = [];
  const found: string[] = [];
  for (let tick = 0; tick < 20; tick++) {
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
    const visited = asked();
    if (found.length < 61) found.push(...visited);
    for (const _each of visited) made.push(clock.now());
    if (tick === 0) expect(ticks()).toMatchObject([{ skipped: 'budget', budget_left: expect.any(Number) }]);
    if (tick === 0) expect(visited.length).toBe(20);
    clock.advance(DAY_MS / 4);
  }
  expect(new Set(found).size).toBe(61);
  expect(found.slice(0, 61).length).toBe(new Set(found.slice(0, 61)).size);
  expect(await read((side) => side.lastRun(1))).toMatchObject({ status: 'completed' });
  expect(changes()).toEqual([]);
  for (const from of made)
    expect(made.filter((at) => at >= from && at < from + DAY_MS).length).toBeLessThanOrEqual(20);
});

it.each([
  ['more than a day has', 35, 20, [20, 16, 20, 20]],
  ['what a day has', 19, 20, [20, 20, 20, 20]],
  ['less than a day has', 17, 20, [18, 18, 18, 18]],
])(
  'visits the whole day’s worth where cron ticks once a day, after a first crawl that needs %s',
  async (_, others, budget, expected) => {
    const { pages } = site(others);
    const { open, asked, clock } = await bench({ pages }, { budget: `${budget}/day` });
    const made: number[] = [];
    // Some seconds early, and late.
    for (const off of [0, -7000, 5000, -9000]) {
      clock.advance(off);
      const watch = await open();
      await watch.prepare();
      await watch.tick();
      await watch.close();
      made.push(asked().length);
      clock.advance(DAY_MS - off);
    }
    expect(made).toEqual(expected);
  },
);

it('visits the whole day’s worth on the second day, too, where nobody concluded the first crawl', async () => {
  const { pages } = site(19);
  const { open, asked, clock, path } = await bench({ pages }, { budget: '20/day' });
  await (await open()).prepare();
  const db = new Sqlite(path);
  db.exec('UPDATE project SET revisit_plan = NULL');
  db.close();
  const made: number[] = [];
  for (let day = 0; day < 3; day++) {
    made.push(asked().length);
    clock.advance(DAY_MS);
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
  }
  expect(made).toEqual([20, 20, 20]);
});

it('pays for a first crawl that was killed under way', async () => {
  const { pages } = site(60);
  const { open, asked, clock, path } = await bench({ pages }, { budget: '20/day', hostBudget: '20/day' });
  const watch = await open();
  await watch.prepare();
  expect(asked().length).toBe(20);
  // As if it had died before it could keep anything.
  const db = new Sqlite(path);
  db.exec("UPDATE project SET revisit_plan = NULL; UPDATE run SET status = 'running'");
  db.close();
  clock.advance(HOUR_MS);
  const other = await open();
  expect(await other.prepare()).toBeNull();
  clock.advance(DAY_MS - 3 * HOUR_MS);
  await other.prepare();
  expect(asked().length).toBe(0);
  clock.advance(2 * HOUR_MS);
  await other.prepare();
  expect(asked().length).toBe(20);
  await other.close();
});

it.each([
  ['all pages', { budget: '20/day' }],
  ['a host', { budget: '1000/day', hostBudget: '20/day' }],
])(
  'leaves the budget of %s alone when the first crawl goes on by hand and is stopped there, too',
  async (_, budgets) => {
    const small = site(60);
    const hand = { left: Number.POSITIVE_INFINITY, stop: () => {} };
    const serve = (exchange: Exchange) => {
      if (--hand.left === 0) hand.stop();
      return (small.pages['/'] as (exchange: Exchange) => void)(exchange);
    };
    const { open, asked, clock, crawl } = await bench({ pages: { '/': serve, '/p*': serve } }, budgets);
    const tick = async () => {
      const watch = await open();
      await watch.prepare();
      await watch.tick();
      await watch.close();
      return asked().length;
    };
    expect(await tick()).toBe(20);
    hand.left = 5;
    const options = { concurrency: 1, perHost: 1 };
    const stopped = await crawl(options, (handle) => {
      hand.stop = () => handle.stop();
    });
    expect([stopped.status, asked().length]).toEqual(['interrupted', 5]);
    // There is no room yet, and by tomorrow two ticks went by.
    expect(await tick()).toBe(0);
    clock.advance(DAY_MS);
    expect(await tick()).toBe(20);
    clock.advance(DAY_MS);
    expect(await tick()).toBe(16);
  },
);

it('gives nothing back for visits whose history was cleared', async () => {
  const { pages } = site(60);
  const { open, asked, clock, path } = await bench({ pages }, { budget: '20/day' });
  const watch = await open();
  await watch.prepare();
  expect(asked().length).toBe(20);
  const db = new Sqlite(path);
  db.exec('DELETE FROM visit');
  db.close();
  clock.advance(HOUR_MS);
  await watch.prepare();
  expect(asked()).toEqual([]);
  await watch.close();
});

it.each([10, 11])(
  'finds orphans in a tick that asks 10 pages of %d, and pays for their visits',
  async (visits) => {
    const { pages, state } = site(9);
    const { crawl, open, asked, clock, changes } = await bench({ pages }, { budget: `${visits}/day` });
    await crawl();
    const watch = await open();
    await watch.prepare();
    asked();
    state.links = state.links.slice(3);
    state.versions.set('/', 1);
    clock.advance(5 * DAY_MS);
    const { budget_left } = await watch.tick();
    expect(asked().length).toBe(10);
    expect(changes().filter((told) => told.startsWith('gone'))).toHaveLength(3);
    expect(budget_left).toBe(visits - 10);
    await watch.close();
  },
);

const SITEMAP = (exchange: Exchange) =>
  answer(exchange, {
    headers: { 'content-type': 'application/xml' },
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${exchange.url('/p77')}</loc></url></urlset>`,
  });

it.each([
  ['its links', {}, 'completed'],
  ['a sitemap, too', { '/sitemap.xml': SITEMAP }, 'interrupted'],
])('is done with the first crawl as soon as all is read that is found by %s', async (_, more, status) => {
  const { pages } = site(19);
  const { open, asked, clock, web } = await bench(
    { pages: { ...pages, ...more } },
    { budget: '20/day', discover: ['sitemap', 'links'] },
  );
  const watch = await open();
  expect((await watch.prepare())?.status).toBe(status);
  expect([asked().length, watch.isPrepared]).toEqual([20, status === 'completed']);
  expect(web.requestsTo('/sitemap.xml').length).toBe(1);
  if (status === 'completed') return watch.close();
  clock.advance(DAY_MS);
  expect(await watch.prepare()).toMatchObject({ status: 'completed', pages: 21 });
  expect(asked()).toEqual(['/p77']);
  await watch.close();
});

it('is done with a first crawl that was cut off after its last page, though no visit is in hand', async () => {
  const { pages } = site(19);
  const { open, asked, path, read } = await bench({ pages }, { budget: '20/day' });
  await (await open()).prepare();
  asked();
  const db = new Sqlite(path);
  db.exec("UPDATE project SET revisit_plan = NULL; UPDATE run SET status = 'running', finished_at = NULL");
  db.close();
  const watch = await open();
  expect(await watch.prepare()).toMatchObject({ status: 'completed', pages: 20 });
  expect(asked()).toEqual([]);
  expect(await read((side) => side.lastRun(1))).toMatchObject({ run: 1, status: 'completed' });
  await watch.close();
});

it('gives a first crawl the difference at once where the budget grows on the way, and no visit twice', async () => {
  const { pages } = site(60);
  const { open, asked, clock } = await bench({ pages }, {});
  const made: number[] = [];
  for (const budget of ['10/day', '20/day', '30/day', '30/day']) {
    const watch = await open({ budget, hostBudget: budget });
    await watch.prepare();
    await watch.close();
    made.push(asked().length);
    clock.advance(HOUR_MS);
  }
  expect(made).toEqual([10, 10, 10, 0]);
});

it('leaves to the first crawl its own limit of pages', async () => {
  const { pages } = site(60);
  const { open, asked, clock } = await bench({ pages }, { budget: '20/day', maxPages: 30 });
  const watch = await open();
  expect((await watch.prepare())?.status).toBe('interrupted');
  clock.advance(2 * DAY_MS);
  expect(await watch.prepare()).toMatchObject({ status: 'completed', pages: 30 });
  expect([asked().length, watch.isPrepared]).toEqual([30, true]);
  await watch.close();
});

it('visits within the budget and no more', async () => {
  const { pages } = site(40);
  const { open, asked, clock, crawl } = await bench({ pages }, { budget: '20/day' });
  await crawl();
  asked();
  const watch = await open();
  for (let day = 0; day < 6; day++) {
    clock.advance(DAY_MS / 2);
    const { due, unchanged } = await watch.tick();
    expect([due, unchanged]).toEqual([10, 10]);
    expect(asked().length).toBe(10);
  }
  await watch.close();
});

it('charges a tick whose watch was killed for what it visited, once, and no tick that never began', async () => {
  const { pages, state } = site(30);
  const { open, clock, asked, path, crawl } = await bench(
    { pages },
    { budget: '40/day', hostBudget: '40/day' },
  );
  const kept = () => {
    const db = new Sqlite(path);
    const { plan } = db.prepare('SELECT revisit_plan AS plan FROM project').get() as { plan: string };
    db.close();
    const { budget, openCharge } = JSON.parse(plan);
    const visitsOf = (bucket: number[]) => bucket.filter((_, n) => n > 0 && n % 3 === 0);
    const hosts = (Object.values(budget.hosts) as number[][]).map(visitsOf);
    return { openCharge, charges: [visitsOf(budget.all), ...hosts] };
  };
  const put = (changed: object) => {
    const db = new Sqlite(path);
    const { plan } = db.prepare('SELECT revisit_plan AS plan FROM project').get() as { plan: string };
    const saved = JSON.stringify({ ...JSON.parse(plan), watcher: null, ...changed });
    db.prepare('UPDATE project SET revisit_plan = ?').run(saved);
    db.close();
  };
  await crawl();
  const watch = await open();
  state.links.push('/pnew1', '/pnew2');
  clock.advance(DAY_MS);
  await watch.tick();
  await watch.close();
  expect(asked().length).toBe(31 + 33);
  expect(kept()).toEqual({ openCharge: null, charges: [[33], [33]] });
  const at = clock.now();
  const before = { visits: 0, hosts: {} };
  // As if it had been killed after the run: nothing of it is charged.
  put({
    openCharge: { afterRun: 1, at, room: 40, before },
    budget: { tickedAt: at, all: [40], hosts: {} },
  });
  for (let tick = 0; tick < 2; tick++) {
    await (await open()).tick();
    expect(kept()).toEqual({ openCharge: null, charges: [[33], [33]] });
    put({});
  }
  // As if it had been killed before the run.
  put({ openCharge: { afterRun: 2, at, room: 7, before } });
  await (await open()).tick();
  expect(kept()).toEqual({ openCharge: null, charges: [[33], [33]] });
  expect(asked()).toEqual([]);
});

it('keeps to the budget of each host', async () => {
  const { pages } = site(20);
  const home = (exchange: Exchange) =>
    answer(exchange, {
      body: page(
        'home',
        ...numbers(20).flatMap((n) => [exchange.url(`/p${n}`, 0), exchange.url(`/p${n}`, 1)]),
      ),
    });
  const { open, clock, asked, crawl } = await bench(
    { pages: { ...pages, '/': home }, hosts: 2 },
    { budget: '100/day', hostBudget: '4/day', allowedHosts: ['any'] },
  );
  await crawl();
  expect(asked().length).toBe(41);
  const perTick: number[][] = [];
  for (let tick = 0; tick < 12; tick++) {
    clock.advance(DAY_MS / 4);
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
    const ofSecond = (path: string) => path.startsWith('1:');
    const visited = asked();
    perTick.push([visited.filter(ofSecond).length, visited.filter((path) => !ofSecond(path)).length]);
  }
  // All that a day has at the first tick, which knows of no visit; from the next day on what comes with the time.
  expect(perTick.slice(0, 4)).toEqual([
    [4, 4],
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
  expect(perTick.slice(4)).toEqual(Array.from({ length: 8 }, () => [1, 1]));
});

it('keeps to the budget of a host in what a tick finds too, visits the others meanwhile, and loses no page', async () => {
  const { pages } = site(4);
  const state = { links: [] as string[] };
  const home = (exchange: Exchange) => {
    const links = [0, 1, 2, 3].map((n) => exchange.url(`/p${n}`, 0));
    answer(exchange, { body: page('home', ...links, ...state.links.map((path) => exchange.url(path, 1))) });
  };
  const { open, clock, asked, changes, crawl } = await bench(
    { pages: { ...pages, '/': home }, hosts: 2 },
    { budget: '100/day', hostBudget: '5/day', allowedHosts: ['any'] },
  );
  await crawl();
  asked();
  state.links = numbers(12).map((n) => `/pnew${n}`);
  const perDay: number[][] = [];
  for (let day = 0; day < 4; day++) {
    clock.advance(DAY_MS);
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
    const visited = asked();
    const ofSecond = visited.filter((path) => path.startsWith('1:')).length;
    perDay.push([visited.length - ofSecond, ofSecond]);
  }
  expect(perDay).toEqual(Array.from(perDay, () => [5, 5]));
  expect(new Set(changes().filter((line) => line.startsWith('new '))).size).toBe(12);
});

it('visits new pages of a host that had no room first when it has some, whatever was visited meanwhile', async () => {
  const { pages } = site(1);
  const state = { links: [] as string[] };
  const home = (exchange: Exchange) => {
    const links = state.links.map((path) => exchange.url(path, 1));
    answer(exchange, { body: page('home', exchange.url('/p0', 0), ...links) });
  };
  const { open, clock, asked, crawl } = await bench(
    { pages: { ...pages, '/': home }, hosts: 2 },
    { budget: '100/day', hostBudget: '20/day', allowedHosts: ['any'] },
  );
  await crawl();
  state.links = numbers(40).map((n) => `/pnew${n}`);
  const found: string[][] = [];
  clock.advance(DAY_MS);
  const watch = await open();
  for (let tick = 0; tick < 9; tick++) {
    asked();
    await watch.tick();
    found.push(asked().filter((path) => path.startsWith('1:')));
    // Its links would bring them up as well.
    state.links = [];
    clock.advance(DAY_MS / 4);
  }
  await watch.close();
  // Twenty at once of a new host are those of its first day; then five come each time.
  expect(found.map((paths) => paths.length)).toEqual([20, 0, 0, 0, 5, 5, 5, 5, 5]);
  expect(new Set(found.flat()).size).toBe(40);
});

it('pays for new pages too: what there is no room for waits for the next ticks, and is not lost', async () => {
  const { pages, state } = site(5);
  const { open, clock, asked, changes } = await bench({ pages }, { budget: '12/day' });
  const watch = await open();
  await watch.prepare();
  asked();
  state.links.push(...numbers(30).map((n) => `/pnew${n}`));
  const perTick: number[] = [];
  for (let day = 0; day < 6; day++) {
    clock.advance(DAY_MS);
    await watch.tick();
    perTick.push(asked().length);
  }
  expect(Math.max(...perTick)).toBeLessThanOrEqual(12);
  expect(changes().filter((line) => line.startsWith('new ')).length).toBe(30);
  await watch.close();
});

it.each([
  ['was kept', true],
  ['was lost', false],
])(
  'has the next day’s budget after a first crawl that crashed, where what the watch knew %s',
  async (_, isKept) => {
    const { pages } = site(100);
    const { open, asked, clock, path } = await bench({ pages }, { budget: '20/day' });
    await (await open()).prepare();
    const made = [asked().length];
    const db = new Sqlite(path);
    const { id, plan } = db.prepare('SELECT id, revisit_plan AS plan FROM project').get() as {
      id: number;
      plan: string;
    };
    const state = JSON.parse(plan);
    // As it stood before the visits were charged.
    const at = clock.now();
    const openCharge = { afterRun: 0, at, room: 20, before: { visits: 0, hosts: {} } };
    const before = { ...state, openCharge, budget: { tickedAt: at, all: [20], hosts: {} }, watcher: null };
    const kept = isKept ? JSON.stringify(before) : null;
    db.prepare('UPDATE project SET revisit_plan = ? WHERE id = ?').run(kept, id);
    db.exec("UPDATE run SET status = 'running'");
    db.close();
    for (let day = 1; day <= 3; day++) {
      clock.advance(DAY_MS + 60_000);
      const watch = await open();
      await watch.prepare();
      await watch.tick();
      await watch.close();
      made.push(asked().length);
    }
    expect(made).toEqual([20, 20, 20, 20]);
  },
);
