/** What one visit of a page leaves in the store: its facts, its links, the URLs that it offers, and the state it gets. */
import type { PageChange, VisitRecord } from '../change/visit-record.ts';
import type { Candidate, Claim } from '../frontier/candidate.ts';
import type { PageStateCode } from '../frontier/page-state.ts';
import type { PageFacts, PageTouch } from './page-facts.ts';

/** Flag of a link that the run's rules do not follow (an obeyed nofollow): it lends no depth. Beside LINK_FLAGS. */
export const UNFOLLOWED = 128;

/** Stored depth of a page that no followed link leads to (yet); any real path is shorter. */
export const NO_DEPTH = 65_535;

/** Links of a page: each target is a page id, or -(i + 1) for the settlement's candidate i. The store drops repeats. */
export interface LinkTargets {
  count: number;
  targets: Int32Array;
  flags: Uint8Array;
  anchors: string[] | null;
}

export interface Settlement {
  claim: Claim;
  state: PageStateCode;
  reason: string | null;
  /** Not final: queue the page again (with its attempts), from this wall time on if given. */
  requeue: { attempts: number; notBefore: number | null; priority: number | null } | null;
  facts: PageFacts | null;
  /** Instead of facts, for a page that was visited before. */
  touch: PageTouch | null;
  /** The visit's line of history; null while the page is queued again. Its outcome is the page's `change`. */
  visit: VisitRecord | null;
  /** What changed since the last visit, and the numbers of changes after it. */
  change: PageChange | null;
  changeFrequency: number;
  changesDetected: number;
  /** UTF-8; read before `settle` returns. */
  text: Uint8Array | null;
  /** Null leaves the stored links as they are. */
  links: LinkTargets | null;
  candidates: Candidate[];
  /** The page this one redirects to, as an index into `candidates`, and how many hops a chain may have. */
  redirect: { candidate: number; maxHops: number } | null;
  /** True when this settles a page GET with a final answer (what max-pages counts). */
  countsAsPage: boolean;
  /** Nobody was asked: a page of which an answer is known stays as it was, as with `closeHost`. `Settled` tells this state. */
  isUnasked?: true;
}

export interface Settled {
  /** State and reason as stored: a redirect's may differ from the settlement's (loops, refused targets). */
  state: PageStateCode;
  reason: string | null;
  /** The ids of the candidates, in order; 0 where the store will only know after the group's commit. */
  candidateIds: number[];
  /** Pages that had redirected here, or through here, and failed with this one. */
  failedSources: readonly FailedSource[];
}

export interface FailedSource {
  pageId: number;
  url: string;
  depth: number;
  reason: string;
}
