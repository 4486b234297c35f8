/** Crawls of random pages, written through the store port: for questions that a plain model answers, too. */
import { VISIT_OUTCOMES } from '../../src/change/visit-record.ts';
import type { Claim } from '../../src/frontier/candidate.ts';
import { PAGE_STATES } from '../../src/frontier/page-state.ts';
import type { HostLease } from '../../src/store/host-port.ts';
import type { RunEnd } from '../../src/store/run-port.ts';
import type { Settlement } from '../../src/store/settlement.ts';
import type { RunStore } from '../../src/store/store-port.ts';
import { seededRandom } from '../seeded-random.ts';
import { entry, type ReadHarness } from './little-crawl.ts';
import { candidate, facts, LEASE_MS, links, processed, refused, touch, visited } from './store/harness.ts';

export const HOSTS = ['a.test', 'b.test', 'c.test:8080', 'd.test'];
const SECTIONS = ['docs', 'docs/api', 'Blog', 'blog', 'shop', ''];
const TYPES = ['text/html', 'text/html; charset=UTF-8', 'Text/HTML ;charset=x', 'application/pdf', null];
const STATUSES = [200, 200, 200, 204, 301, 404, 410, 500, 503];
const REASONS = [
  'robots: Disallow /private/',
  'exclude: /cart/',
  'scope: host x.test',
  'depth 4 > 3',
] as const;
const WORDS = ['fox', 'Élan', 'river', 'stone', 'night', 'foxes', '東京'];

type Random = () => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)];

function randomCandidate(random: Random, number: number) {
  const site = pick(random, HOSTS);
  const section = pick(random, SECTIONS);
  const tail = random() < 0.2 ? '' : `${section === '' ? '' : '/'}p${number}`;
  const address = `https://${site}/${section}${tail}${random() < 0.2 || tail === '' ? `?n=${number}` : ''}`;
  const host = site.replace(/:\d+$/, '');
  const more = { url: address, fetchUrl: address, host, depth: Math.floor(random() * 6) };
  if (random() < 0.25) return refused('', 'Skipped', pick(random, REASONS), more);
  return random() < 0.05 ? refused('', 'Blacklisted', 'blacklist: x.test', more) : candidate('', more);
}

export const randomTitle = (random: Random) =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, WORDS)).join(' ');

function randomSettlement(random: Random, claim: Claim, now: number, known: number[]): Partial<Settlement> {
  const statusCode = pick(random, STATUSES);
  const isRevisit = claim.last !== null;
  const outcome = isRevisit ? pick(random, VISIT_OUTCOMES.slice(1)) : 'new';
  const visit = visited(outcome, 'content', { visitedAt: now, statusCode, durationMs: 3 });
  if (outcome === 'unchanged' || outcome === 'failed')
    return { facts: null, touch: touch({ statusCode, visitedAt: now }), visit };
  const targets = [
    ...new Set(Array.from({ length: known.length && Math.floor(random() * 8) }, () => pick(random, known))),
  ];
  const state =
    statusCode === 404 ? PAGE_STATES.DeadLink : statusCode === 410 ? PAGE_STATES.Gone : PAGE_STATES.Processed;
  return {
    state,
    reason: state === PAGE_STATES.Processed ? null : `http: ${statusCode}`,
    facts: facts({
      statusCode,
      visitedAt: now,
      contentType: pick(random, TYPES),
      contentLength: Math.floor(random() * 50),
      title: random() < 0.8 ? randomTitle(random) : null,
      noindex: random() < 0.3,
      wordCount: random() < 0.5 ? Math.floor(random() * 20) : null,
      responseMs: Math.floor(random() * 30),
    }),
    text: random() < 0.7 ? Buffer.from(`${randomTitle(random)}\n${randomTitle(random)}`) : null,
    links: links(
      targets,
      targets.map(() => (random() < 0.3 ? 1 : 0)),
    ),
    visit,
    changeFrequency: Math.floor(random() * 4),
  };
}

export interface RandomCrawl {
  project: string;
  seed: number;
  /** How many new ones are offered. */
  urls: number;
  end?: RunEnd;
  fresh?: boolean;
  /** Pages of before that may be linked to, too. */
  known?: readonly number[];
}

/** A run of the project: some new URLs, and a visit of the pages that wait on each host, with one row of the log each. Answers the pages it knows. */
export async function crawlAtRandom(
  harness: ReadHarness,
  { project, seed, urls, end = 'completed', fresh = false, known: before = [] }: RandomCrawl,
): Promise<number[]> {
  const { clock } = harness;
  const random = seededRandom(seed).next;
  const opened = await harness.openStore();
  const store = await opened.begin({
    ...{ owner: 'me', configHash: 'h', config: '{}', fresh, metadata: null },
    ...{ project, now: clock.now() },
  });
  const ids = await store.frontier.offer(
    Array.from({ length: urls }, (_, i) => randomCandidate(random, seed * 10_000 + i)),
  );
  const known = [...new Set([...before, ...ids])];
  await store.frontier.reconsider((row) =>
    row.state === PAGE_STATES.Processed && random() < 0.5
      ? { state: PAGE_STATES.Queued, priority: row.depth, reason: null }
      : null,
  );
  for (const site of HOSTS) {
    const lease = await store.frontier.leaseHost(site.replace(/:\d+$/, ''), clock.now(), LEASE_MS);
    if (lease === null) continue;
    await visitAll(store, lease, { random, known, harness });
    await store.frontier.release(lease);
  }
  await store.run.finish(end, clock.now(), null);
  await opened.close();
  clock.advance(60_000);
  return known;
}

async function visitAll(
  store: RunStore,
  lease: HostLease,
  { random, known, harness: { clock } }: { random: Random; known: number[]; harness: ReadHarness },
): Promise<void> {
  for (;;) {
    const [claim] = (await store.frontier.claim(lease, 1, clock.now())).claims;
    if (claim === undefined) return;
    clock.advance(1 + Math.floor(random() * 3));
    const failure = random() < 0.2 ? 'connection reset' : null;
    store.hosts.log(
      entry(clock, lease.hostId, { pageId: claim.pageId, failure, statusCode: failure === null ? 200 : 0 }),
    );
    await store.frontier.settle(lease, processed(claim, randomSettlement(random, claim, clock.now(), known)));
  }
}
