/**
 * The contract of the read side: a little crawl is written through the store port, then asked about. Every adapter must
 * give the answers that stand here; read-side.test.ts compares their answers with each other besides.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SITE_TABLES } from '../../src/sql/attached/site-tables.ts';
import { URL_COLUMNS } from '../../src/sql/attached/url-columns.ts';
import type { PageFilter, ReadSide } from '../../src/store/read-side.ts';
import { crawlALittle, entry, HASH, listed, type ReadHarness } from './little-crawl.ts';
import { describeReadHistory } from './read-history-contract.ts';
import { candidate, facts, LEASE_MS, links, processed, url } from './store/harness.ts';

const REQUEST = { owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null };

/** Every question that a read side takes, with its answer. */
export async function answersOf(side: ReadSide): Promise<Record<string, unknown>> {
  const projects = await side.projects();
  const pages = await listed(side.pages({}));
  const [shop] = projects;
  return {
    projects: projects.map(({ project }) => project),
    runs: await listed(side.runs({})),
    firstRun: await listed(side.runs({ project: 'shop', limit: 1 })),
    run: await side.run(2),
    noRun: await side.run(99),
    lastRun: await side.lastRun(shop.id),
    pages,
    byProject: await listed(side.pages({ project: 'other' })),
    byState: await listed(side.pages({ states: ['DeadLink', 'Stubbed'] })),
    byStatus: await listed(side.pages({ statusCodes: [404, 301], limit: 5 })),
    byHost: await listed(side.pages({ hosts: ['b.test', 'c.test', 'nowhere.test'] })),
    firstTwo: await listed(side.pages({ limit: 2 })),
    byChange: await listed(side.pages({ changes: ['changed'] })),
    changing: await listed(side.pages({ changingMoreThan: 1 })),
    unvisited: await listed(side.pages({ notVisitedSince: Date.UTC(2026, 0, 1, 0, 1) })),
    page: await side.page(shop.id, url('dead')),
    noPage: await side.page(shop.id, url('unheard-of')),
    noHost: await side.page(shop.id, 'https://unheard.test/'),
    pageById: await side.pageById(pages[3].id),
    texts: await Promise.all(pages.map(({ id }) => side.pageText(id))),
    links: await listed(side.links({})),
    projectLinks: await listed(side.links({ project: 'other' })),
    fewLinks: await listed(side.links({ limit: 1 })),
    linksTo: await listed(side.linksTo(new Set(pages.map(({ id }) => id)), {})),
    fewLinksTo: await listed(side.linksTo(new Set([pages[1].id]), { project: 'shop', limit: 1 })),
    withoutExternal: await listed(side.pages({ withoutExternal: true, limit: 3 })),
    external: [await side.countExternal(undefined), await side.countExternal('shop')],
    linksOf: await Promise.all(pages.map(({ id }) => listed(side.linksOf(id, {})))),
    hosts: await listed(side.hosts({})),
    projectHosts: await listed(side.hosts({ project: 'other', limit: 1 })),
    requestsOfPages: await Promise.all(pages.map(({ id }) => side.requests(id))),
    visits: await Promise.all(pages.map(({ id }) => side.visits(id))),
    changes: await listed(side.changes({ projectId: shop.id, fromRun: 1, toRun: 9 })),
    allChanges: await listed(
      side.changes({
        projectId: shop.id,
        fromRun: 2,
        toRun: 2,
        outcomes: ['changed', 'unchanged', 'failed'],
      }),
    ),
    pageChanges: await listed(
      side.changes({ projectId: shop.id, fromRun: 1, toRun: 2, pageId: pages[0].id, limit: 1 }),
    ),
    ledgers: await Promise.all([1, 2, 3, 99].map((run) => side.ledger(run))),
    entries: await listed(side.sitemapEntries({})),
    hostEntries: await listed(side.sitemapEntries({ project: 'shop', host: 'b.test' })),
    discoveries: await side.discoveries({}),
    noDiscoveries: await side.discoveries({ project: 'other' }),
    revisitPages: await listed(side.revisitPages(shop.id)),
    revisitPage: await listed(side.revisitPages(shop.id, pages[0].id)),
    revisitPlan: await side.revisitPlan(shop.id),
    noPlan: await side.revisitPlan(projects[1].id),
    visitsAfter: await listed(side.visitsAfter(shop.id, 1)),
    newlyLinked: (await listed(side.newlyLinked(shop.id, 0))).flat().sort(),
    linkedFrom: (await listed(side.linkedFrom(pages.map(({ id }) => id)))).flat().sort(),
    settings: await Promise.all(['shop', 'other', 'nobody'].map((name) => side.projectSettings(name))),
    looks: await Promise.all(['ada', 'nobody'].map((reader) => side.readerLook(shop.id, reader))),
    hostIds: await Promise.all(['a.test', 'unheard.test'].map((name) => side.hostId(name))),
    robots: await side.robots('https://a.test'),
    noRobots: await side.robots('https://unheard.test'),
    totals: await side.totals(undefined),
    projectTotals: await side.totals('shop'),
    reports: await Promise.all([1, 2, 3, 99].map((run) => side.report(run))),
    requestLog: await listed(side.requestLog()),
    repeated: await listed(side.repeatedUrls()),
    columns: await columnsOf(side, null),
    projectColumns: await columnsOf(side, 'other'),
    noColumns: await columnsOf(side, 'nobody'),
  };
}

/** Numbers of projects may have gaps. */
async function columnsOf(side: ReadSide, project: string | null): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [name, { reads: table, columns: all }] of Object.entries(SITE_TABLES)) {
    const columns = Object.keys(all).filter((column) => !(column in URL_COLUMNS) && column !== 'project_id');
    found[name] = await listed(side.columns({ table, columns, project }));
  }
  return found;
}

export function describeReadSide(name: string, start: () => Promise<ReadHarness>): void {
  describe(`the read side on ${name}`, () => {
    let harness: ReadHarness;
    let side: ReadSide;
    beforeAll(async () => {
      harness = await start();
      await crawlALittle(harness);
      side = await harness.openReadSide();
    });
    afterAll(async () => {
      await side?.close();
      await harness?.cleanUp();
    });

    it('knows up to where a reader has looked', async () => {
      expect(await side.readerLook(1, 'ada')).toEqual({ run: 2, at: 1_767_225_600_000 });
      expect(await side.readerLook(1, 'nobody')).toBeNull();
    });

    it('lists runs with their times, figures and notes', async () => {
      expect(await listed(side.runs({ project: 'shop' }))).toMatchObject([
        {
          run: 1,
          project: 'shop',
          status: 'completed',
          config_hash: 'h1',
          metadata: '{"for":"tests"}',
          error: null,
        },
        { run: 2, status: 'failed', config_hash: 'h2', metadata: null, error: 'the disk was full' },
      ]);
      const [first] = await listed(side.runs({ limit: 1 }));
      expect(first.started_at).toBe('2026-01-01T00:00:00.000Z');
      expect(await side.lastRun(1)).toMatchObject({ run: 2, config: '{"depth":3}' });
    });

    it('shows a page as it was last read, in JSON types', async () => {
      expect(await side.page(1, url(''))).toMatchObject({
        url: url(''),
        state: 'Processed',
        status_code: 200,
        depth: 0,
        content_hash: Buffer.from(HASH).toString('hex'),
        simhash: 'fffffffffffffffe',
        visited_at: '2026-01-01T00:01:01.000Z',
        change: 'changed',
        visited_run: 2,
        noindex: 0,
        nofollow: 0,
        retry_at: null,
        project: 'shop',
        host: 'a.test',
      });
      expect(await side.page(1, url('dead'))).toMatchObject({
        state: 'DeadLink',
        reason: 'http: 404',
        noindex: 1,
        error: 'HTTP 404',
      });
      expect(await side.page(1, url('moved'))).toMatchObject({ final_url: url('target'), redirect_count: 1 });
      expect(await side.page(1, url('Ünï', 'b.test'))).toMatchObject({
        state: 'RateLimited',
        fetch_url: 'http://www.b.test/Ünï?x="1"\\',
      });
      expect(await side.page(2, url('dead'))).toBeNull();
    });

    it('lists pages in the order of their discovery, by any filter', async () => {
      const names = async (filter: Parameters<ReadSide['pages']>[0]) =>
        (await listed(side.pages(filter))).map((page) => page.url.slice('https://'.length));
      expect(await names({ project: 'shop', states: ['Blacklisted', 'Stubbed'] })).toEqual([
        'bad.test/bad',
        'stub.test/stub',
      ]);
      expect(await names({ statusCodes: [404, 301] })).toEqual(['a.test/dead', 'a.test/moved']);
      expect(await names({ hosts: ['b.test', 'nowhere.test'] })).toEqual(['b.test/Ünï']);
      expect(await names({ hosts: ['nowhere.test'] })).toEqual([]);
      expect(await names({ project: 'nobody' })).toEqual([]);
      expect(await names({ limit: 0 })).toEqual([]);
      expect(await names({ limit: 1 })).toEqual(['a.test/']);
    });

    it('shows links of the last visit, and in which run each appeared', async () => {
      expect(await listed(side.links({ project: 'shop' }))).toEqual([
        {
          from_url: url(''),
          to_url: url('dead'),
          direction: 'out',
          nofollow: 0,
          rel: '',
          anchor: null,
          discovered_run: 1,
        },
        expect.objectContaining({ to_url: url('fresh'), discovered_run: 2 }),
        expect.objectContaining({ from_url: url('target'), nofollow: 1, rel: 'nofollow' }),
        expect.objectContaining({ from_url: url('target'), to_url: url('stub', 'stub.test') }),
      ]);
      const dead = (await side.page(1, url('dead')))!;
      expect(await listed(side.linksOf(dead.id, {}))).toMatchObject([{ direction: 'in', from_url: url('') }]);
    });

    it('counts what hosts have and remembers how they are to be treated', async () => {
      const hosts = await listed(side.hosts({ project: 'shop' }));
      expect(hosts.map(({ host }) => host).sort()).toEqual(['a.test', 'b.test', 'bad.test', 'stub.test']);
      expect(hosts.find(({ host }) => host === 'b.test')).toMatchObject({
        known_urls: 1,
        read: 0,
        broken: 0,
        rate_limited: 1,
        robots_status: 404,
      });
      expect(hosts.find(({ host }) => host === 'a.test')).toMatchObject({ robots_status: 200, read: 3 });
    });

    it('knows hosts by their names', async () => {
      expect(await side.hostId('a.test')).toEqual(expect.any(Number));
      expect(await side.hostId('unheard.test')).toBeNull();
    });

    it('tells which hosts are blocked at a moment', async () => {
      const found = await listed(side.hosts({}));
      const until = Math.max(...found.map(({ blocked_until }) => Date.parse(blocked_until ?? '') || 0));
      expect(await side.blockedHosts(until - 1)).toEqual([await side.hostId('a.test')]);
      expect(await side.blockedHosts(until)).toEqual([]);
    });

    it('gives the requests for a page and the whole request log in order', async () => {
      const root = (await side.page(1, url('')))!;
      expect(await side.requests(root.id)).toEqual([
        {
          run: 1,
          kind: 'GET',
          sent_at: '2026-01-01T00:00:00.000Z',
          status_code: 200,
          duration_ms: 13,
          bytes: 1234,
          failure: null,
        },
        expect.objectContaining({ run: 2 }),
      ]);
      const log = await listed(side.requestLog());
      expect(log.map(({ kind }) => kind)).toEqual([
        'robots',
        'GET',
        'GET',
        'HEAD',
        'GET',
        'gap',
        'GET',
        'GET',
      ]);
      expect(log[1]).toMatchObject({
        host: 'a.test',
        sentAt: log[1].slotAt + 0.25,
        delayMs: 500,
        perHost: 1,
      });
    });

    describeReadHistory(() => side);

    it('adds up a store or one project', async () => {
      expect(await side.totals('shop')).toMatchObject({
        hosts: 4,
        links: 4,
        by_status: { 200: 2, 301: 1, 404: 1 },
        by_content_type: { 'text/html': 4 },
        by_depth: { 0: 1 },
      });
      const all = await side.totals(undefined);
      expect(all.known_urls).toBe(
        (await side.totals('shop')).known_urls + (await side.totals('other')).known_urls,
      );
      expect(await side.totals('nobody')).toMatchObject({ known_urls: 0, hosts: 0, links: 0, by_state: {} });
    });

    it('knows a robots.txt by its origin', async () => {
      const robots = (await side.robots('https://a.test'))!;
      expect(robots).toMatchObject({ status: 200, delaySeconds: 1.5, fetchedAt: Date.UTC(2026, 0, 1) });
      expect(Buffer.from(robots.body!).toString()).toBe('User-agent: *\nDisallow: /no\n');
      expect(await side.robots('https://unheard.test')).toBeNull();
    });

    it('finds no URL twice', async () => {
      expect(await listed(side.repeatedUrls())).toEqual([]);
    });

    it('streams a list of any length whole and in order', async () => {
      const count = 2345;
      const opened = await harness.openStore();
      const store = await opened.begin({ ...REQUEST, project: 'long', now: harness.clock.now() });
      const some = (from: number) =>
        Array.from({ length: Math.min(335, count - from) }, (_, i) => candidate(`${from + i}`));
      for (let from = 0; from < count; from += 335) await store.frontier.offer(some(from));
      const lease = (await store.frontier.leaseHost('a.test', harness.clock.now(), LEASE_MS))!;
      for (let left = 130; left > 0; left--) {
        const [claim] = (await store.frontier.claim(lease, 1, harness.clock.now())).claims;
        await store.frontier.settle(lease, processed(claim, { links: links([claim.pageId]) }));
      }
      for (let i = 0; i < count; i++) store.hosts.log(entry(harness.clock, lease.hostId, { slotAt: i }));
      await store.flush();
      await store.frontier.release(lease);
      await store.run.finish('interrupted', harness.clock.now(), null);
      await opened.close();
      const pages = await listed(side.pages({ project: 'long' }));
      expect(pages.map((page) => page.url)).toEqual(Array.from({ length: count }, (_, i) => url(String(i))));
      expect(await listed(side.pages({ project: 'long', limit: 1500 }))).toEqual(pages.slice(0, 1500));
      const loops = await listed(side.links({ project: 'long' }));
      expect(loops.map((link) => link.to_url)).toEqual(pages.slice(0, 130).map((page) => page.url));
      const slots = (await listed(side.requestLog()))
        .map(({ slotAt }) => slotAt)
        .filter((slot) => slot < count);
      expect(slots).toEqual(Array.from({ length: count }, (_, i) => i));
    });

    it('tells ports of a host apart, which share its clock', async () => {
      const opened = await harness.openStore();
      const store = await opened.begin({ ...REQUEST, project: 'ports', now: harness.clock.now() });
      const at = (site: string, path: string, host = 'port.test') => {
        const found = `http://${site}/${path}`;
        return candidate(path, { url: found, fetchUrl: found, host });
      };
      await store.frontier.offer([
        at('port.test', 'plain'),
        at('port.test:8080', 'a?b=//x:1/'),
        at('port.test:8080', 'c'),
        at('port.test:9090', 'd'),
        at('port.test:443', 'odd'),
        at('[::1]:8080', 'six', '[::1]'),
      ]);
      const lease = (await store.frontier.leaseHost('port.test', harness.clock.now(), LEASE_MS))!;
      const claimed = await store.frontier.claim(lease, 3, harness.clock.now());
      for (const claim of claimed.claims) await store.frontier.settle(lease, processed(claim));
      const robots = { body: null, fetchedAt: harness.clock.now(), expiresAt: 2e12, delaySeconds: null };
      await store.hosts.saveRobots(lease.hostId, { ...robots, origin: 'http://port.test:8080', status: 200 });
      await store.hosts.saveRobots(lease.hostId, { ...robots, origin: 'http://port.test:9090', status: 503 });
      lease.state.blockedUntil = harness.clock.now() + 5000;
      await store.frontier.release(lease);
      await store.run.finish('interrupted', harness.clock.now(), null);
      await opened.close();
      const found = await listed(side.hosts({ project: 'ports' }));
      const rows = found.map(({ host, known_urls, read, robots_status }) => [
        host,
        known_urls,
        read,
        robots_status,
      ]);
      expect(rows.sort()).toEqual([
        ['[::1]:8080', 1, 0, null],
        ['port.test', 1, 1, null],
        ['port.test:443', 1, 0, null],
        ['port.test:8080', 2, 2, 200],
        ['port.test:9090', 1, 0, 503],
      ]);
      const ports = found.filter(({ host }) => host.startsWith('port.test'));
      const pauses = new Set(ports.map(({ blocked_until }) => blocked_until));
      expect([...pauses]).toEqual([new Date(harness.clock.now() + 5000).toISOString()]);
      const pagesOf = async (...hosts: string[]) =>
        (await listed(side.pages({ project: 'ports', hosts }))).map(
          ({ url: name }) => new URL(name).pathname,
        );
      expect(await pagesOf('port.test')).toEqual(['/plain', '/a', '/c', '/d', '/odd']);
      expect(await pagesOf('port.test:8080')).toEqual(['/a', '/c']);
      expect(await pagesOf('port.test:9090', '[::1]')).toEqual(['/d', '/six']);
      expect(await pagesOf('port.test:443')).toEqual(['/plain', '/odd']);
      expect(await pagesOf('port.test:80')).toEqual(['/plain']);
      expect(await pagesOf('[::1]:8080', 'nowhere.test:1')).toEqual(['/six']);
      expect(await listed(side.hosts({ project: 'ports', limit: 2 }))).toEqual(found.slice(0, 2));
    });

    it('are sorted where it is asked how often they change, or how long ago they were visited', async () => {
      const opened = await harness.openStore();
      const store = await opened.begin({ ...REQUEST, project: 'sorted', now: harness.clock.now() });
      // More than a batch, with the same numbers again and again.
      const count = 10_100;
      const names = Array.from({ length: count }, (_, i) => `${i}${i % 2 === 0 ? 'b' : 'A'}`);
      await store.frontier.offer(names.map((name) => candidate(name)));
      const lease = (await store.frontier.leaseHost('a.test', harness.clock.now(), LEASE_MS))!;
      const known: { url: string; frequency: number; visitedAt: number }[] = [];
      for (let i = 0; i < count; i++) {
        const [claim] = (await store.frontier.claim(lease, 1, harness.clock.now())).claims;
        const [frequency, visitedAt] = [
          (i * 7) % 13 === 0 ? 0.1 + 0.2 : (i * 7) % 13,
          1e12 + ((i * 11) % 17) * 1000,
        ];
        const read = facts({ visitedAt });
        await store.frontier.settle(
          lease,
          processed(claim, { facts: read, changeFrequency: frequency, changesDetected: 1 }),
        );
        known.push({ url: claim.url, frequency, visitedAt });
      }
      await store.frontier.release(lease);
      await store.run.finish('completed', harness.clock.now(), null);
      await opened.close();
      const urls = async (filter: PageFilter) =>
        (await listed(side.pages({ project: 'sorted', ...filter }))).map(({ url }) => url);
      const sorted = (key: (page: (typeof known)[number]) => number, pages = known) =>
        pages.toSorted((a, b) => key(a) - key(b) || (a.url < b.url ? -1 : 1)).map(({ url }) => url);
      const byFrequency = sorted(({ frequency }) => -frequency);
      const byVisit = sorted(({ visitedAt }) => visitedAt);
      expect(await urls({ changingMoreThan: 0 })).toEqual(byFrequency);
      expect(await urls({ changingMoreThan: 0, limit: 20 })).toEqual(byFrequency.slice(0, 20));
      expect(await urls({ notVisitedSince: 2e12, limit: 10_050 })).toEqual(byVisit.slice(0, 10_050));
      const often = known.filter(({ frequency, visitedAt }) => frequency > 9 && visitedAt < 1e12 + 3000);
      expect(await urls({ notVisitedSince: 1e12 + 3000, changingMoreThan: 9 })).toEqual(
        sorted(({ frequency }) => -frequency, often),
      );
    });
  });
}
