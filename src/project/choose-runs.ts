/** Which project, and which of its runs, a question about changes is about. */
import { sumiError } from '../errors.ts';
import type { ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import type { ReaderLook } from '../store/reader-look.ts';
import { isCrawl, isUnfinished } from '../store/unfinished-run.ts';
import { isFirstCrawl, isTick } from '../watch/tick-run.ts';
import { readState } from '../watch/watch-state.ts';
import type { Reading } from './reading.ts';

/** The first one of these that is given decides. */
export interface WhichRuns {
  /** This run. */
  run?: number;
  /** All runs of the project after this one. */
  afterRun?: number;
  /** All visits since this wall time. */
  sinceMs?: number;
  /** What this reader has not been told yet. */
  reader?: string;
  /** In a watched project: what this reader has not been told yet. Else the last run. */
  user?: string;
}

export interface ChosenRuns {
  project: ProjectRow;
  /** Oldest first; may be none when all are older than what was asked for. */
  runs: RunRow[];
  /** Visits before this wall time are not meant. */
  sinceMs: number | null;
  /** Null where it was not asked for what a reader has not seen yet. */
  look: AskedLook | null;
}

export interface AskedLook {
  reader: string;
  /** Null: this reader looks for the first time. */
  last: ReaderLook | null;
  /** What the reader has seen when all of this is told. */
  next: ReaderLook;
}

/** Who looks for the first time is told of so much. */
const FIRST_LOOK_MS = 86_400_000;

/** A visit of a run under way may be stored so long after it was made: it is told twice rather than never. */
const LATE_MS = 300_000;

/** `now`: wall time. */
export async function chooseRuns(reading: Reading, which: WhichRuns, now: number): Promise<ChosenRuns> {
  const { side } = reading;
  if (which.run !== undefined) {
    const run = await findRun(reading, which.run);
    return { project: await projectOf(side, run.project), runs: [run], sinceMs: null, look: null };
  }
  if (which.afterRun !== undefined) {
    const first = await findRun(reading, which.afterRun);
    const runs = (await runsOf(side, first.project)).filter(({ run }) => run > first.run);
    return { project: await projectOf(side, first.project), runs, sinceMs: null, look: null };
  }
  const project = await projectOfLastRun(reading);
  const runs = await runsOf(side, project.project);
  if (which.sinceMs !== undefined) {
    const { sinceMs } = which;
    return { project, runs: runs.filter((run) => isSince(run, sinceMs)), sinceMs, look: null };
  }
  const user = which.user !== undefined && (await isWatched(side, project, runs)) ? which.user : undefined;
  const reader = which.reader ?? user;
  if (reader !== undefined) return sinceLook(side, project, runs, reader, now);
  return { project, runs: runs.slice(-1), sinceMs: null, look: null };
}

/** Every run of the project, for the whole history of a page. */
export async function chooseAllRuns(reading: Reading): Promise<ChosenRuns> {
  const project = await projectOfLastRun(reading);
  const runs = await runsOf(reading.side, project.project);
  return { project, runs, sinceMs: null, look: null };
}

const isSince = ({ finished_at }: RunRow, sinceMs: number) =>
  finished_at === null || Date.parse(finished_at) >= sinceMs;

/** A watch is at work, or the last run was one of its ticks or its first crawl (cron runs one at a time). */
async function isWatched(side: ReadSide, project: ProjectRow, runs: readonly RunRow[]): Promise<boolean> {
  const { plan, learnedRun } = await side.revisitPlan(project.id);
  const state = learnedRun > 0 ? readState(plan) : null;
  const last = runs.at(-1);
  return (state?.watcher ?? null) !== null || (last !== undefined && (isTick(last) || isFirstCrawl(last)));
}

async function sinceLook(
  side: ReadSide,
  project: ProjectRow,
  runs: readonly RunRow[],
  reader: string,
  now: number,
): Promise<ChosenRuns> {
  const last = await side.readerLook(project.id, reader);
  const newest = runs.at(-1)!;
  const next = { run: isUnfinished(newest) ? newest.run - 1 : newest.run, at: now };
  const look = { reader, last, next };
  if (last === null) {
    const sinceMs = now - FIRST_LOOK_MS;
    // Of the first crawl everything is new, which is no news. One that failed read nothing, and is made anew.
    const first = runs.findIndex(({ status }) => status !== 'failed');
    const later = first === -1 ? [] : runs.slice(first + 1);
    return { project, runs: later.filter((run) => isSince(run, sinceMs)), sinceMs, look };
  }
  // A clock that was set back since must not hide anything.
  const sinceMs = last.at > now ? null : last.at - LATE_MS;
  return { project, runs: runs.filter(({ run }) => run > last.run), sinceMs, look };
}

export async function findRun({ side, storeLabel, project }: Reading, id: number): Promise<RunRow> {
  const run = await side.run(id);
  if (run === null || (project !== undefined && run.project !== project))
    throw sumiError('unknown-run', { run: id, file: storeLabel });
  return run;
}

async function runsOf(side: ReadSide, project: string): Promise<RunRow[]> {
  const runs: RunRow[] = [];
  for await (const run of side.runs({ project })) runs.push(run);
  return runs.filter(isCrawl).sort((a, b) => a.run - b.run);
}

export async function projectOf(side: ReadSide, name: string): Promise<ProjectRow> {
  return (await side.projects()).find(({ project }) => project === name)!;
}

/** Where none is named, the project that was crawled last. */
async function projectOfLastRun({ side, storeLabel, project }: Reading): Promise<ProjectRow> {
  let last: ProjectRow | null = null;
  let lastRun = -1;
  for (const row of await side.projects()) {
    if (project !== undefined && row.project !== project) continue;
    if ((await side.lastRun(row.id)) === null) continue;
    const run = (await runsOf(side, row.project)).at(-1)?.run ?? 0;
    if (run <= lastRun) continue;
    last = row;
    lastRun = run;
  }
  if (last === null) throw sumiError('unknown-run', { run: 'yet', file: storeLabel });
  return last;
}
