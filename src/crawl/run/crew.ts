/**
 * Who works on the run besides this loop, and what that changes: nobody (crew-alone.ts), or any number of other workers
 * on a shared store (crew-of-many.ts). Everything that one worker does otherwise than many is a question to the crew.
 */
import type { RunCounts } from '../../store/run-port.ts';
import type { WorkerReport } from '../../store/worker-report.ts';

export interface Crew {
  /** Somebody else may know or do something of this run: an answer, a decision, a page that waits. */
  readonly othersMayHaveMore: boolean;
  /** How often to ask the store for orders to the run; null where it calls for each of them. */
  readonly asksForOrdersMs: number | null;
  /** How many hosts to lease from the store now; 0 or less: none. */
  leaseCount(demand: LeaseDemand): number;
  /** Of how many hosts the sitemaps are read side by side. */
  hostsReadAtOnce(maxHosts: number): number;
  /** Waits for a search for work, or not longer than until something happens (`event`): undefined then. */
  awaitSearch(search: Promise<boolean>, event: () => Promise<undefined>): Promise<boolean | undefined>;
  /** Calls `recheck` whenever it may be worth it to ask the store for work again. */
  watchWork(recheck: () => void): WorkWatch;
  /** Says every few seconds that this worker is alive, where anybody wants to know. */
  startHeartbeat(options: HeartbeatOptions): Heartbeat;
  /** Whose counts a summary tells: what was counted here, or what the store counted of all. */
  totals(own: Totals, all: RunCounts): Totals;
  /** Whether any start URL got an answer, though none did here. */
  wasAnswered(): Promise<boolean>;
}

export interface LeaseDemand {
  /** Requests that may be opened now. */
  free: number;
  /** Hosts that are held and could take them. */
  ready: number;
  /** Hosts that are held. */
  held: number;
}

export interface WorkWatch {
  /** With a limit: whether the run has so many pages; otherwise whether nothing waits or is in flight anywhere. */
  isRunOver(limit: number | null): Promise<boolean>;
  stop(): void;
}

export interface HeartbeatOptions {
  /** Somebody watches the pages of all workers: counting them costs. */
  wantsCounts: boolean;
  /** Pages of the run that are counted here: what was done before, and by this worker. */
  pagesHere: () => number;
  report: () => WorkerReport;
  onFailure: (error: unknown) => void;
}

export interface Heartbeat {
  /** About how many pages of the run others have done since. */
  readonly pagesOfOthers: number;
  /** For how long the store has not answered. */
  readonly silentMs: number;
  /** How long the last answer took; null before the first. */
  readonly answerMs: number | null;
  stop(): void;
}

export interface Totals {
  pages: number;
  requests: number;
  bytes: number;
}

/** The longest list of hosts that is leased in one go. */
export const LEASES_AT_ONCE = 256;
