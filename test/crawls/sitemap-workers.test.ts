// Sitemaps where many work on a run, on a real PostgreSQL: who begins the run finds them, everybody crawls what they name,
// and nobody ends the run while they are looked for.
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { joinCrawl, startCrawl } from '../../src/crawl/start-crawl.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { configOfRun } from '../../src/project/config-of-run.ts';
import { openStore } from '../../src/store/open-store.ts';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import type { RunStore } from '../../src/store/store-port.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { indexOf, robotsNaming, sitemapOf } from '../web/sitemap-pages.ts';
import { asked, type CrawlOptions, page, useBench } from './crawl-site.ts';
import { type ChangedVerbs, withVerbs } from './with-verbs.ts';

const bench = useBench();
const open: CrawlHandle[] = [];
const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const handle of open) handle.stop();
  await Promise.allSettled(open.splice(0).map(({ finished }) => finished));
  for (const drop of drops.splice(0)) await drop();
});

async function useStore(more: CrawlOptions = {}) {
  const server = await sharedPostgres();
  const store = await server.newDatabase();
  const sql = connect(store, { max: 1, applicationName: 'test' });
  drops.push(async () => {
    await disconnect(sql);
    await server.dropDatabase(store);
  });
  const options = { store, delay: 0, adaptiveDelay: false, leaseSeconds: 5, ...more };
  const config = await loadConfig({ env: {}, options: { ...options, discover: ['sitemap', 'links'] } });
  return {
    rows: async (text: string) => [...(await sql.unsafe(text))] as Record<string, unknown>[],
    async begin(url: string) {
      const handle = await startCrawl({ config, startUrls: [url] });
      open.push(handle);
      return handle;
    },
    /** As above, with some verbs of the store in other words. */
    async beginWith(
      url: string | string[],
      verbs: (own: RunStore) => ChangedVerbs,
      maxPages = config.maxPages,
    ) {
      const own = await openStore({ address: store, clock: systemClock, onFailure: () => {} });
      const handle = await startCrawl({
        config: { ...config, maxPages },
        startUrls: typeof url === 'string' ? [url] : url,
        extensions: { store: withVerbs(own, verbs) },
      });
      open.push(handle);
      return handle;
    },
    async join(runId: number) {
      const configOf = (run: { config: string }) =>
        configOfRun(run, { env: process.env, options: { store, leaseSeconds: 5 } });
      const handle = await joinCrawl({ runId, worker: config, configOf });
      if (handle !== null) open.push(handle);
      return handle;
    },
  };
}

describe('a store that takes its time', () => {
  it('has no path guessed while it hands out a page, though robots.txt has come', async () => {
    const web = await bench.web({ pages: { '/': page('home'), '/sitemap.xml': sitemapOf('/') } });
    const file = bench.file();
    const store = await openStore({ address: file.path, clock: systemClock, onFailure: () => {} });
    const robots: { came?: () => void } = {};
    const robotsCame = new Promise<void>((resolve) => {
      robots.came = resolve;
    });
    const own = withVerbs(store, ({ frontier, hosts }) => ({
      async saveRobots(...values) {
        await hosts.saveRobots(...values);
        robots.came!();
      },
      async claim(...request) {
        const claimed = await frontier.claim(...request);
        await robotsCame;
        // A guess would come by now.
        await Promise.race([web.asked('/sitemap.xml'), turns(500)]);
        return claimed;
      },
    }));
    await bench.crawl(file, web.origin, { discover: ['sitemap', 'links'] }, { store: own });
    expect(asked(web)).toEqual(['/', '/sitemap.xml']);
  });
});

describe('a start page on a shared store', () => {
  it('is asked for once, also where the store takes its time to lease its host', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: { '/start': page('start'), '/a.xml': sitemapOf('/named'), '/named': page('named') },
    });
    const store = await useStore();
    const held: { now?: () => void } = {};
    const isHeld = new Promise<void>((resolve) => {
      held.now = resolve;
    });
    const first = await store.beginWith(web.url('/start'), (own) => ({
      lease: async (...request) => isHeld.then(() => own.frontier.lease(...request)),
      async leaseHost(...request) {
        const lease = await own.frontier.leaseHost(...request);
        held.now!();
        // The loop looks for hosts, and finds that there are none.
        await turns(5_000);
        return lease;
      },
    }));
    expect((await first.finished).status).toBe('completed');
    expect(asked(web).filter((path) => path === '/start')).toHaveLength(1);
    expect(asked(web)).toContain('/named');
  });

  it.each(['alone', 'with another worker, who asks for it'])(
    'that does not answer is no trouble of the sitemaps, and is given up as any page: %s',
    async (who) => {
      const isAlone = who === 'alone';
      const web = await bench.web({
        robots: robotsNaming(['/a.xml']),
        pages: {
          '/start': (exchange) => answer(exchange, { status: 503 }),
          '/a.xml': sitemapOf('/named'),
          '/named': page('named'),
        },
      });
      const store = await useStore({ retries: 0 });
      const isAsked = isAlone ? Promise.resolve() : web.asked('/start');
      const first = await store.beginWith(web.url('/start'), (own) => ({
        lease: async (...request) => isAsked.then(() => own.frontier.lease(...request)),
        leaseHost: async (...request) => isAsked.then(() => own.frontier.leaseHost(...request)),
      }));
      const second = isAlone ? null : await store.join(first.runId);
      await Promise.all([first.finished, second?.finished]);
      if (isAlone) expect(asked(web).filter((path) => path === '/start')).toHaveLength(1);
      expect(await store.rows('SELECT method, entries, trouble FROM discovery_status')).toEqual([
        { method: 'sitemap', entries: 1, trouble: null },
      ]);
    },
  );
});

/** Of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('sitemaps with two workers on one run', () => {
  it('are looked for by who began it, once, and the run lasts until that is done', async () => {
    const late: { sitemap?: Exchange } = {};
    const web = await bench.web({
      robots: robotsNaming(['/index.xml']),
      pages: {
        '/index.xml': indexOf('/a.xml', '/b.xml'),
        '/a.xml': sitemapOf(...Array.from({ length: 20 }, (_, n) => `/a/${n}`)),
        // Answered only when there is nothing else left to do.
        '/b.xml': (exchange) => {
          late.sitemap = exchange;
        },
        '/': page('home'),
        '/a/*': page('a'),
        '/b/*': page('b'),
      },
    });
    const store = await useStore();
    const first = await store.begin(web.origin);
    const second = await store.join(first.runId);
    await Promise.all([web.asked('/b.xml'), ...Array.from({ length: 20 }, (_, n) => web.asked(`/a/${n}`))]);
    const waiting = 'SELECT 1 FROM host_queue WHERE waiting > 0';
    while ((await store.rows(waiting)).length > 0);
    // Nothing waits anywhere: whoever asks now is told that the run is not over.
    expect(second).not.toBeNull();
    expect((await store.rows(`SELECT status FROM run WHERE id = ${first.runId}`))[0].status).toBe('running');
    sitemapOf(...Array.from({ length: 20 }, (_, n) => `/b/${n}`))(late.sitemap!);
    const [summary] = await Promise.all([first.finished, second?.finished]);
    expect(summary.status).toBe('completed');
    const paths = asked(web);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toHaveLength(3 + 1 + 40);
    expect(await store.rows('SELECT count(*)::int AS n FROM sitemap_entries')).toEqual([{ n: 40 }]);
    expect(await store.rows('SELECT method, entries FROM discovery_status')).toEqual([
      { method: 'sitemap', entries: 40 },
    ]);
    const again = await store.begin(web.origin);
    await again.finished;
    expect(asked(web).filter((path) => path.endsWith('.xml'))).toHaveLength(3);
  });

  it.each([
    ['by its link', '/', []],
    ['because it is one', '/feed', []],
    ['because it is one, beside what robots.txt names', '/feed', ['/a.xml']],
  ])('are found by a start page that the other one read, %s', async (_, start, named) => {
    const web = await bench.web({
      robots: robotsNaming(named),
      pages: {
        '/': `<title>home</title><link rel="sitemap" href="/by-link.xml">`,
        '/by-link.xml': sitemapOf('/named'),
        '/feed': sitemapOf('/named'),
        '/a.xml': sitemapOf('/other'),
        '/named': page('named'),
        '/other': page('other'),
      },
    });
    const store = await useStore();
    const isRead = web.asked(start);
    const first = await store.beginWith(web.url(start), (own) => ({
      lease: async (...request) => isRead.then(() => own.frontier.lease(...request)),
      leaseHost: async (...request) => isRead.then(() => own.frontier.leaseHost(...request)),
    }));
    const second = await store.join(first.runId);
    expect(second).not.toBeNull();
    await Promise.all([first.finished, second?.finished]);
    expect(asked(web)).toContain('/named');
    expect(await store.rows('SELECT method, entries, trouble FROM discovery_status')).toEqual([
      { method: 'sitemap', entries: 1 + named.length, trouble: null },
    ]);
  });

  it('are all read where the other one asked for several feeds as pages', async () => {
    const web = await bench.web({
      pages: { '/f1': sitemapOf('/n1'), '/f2': sitemapOf('/n2'), '/n1': page('1'), '/n2': page('2') },
    });
    const store = await useStore();
    const isRead = Promise.all([web.asked('/f1'), web.asked('/f2')]);
    const first = await store.beginWith([web.url('/f1'), web.url('/f2')], (own) => ({
      lease: async (...request) => isRead.then(() => own.frontier.lease(...request)),
      leaseHost: async (...request) => isRead.then(() => own.frontier.leaseHost(...request)),
    }));
    const second = await store.join(first.runId);
    await Promise.all([first.finished, second?.finished]);
    expect(asked(web)).toEqual(expect.arrayContaining(['/n1', '/n2']));
  });

  it('keep no permits from who has the host they are of', async () => {
    const web = await bench.web({ pages: { '/a': page('a') } });
    const store = await useStore();
    // Once the page is there its host is another worker's, who has no permit, until one is given back.
    let [isTaken, held] = [false, 0];
    const first = await store.beginWith(
      `127.0.0.1:${web.port}/a`,
      (own) => ({
        async lease(...request) {
          const leases = isTaken ? [] : await own.frontier.lease(...request);
          held += leases.length;
          return leases;
        },
        async leaseHost(...request) {
          const lease = isTaken ? null : await own.frontier.leaseHost(...request);
          if (lease !== null) held++;
          return lease;
        },
        async release(lease) {
          await own.frontier.release(lease);
          held--;
        },
        async offer(candidates) {
          while (held > 0) await turns(1);
          isTaken = candidates.length > 0;
          return own.frontier.offer(candidates);
        },
        async returnPages(count) {
          await own.run.returnPages(count);
          isTaken = false;
        },
      }),
      1,
    );
    expect(await first.finished).toMatchObject({ status: 'completed', pages: 1 });
  });

  it('make the run go on another time where who looked for them leaves, though the other one has no more to do', async () => {
    const held: Exchange[] = [];
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': (exchange) => {
          if (exchange.nth === 1) held.push(exchange);
          else sitemapOf('/a')(exchange);
        },
        '/': page('home'),
        '/a': page('a'),
      },
    });
    const store = await useStore();
    const first = await store.begin(web.origin);
    await web.asked('/a.xml');
    const second = await store.join(first.runId);
    first.stop();
    const [left, last] = await Promise.all([first.finished, second!.finished]);
    expect([left.status, last.status]).toEqual(['interrupted', 'interrupted']);
    expect(held).toHaveLength(1);
    const [run] = await store.rows('SELECT status, error FROM run');
    expect(run).toMatchObject({ status: 'interrupted', error: expect.stringContaining('the run can go on') });
    const again = await store.begin(web.origin);
    expect((await again.finished).status).toBe('completed');
    expect(asked(web)).toContain('/a');
    expect(await store.rows('SELECT status, error FROM run')).toEqual([{ status: 'completed', error: null }]);
  });

  it('are not saved of a look that Ctrl-C ended, though others go on with the run', async () => {
    const stop: { now?: () => void } = {};
    const web = await bench.web({
      robots: robotsNaming(['/index.xml']),
      pages: {
        '/index.xml': (exchange) => {
          indexOf('/a.xml', '/b.xml')(exchange);
          if (exchange.nth === 1) stop.now!();
        },
        '/a.xml': sitemapOf('/a'),
        '/b.xml': (exchange) => answer(exchange, { status: 404 }),
        '/': page('home'),
        '/a': page('a'),
      },
    });
    const store = await useStore();
    const first = await store.begin(web.origin);
    stop.now = first.stop;
    expect((await first.finished).status).toBe('interrupted');
    expect(await store.rows('SELECT * FROM discovery_status')).toEqual([]);
    const second = await store.begin(web.origin);
    expect((await second.finished).status).toBe('completed');
    expect(asked(web).filter((path) => path === '/a')).toHaveLength(1);
    expect(await store.rows('SELECT method, entries FROM discovery_status')).toEqual([
      { method: 'sitemap', entries: 1 },
    ]);
  });
});
