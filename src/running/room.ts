/**
 * What the parts of the engine share: the store with its one writer, the records, the time, and the runs. create-engine.ts
 * makes it once; schedules and webhooks are made from it and know nothing else of the engine.
 *
 * Who hears of runs is called after the run's row is written, never while the crawler waits: what a hearer throws is kept
 * with the run's log and reaches no crawl.
 */
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import type { Slots } from '../crawl/run/slots.ts';
import type { SummaryEvent } from '../events/events.ts';
import type { EgressGuard } from '../fetch/egress.ts';
import type { Clock } from '../primitives/clock.ts';
import type { ReadSide } from '../store/read-side.ts';
import type { RecordPort } from '../store/record-port.ts';
import type { Store } from '../store/store-port.ts';
import type { ChangeEvent } from '../watch/watch-event.ts';
import type { EngineOptions } from './engine.ts';
import type { Phase, RunOrder, RunType } from './phase.ts';
import type { CrawlPlan } from './plan-run.ts';

/** A project as the store has it. */
export interface RoomProject {
  /** The store's number. */
  id: number;
  /** The UUID by which doors and records name it. */
  uid: string;
  name: string;
  /** Null for a project that was made by a command. */
  websiteUrl: string | null;
  isDeleted: boolean;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);

export function roomProject(row: {
  id: number;
  uid: string;
  name: string;
  websiteUrl: string | null;
  deletedAt: number | null;
}): RoomProject {
  const { id, uid, name, websiteUrl, deletedAt } = row;
  return { id, uid, name, websiteUrl, isDeleted: deletedAt !== null };
}

export interface RunBegun {
  project: RoomProject;
  run: number;
  type: RunType;
  /** It was under way before, and goes on (after a pause or a restart). */
  isResumed: boolean;
  phase: Phase;
}

export interface RunOver {
  project: RoomProject;
  run: number;
  type: RunType;
  phase: Phase;
  /** Null for a run that ended with an error, or in another process. */
  summary: SummaryEvent | null;
}

export interface RunHearer {
  onBegun?(begun: RunBegun): void | Promise<void>;
  /** completed, stopped, failed; also interrupted where it does not go on by itself. Not called at a pause. */
  onOver?(over: RunOver): void | Promise<void>;
  /** The project's settings, name or existence changed: whoever plans for it reads it again. */
  onProject?(projectUid: string): void | Promise<void>;
}

/** A run that somebody else than `start` began, such as a tick of a continuous schedule. */
export interface AttendedRun {
  project: RoomProject;
  handle: CrawlHandle;
  type: RunType;
  mode: Phase['mode'];
  maxPages: number | null;
}

export interface RoomRuns {
  start(projectUid: string, order: RunOrder): Promise<Phase>;
  phase(projectUid: string): Promise<Phase>;
  /** Shows and steers it as any other run, and tells who listens. To be called as soon as there is a handle. */
  attend(run: AttendedRun): void;
  /** The configuration and start URLs that `start` would begin with. */
  plan(project: RoomProject, order: RunOrder): Promise<CrawlPlan>;
  /** True while a run of the project is queued, running or paused, here or in another process. */
  isUnderWay(projectUid: string): Promise<boolean>;
}

export interface Room {
  readonly options: EngineOptions;
  readonly store: Store;
  /** Beside the writer, on threads: questions here hold up no crawl. */
  readonly side: ReadSide;
  readonly records: RecordPort;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly egress: EgressGuard;
  /** Requests that all runs together may have open: for every crawl that is begun in this process. */
  readonly slots: Slots;
  readonly runs: RoomRuns;
  /** A name for this process among several services on one store. */
  readonly service: string;
  /** Aborted when the engine closes. */
  readonly closing: AbortSignal;
  /** Throws `project-unknown` where there is none, or it is deleted. */
  project(projectUid: string): Promise<RoomProject>;
  /** A deleted one too. */
  anyProject(projectUid: string): Promise<RoomProject>;
  projects(): Promise<RoomProject[]>;
  hear(hearer: RunHearer): () => void;
  /** Tells listeners of a page that came, changed or went; nothing is made while nobody listens. */
  tellChanges(project: RoomProject, changes: readonly ChangeEvent[]): void;
  wantsChanges(projectUid: string): boolean;
  /** Something that went wrong and that no caller can be told. */
  report(error: unknown): void;
}

/** Schedules and webhooks: made from the room, begun when all is there, ended before the store is closed. */
export interface RoomPart<Verbs> {
  readonly verbs: Verbs;
  begin(): Promise<void>;
  end(): Promise<void>;
}
