// Several workers on one run, on a real PostgreSQL: nothing lost, nothing done twice, no limit exceeded, no host asked by
// two. All are in this process, which makes no difference to the store: each has connections and an owner of its own.
import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { startWorker, type Worker } from '../../src/crawl/run/worker.ts';
import { joinCrawl, startCrawl } from '../../src/crawl/start-crawl.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { configOfRun } from '../../src/project/config-of-run.ts';
import { openRunList, openStore } from '../../src/store/open-store.ts';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb } from '../web/fake-web.ts';
import { asked, type CrawlOptions, page, seenAs, useBench } from './crawl-site.ts';
import { withVerbs } from './with-verbs.ts';

const bench = useBench();
const QUICK: CrawlOptions = {
  delay: 0,
  retryDelay: 0.02,
  adaptiveDelay: false,
  leaseSeconds: 5,
  discover: ['links'],
};

/** A worker follows a run that ignores robots.txt only where its own operator allows that. */
const HERE = { robots: false };

const open: CrawlHandle[] = [];
const workers: Worker[] = [];
const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const one of [...open, ...workers]) one.stop();
  await Promise.allSettled([...open.splice(0), ...workers.splice(0)].map(({ finished }) => finished));
  for (const drop of drops.splice(0)) await drop();
});

/** An empty database and what is done with it. */
async function useStore() {
  const server = await sharedPostgres();
  const store = await server.newDatabase();
  const sql = connect(store, { max: 1, applicationName: 'test' });
  drops.push(async () => {
    await disconnect(sql);
    await server.dropDatabase(store);
  });
  const configWith = (options: CrawlOptions) =>
    loadConfig({ env: {}, options: { ...QUICK, store, ...options } });
  return {
    address: store,
    rows: async (text: string) => [...(await sql.unsafe(text))] as Record<string, unknown>[],
    async begin(startUrls: string[], options: CrawlOptions = {}) {
      const handle = await startCrawl({ config: await configWith(options), startUrls });
      open.push(handle);
      return handle;
    },
    async join(runId: number, options: CrawlOptions = {}) {
      const worker = await configWith(options);
      const { leaseSeconds, drainSeconds } = worker;
      const configOf = (run: { config: string }) =>
        configOfRun(run, { env: process.env, options: { store, leaseSeconds, drainSeconds }, here: HERE });
      const handle = await joinCrawl({ runId, worker, configOf });
      if (handle === null) throw new Error(`run ${runId} cannot be joined`);
      open.push(handle);
      return handle;
    },
    async work(options: CrawlOptions = {}, isOnce = false) {
      const worker = await configWith(options);
      const runs = await openRunList({ address: store, clock: systemClock, patienceMs: 10_000 });
      const heard: string[] = [];
      const started = startWorker({
        worker,
        runs: runs!,
        clock: systemClock,
        configOf: (run) =>
          configOfRun(run, {
            env: process.env,
            options: { store, leaseSeconds: worker.leaseSeconds },
            here: HERE,
          }),
        isOnce,
        listenTo: () => [],
        onJoined: ({ runId }) => heard.push(`joined ${runId}`),
        onLeft: ({ run, status }) => heard.push(`left ${run} ${status}`),
        onRefused: (run, error) => heard.push(`refused ${run} ${error}`),
        onIdle: () => heard.push('idle'),
      });
      workers.push(started);
      return Object.assign(started, { heard });
    },
  };
}

/** Another address of the database, where the first connections are cut at their first question, as by a server that goes down. */
async function cutting(address: string, cuts: number): Promise<string> {
  const { hostname: host, port } = new URL(address);
  let left = cuts;
  const relay = createServer((client) => {
    const server = connectTo(Number(port), host);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    const isCut = left-- > 0;
    client.on('data', (bytes) => {
      // Only the message that opens a connection begins with its length.
      if (isCut && bytes[0] !== 0) end();
      else server.write(bytes);
    });
    server.pipe(client);
    for (const side of [client, server]) side.on('error', end).on('close', end);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  drops.unshift(async () => void relay.close());
  return address.replace(`:${port}/`, `:${(relay.address() as AddressInfo).port}/`);
}

/** Every page of the graph, once. */
function expectEachOnce(web: FakeWeb, pages: number): void {
  const seen = web.log.filter(({ path }) => path !== '/robots.txt').map(({ host, path }) => `${host}${path}`);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.length).toBe(pages);
}

const starts = (web: FakeWeb) => web.origins.map((origin) => `${origin}/`);
const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
};

describe('workers on one run', () => {
  it('share its hosts, fetch every page once, and all end with it', async () => {
    // As many as let who joins last find some, however slow the machine.
    const PAGES = 1200;
    const web = await bench.web({ graph: { seed: 7, pages: PAGES, hosts: 12 } });
    const store = await useStore();
    const first = await store.begin(starts(web), { concurrency: 3, delay: 0.01 });
    const [second, third] = await Promise.all([
      store.join(first.runId, { concurrency: 3 }),
      store.join(first.runId, { concurrency: 3 }),
    ]);
    const summaries = await Promise.all([first.finished, second.finished, third.finished]);
    expectEachOnce(web, PAGES);
    for (const summary of summaries)
      expect(summary).toMatchObject({ status: 'completed', pages: PAGES, by_state: { Processed: PAGES } });
    const parts = [first, second, third].map((handle) => handle.read().pages);
    expect(parts.reduce((a, b) => a + b)).toBe(PAGES);
    for (const pages of parts) expect(pages).toBeGreaterThan(0);
    expect(await store.rows('SELECT status, pages, requests FROM runs')).toEqual([
      { status: 'completed', pages: PAGES, requests: web.log.length },
    ]);
    expect(await store.rows('SELECT name FROM host WHERE lease_owner IS NOT NULL')).toEqual([]);
    expect(await store.rows('SELECT id FROM worker WHERE ended_at IS NULL')).toEqual([]);
  });

  it('go on with the hosts they have while the store takes its time to lease others', async () => {
    const web = await bench.web({ graph: { seed: 11, pages: 30 } });
    const { address } = await useStore();
    const store = await openStore({ address, clock: systemClock, onFailure: () => {} });
    let asked = 0;
    const slow = withVerbs(store, ({ frontier }) => ({
      async lease(...request) {
        if (++asked > 1) await until(() => web.log.length === 30);
        return frontier.lease(...request);
      },
    }));
    const config = await loadConfig({ env: {}, options: { ...QUICK, delay: 0.01, robots: false } });
    const handle = await startCrawl({
      config,
      startUrls: starts(web),
      extensions: { store: slow },
    });
    open.push(handle);
    expect(await handle.finished).toMatchObject({ status: 'completed', pages: 30 });
    expect(asked).toBeGreaterThan(1);
  });

  it('look once more when they heard of work while the store was looking', async () => {
    const web = await bench.web({ graph: { seed: 11, pages: 2 } });
    const { address } = await useStore();
    const store = await openStore({ address, clock: systemClock, onFailure: () => {} });
    let asked = 0;
    let hasLooked = false;
    let mayAnswer = false;
    let hearOfWork = () => {};
    const slow = withVerbs(store, ({ frontier }) => ({
      async lease(...request) {
        const isSecond = ++asked === 2;
        const found = await frontier.lease(...request);
        hasLooked = isSecond;
        if (isSecond) await until(() => mayAnswer);
        return found;
      },
      onWork(listener) {
        hearOfWork = listener;
      },
    }));
    const config = await loadConfig({ env: {}, options: { ...QUICK, delay: 60, robots: false } });
    const handle = await startCrawl({
      config,
      startUrls: starts(web),
      extensions: { store: slow },
    });
    open.push(handle);
    const passes = async () => {
      for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    await until(() => hasLooked && handle.read().pages === 1);
    await passes();
    hearOfWork();
    await passes();
    mayAnswer = true;
    await passes();
    // The page that is left waits for a minute, and nobody looks by himself for a second.
    expect(asked).toBe(3);
  });

  it('keep the delay of a host between all of them', async () => {
    const web = await bench.web({ graph: { seed: 9, pages: 40, hosts: 4 } });
    const store = await useStore();
    const first = await store.begin(starts(web), { delay: 0.1, concurrency: 2, robots: false });
    const second = await store.join(first.runId);
    await Promise.all([first.finished, second.finished]);
    expectEachOnce(web, 40);
    for (const host of [0, 1, 2, 3])
      for (const gap of web.gapsMs(host)) expect(gap).toBeGreaterThanOrEqual(seenAs(100));
  });

  it('never ask for more pages than max-pages together, and reach it', async () => {
    const web = await bench.web({ graph: { seed: 3, pages: 300, hosts: 10 } });
    const store = await useStore();
    const first = await store.begin(starts(web), { maxPages: 77, concurrency: 5 });
    const others = [await store.join(first.runId), await store.join(first.runId)];
    const summary = await first.finished;
    await Promise.all(others.map(({ finished }) => finished));
    expect(asked(web)).toHaveLength(77);
    // Others may still hold pages that they claimed: what is left is looked at when all have ended.
    expect(summary).toMatchObject({ status: 'completed', pages: 77 });
    expect(await store.rows("SELECT DISTINCT reason FROM pages WHERE state <> 'Processed'")).toEqual([
      { reason: 'limit: max-pages 77' },
    ]);
    expect(await store.rows("SELECT count(*) AS n FROM pages WHERE state IN ('Queued', 'Fetching')")).toEqual(
      [{ n: 0 }],
    );
  });

  it('wait for the last one that is busy, and take what it finds', async () => {
    const store = await useStore();
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const late = await bench.web({
      hosts: 3,
      pages: {
        '0:/': (exchange) =>
          void gate.then(() =>
            answer(exchange, { body: page('Home', exchange.url('/x', 1), exchange.url('/y', 2)) }),
          ),
        '/*': page('P'),
      },
    });
    const first = await store.begin([late.url('/')], {
      concurrency: 1,
      robots: false,
      allowedHosts: ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
    });
    await late.asked('/');
    const second = await store.join(first.runId);
    let isOver = false;
    second.finished.then(() => {
      isOver = true;
    });
    // By its first sign of life it has looked for work, and whether the run is over, several times.
    await until(async () => (await store.rows('SELECT 1 FROM worker WHERE told_at > 0')).length === 2);
    expect(isOver).toBe(false);
    open();
    await Promise.all([first.finished, second.finished]);
    expect(asked(late).sort()).toEqual(['/', '/x', '/y']);
  });

  it('leave it to the others when they are told to stop', async () => {
    const web = await bench.web({ graph: { seed: 11, pages: 480, hosts: 6 } });
    const store = await useStore();
    const first = await store.begin(starts(web), { concurrency: 2, delay: 0.02 });
    const second = await store.join(first.runId);
    await until(() => second.read().pages > 3);
    first.stop();
    expect((await first.finished).status).toBe('interrupted');
    expect(await store.rows('SELECT status FROM runs')).toEqual([{ status: 'running' }]);
    expect((await second.finished).status).toBe('completed');
    expectEachOnce(web, 480);
  });

  it('joined and stopped, leave it running though nobody else is there', async () => {
    const web = await bench.web({ graph: { seed: 12, pages: 60, hosts: 3 } });
    const store = await useStore();
    const first = await store.begin(starts(web), { concurrency: 2, delay: 0.03 });
    const second = await store.join(first.runId);
    first.stop();
    await first.finished;
    await until(() => second.read().pages > 1);
    second.stop();
    expect((await second.finished).status).toBe('interrupted');
    expect(await store.rows('SELECT status FROM runs')).toEqual([{ status: 'running' }]);
    const third = await store.join(first.runId);
    expect((await third.finished).status).toBe('completed');
    expectEachOnce(web, 60);
  });
});

describe('a worker', () => {
  it('works on every run that is under way, and ends when there is none', async () => {
    const web = await bench.web({ graph: { seed: 13, pages: 60, hosts: 6 } });
    const store = await useStore();
    const options = { concurrency: 2, delay: 0.05, allowedHosts: ['host'] };
    const [a, b] = [
      await store.begin([web.url('/', 0), web.url('/', 1)], { ...options, project: 'a' }),
      await store.begin([web.url('/', 2), web.url('/', 3)], { ...options, project: 'b' }),
    ];
    const worker = await store.work({ concurrency: 4 });
    await until(() => worker.read().length === 2);
    a.stop();
    b.stop();
    await Promise.all([a.finished, b.finished]);
    await until(() => worker.heard.includes('idle'));
    expect(worker.heard).toEqual(
      expect.arrayContaining([`joined ${a.runId}`, `joined ${b.runId}`, `left ${a.runId} completed`]),
    );
    expect(await store.rows('SELECT DISTINCT status FROM runs')).toEqual([{ status: 'completed' }]);
    const seen = web.log
      .filter(({ path }) => path !== '/robots.txt')
      .map(({ host, path }) => `${host}${path}`);
    expect(new Set(seen).size).toBe(seen.length);
    worker.stop();
    await worker.finished;
  });

  it('told to work once ends at once when there is nothing', async () => {
    const store = await useStore();
    const worker = await store.work({}, true);
    await worker.finished;
    expect(worker.heard).toEqual([]);
  });

  it.each([
    ['outlasts a restart of the server while it joins a run', 300, 1],
    [
      'that is let into no run for longer than its patience lasts ends with that',
      0,
      Number.POSITIVE_INFINITY,
    ],
  ])('%s', async (_, storePatience, cuts) => {
    const web = await bench.web({ pages: { '/': () => {} } });
    const store = await useStore();
    const first = await store.begin(starts(web), { robots: false, drainSeconds: 0 });
    await web.asked('/');
    const worker = await store.work({ store: await cutting(store.address, cuts), storePatience });
    const joined = until(() => worker.heard.length > 0);
    if (cuts === 1) {
      await Promise.race([joined, worker.finished]);
      expect(worker.heard).toEqual([`joined ${first.runId}`]);
    } else await expect(worker.finished).rejects.toMatchObject({ code: 'store-unreachable' });
  });

  it('drains within its time: a request that never ends is given back', async () => {
    const web = await bench.web({ hosts: 2, pages: { '0:/': () => {}, '1:/': page('P') } });
    const store = await useStore();
    const first = await store.begin(starts(web), { concurrency: 4, robots: false, drainSeconds: 0.2 });
    await until(() => first.read().pages === 1);
    first.stop();
    expect(await first.finished).toMatchObject({ status: 'interrupted', pages: 1, waiting: 1 });
    expect(await store.rows("SELECT state FROM pages WHERE state <> 'Processed'")).toEqual([
      { state: 'Queued' },
    ]);
    expect(await store.rows('SELECT name FROM host WHERE lease_owner IS NOT NULL')).toEqual([]);
  });
});
