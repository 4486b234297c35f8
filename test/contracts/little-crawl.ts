/** A little crawl written through the store port, for the read side to be asked about. */
import type { PageChange } from '../../src/change/visit-record.ts';
import { PAGE_STATES } from '../../src/frontier/page-state.ts';
import type { RequestEntry } from '../../src/store/host-port.ts';
import type { ReadSide } from '../../src/store/read-side.ts';
import type { RunEnd } from '../../src/store/run-port.ts';
import { UNFOLLOWED } from '../../src/store/settlement.ts';
import type { RunStore, Store } from '../../src/store/store-port.ts';
import type { FakeClock } from '../fake-clock.ts';
import {
  candidate,
  facts,
  LEASE_MS,
  links,
  processed,
  redirecting,
  refused,
  touch,
  url,
  visited,
} from './store/harness.ts';

export interface ReadHarness {
  readonly clock: FakeClock;
  openStore(): Promise<Store>;
  openReadSide(): Promise<ReadSide>;
  cleanUp(): Promise<void>;
}

const SECOND = 1000;
export const HASH = Uint8Array.from({ length: 32 }, (_, i) => i * 8);
export const CHANGE: PageChange = {
  parts: ['title', 'links'],
  fields: [{ name: 'title', before: 'A "title", with \\ and ü', after: null }],
  linksAdded: [url('fresh')],
  linksRemoved: [url('moved')],
  text: [['+', '猫']],
  wordsAdded: 1,
  wordsRemoved: 0,
};

/** Two projects on three hosts, three runs, and one of everything that a row can show. */
export async function crawlALittle({ clock, openStore }: ReadHarness): Promise<void> {
  const crawl = async (
    begun: { project: string; configHash?: string; metadata?: string },
    work: (store: RunStore, clock: FakeClock) => Promise<void>,
    end: { status: RunEnd; error?: string },
  ) => {
    const opened = await openStore();
    const store = await opened.begin({
      owner: 'me',
      configHash: 'h1',
      config: '{"depth":3}',
      fresh: false,
      metadata: null,
      now: clock.now(),
      ...begun,
    });
    await work(store, clock);
    await store.run.finish(end.status, clock.now(), end.error ?? null);
    await opened.close();
    clock.advance(60 * SECOND);
  };
  await crawl({ project: 'shop', metadata: '{"for":"tests"}' }, firstRun, { status: 'completed' });
  const failed = { status: 'failed', error: 'the disk was full' } as const;
  await crawl({ project: 'shop', configHash: 'h2' }, secondRun, failed);
  await crawl({ project: 'other' }, otherProject, { status: 'interrupted' });
}

export function entry(clock: FakeClock, hostId: number, more: Partial<RequestEntry> = {}): RequestEntry {
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

async function firstRun(store: RunStore, clock: FakeClock): Promise<void> {
  await store.frontier.offer([candidate('', { depth: 0, priority: 0 })]);
  const a = (await store.frontier.leaseHost('a.test', clock.now(), LEASE_MS))!;
  const claimOne = async () => (await store.frontier.claim(a, 1, clock.now())).claims[0];
  store.hosts.log(entry(clock, a.hostId, { kind: 'robots' }));
  await store.hosts.saveRobots(a.hostId, {
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
  store.hosts.log(entry(clock, a.hostId, { pageId: root.pageId, contentHash: HASH }));
  await store.frontier.settle(
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
  store.hosts.log(entry(clock, a.hostId, { pageId: dead.pageId, statusCode: 404, wireBytes: 9 }));
  await store.frontier.settle(
    a,
    processed(dead, {
      state: PAGE_STATES.DeadLink,
      reason: 'http: 404',
      facts: facts({ statusCode: 404, error: 'HTTP 404', noindex: true, visitedAt: clock.now() }),
    }),
  );
  const moved = await claimOne();
  store.hosts.log(entry(clock, a.hostId, { kind: 'HEAD', pageId: moved.pageId, statusCode: 301 }));
  await store.frontier.settle(a, redirecting(moved, candidate('target', { depth: 1 })));
  const target = await claimOne();
  const unvisited = found.filter(({ host }) => host === 'bad.test' || host === 'stub.test');
  await store.frontier.settle(
    a,
    processed(target, {
      facts: facts({ nofollow: true, visitedAt: clock.now() }),
      candidates: unvisited,
      links: links([-1, -2], [1]),
    }),
  );
  const later = await claimOne();
  store.hosts.log(
    entry(clock, a.hostId, {
      pageId: later?.pageId ?? null,
      statusCode: 0,
      wireBytes: 0,
      failure: 'connection reset',
      blockedUntil: clock.now() + 30 * SECOND,
    }),
  );
  if (later !== undefined) {
    await store.frontier.settle(
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
  await store.frontier.release(a);
  const b = (await store.frontier.leaseHost('b.test', clock.now(), LEASE_MS))!;
  await store.hosts.saveRobots(b.hostId, {
    origin: 'http://www.b.test',
    status: 404,
    body: null,
    fetchedAt: clock.now(),
    expiresAt: clock.now() + 3600 * SECOND,
    delaySeconds: null,
  });
  await store.frontier.closeHost(b, PAGE_STATES.RateLimited, 'http: 429');
  await store.frontier.release(b);
}

async function secondRun(store: RunStore, clock: FakeClock): Promise<void> {
  await store.frontier.reconsider((row) =>
    row.url === url('') || row.url === url('moved')
      ? { state: PAGE_STATES.Queued, priority: row.depth, reason: null }
      : null,
  );
  await store.run.decideMode({ mode: 'incremental', reason: '2 of 80 changed' });
  const a = (await store.frontier.leaseHost('a.test', clock.now(), LEASE_MS))!;
  const [root, moved] = (await store.frontier.claim(a, 2, clock.now())).claims;
  const found = [candidate('dead', { depth: 1 }), candidate('fresh', { depth: 1, priority: 2 })];
  store.hosts.log(entry(clock, a.hostId, { kind: 'gap', statusCode: 0, wireBytes: 0 }));
  store.hosts.log(entry(clock, a.hostId, { pageId: root.pageId, contentHash: HASH }));
  await store.frontier.settle(
    a,
    processed(root, {
      facts: facts({ simhash: -2n, contentHash: HASH, visitedAt: clock.now() }),
      candidates: found,
      links: links([-1, -2], [0, 2]),
      visit: visited('changed', 'content', {
        visitedAt: clock.now(),
        etag: '"e2"',
        lastModified: 'Fri, 02 Jan 2026 00:00:00 GMT',
        contentHash: HASH,
        textHash: HASH,
        simhashDistance: 7,
        wireBytes: 1234,
        durationMs: 12.5,
      }),
      change: CHANGE,
      changeFrequency: 1.5,
      changesDetected: 2,
    }),
  );
  const spared = { visitedAt: clock.now() - 1, statusCode: 301, wireBytes: 9, bytesSaved: 300 };
  await store.frontier.settle(
    a,
    processed(moved, {
      facts: null,
      touch: touch({ statusCode: 301, visitedAt: clock.now() - 1 }),
      visit: visited('unchanged', '304', spared),
      countsAsPage: false,
    }),
  );
  // Ids are given by adapters when they commit.
  await store.flush();
  await store.frontier.release(a);
  await keepMore(store, clock, [root.pageId, moved.pageId]);
}

/** What is kept beside pages: sitemaps, a plan, settings. */
async function keepMore(store: RunStore, clock: FakeClock, pageIds: number[]): Promise<void> {
  const named = (path: string, lastmod: number | null) => ({
    candidate: candidate(path),
    lastmod,
    changefreq: lastmod === null ? null : 'weekly',
    priority: lastmod === null ? null : 0.75,
    sitemap: url('sitemap.xml'),
    lastmodText: lastmod === null ? null : '2025-12-31',
    details: lastmod === null ? '{}' : '{"kind":"atom"}',
  });
  await store.sitemaps.saveEntries(
    [named('dead', Date.UTC(2025, 11, 31)), named('listed', null)],
    clock.now(),
  );
  const sitemaps = [url('sitemap.xml'), url('news.xml')];
  const checkedAt = clock.now();
  await store.sitemaps.saveDiscovery('a.test', {
    method: 'sitemap',
    checkedAt,
    entries: 2,
    sitemaps,
    trouble: 'lasting',
    looks: { [url('news.xml')]: { at: 1, entries: 2 } },
    searched: ['a.test'],
    guessed: ['/sitemap.xml'],
  });
  await store.sitemaps.saveDiscovery('b.test', {
    method: 'not_found',
    checkedAt: 1,
    entries: 0,
    sitemaps: [],
    trouble: null,
    searched: null,
    guessed: null,
  });
  await store.projects.saveRevisits(
    'shop',
    {
      pageIds,
      learnedAt: Float64Array.of(clock.now(), Number.NaN),
      rateShape: Float32Array.of(0.5, 0),
      rateDays: Float32Array.of(3.25, 0),
      signals: Uint8Array.of(1, 0),
      signalsInAll: Uint16Array.of(4, 0),
      flags: Uint8Array.of(6, 0),
    },
    { plan: '{"price":0.5}', learnedRun: 1 },
  );
  await store.projects.saveSettings('shop', '{"mode":"smart"}');
  await store.projects.saveLook('shop', 'ada', { run: 2, at: 1_767_225_600_000 });
}

async function otherProject(store: RunStore, clock: FakeClock): Promise<void> {
  await store.frontier.offer([candidate('', { depth: 0 }), candidate('x', { host: 'c.test', depth: 0 })]);
  const a = (await store.frontier.leaseHost('a.test', clock.now(), LEASE_MS))!;
  const [root] = (await store.frontier.claim(a, 1, clock.now())).claims;
  store.hosts.log(entry(clock, a.hostId, { pageId: root.pageId }));
  await store.frontier.settle(a, processed(root, { facts: facts({ visitedAt: clock.now() }) }));
  await store.frontier.release(a);
}

export async function listed<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
