/**
 * The run port: the life of one run, what it may still request, and what it counts.
 *
 * Guarantees:
 *  - Pages done and permits given never exceed the limit together, whatever the number of workers.
 *  - The first decision about the mode stands for all workers on the run.
 *  - A run that is over is never told as under way, and a page in flight keeps it under way.
 */
import type { VisitRecord } from '../change/visit-record.ts';
import type { WorkerReport } from './worker-report.ts';

export interface RunRequest {
  project: string;
  /** Who works on it here: the name under which hosts are leased. */
  owner: string;
  configHash: string;
  /** The effective options as JSON, kept with the run. */
  config: string;
  /** Closes the project's old run and clears its pages first; hosts' clocks, blocks and robots.txt stay. */
  fresh: boolean;
  /** What the operator noted of the run, as a JSON object; null when nothing. */
  metadata: string | null;
  now: number;
  /** The run that is to go on: refused when the project's last run is another one, or is over. */
  goesOn?: number;
}

export interface RunStart {
  runId: number;
  projectId: number;
  /** True when an unfinished run goes on. */
  resumed: boolean;
  /** The configuration hash of the run that goes on, or of the last finished one; null when there is none. */
  previousConfigHash: string | null;
  /** Pages with a final answer so far in this run. */
  pagesDone: number;
  requestsDone: number;
  bytesDone: number;
  /** Known URLs of the project before this run began. */
  knownUrls: number;
}

/** Depths from origins, beside each other: a page, the origin's place in the list, the depth. */
export interface DepthBatch {
  count: number;
  pageIds: Int32Array;
  origins: Uint16Array;
  depths: Uint16Array;
}

export type CrawlMode = 'full' | 'incremental';

export interface ModeDecision {
  mode: CrawlMode;
  /** In words, with the figures. */
  reason: string;
}

/** Visits of a run by outcome and by how that was known: what was spared is in the last column. */
export interface LedgerRow {
  outcome: VisitRecord['outcome'];
  knownBy: VisitRecord['knownBy'];
  visits: number;
  bytesSaved: number;
}

/** paused and stopped: by an operator's order (steering.ts). A run that is paused or interrupted can go on. */
export type RunEnd = 'completed' | 'interrupted' | 'failed' | 'paused' | 'stopped';

export interface RunCounts {
  byState: Record<string, number>;
  waiting: number;
  known: number;
  /** Of the run, by all who work on it. */
  pages: number;
  requests: number;
  bytes: number;
  ledger: LedgerRow[];
  /** Pages known from earlier runs that this run ended without asking for: they stay as they were. */
  leftOut: number;
  /** The mean of change_frequency over the project's pages that were visited more than once; 0 when there is none. */
  averageChangeFrequency: number;
}

export interface RunPort {
  /**
   * Ends the run; one that others are still at work on is only left. Where another worker knew of more pages and is gone
   * before anybody found them (`knowsNoMore`), the run is interrupted, not completed. Answers the status the run has then.
   */
  finish(status: RunEnd, now: number, error: string | null): Promise<RunEnd | 'running'>;
  /** True when no page of the run waits or is in flight, here or at any other worker, and no other knows of more. */
  isDone(): Promise<boolean>;
  /**
   * Who begins a run, or goes on with it, knows where more pages may come from: others do not take the run for done until
   * this worker says that it knows no more, or is gone.
   */
  knowsNoMore(): Promise<void>;
  /** Permits for up to `count` more page GETs, so that all workers together stay within `limit`; 0 when none is left. */
  reservePages(count: number, limit: number): Promise<number>;
  /** Gives permits back that were not used. */
  returnPages(count: number): Promise<void>;
  /** Says that the worker is alive. */
  heartbeat(report: WorkerReport): Promise<void>;
  /** The run's decision between full and incremental: the first one stands, and is answered. Null asks only. */
  decideMode(decision: ModeDecision | null): Promise<ModeDecision | null>;
  counts(): Promise<RunCounts>;
}
