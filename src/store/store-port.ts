/**
 * The store port: a store is opened once per process, and runs are sessions on it. SQLite and PostgreSQL implement it
 * and pass the same contract suite; what each role promises stands in its own file.
 *
 * Guarantees of the whole:
 *  - Several runs may be under way at once, of several projects; all of them write through the store's one writer.
 *  - Leases and host clocks are shared by all runs, here and in other processes: no host has two holders.
 *  - Where workers share a store (`isShared`), `clock` tells the database's time, and every time in or out is of it.
 */
import type { Clock } from '../primitives/clock.ts';
import type { FrontierPort } from './frontier-port.ts';
import type { HistoryPort } from './history-port.ts';
import type { HostPort } from './host-port.ts';
import type { ProjectPort } from './project-port.ts';
import type { ReadSide } from './read-side.ts';
import type { RunPort, RunRequest, RunStart } from './run-port.ts';
import type { SitemapPort } from './sitemap-port.ts';

export interface Store {
  /** The time that leases, slots and blocks are counted in. */
  readonly clock: Clock;
  /** More than one worker may be at work on a run. */
  readonly isShared: boolean;
  readonly projects: ProjectPort;
  /** For questions only, on a connection of its own: it may be asked while runs are under way. */
  openSide(): Promise<ReadSide>;
  begin(request: RunRequest): Promise<RunStore>;
  /** Takes part in a run that is under way; null when it is not (any more). */
  join(runId: number, owner: string): Promise<JoinedRun | null>;
  /** For who takes part in no run, and only leases hosts, such as a reader of one sitemap. */
  withoutRun(owner: string): Promise<RunStore>;
  flush(): Promise<void>;
  /** Ends the sessions that are open, and the store. */
  close(): Promise<void>;
}

/** The store as one run sees it: a session. */
export interface RunStore {
  readonly clock: Clock;
  readonly isShared: boolean;
  readonly start: RunStart;
  readonly frontier: FrontierPort;
  readonly run: RunPort;
  readonly hosts: HostPort;
  readonly sitemaps: SitemapPort;
  readonly history: HistoryPort;
  readonly projects: ProjectPort;
  openSide(): Promise<ReadSide>;
  /** Commits what is settled. */
  flush(): Promise<void>;
  /** Ends the session: what it still holds is given back. The store stays open. */
  leave(): Promise<void>;
}

export interface JoinedRun extends RunStore {
  readonly project: string;
  /** The configuration that the run was started with, as JSON. */
  readonly config: string;
  readonly metadata: string | null;
}
