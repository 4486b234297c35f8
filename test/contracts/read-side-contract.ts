/**
 * The contract of the read side: a little crawl is written through the store port, then asked about. Every adapter must
 * give the answers that stand here; read-side.test.ts compares their answers with each other besides.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../src/frontier/page-state.ts';
import type { RequestEntry, RunEnd, Store } from '../../src/store/port.ts';
import { UNFOLLOWED } from '../../src/store/port.ts';
import type { ReadSide } from '../../src/store/read-side.ts';
import type { FakeClock } from '../fake-clock.ts';
import { candidate, facts, LEASE_MS, links, processed, redirecting, refused, url } from './store/harness.ts';

export interface ReadHarness {
  readonly clock: FakeClock;
  openStore(): Promise<Store>;
  openReadSide(): Promise<ReadSide>;
  cleanUp(): Promise<void>;
}

const SECOND = 1000;
const HASH = Uint8Array.from({ length: 32 }, (_, i) => i * 8);

/** Two projects on three hosts, three runs, and one of everything that a row can show. */
export async function crawlALittle({ clock, openStore }: ReadHarness): Promise<void> {
  const crawl = async (
    begun: { project: string; configHash?: string; metadata?: string },
    work: (store: Store, clock: FakeClock) => Promise<void>,
    end: { status: RunEnd; error?: string },
  ) => {
    const store = await openStore();
    await store.begin({
      owner: 'me',
      configHash: 'h1',
      config: '{"depth":3}',
      fresh: false,
      metadata: null,
      now: clock.now(),
      ...begun,
    });
    await work(store, clock);
    await store.finish(end.status, clock.now(), end.error ?? null);
    await store.close();
    clock.advance(60 * SECOND);
  };
  await crawl({ project: 'shop', metadata: '{"for":"tests"}' }, firstRun, { status: 'completed' });
  const failed = { status: 'failed', error: 'the disk was full' } as const;
  await crawl({ project: 'shop', configHash: 'h2' }, secondRun, failed);
  await crawl({ project: 'other' }, otherProject, { status: 'interrupted' });
}

function entry(clock: FakeClock, hostId: number, more: Partial<RequestEntry> = {}): RequestEntry {
  const sentAt = clock.now() + 0.25;
  return {
    kind: 'GET',
    hostId,
    pageId: null,
    slotAt: clock.now(),
    sentAt,
    endedAt: sentAt + 12.5,
    delayMs: 500,
    perHost: 1,
    statusCode: 200,
    wireBytes: 1234,
    contentHash: null,
    blockedUntil: null,
    failure: null,
    ...more,
  };
}

async function firstRun(store: Store, clock: FakeClock): Promise<void> {
  await store.offer([candidate('', { depth: 0, priority: 0 })]);
  const a = (await store.leaseHost('me', 'a.test', clock.now(), LEASE_MS))!;
  const claimOne = async () => (await store.claim(a, 1, clock.now())).claims[0];
  store.log(entry(clock, a.hostId, { kind: 'robots' }));
  await store.saveRobots(a.hostId, {
    origin: 'https://a.test',
    status: 200,
    body: Buffer.from('User-agent: *\nDisallow: /no\n'),
    fetchedAt: clock.now(),
    expiresAt: clock.now() + 3600 * SECOND,
    delaySeconds: 1.5,
  });
  const found = [
    candidate('dead'),
    candidate('moved'),
    candidate('later'),
    candidate('Ünï', { host: 'b.test', fetchUrl: 'http://www.b.test/Ünï?x="1"\\' }),
    refused('bad', 'Blacklisted', 'blacklist: bad.test', { host: 'bad.test' }),
    refused('stub', 'Stubbed', 'stub: stub.test', { host: 'stub.test' }),
    refused('no', 'Skipped', 'robots: Disallow /no'),
    refused('followed-not', 'Skipped', 'nofollow', { onlyNofollow: true }),
  ];
  const root = await claimOne();
  store.log(entry(clock, a.hostId, { pageId: root.pageId, contentHash: HASH }));
  await store.settle(
    a,
    processed(root, {
      text: Buffer.from('Words, words\nand words'),
      facts: facts({
        contentType: 'text/HTML; charset=UTF-8',
        title: 'A "title", with \\ and ü',
        h1: 'Heading',
        description: 'About',
        lang: 'en',
        charset: 'utf-8',
        canonical: url(''),
        wordCount: 4,
        contentHash: HASH,
        simhash: 0x00ff_1234n,
        etag: '"e1"',
        lastModified: 'Thu, 01 Jan 2026 00:00:00 GMT',
        cacheControl: 'max-age=60',
        bodyKey: 'sha256/aa',
        responseMs: 12,
        visitedAt: clock.now(),
      }),
      candidates: found,
      links: links(
        found.map((_, i) => -(i + 1)),
        [0, 2, 0, 0, 0, 4, 0, 1 | UNFOLLOWED],
        ['dead end', '', 'a, "quoted" {one}', 'back\\slash', 'NULL', 'line\nbreak', 'x', 'y'],
      ),
    }),
  );
  // When a page was found is the time of its commit, which adapters may put off.
  await store.flush();
  clock.advance(SECOND);
  const dead = await claimOne();
  store.log(entry(clock, a.hostId, { pageId: dead.pageId, statusCode: 404, wireBytes: 9 }));
  await store.settle(
    a,
    processed(dead, {
      state: PAGE_STATES.DeadLink,
      reason: 'http: 404',
      facts: facts({ statusCode: 404, error: 'HTTP 404', noindex: true, visitedAt: clock.now() }),
    }),
  );
  const moved = await claimOne();
  store.log(entry(clock, a.hostId, { kind: 'HEAD', pageId: moved.pageId, statusCode: 301 }));
  await store.settle(a, redirecting(moved, candidate('target', { depth: 1 })));
  const target = await claimOne();
  const unvisited = found.filter(({ host }) => host === 'bad.test' || host === 'stub.test');
  await store.settle(
    a,
    processed(target, {
      facts: facts({ nofollow: true, visitedAt: clock.now() }),
      candidates: unvisited,
      links: links([-1, -2], [1]),
    }),
  );
  const later = await claimOne();
  store.log(
    entry(clock, a.hostId, {
      pageId: later?.pageId ?? null,
      statusCode: 0,
      wireBytes: 0,
      failure: 'connection reset',
      blockedUntil: clock.now() + 30 * SECOND,
    }),
  );
  if (later !== undefined) {
    await store.settle(
      a,
      processed(later, {
        state: PAGE_STATES.Queued,
        reason: 'connection reset',
        requeue: { attempts: 2, notBefore: clock.now() + 90 * SECOND, priority: null },
        facts: null,
        countsAsPage: false,
      }),
    );
  }
  Object.assign(a.state, {
    notBefore: clock.now() + 500,
    blockedUntil: clock.now() + 30 * SECOND,
    consecutive429: 2,
    adaptiveMs: 750.5,
    averageMs: 12.5,
    samples: 3,
    failures: 1,
    requests: 5,
  });
  await store.release(a);
  const b = (await store.leaseHost('me', 'b.test', clock.now(), LEASE_MS))!;
  await store.saveRobots(b.hostId, {
    origin: 'http://www.b.test',
    status: 404,
    body: null,
    fetchedAt: clock.now(),
    expiresAt: clock.now() + 3600 * SECOND,
    delaySeconds: null,
  });
  await store.closeHost(b, PAGE_STATES.RateLimited, 'http: 429');
  await store.release(b);
}

async function secondRun(store: Store, clock: FakeClock): Promise<void> {
  await store.reconsider((row) =>
    row.url === url('') ? { state: PAGE_STATES.Queued, priority: 0, reason: null } : null,
  );
  const a = (await store.leaseHost('me', 'a.test', clock.now(), LEASE_MS))!;
  const [root] = (await store.claim(a, 1, clock.now())).claims;
  const found = [candidate('dead', { depth: 1 }), candidate('fresh', { depth: 1, priority: 2 })];
  store.log(entry(clock, a.hostId, { kind: 'gap', statusCode: 0, wireBytes: 0 }));
  store.log(entry(clock, a.hostId, { pageId: root.pageId, contentHash: HASH }));
  await store.settle(
    a,
    processed(root, {
      facts: facts({ simhash: -2n, contentHash: HASH, change: 'changed', visitedAt: clock.now() }),
      candidates: found,
      links: links([-1, -2], [0, 2]),
    }),
  );
  await store.release(a);
}

async function otherProject(store: Store, clock: FakeClock): Promise<void> {
  await store.offer([candidate('', { depth: 0 }), candidate('x', { host: 'c.test', depth: 0 })]);
  const a = (await store.leaseHost('me', 'a.test', clock.now(), LEASE_MS))!;
  const [root] = (await store.claim(a, 1, clock.now())).claims;
  store.log(entry(clock, a.hostId, { pageId: root.pageId }));
  await store.settle(a, processed(root, { facts: facts({ visitedAt: clock.now() }) }));
  await store.release(a);
}

export async function listed<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

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
    page: await side.page(shop.id, url('dead')),
    noPage: await side.page(shop.id, url('unheard-of')),
    noHost: await side.page(shop.id, 'https://unheard.test/'),
    pageById: await side.pageById(pages[3].id),
    links: await listed(side.links({})),
    projectLinks: await listed(side.links({ project: 'other' })),
    fewLinks: await listed(side.links({ limit: 1 })),
    linksOf: await Promise.all(pages.map(({ id }) => listed(side.linksOf(id, {})))),
    hosts: await listed(side.hosts({})),
    projectHosts: await listed(side.hosts({ project: 'other', limit: 1 })),
    visits: await Promise.all(pages.map(({ id }) => side.visits(id))),
    robots: await side.robots('https://a.test'),
    noRobots: await side.robots('https://unheard.test'),
    totals: await side.totals(undefined),
    projectTotals: await side.totals('shop'),
    reports: await Promise.all([1, 2, 3, 99].map((run) => side.report(run))),
    requests: await listed(side.requests()),
    repeated: await listed(side.repeatedUrls()),
  };
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
        pages: 1,
        processed: 0,
        errors: 1,
        robots_status: 404,
      });
      expect(hosts.find(({ host }) => host === 'a.test')).toMatchObject({ robots_status: 200, processed: 3 });
    });

    it('gives the visits of a page and the whole request log in order', async () => {
      const root = (await side.page(1, url('')))!;
      expect(await side.visits(root.id)).toEqual([
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
      const log = await listed(side.requests());
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

    it('adds up a store or one project', async () => {
      expect(await side.totals('shop')).toMatchObject({
        hosts: 4,
        links: 4,
        by_status: { 200: 2, 301: 1, 404: 1 },
        by_content_type: { 'text/html': 4 },
        by_depth: { 0: 1 },
      });
      const all = await side.totals(undefined);
      expect(all.urls).toBe((await side.totals('shop')).urls + (await side.totals('other')).urls);
      expect(await side.totals('nobody')).toMatchObject({ urls: 0, hosts: 0, links: 0, by_state: {} });
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
      const store = await harness.openStore();
      await store.begin({
        project: 'long',
        owner: 'me',
        configHash: 'h',
        config: '{}',
        fresh: false,
        metadata: null,
        now: harness.clock.now(),
      });
      const some = (from: number) =>
        Array.from({ length: Math.min(335, count - from) }, (_, i) => candidate(`${from + i}`));
      for (let from = 0; from < count; from += 335) await store.offer(some(from));
      const lease = (await store.leaseHost('me', 'a.test', harness.clock.now(), LEASE_MS))!;
      for (let left = 130; left > 0; left--) {
        const [claim] = (await store.claim(lease, 1, harness.clock.now())).claims;
        await store.settle(lease, processed(claim, { links: links([claim.pageId]) }));
      }
      for (let i = 0; i < count; i++) store.log(entry(harness.clock, lease.hostId, { slotAt: i }));
      await store.flush();
      await store.release(lease);
      await store.finish('interrupted', harness.clock.now(), null);
      await store.close();
      const pages = await listed(side.pages({ project: 'long' }));
      expect(pages.map((page) => page.url)).toEqual(Array.from({ length: count }, (_, i) => url(String(i))));
      expect(await listed(side.pages({ project: 'long', limit: 1500 }))).toEqual(pages.slice(0, 1500));
      const loops = await listed(side.links({ project: 'long' }));
      expect(loops.map((link) => link.to_url)).toEqual(pages.slice(0, 130).map((page) => page.url));
      const slots = (await listed(side.requests()))
        .map(({ slotAt }) => slotAt)
        .filter((slot) => slot < count);
      expect(slots).toEqual(Array.from({ length: count }, (_, i) => i));
    });
  });
}
