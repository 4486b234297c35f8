/**
 * The frontier port: which URLs are known, which wait, who may request them now, and what became of them.
 *
 * Guarantees:
 *  - A page's identity is unique in its project; the store gives its id, nobody else makes one.
 *  - `lease` gives a host to one session at a time and is durable before it resolves. Every lease carries a fence
 *    number; `settle` with a stale fence changes nothing and answers null.
 *  - `settle` commits the page's result and its links together, or not at all, and never before the candidates they
 *    offered: a crash may leave pages that wait and whose referrer is read again, never a page whose links lead nowhere.
 *  - Settlements may be grouped into one commit (bounded by count and age); `flush` of the run's store ends the group.
 *  - Nothing here decides policy: states and reasons come in, the store only keeps them.
 */
import type { Candidate, Claim } from '../frontier/candidate.ts';
import type { PageStateCode } from '../frontier/page-state.ts';
import type { HostLease } from './host-port.ts';
import type { Settled, Settlement } from './settlement.ts';

/** A stored page put before the scope again (configuration changed, a new run, or a shorter path appeared). */
export interface Reconsidered {
  url: string;
  fetchUrl: string;
  host: string;
  depth: number;
  state: PageStateCode;
  reason: string | null;
}

/** What `reconsider` tells of a page besides. */
export interface KnownPage extends Reconsidered {
  pageId: number;
  /** The last visit got an answer that was read, or led on: whatever became of the page since. */
  wasRead: boolean;
  /** Requests to its host in this run, or the last. */
  hostRequests: number;
  /** This run has left it out already: its state is what was known before. */
  isLeftOut: boolean;
}

export interface Verdict {
  state: PageStateCode;
  priority: number;
  reason: string | null;
}

/** A verdict on a known page. */
export interface Revision extends Verdict {
  /** The page's new depth, null for none; absent: as it was. */
  depth?: number | null;
  /** Only the depth is new: state, tries and waiting redirects stay as they are. */
  keepsState?: true;
}

export interface ClaimAnswer {
  claims: Claim[];
  /** When claims is empty: the wall time of the earliest retry waiting; null when nothing waits at all. */
  nextRetryAt: number | null;
}

export interface FrontierPort {
  /** New → a row; known → the shallower depth (and queued again where the candidate reopens). Answers the ids. */
  offer(candidates: Candidate[]): Promise<number[]>;
  /** Leases up to `count` hosts that have pages waiting. */
  lease(count: number, now: number, leaseMs: number): Promise<HostLease[]>;
  /** Leases one host by name, pages waiting or not; null while somebody else holds it. */
  leaseHost(host: string, now: number, leaseMs: number): Promise<HostLease | null>;
  renew(leases: Iterable<HostLease>, until: number): Promise<void>;
  /** Takes the host's best waiting pages. */
  claim(lease: HostLease, count: number, now: number): Promise<ClaimAnswer>;
  settle(lease: HostLease, settlement: Settlement): Promise<Settled | null>;
  /** Gives back pages that were claimed and not requested, as they were. */
  unclaim(lease: HostLease, claims: Claim[]): Promise<void>;
  release(lease: HostLease): Promise<void>;
  /**
   * Closes the host for the run: its waiting pages get this state, known ones what they were (kept-answer.ts). Answers
   * how many.
   */
  closeHost(lease: HostLease, state: PageStateCode, reason: string, marksKnown?: boolean): Promise<number>;
  /**
   * Gives every waiting page of the project this state (the run's limit is reached), known ones what they had before, as
   * `closeHost` does. Answers how many; where none waited and other workers take part in the run, how many of what it
   * found these have closed or in flight.
   */
  closeWaiting(state: PageStateCode, reason: string): Promise<number>;
  /**
   * Queues known pages of the project that are not in flight, whatever their state, at this priority; answers how many.
   * One that waits already only gets the priority: its tries and its time stay.
   */
  requeue(pageIds: readonly number[], priority: number): Promise<number>;
  /**
   * Puts every page of the project that is not in flight before the judge, by growing id; null leaves it. Answers how
   * many changed.
   */
  reconsider(judge: (row: KnownPage) => Revision | null): Promise<number>;
  /** Called for a page whose depth was lowered while it was shut out by depth or nofollow. */
  onLowered(judge: (row: Reconsidered) => Verdict): void;
  /** Passes lowered depths on to the links of at most `budget` pages. Answers the hosts that got work, or null when done. */
  lowerDepths(budget: number): Promise<string[] | null>;
  /** Calls when somebody else may have queued pages of the run or given a host back. One listener. */
  onWork(listener: () => void): void;
  /** About how many pages wait: cheap enough to ask every second. */
  waiting(): number;
}
