import type { PageStateCode } from './page-state.ts';

/** A URL that something offered, already normalized and judged: what `offer` and `settle` take. */
export interface Candidate {
  /** The page's identity. */
  url: string;
  /** What a request asks for. */
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
  /** True when no followed link leads here so far, only nofollow ones or a redirect too many: one that does opens it. */
  onlyNofollow: boolean;
  /** A start URL or a redirect's target: if Queued, it opens a known page that the scope had shut out for links. */
  reopens?: true;
}

/** Redirect targets are asked with the next slot. */
export const REDIRECT_PRIORITY = -1;
/** This and less: the sample that decides how a run visits known pages goes before everything else, in any order. */
export const SAMPLE_PRIORITY = -2;
/** A page that vanished is asked once more after everything else. */
export const CONFIRM_GONE_PRIORITY = 1_000_000;
/** The range that is left to a program's own priorities. */
export const MAX_OWN_PRIORITY = CONFIRM_GONE_PRIORITY - 1;

/**
 * What is known of a page from its last visit, for conditional requests and comparison. A store may read the hashes when they
 * are asked for: they are to be asked for before the page is settled, and of the thing itself, not of a copy.
 */
export interface LastVisit {
  statusCode: number | null;
  /** The page is not there, as far as its answers say: failures since then say nothing. */
  isGone: boolean;
  visitedAt: number;
  /** A body was read once: there is something that may be unchanged. Cheaper than its hash, which a store may have to read. */
  hasBody: boolean;
  /** Of the body that was read last; null when none ever was. */
  contentHash: Uint8Array | null;
  /** Of its main text. */
  textHash: Uint8Array | null;
  /** Of everything else that can change: title, h1, description, canonical, robots, structured data, links; of a redirect its target. */
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
  /** When a sitemap gave the page a date last; null where the last one that named it gave none, or none to the day. */
  sitemapSeenAt: number | null;
  /** Specification 003's numbers. */
  changeFrequency: number;
  changesDetected: number;
}

/** By what stands beside the page; an orphan that answers is called gone, too, and is there. */
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
  /** `fetchUrl` is not the stored one: the page has moved there for good, and is to be asked there from now on. */
  isMoved?: boolean;
}
