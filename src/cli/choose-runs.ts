/** Which project and which of its runs a question about changes is about, from what stands on the command line. */
import { sumiError } from '../errors.ts';
import type { ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import type { Reading } from './read-command.ts';
import { readMoment } from './read-time.ts';

export interface ChosenRuns {
  project: ProjectRow;
  /** Oldest first; may be none when all are older than what was asked for. */
  runs: RunRow[];
  /** Visits before this wall time are not meant. */
  sinceMs: number | null;
}

export interface RunFlags {
  run?: string;
  since?: string;
}

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
  return { project, runs: isWhole ? runs : runs.slice(-1), sinceMs: null };
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
