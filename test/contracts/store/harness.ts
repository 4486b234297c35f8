/** What the store contract needs from an adapter, and short words for building what a store is given. */
import { expect } from 'vitest';
import type { VisitRecord } from '../../../src/change/visit-record.ts';
import type { Candidate, Claim } from '../../../src/frontier/candidate.ts';
import { PAGE_STATES, type PageState } from '../../../src/frontier/page-state.ts';
import type { HostLease } from '../../../src/store/host-port.ts';
import { NO_FACTS, type PageFacts, type PageTouch } from '../../../src/store/page-facts.ts';
import type { RunRequest, RunStart } from '../../../src/store/run-port.ts';
import type { LinkTargets, Settlement } from '../../../src/store/settlement.ts';
import type { RunStore, Store } from '../../../src/store/store-port.ts';
import type { FakeClock } from '../../fake-clock.ts';

export type Row = Record<string, unknown>;

/** One database, empty at first. At most one store is open on it at a time. */
export interface StoreHarness {
  readonly clock: FakeClock;
  open(): Promise<Store>;
  /** As if the process of the open store had been killed: what was not committed is gone. */
  crash(): Promise<void>;
  /** What another process reads through the views, which is what was committed. */
  read(sql: string): Promise<Row[]>;
  cleanUp(): Promise<void>;
}

export type StartHarness = () => Promise<StoreHarness>;

export const LEASE_MS = 60_000;
export const HOST = 'a.test';

export function url(path: string, host = HOST): string {
  return `https://${host}/${path}`;
}

export function candidate(path: string, more: Partial<Candidate> = {}): Candidate {
  const host = more.host ?? HOST;
  return {
    url: url(path, host),
    fetchUrl: url(path, host),
    host,
    depth: 1,
    priority: 1,
    state: PAGE_STATES.Queued,
    reason: null,
    onlyNofollow: false,
    ...more,
  };
}

export function refused(
  path: string,
  state: PageState,
  reason: string,
  more: Partial<Candidate> = {},
): Candidate {
  return candidate(path, { state: PAGE_STATES[state], reason, ...more });
}

export function facts(more: Partial<PageFacts> = {}): PageFacts {
  return {
    ...NO_FACTS,
    statusCode: 200,
    contentType: 'text/html',
    contentLength: 10,
    responseMs: 5,
    visitedAt: Date.UTC(2026, 0, 2),
    ...more,
  };
}

export function touch(more: Partial<PageTouch> = {}): PageTouch {
  return {
    statusCode: 200,
    error: null,
    responseMs: 5,
    visitedAt: Date.UTC(2026, 0, 3),
    etag: null,
    lastModified: null,
    cacheControl: null,
    ...more,
  };
}

/** A line of history. */
export function visited(
  outcome: VisitRecord['outcome'],
  knownBy: VisitRecord['knownBy'],
  more: Partial<VisitRecord> = {},
): VisitRecord {
  return {
    visitedAt: Date.UTC(2026, 0, 2),
    outcome,
    knownBy,
    statusCode: 200,
    etag: null,
    lastModified: null,
    contentHash: null,
    textHash: null,
    simhashDistance: null,
    wireBytes: 0,
    bytesSaved: 0,
    durationMs: 5,
    ...more,
  };
}

/** A page that was read, with no links unless given; its line of history is of the time of its facts. */
export function processed(claim: Claim, more: Partial<Settlement> = {}): Settlement {
  const found = more.facts ?? facts();
  const outcome = claim.last === null ? 'new' : 'changed';
  const { visitedAt, statusCode, contentHash } = found;
  return {
    claim,
    state: PAGE_STATES.Processed,
    reason: null,
    requeue: null,
    facts: facts(),
    touch: null,
    visit: more.requeue ? null : visited(outcome, 'content', { visitedAt, statusCode, contentHash }),
    change: null,
    changeFrequency: 0,
    changesDetected: 0,
    text: null,
    links: null,
    candidates: [],
    redirect: null,
    countsAsPage: true,
    ...more,
  };
}

export function redirecting(claim: Claim, to: Candidate, maxHops = 10): Settlement {
  return processed(claim, {
    facts: facts({ statusCode: 301 }),
    candidates: [to],
    redirect: { candidate: 0, maxHops },
    countsAsPage: false,
  });
}

/** Targets as the port wants them: page ids, or -(i + 1) for candidate i. */
export function links(targets: number[], flags: number[] = [], anchors: string[] | null = null): LinkTargets {
  return {
    count: targets.length,
    targets: Int32Array.from(targets),
    flags: Uint8Array.from(targets, (_, i) => flags[i] ?? 0),
    anchors,
  };
}

/** Every candidate linked once, in order. */
export function linksTo(candidates: Candidate[], flags: number[] = []): Partial<Settlement> {
  return {
    candidates,
    links: links(
      candidates.map((_, i) => -(i + 1)),
      flags,
    ),
  };
}

/** A run on a store, with the everyday verbs in short. */
export interface OpenRun {
  readonly opened: Store;
  /** Closing it closes what was opened for it. */
  readonly store: RunStore & Pick<Store, 'close'>;
  readonly start: RunStart;
  lease(host?: string): Promise<HostLease>;
  /** Claims the next page of the host, which must be there. */
  claim(lease: HostLease): Promise<Claim>;
  /** Claims until nothing is left; answers the last parts of the URLs. */
  drain(lease: HostLease): Promise<string[]>;
  /** Settles the page as read. */
  settle(lease: HostLease, claim: Claim, more?: Partial<Settlement>): Promise<void>;
  /** Claims the host's next page and settles it as read. */
  visit(lease: HostLease, more?: Partial<Settlement>): Promise<Claim>;
}

export async function beginRun(harness: StoreHarness, request: Partial<RunRequest> = {}): Promise<OpenRun> {
  return beginOn(await harness.open(), harness.clock, request);
}

/** A run beside others on a store that is open. */
export async function beginOn(
  opened: Store,
  clock: FakeClock,
  request: Partial<RunRequest> = {},
): Promise<OpenRun> {
  const { owner = 'me' } = request;
  const begun = await opened.begin({
    project: 'p',
    owner,
    configHash: 'hash',
    config: '{}',
    fresh: false,
    metadata: null,
    now: clock.now(),
    ...request,
  });
  const store = { ...begun, close: () => opened.close() };
  const now = () => clock.now();
  const run: OpenRun = {
    opened,
    store,
    start: store.start,
    async lease(host = HOST) {
      const lease = await store.frontier.leaseHost(host, now(), LEASE_MS);
      expect(lease, `the lease on ${host}`).not.toBeNull();
      return lease!;
    },
    async claim(lease) {
      const { claims } = await store.frontier.claim(lease, 1, now());
      expect(claims, `a waiting page of ${lease.host}`).toHaveLength(1);
      return claims[0];
    },
    async drain(lease) {
      const names: string[] = [];
      for (;;) {
        const { claims } = await store.frontier.claim(lease, 3, now());
        if (claims.length === 0) return names;
        names.push(...claims.map((claim) => claim.url.split('/').pop()!));
      }
    },
    async settle(lease, claim, more = {}) {
      expect(await store.frontier.settle(lease, processed(claim, more))).not.toBeNull();
    },
    async visit(lease, more = {}) {
      const claim = await run.claim(lease);
      await run.settle(lease, claim, more);
      return claim;
    },
  };
  return run;
}

/** Ends the run and begins the next one, in which the pages that are wanted (unless said: all) wait again. */
export async function nextRun(
  harness: StoreHarness,
  { opened, store }: OpenRun,
  isWanted: (name: string) => boolean = () => true,
  request: Partial<RunRequest> = {},
): Promise<OpenRun> {
  await store.run.finish('completed', harness.clock.now(), null);
  await opened.close();
  const next = await beginRun(harness, request);
  await next.store.frontier.reconsider((row) =>
    isWanted(row.url.split('/').pop()!) ? { state: PAGE_STATES.Queued, priority: 1, reason: null } : null,
  );
  return next;
}

/** Pages by the last part of their URL, as the `pages` view shows them. */
export async function pagesOf(harness: StoreHarness): Promise<Record<string, Row>> {
  const rows = await harness.read('SELECT * FROM pages ORDER BY id');
  return Object.fromEntries(rows.map((row) => [String(row.url).split('/').pop(), row]));
}

export async function statesOf(harness: StoreHarness): Promise<Record<string, unknown>> {
  const pages = await pagesOf(harness);
  return Object.fromEntries(Object.entries(pages).map(([name, row]) => [name, row.state]));
}
