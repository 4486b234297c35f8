/**
 * The engine as the doors of the service see it: verbs that write, and what is heard of runs. It lives in a thread of its own
 * (engine-thread.ts) with the store's one writer; a door holds a client with the same verbs (start-engine.ts). Every argument
 * and answer is plain data. Questions are not asked here: a door has a read side of its own, so that neither holds up the
 * other.
 *
 * What is asked wrongly is refused with a SumiError; projects are named by their UUID.
 */
import type { OptionValue } from '../config/option-spec.ts';
import type { OptionName } from '../config/option-table.ts';
import type { WebsitePreview } from '../project/preview-website.ts';
import type { LiveEvent } from './live-event.ts';
import type { Phase, RunOrder } from './phase.ts';
import type { ScheduleVerbs } from './schedule-verbs.ts';
import type { WebhookVerbs } from './webhook-verbs.ts';

/** Option values by option name (`max-pages`), already checked; null takes a setting back to its default. */
export type SettingChange = Readonly<Partial<Record<OptionName, OptionValue | null>>>;

export interface NewProject {
  name: string;
  websiteUrl: string;
  settings: SettingChange;
}

export interface ProjectChange {
  name?: string;
  websiteUrl?: string;
  settings?: SettingChange;
  /** `updated_at` that the caller has seen, in wall milliseconds: another one is refused (`project-changed`). */
  ifUpdatedAt?: number;
}

export interface ProjectVerbs {
  /** Answers the new project's UUID. Refused where the name is taken (`project-exists`). */
  create(project: NewProject): Promise<string>;
  change(id: string, change: ProjectChange): Promise<void>;
  /** It is no longer listed; its run is stopped, its schedule rests. All is kept until it is purged. */
  remove(id: string): Promise<void>;
  restore(id: string): Promise<void>;
  /** Deletes everything of it, in the background; resolves when that has begun and nobody sees the project any more. */
  purge(id: string): Promise<void>;
}

export interface RunVerbs {
  /** Begins a run, or puts it in the queue. Refused while one is queued, running or paused (`run-under-way`). */
  start(id: string, order: RunOrder): Promise<Phase>;
  pause(id: string): Promise<Phase>;
  resume(id: string): Promise<Phase>;
  /** For good: what waits is skipped. A queued run leaves the queue. */
  stop(id: string): Promise<Phase>;
  /** New settings for this run; they are also kept with the project. */
  adjust(id: string, settings: SettingChange): Promise<Phase>;
  phase(id: string): Promise<Phase>;
  /** In the order asked for. */
  phases(ids: readonly string[]): Promise<Phase[]>;
  /** Of all projects: queued, running and paused ones. */
  underWay(): Promise<Phase[]>;
}

/** What a crawl with these settings would do. Asks robots.txt, the home page and sitemaps; nothing of it is kept. */
export type PreviewVerb = (websiteUrl: string, settings: SettingChange) => Promise<WebsitePreview>;

export interface Listening {
  /** Page and change events are made only while somebody wants them. */
  pages: boolean;
}

export interface EngineState {
  running: number;
  queued: number;
  maxRunning: number;
  concurrency: number;
  /** Requests that are open now. */
  inFlight: number;
  startedAt: string;
}

export interface Engine {
  readonly projects: ProjectVerbs;
  readonly runs: RunVerbs;
  readonly schedules: ScheduleVerbs;
  readonly webhooks: WebhookVerbs;
  /**
   * Calls with every event of the project (null: of all projects) from now on. The answer ends it. The last events of each
   * project are kept for who comes back: `since` begins after that event where it is still kept.
   */
  listen(
    id: string | null,
    listening: Listening,
    listener: (event: LiveEvent) => void,
  ): Promise<{ phase: Phase | null; seq: number; end: () => void }>;
  /** The kept events of the project after this one; null when they are not kept any more. */
  missed(id: string, afterSeq: number): Promise<LiveEvent[] | null>;
  /** Refused where one of the same host is being made (`preview-busy`). */
  readonly preview: PreviewVerb;
  state(): Promise<EngineState>;
  /** Metrics of all runs under way, in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Runs finish what is in flight, commit, and go on at the next start; then the store is closed. */
  close(): Promise<void>;
}

export interface EngineOptions {
  /** A file or postgres://…. */
  storeAddress: string;
  /** Requests that all runs together may have open. */
  concurrency: number;
  maxRunning: number;
  /** What becomes of runs that were under way when the service ended. */
  onRestart: 'resume' | 'fail';
  /** The most that a project's max-pages may be. */
  maxPagesLimit: number;
  /** Hosts, addresses and CIDR blocks that may be reached although they are not public. */
  egressAllow: readonly string[];
  /** The service's own port, which is never reached; null where it has none. */
  ownPort: number | null;
  /** Operator options of this machine (bodies, resolve, proxy …) by option name in camelCase, for every run. */
  operator: Readonly<Record<string, OptionValue>>;
  /** Encrypts secrets of webhooks: the path of a file with mode 0600, made where there is none. */
  keyFile: string;
}
