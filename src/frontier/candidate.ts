import type { PageStateCode } from './page-state.ts';

/** A URL that was offered, already normalized and judged: the input of `offer` and `settle`. */
export interface Candidate {
  /** The page's identity. */
  url: string;
  /** The URL of the request. */
  fetchUrl: string;
  /** Host name of the identity: the key of lease, clock and limits. */
  host: string;
  depth: number;
  /** Lower goes first; equal goes first seen first. */
  priority: number;
  /** Queued, or the state that the deciding rule gave. */
  state: PageStateCode;
  /** The deciding rule and its value when the state is not Queued. */
  reason: string | null;
  /** True while only nofollow links, or redirects beyond the limit, lead here. A followed link opens the page. */
  onlyNofollow: boolean;
  /** For a start URL or the target of a redirect: if Queued, it opens a known page that the scope had excluded. */
  reopens?: true;
}

/** Redirect targets are requested on the next slot. */
export const REDIRECT_PRIORITY = -1;
/**
 * This value and lower ones: the sample that decides how a run visits known pages goes before all other pages, in any
 * order.
 */
export const SAMPLE_PRIORITY = -2;
/** A page that vanished is requested once more, after all other pages. */
export const CONFIRM_GONE_PRIORITY = 1_000_000;
/** Programs may use priorities up to this one. */
export const MAX_OWN_PRIORITY = CONFIRM_GONE_PRIORITY - 1;

/**
 * What is known of a page from its last visit, for conditional requests and comparison. A store may read the hashes
 * only when they are asked for: ask for them before the page is settled, and on this object, not on a copy.
 */
export interface LastVisit {
  statusCode: number | null;
  /** By its answers, the page does not exist any more. Failures since then do not change that. */
  isGone: boolean;
  visitedAt: number;
  /** A body was read once, so the page may be unchanged. Cheaper than the hash, which a store may have to read. */
  hasBody: boolean;
  /** Of the body that was read last; null if none was ever read. */
  contentHash: Uint8Array | null;
  /** Of its main text. */
  textHash: Uint8Array | null;
  /**
   * Of everything else that can change: title, h1, description, canonical, robots, structured data, links; for a
   * redirect, its target.
   */
  facetHash: Uint8Array | null;
  simhash: bigint | null;
  etag: string | null;
  lastModified: string | null;
  cacheControl: string | null;
  /** X-Robots-Tag and Content-Type of the answer that was read last; read like the hashes. */
  xRobotsTag: string | null;
  contentType: string | null;
  /** Bytes of body of the last full answer over the wire. */
  wireBytes: number;
  /** The newest date that a sitemap gives for the page. */
  sitemapDate: number | null;
  /**
   * When a sitemap last gave the page a date. Null if the last sitemap that named the page gave none, or none with a
   * day.
   */
  sitemapSeenAt: number | null;
  /** The numbers of the rule `score`. */
  changeFrequency: number;
  changesDetected: number;
}

/** Decides by the columns beside the page. An orphan that answers has the change gone, too, but it exists. */
export function isGoneAs(change: string | null, statusCode: number | null): boolean {
  if (statusCode === 404 || statusCode === 410) return true;
  return change === 'gone' && (statusCode === null || statusCode === 304 || statusCode >= 400);
}

/** A page handed to the holder of its host's lease. */
export interface Claim {
  pageId: number;
  url: string;
  fetchUrl: string;
  host: string;
  depth: number;
  priority: number;
  /** Failed attempts so far in this run. */
  attempts: number;
  /** How many redirect hops led here, at most; 0 when none did. */
  hops: number;
  last: LastVisit | null;
  /** `fetchUrl` is not the stored one: the page has moved there permanently, and later requests go there. */
  isMoved?: boolean;
}
