/**
 * The host port: what is kept of hosts beside their pages, and the request log.
 *
 * Guarantees:
 *  - robots.txt is kept per origin, shared by all runs and projects of the store.
 *  - A Crawl-delay is durable before `saveRobots` resolves: a crash cannot make the crawler faster.
 *  - `log` keeps the lines of a host in the order of the calls. Lines are committed with the group that is open.
 */
import type { PageStateCode } from '../frontier/page-state.ts';

/** The politeness state of a host, shared by all runs and projects of the store. Times are wall milliseconds. */
export interface HostState {
  notBefore: number;
  blockedUntil: number;
  consecutive429: number;
  /** Adaptive delay; 0 when nothing was learned. */
  adaptiveMs: number;
  averageMs: number;
  samples: number;
  /** Consecutive transport failures. */
  failures: number;
  /** Probes made since the breaker opened. */
  probes: number;
  /** Requests in this run, robots.txt and HEAD included. */
  requests: number;
  /** Its validators lied: until then every page of it is fetched in full; 0 when they are believed. */
  distrustedUntil: number;
  /** Changes seen of pages with a date in a sitemap: those that a newer date had announced, and the others. */
  announced: number;
  unannounced: number;
  headChecks: number; // GETs that said the same as a HEAD that found no page; -1: they differ (crawl/head-first.ts)
}

export interface HostLease {
  hostId: number;
  host: string;
  fence: number;
  /** Wall time until which the lease holds unless renewed. */
  until: number;
  state: HostState;
  /** The previous holder vanished: wait one full delay before the first request. */
  takenOver: boolean;
  /** Set when the host was closed for this run: its waiting pages get this state and reason. */
  closed: { state: PageStateCode; reason: string } | null;
  /** Set by `renew`: another project's run waits for the host. Given back, it is that one's turn. */
  isWanted?: boolean;
}

export interface StoredRobots {
  origin: string;
  /** HTTP status; 0 for a transport failure. */
  status: number;
  body: Uint8Array | null;
  fetchedAt: number;
  expiresAt: number;
  /** What it asks between two requests, by Crawl-delay or Request-rate; null when it asks nothing. */
  delaySeconds: number | null;
}

/** gap: a holder vanished. cleared: one line a host and project in place of those that ended before its own end. */
export const REQUEST_KINDS = ['GET', 'HEAD', 'robots', 'gap', 'sitemap', 'cleared'] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Lines of the log that are no requests, as a list for SQL. */
export const MARK_KINDS = `(${REQUEST_KINDS.indexOf('gap')}, ${REQUEST_KINDS.indexOf('cleared')})`;

/** One line of the request log: what `sumi audit` replays and the `visits` view shows. */
export interface RequestEntry {
  kind: RequestKind;
  hostId: number;
  pageId: number | null;
  /** The slot reserved for it. */
  slotAt: number;
  sentAt: number;
  endedAt: number;
  /** The least gap to the host's request before it that was in force. */
  delayMs: number;
  /** Most requests of this host that may be open at once. */
  perHost: number;
  statusCode: number;
  wireBytes: number;
  contentHash: Uint8Array | null;
  /** Set when the answer blocked the host until then. */
  blockedUntil: number | null;
  /** The transport failure, if any. */
  failure: string | null;
}

export interface HostPort {
  /** With the lease of the origin's host a store may know without asking: what it has comes with the lease. */
  robots(origin: string, lease?: HostLease): Promise<StoredRobots | null>;
  saveRobots(hostId: number, robots: StoredRobots): Promise<void>;
  log(entry: RequestEntry): void;
}
