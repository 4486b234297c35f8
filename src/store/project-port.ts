/**
 * The project port: what is kept of projects, for callers that take part in no run. Its writes go through the store's one
 * writer, also while crawls run.
 *
 * Guarantees:
 *  - Each verb is durable before it resolves, and all or nothing.
 *  - A project that is unknown is never made, but by `saveSettings` and `createProject`.
 *  - A project that is hidden, because it is being purged, is seen by nobody: its name is free.
 */
import type { PageStateCode } from '../frontier/page-state.ts';
import type { KnownPage, Revision } from './frontier-port.ts';
import type { BuildWhen, IndexBuilt, IndexKind } from './index-state.ts';
import type { KeptChange, KeptProject, NewKeptProject } from './kept-project.ts';
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
  /**
   * Ends a run that was left and with which nobody is to go on: it has failed, what waits is skipped, all else stays. False,
   * and nothing is done, where the run is over, or somebody is at work on it.
   */
  giveUp(runId: number, error: string, now: number): Promise<boolean>;
  /** How the run stands; null when there is no such run. */
  standing(runId: number): Promise<RunStanding | null>;
  /** Calls when a run may have been given an order. The answer ends it. */
  onSteer(listener: (runId: number) => void): () => void;
  /** Answers its `updatedAt`. Refused where the name is taken, by a deleted project too (`project-exists`). */
  createProject(project: NewKeptProject): Promise<number>;
  /** Deleted ones too. */
  keptProject(uid: string): Promise<KeptProject | null>;
  /** Answers the new `updatedAt`. A new name is refused while somebody is at work on the project, or where it is taken. */
  changeProject(uid: string, change: KeptChange): Promise<number>;
  /** Deleted at that time (wall milliseconds), or no more. No run of a deleted project begins. Answers the new `updatedAt`. */
  markDeleted(uid: string, at: number | null): Promise<number>;
  /** The first step of a purge, and for good. Refused while somebody is at work on the project. */
  hideProject(uid: string): Promise<void>;
  /** Projects whose purge has begun and is not over. */
  hiddenProjects(): Promise<string[]>;
  /**
   * Hides the project, then deletes everything of it, `batch` rows at a time; other work goes on between. Hosts with their
   * clocks, blocks and robots.txt stay. Where it is cut short, by the signal too, the next call goes on. Nothing to do for an
   * unknown project.
   */
  purgeProject(uid: string, options: { batch: number; signal?: AbortSignal }): Promise<void>;
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
  buildIndex(project: string, kind: IndexKind, when?: BuildWhen): Promise<IndexBuilt | null>;
  /** Makes the indexes that lists of pages are sorted and found by, for all projects, where they are not there yet. */
  prepareLists(): Promise<void>;
  /** Up to where this reader has read the project's changes. Nothing is kept of an unknown project. */
  saveLook(project: string, reader: string, look: ReaderLook): Promise<void>;
}

/** Making, changing and deleting projects. */
export type KeepingVerbs = Pick<
  ProjectPort,
  | 'createProject'
  | 'keptProject'
  | 'changeProject'
  | 'markDeleted'
  | 'hideProject'
  | 'hiddenProjects'
  | 'purgeProject'
>;
