/** How the crawl of a project stands, as programs are told: the names of specification 002, and finer ones beside them. */
import type { SummaryEvent } from '../events/events.ts';

export type PhaseStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

/** Finer than the status. queued, running and paused are in_progress; stopped is completed; interrupted is failed. */
export type PhaseState =
  | 'pending'
  | 'queued'
  | 'running'
  | 'paused'
  | 'completed'
  | 'stopped'
  | 'interrupted'
  | 'failed';

export const STATUS_OF_STATE: Readonly<Record<PhaseState, PhaseStatus>> = {
  pending: 'pending',
  queued: 'in_progress',
  running: 'in_progress',
  paused: 'in_progress',
  completed: 'completed',
  stopped: 'completed',
  interrupted: 'failed',
  failed: 'failed',
};

/** initial: the project's first run; scheduled: begun by its schedule; manual: by somebody. */
export type RunType = 'initial' | 'scheduled' | 'manual';

export interface Phase {
  project_id: string;
  status: PhaseStatus;
  state: PhaseState;
  /** The run's number; null before it has begun. */
  run: number | null;
  type: RunType | null;
  mode: 'full' | 'incremental' | 'smart' | null;
  /** Percent: pages_crawled of estimated_total. Never falls within a run, and is 100 only at the end. */
  progress: number;
  pages_crawled: number;
  estimated_total: number;
  waiting: number;
  failed: number;
  skipped: number;
  pages_per_second: number;
  seconds_left: number | null;
  /** ISO 8601, in UTC. */
  started_at: string | null;
  completed_at: string | null;
  /** One sentence for people: what it does or waits for now, or how it ended. */
  message: string;
  error: { code: string; message: string } | null;
  /** The figures of the run at its end; null before. */
  statistics: PhaseStatistics | null;
}

export type PhaseStatistics = Pick<
  SummaryEvent,
  | 'pages'
  | 'requests'
  | 'bytes'
  | 'duration_ms'
  | 'by_state'
  | 'known_urls'
  | 'read'
  | 'broken'
  | 'rate_limited'
  | 'skipped'
  | 'waiting'
  | 'left_out'
  | 'new'
  | 'changed'
  | 'unchanged'
  | 'gone'
  | 'failed'
  | 'not_transferred'
  | 'bytes_saved'
>;

/** What a start may say. All of it is checked before: these are option values. */
export interface RunOrder {
  type: 'scheduled' | 'manual';
  mode?: 'full' | 'incremental' | 'smart';
  maxPages?: number;
  /** These URLs and no others; nothing is discovered. */
  fetchOnlyUrls?: readonly string[];
  /** Delete the project's pages first. */
  fresh?: boolean;
  /** Notes that are stored with the run. */
  meta?: Readonly<Record<string, string>>;
  /** Who ordered it, for people: the name of a token, `schedule`. */
  by?: string;
}
