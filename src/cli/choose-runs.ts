/** Which project and which of its runs a question about changes is about, from what stands on the command line. */

import { userInfo } from 'node:os';
import { sumiError } from '../errors.ts';
import type { ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import type { ReaderLook } from '../store/reader-look.ts';
import { isCrawl, isUnfinished } from '../store/unfinished-run.ts';
import { isFirstCrawl, isTick } from '../watch/tick-run.ts';
import { readState } from '../watch/watch-state.ts';
import type { Reading } from './read-command.ts';
import { readMoment } from './read-time.ts';

export interface ChosenRuns {
  project: ProjectRow;
  /** Oldest first; may be none when all are older than what was asked for. */
  runs: RunRow[];
  /** Visits before this wall time are not meant. */
  sinceMs: number | null;
  /** Where what a reader has not seen yet was asked for. */
  look?: AskedLook;
}

export interface AskedLook {
  reader: string;
  /** Null: this reader looks for the first time. */
  last: ReaderLook | null;
  /** What the reader has seen when all of this is told. */
  next: ReaderLook;
}

export interface RunFlags {
  run?: string;
  since?: string;
  reader?: string;
}

/** Who looks for the first time is told of so much. */
const FIRST_LOOK_MS = 86_400_000;

/** A visit of a run under way may be stored so long after it was made: it is told twice rather than never. */
const LATE_MS = 300_000;

/** The last run unless flags say otherwise; with `isWhole` all of them. */
export async function chooseRuns(
  reading: Reading,
  flags: RunFlags,
  isWhole: boolean,
  now: number,
): Promise<ChosenRuns> {
  const { side } = reading;
  if (flags.run !== undefined && flags.since !== undefined)
    throw sumiError('usage', { reason: '--run and --since are both given', command: 'sumi changes' });
  refuseIdleReader(flags, isWhole);
  if (flags.run !== undefined) {
    const run = await findRun(reading, flags.run, 'sumi changes');
    return { project: await projectOf(side, run.project), runs: [run], sinceMs: null };
  }
  if (flags.since !== undefined && isRunNumber(flags.since)) {
    const first = await findRun(reading, flags.since, 'sumi changes');
    const runs = (await runsOf(side, first.project)).filter(({ run }) => run > first.run);
    return { project: await projectOf(side, first.project), runs, sinceMs: null };
  }
  const project = await projectOfLastRun(reading);
  const runs = await runsOf(side, project.project);
  if (flags.since !== undefined) {
    const sinceMs = readMoment(
      flags.since,
      { flag: '--since', command: 'sumi changes' },
      now,
      'the number of a run, ',
    );
    const meant = runs.filter(
      ({ finished_at }) => finished_at === null || Date.parse(finished_at) >= sinceMs,
    );
    return { project, runs: meant, sinceMs };
  }
  if (isWhole) return { project, runs, sinceMs: null };
  const asksForLook = flags.reader !== undefined || (await isWatched(side, project, runs));
  if (asksForLook) return sinceLook(side, project, runs, flags.reader ?? defaultReader(), now);
  return { project, runs: runs.slice(-1), sinceMs: null };
}

/** A look says itself since when: beside another time, and for the whole history of a page, it would say nothing. */
function refuseIdleReader({ run, since, reader }: RunFlags, isWhole: boolean): void {
  if (reader === undefined) return;
  const other = run !== undefined ? '--run' : since !== undefined ? '--since' : isWhole ? 'a URL' : null;
  if (other === null) return;
  const reason = `--reader and ${other} are both given; expected one of them (--reader tells all since that reader's last look)`;
  throw sumiError('usage', { reason, command: 'sumi changes' });
}

/** A watch is at work, or the last run was one of its looks or its first crawl (cron runs one at a time). */
async function isWatched(side: ReadSide, project: ProjectRow, runs: readonly RunRow[]): Promise<boolean> {
  const { plan, learnedRun } = await side.revisitPlan(project.id);
  const state = learnedRun > 0 ? readState(plan) : null;
  const last = runs.at(-1);
  return (state?.watcher ?? null) !== null || (last !== undefined && (isTick(last) || isFirstCrawl(last)));
}

/** Whoever uses the machine; in some containers users have no name. */
function defaultReader(): string {
  try {
    return userInfo().username;
  } catch {
    return 'me';
  }
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
    const isMeant = ({ finished_at }: RunRow) => finished_at === null || Date.parse(finished_at) >= sinceMs;
    return { project, runs: later.filter(isMeant), sinceMs, look };
  }
  // A clock that was set back since must not hide anything.
  const sinceMs = last.at > now ? null : last.at - LATE_MS;
  return { project, runs: runs.filter(({ run }) => run > last.run), sinceMs, look };
}

/** A number alone is a run: years are written with a month. */
export const isRunNumber = (text: string) => /^\d{1,9}$/.test(text);

export async function findRun(
  { side, config, project }: Reading,
  text: string,
  command: string,
): Promise<RunRow> {
  if (!isRunNumber(text))
    throw sumiError('usage', { reason: `"${text}" is not the number of a run`, command });
  const run = await side.run(Number(text));
  if (run === null || (project !== undefined && run.project !== project))
    throw sumiError('unknown-run', { run: text, file: config.storeLabel });
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
async function projectOfLastRun({ side, config, project }: Reading): Promise<ProjectRow> {
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
  if (last === null) throw sumiError('unknown-run', { run: 'yet', file: config.storeLabel });
  return last;
}
