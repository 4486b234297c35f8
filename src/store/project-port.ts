/**
 * The project port: what is kept of projects, for callers that take part in no run. Its writes go through the store's one
 * writer, also while crawls run.
 *
 * Guarantees:
 *  - Each verb is durable before it resolves, and all or nothing.
 *  - A project that is unknown is never made, but by `saveSettings`.
 */
import type { PageStateCode } from '../frontier/page-state.ts';
import type { KnownPage, Revision } from './frontier-port.ts';
import type { IndexBuilt, IndexKind } from './index-state.ts';
import type { Forgotten } from './page-tables.ts';
import type { ReaderLook } from './reader-look.ts';
import type { KeptPlan, RevisitBatch } from './revisit-batch.ts';
import type { DepthBatch, RunRequest } from './run-port.ts';
import type { Order, RunStanding } from './steering.ts';

/** How many pages went from one state to another. */
export interface StateMove {
  from: PageStateCode;
  to: PageStateCode;
  pages: number;
}

export interface Revised {
  runId: number;
  projectId: number;
  moves: StateMove[];
  /** Pages that wait now. */
  waiting: number;
}

export interface ProjectPort {
  /**
   * Gives a run an order that is stored with it: all workers obey within seconds. A run that is stopped while nobody is at
   * work on it has its waiting pages skipped at once; else its workers do that when they leave. Refused where the run's
   * status does not allow it.
   */
  steer(runId: number, order: Order, now: number): Promise<RunStanding>;
  /** How the run stands; null when there is no such run. */
  standing(runId: number): Promise<RunStanding | null>;
  /** Calls when a run may have been given an order. The answer ends it. */
  onSteer(listener: (runId: number) => void): () => void;
  /** How the project is to be crawled, as a JSON object; null when nothing is kept. */
  settings(project: string): Promise<string | null>;
  /** Makes the project when there is none; null keeps nothing. */
  saveSettings(project: string, settings: string | null): Promise<void>;
  /**
   * Puts the known pages before the judge without a crawl: the project's last run gets the configuration, and goes on with
   * the next `begin` if pages wait. Null when there is no such project or run; refused while somebody is at work on it.
   */
  revise(request: RunRequest, judge: (row: KnownPage) => Revision | null): Promise<Revised | null>;
  /**
   * Replaces what is stored of depths per origin in the project, as one; each origin's name as written in the list.
   */
  saveDepths(projectId: number, origins: readonly string[], batches: Iterable<DepthBatch>): Promise<void>;
  /** False where nothing was written: there is no such project, or the plan it has is not `before`. */
  saveRevisits(project: string, batch: RevisitBatch, kept: KeptPlan): Promise<boolean>;
  /**
   * Drops visits, changes and requests older than that, of one project or of all. Pages keep what they have now; the
   * request log keeps a mark a host, so that an audit knows what it cannot judge any more.
   */
  forget(project: string | null, before: number): Promise<Forgotten>;
  /**
   * Builds an index of the project, or brings it up to date; one that was left half built is built anew. Null, and
   * nothing is built, while a run of the project is under way, or where there is no such project.
   */
  buildIndex(project: string, kind: IndexKind): Promise<IndexBuilt | null>;
  /** Up to where this reader has read the project's changes. Nothing is kept of an unknown project. */
  saveLook(project: string, reader: string, look: ReaderLook): Promise<void>;
}
