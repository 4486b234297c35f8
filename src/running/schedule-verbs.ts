/** The schedule of a project, as doors set and see it. */

export type ScheduleKind = 'daily' | 'weekly' | 'monthly' | 'cron' | 'continuous';

export interface ScheduleSettings {
  enabled: boolean;
  kind: ScheduleKind;
  /** 0 is Sunday; weekly only. */
  day_of_week: number | null;
  /** 1 to 28; monthly only. */
  day_of_month: number | null;
  /** HH:MM in `timezone`; daily, weekly and monthly. */
  time: string | null;
  /** Five fields; kind cron only. */
  cron: string | null;
  /** IANA name. */
  timezone: string;
  /** Visits a day, as the option `budget`; kind continuous only. */
  budget: string | null;
  mode: 'full' | 'incremental' | 'smart' | null;
  notify_on_changes: boolean;
  /** From how many new pages, or percent of changed pages, on a run counts as significant. */
  significant: { new_pages: number; changed_percent: number };
}

export interface Schedule extends ScheduleSettings {
  project_id: string;
  /** The next five begins, ISO 8601 in UTC; empty when it is off or continuous. */
  next_runs: string[];
  last_run_at: string | null;
  updated_at: string | null;
  /** For If-Match; 0 where none was ever set. */
  version: number;
}

export interface ScheduleVerbs {
  /** The defaults, off, where none was set. */
  get(id: string): Promise<Schedule>;
  /** Of many projects: the next begin of each, ISO 8601; null where none is to come. */
  next(ids: readonly string[]): Promise<(string | null)[]>;
  /** `ifVersion`: another one is refused (`record-changed`). */
  set(id: string, settings: ScheduleSettings, ifVersion?: number): Promise<Schedule>;
  /** The same as the schedule would do, now. */
  runNow(id: string): Promise<void>;
}
