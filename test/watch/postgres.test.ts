/** A watch on PostgreSQL, whose clock is the database's: what was visited two days ago is made so in its rows. */

import type { Sql } from 'postgres';
import { afterEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { joinCrawl, startCrawl } from '../../src/crawl/start-crawl.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { configOfRun } from '../../src/project/config-of-run.ts';
import { openRunList } from '../../src/store/open-store.ts';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import type { WatchEvent } from '../../src/watch/watch-event.ts';
import { openWatch } from '../../src/watch/watch-project.ts';
import { settingsOf } from '../../src/watch/watch-settings.ts';
import { page } from '../crawls/crawl-site.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type Exchange, startFakeWeb } from '../web/fake-web.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const BACK = 2 * 86_400_000;

async function setUp(budgets: { budget: string; hostBudget?: string; hours?: string; discover?: string[] }) {
  const server = await sharedPostgres();
  const store = await server.newDatabase();
  closing.push(() => server.dropDatabase(store));
  const sql = connect(store, { max: 1, applicationName: 'test' });
  closing.push(() => disconnect(sql));
  const state = { version: 0, links: ['/a', '/b'], isBusy: false, onHome: async () => {} };
  const web = await startFakeWeb({
    pages: {
      '/': (exchange: Exchange) =>
        void state.onHome().then(() => answer(exchange, { body: page('home', ...state.links) })),
      '/a': (exchange: Exchange) => answer(exchange, { body: page(`A in version ${state.version}`) }),
      '/b': (exchange: Exchange) =>
        state.isBusy
          ? answer(exchange, { status: 429, headers: { 'retry-after': '3600' }, body: '' })
          : answer(exchange, { body: page('B') }),
    },
  });
  closing.push(() => web.close());
  const config = await loadConfig({
    env: {},
    options: { store, delay: 0, adaptiveDelay: false, discover: ['links'], ...budgets },
  });
  const events: WatchEvent[] = [];
  const open = () =>
    openWatch({
      config,
      startUrls: [web.url('/')],
      project: 'watched',
      settings: settingsOf(config),
      onEvent: (event) => void events.push(event),
    });
  return { sql, state, web, config, events, open };
}

/** As if the budget had been spent two days ago. */
async function payLongAgo(sql: Sql): Promise<void> {
  const [{ plan }] = await sql.unsafe<{ plan: string }[]>('SELECT revisit_plan AS plan FROM project');
  const kept = JSON.parse(plan);
  // In hand, then of each tick two times and a number.
  const earlier = (purse: number[]) => purse.map((value, i) => (i % 3 === 0 ? value : value - BACK));
  const { tickedAt, all, hosts } = kept.budget as {
    tickedAt: number;
    all: number[];
    hosts: Record<string, number[]>;
  };
  kept.budget = {
    tickedAt: tickedAt - BACK,
    all: earlier(all),
    hosts: Object.fromEntries(Object.entries(hosts).map(([id, purse]) => [id, earlier(purse)])),
  };
  await sql.unsafe('UPDATE project SET revisit_plan = $1', [JSON.stringify(kept)]);
}

it('leaves no page out of a first crawl that has to wait, though a worker takes part in it', async () => {
  const { sql, web, state, config, open } = await setUp({ budget: '2/day' });
  const joined: CrawlHandle[] = [];
  state.onHome = async () => {
    state.onHome = async () => {};
    const configOf = (run: { config: string }) =>
      configOfRun(run, { env: process.env, options: { store: config.store! } });
    joined.push((await joinCrawl({ runId: 1, worker: config, configOf }))!);
  };
  const watch = open();
  expect(await watch.prepare()).toMatchObject({ status: 'interrupted', pages: 2 });
  expect(await joined[0].finished).toMatchObject({ status: 'interrupted' });
  expect(await sql.unsafe('SELECT status FROM run')).toMatchObject([{ status: 'interrupted' }]);
  await watch.close();
  await payLongAgo(sql);
  const next = open();
  expect(await next.prepare()).toMatchObject({ status: 'completed', pages: 3 });
  await next.close();
  expect(web.log.filter(({ path }) => path !== '/robots.txt').length).toBe(3);
});

it.each([
  ['all', { budget: '2/day' }],
  ['each host', { budget: '1000/day', hostBudget: '2/day' }],
])(
  'spends the budget of %s on the first crawl, and goes on with it when there is more',
  async (_, budgets) => {
    const { sql, web, open } = await setUp(budgets);
    const watch = open();
    expect(await watch.prepare()).toMatchObject({ status: 'interrupted', pages: 2 });
    expect(await watch.tick()).toMatchObject({ skipped: 'budget' });
    await watch.close();
    const asked = () => web.log.filter(({ path }) => path !== '/robots.txt').length;
    expect(asked()).toBe(2);
    await payLongAgo(sql);
    const next = open();
    expect(await next.prepare()).toMatchObject({ status: 'completed', pages: 3 });
    await next.close();
    expect(asked()).toBe(3);
  },
);

const hour = new Date().getHours();

it.each([
  ['budgets of hosts', { budget: '9/day', hostBudget: '2/day' }],
  ['hours', { budget: '9/day', hours: `${hour}-${(hour + 3) % 24}` }],
])('lets no worker into runs with %s, which it would not keep', async (_, budgets) => {
  const { web, state, config, open } = await setUp(budgets);
  const seen: unknown[] = [];
  state.onHome = async () => {
    const runs = (await openRunList({
      address: config.storeAddress,
      clock: systemClock,
      patienceMs: 0,
    }))!;
    seen.push(await runs.running(), await runs.hostsWaiting());
    await runs.close();
    const configOf = (run: { config: string }) =>
      configOfRun(run, { env: process.env, options: { store: config.store! } });
    seen.push(await joinCrawl({ runId: 1, worker: config, configOf }));
  };
  const watch = open();
  await watch.prepare();
  await watch.close();
  expect(seen).toEqual([[], 0, null]);
  expect(web.requestsTo('/').length).toBe(1);
});

/** As if all of it had happened two days ago. */
const LONG_AGO = `UPDATE visit SET visited_at = visited_at - ${BACK};
  UPDATE fetched SET visited_at = visited_at - ${BACK};
  UPDATE run SET started_at = started_at - ${BACK}, finished_at = finished_at - ${BACK};`;

it('finds orphans in a tick that asks as many pages as it may', async () => {
  const { sql, state, web, config, events, open } = await setUp({ budget: '3/day' });
  const crawl = await startCrawl({ config: { ...config, project: 'watched' }, startUrls: [web.url('/')] });
  await crawl.finished;
  await sql.unsafe(LONG_AGO);
  state.links = ['/a'];
  const watch = open();
  expect(await watch.tick()).toMatchObject({ status: 'completed', due: 3, changed: 1, gone: 1 });
  expect(events.filter(({ type }) => type === 'change')).toMatchObject([
    { outcome: 'changed', url: web.url('/') },
    { outcome: 'gone', url: web.url('/b'), known_by: 'orphan' },
  ]);
  await watch.close();
});

it('gives visits that sitemaps had no use for to further pages, in the same run', async () => {
  const { sql, web, config, open } = await setUp({ budget: '3/day', discover: ['sitemap', 'links'] });
  const crawl = await startCrawl({
    config: { ...config, project: 'watched', discover: ['links'] },
    startUrls: [web.url('/')],
  });
  await crawl.finished;
  await sql.unsafe(LONG_AGO);
  const before = web.log.length;
  const watch = open();
  expect(await watch.tick()).toMatchObject({ status: 'completed', due: 3, unchanged: 3, budget_left: 0 });
  const asked = web.log.slice(before).map(({ path }) => path);
  expect(asked).toContain('/sitemap.xml');
  expect(asked.filter((path) => ['/', '/a', '/b'].includes(path)).length).toBe(3);
  expect(await sql.unsafe('SELECT id FROM run')).toHaveLength(2);
  await watch.close();
});

it('visits what is due, tells what changed, keeps its plan and its budget, and is alone', async () => {
  const { sql, state, web, config, events, open } = await setUp({ budget: '3/day' });
  const crawl = await startCrawl({ config: { ...config, project: 'watched' }, startUrls: [web.url('/')] });
  expect((await crawl.finished).pages).toBe(3);
  const watch = open();
  await sql.unsafe(LONG_AGO);
  state.version = 1;
  const before = web.log.length;
  expect(await watch.tick()).toMatchObject({ status: 'completed', due: 3, changed: 1, unchanged: 2 });
  expect(
    web.log
      .slice(before)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['/', '/a', '/b']);
  expect(events.filter(({ type }) => type === 'change')).toMatchObject([
    { outcome: 'changed', url: web.url('/a') },
  ]);
  await expect(open().prepare()).rejects.toMatchObject({ code: 'watch-in-use' });
  await watch.close();
  const next = open();
  expect(await next.prepare()).toBeNull();
  // The day's visits are spent, whoever watches.
  expect(await next.tick()).toMatchObject({ skipped: 'budget' });
  await next.close();
  expect(web.log.length).toBe(before + 3);
});

it('waits for no pause of an hour that its host asks for, and leaves it out until that is over', async () => {
  const { sql, state, web, config, open } = await setUp({ budget: '1000/day' });
  const crawl = await startCrawl({ config: { ...config, project: 'watched' }, startUrls: [web.url('/')] });
  await crawl.finished;
  const watch = open();
  await sql.unsafe(LONG_AGO);
  state.isBusy = true;
  // One that waited would outlast the test.
  expect(await watch.tick()).toMatchObject({ status: 'completed', due: 3, failed: 0 });
  const before = web.log.length;
  expect(await watch.tick()).toMatchObject({ skipped: 'nothing due' });
  expect(web.log.length).toBe(before);
  state.isBusy = false;
  await sql.unsafe('UPDATE host SET blocked_until = 0');
  expect(await watch.tick()).toMatchObject({ status: 'completed' });
  expect(web.log.slice(before).map(({ path }) => path)).toContain('/b');
  await watch.close();
});

it('visits nothing while somebody crawls by hand, and takes nothing from that', async () => {
  const { sql, state, web, config, events, open } = await setUp({ budget: '1/day' });
  const watch = open();
  state.onHome = async () => {
    expect(await watch.prepare()).toBeNull();
    expect(await watch.tick()).toMatchObject({ skipped: 'crawl', budget_left: 0 });
  };
  const crawl = await startCrawl({ config: { ...config, project: 'watched' }, startUrls: [web.url('/')] });
  expect(await crawl.finished).toMatchObject({ status: 'completed', pages: 3 });
  expect(await sql.unsafe('SELECT metadata FROM run')).toMatchObject([{ metadata: null }]);
  state.onHome = async () => {};
  expect(await watch.prepare()).toBeNull();
  expect(await watch.tick()).toMatchObject({ status: 'completed', due: 1 });
  expect(events.filter(({ type }) => type === 'tick').length).toBe(2);
  await watch.close();
});

it('lets one watch in where many come at once', async () => {
  const { web, config, open } = await setUp({ budget: '3/day' });
  const crawl = await startCrawl({ config: { ...config, project: 'watched' }, startUrls: [web.url('/')] });
  await crawl.finished;
  const watches = Array.from({ length: 6 }, () => open());
  const ends = await Promise.allSettled(watches.map((watch) => watch.prepare()));
  const refused = ends.filter((end) => end.status === 'rejected').map((end) => end.reason.code as string);
  expect(refused).toEqual(Array.from({ length: 5 }, () => 'watch-in-use'));
  for (const watch of watches) await watch.close();
});
