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
/** A page that vanished is asked once more after everything else. */
export const CONFIRM_GONE_PRIORITY = 1_000_000;
/** The range that is left to a program's own priorities. */
export const MAX_OWN_PRIORITY = CONFIRM_GONE_PRIORITY - 1;

/** What is known of a page from its last visit, for conditional requests and comparison. */
export interface LastVisit {
  statusCode: number | null;
  contentHash: Uint8Array | null;
  etag: string | null;
  lastModified: string | null;
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
}
