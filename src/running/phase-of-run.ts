/** How the crawl of a project stands where this process has no hand in it: from the store's last run and what was noted. */
import type { StoredRun } from '../store/read-side.ts';
import type { StoredStatus } from '../store/steering.ts';
import { type Phase, type PhaseState, STATUS_OF_STATE } from './phase.ts';
import type { RunNote } from './run-notes.ts';
import type { HeldTicket } from './tickets.ts';

const STATE_OF_STATUS: Readonly<Record<StoredStatus, PhaseState>> = {
  running: 'running',
  paused: 'paused',
  completed: 'completed',
  stopped: 'stopped',
  interrupted: 'interrupted',
  failed: 'failed',
};

const NOTHING = {
  ...{ run: null, type: null, mode: null, progress: 0, pages_crawled: 0, estimated_total: 0 },
  ...{ waiting: 0, failed: 0, skipped: 0, pages_per_second: 0, seconds_left: null },
  ...{ started_at: null, completed_at: null, error: null, statistics: null },
} as const;

export function pendingPhase(projectUid: string): Phase {
  return {
    ...{ project_id: projectUid, ...NOTHING, status: 'pending', state: 'pending' },
    message: 'The project has not been crawled yet.',
  };
}

/** `before`: how many runs go first. `earlier`: the run that it is to go on with. */
export function queuedPhase(ticket: HeldTicket, before: number, earlier: Phase | null): Phase {
  const { project, order } = ticket;
  const phase: Phase = {
    ...(earlier ?? { ...NOTHING, project_id: project, estimated_total: order.maxPages ?? 0 }),
    status: 'in_progress',
    state: 'queued',
    message:
      before === 0 ? 'Waits to be started; it is next.' : `Waits to be started; ${before} go before it.`,
    ...{ completed_at: null, error: null, statistics: null, pages_per_second: 0, seconds_left: null },
  };
  const type = order.type === 'scheduled' ? 'scheduled' : 'manual';
  return { ...phase, type: phase.type ?? type, mode: phase.mode ?? order.mode ?? null };
}

/** A run that could not even begin. */
export interface FailedStart {
  at: string;
  code: string;
  message: string;
}

export interface StoredStanding {
  projectUid: string;
  run: StoredRun;
  note: RunNote | null;
  /** Who is at work on it now, in other processes. */
  workers: number;
  /** It will go on by itself. */
  isTaken: boolean;
}

const OVER: ReadonlySet<PhaseState> = new Set(['completed', 'stopped', 'interrupted', 'failed']);

export function storedPhase({ projectUid, run, note, workers, isTaken }: StoredStanding): Phase {
  const state = stateOf(run, workers, isTaken);
  const isAtEnd = state === 'completed' || state === 'stopped';
  const pages = Math.max(run.pages, isAtEnd ? 0 : (note?.pages_crawled ?? 0));
  const waiting = isAtEnd ? 0 : (note?.waiting ?? 0);
  const seconds = run.finished_at === null ? 0 : secondsBetween(run.started_at, run.finished_at);
  return {
    project_id: projectUid,
    ...{ status: STATUS_OF_STATE[state], state, run: run.run },
    type: note?.type ?? 'manual',
    mode: note?.mode ?? modeOf(run.mode),
    ...progressOf(pages, isAtEnd, note),
    pages_crawled: pages,
    waiting,
    failed: note?.failed ?? 0,
    skipped: note?.skipped ?? 0,
    pages_per_second: isAtEnd && seconds > 0 ? Math.round((10 * pages) / seconds) / 10 : 0,
    seconds_left: null,
    started_at: run.started_at,
    completed_at: OVER.has(state) ? run.finished_at : null,
    message: messageOf(state, { pages, waiting, error: run.error }),
    error: errorOf(state, run, note),
    statistics: OVER.has(state) ? (note?.statistics ?? null) : null,
  };
}

function stateOf({ status }: StoredRun, workers: number, isTaken: boolean): PhaseState {
  const state = STATE_OF_STATUS[status as StoredStatus] ?? 'failed';
  if (isTaken && (state === 'running' || state === 'interrupted')) return 'queued';
  // Whoever was at work on it is gone.
  return state === 'running' && workers === 0 ? 'interrupted' : state;
}

function progressOf(pages: number, isAtEnd: boolean, note: RunNote | null) {
  if (isAtEnd) return { progress: 100, estimated_total: pages };
  const progress = note?.progress ?? 0;
  const known = note === null ? pages : Math.max(pages, pages + note.waiting);
  if (progress === 0 || pages === 0)
    return { progress, estimated_total: Math.max(known, note?.max_pages ?? 0) };
  return { progress, estimated_total: Math.max(pages, Math.ceil((pages * 100) / progress)) };
}

function errorOf(state: PhaseState, { error }: StoredRun, note: RunNote | null): Phase['error'] {
  if (state !== 'failed' && state !== 'interrupted') return null;
  if (note?.error != null) return note.error;
  if (error !== null) return { code: 'run-failed', message: error };
  return state === 'interrupted'
    ? { code: 'run-interrupted', message: 'The program that crawled it ended before the run did.' }
    : { code: 'run-failed', message: 'The run failed.' };
}

interface Told {
  pages: number;
  waiting: number;
  error: string | null;
}

const MESSAGES: Readonly<Record<PhaseState, (told: Told) => string>> = {
  pending: () => 'The project has not been crawled yet.',
  queued: () => 'Waits to be started.',
  running: ({ pages }) => `Running in another program; ${pages} pages have been crawled.`,
  paused: ({ waiting }) => (waiting > 0 ? `Paused; ${waiting} pages wait.` : 'Paused.'),
  completed: ({ pages, error }) => error ?? `Completed: ${pages} pages were crawled.`,
  stopped: ({ pages }) => `Stopped after ${pages} pages; what waited was skipped.`,
  interrupted: ({ pages }) =>
    `Interrupted after ${pages} pages. It continues where it ended when it is started again.`,
  failed: ({ error }) => error ?? 'The run failed.',
};

const messageOf = (state: PhaseState, told: Told) => MESSAGES[state](told);

function modeOf(mode: string | null): Phase['mode'] {
  return mode === 'full' || mode === 'incremental' ? mode : null;
}

function secondsBetween(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);
}
