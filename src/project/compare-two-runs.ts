/** The pages of a project after one run and after another, from their history. */
import {
  compareRuns,
  type PageDifference,
  RUN_DIFFERENCES,
  type RunComparison,
  type RunDifference,
} from '../change/compare-runs.ts';
import { mergeChanges, pageAfter } from '../change/merge-changes.ts';
import { type ToldChange, toldChange, toldDifference } from '../change/told-change.ts';
import type { VisitOutcome } from '../change/visit-record.ts';
import { sumiError } from '../errors.ts';
import type { ChangeRow, ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import { findRun, projectOf } from './choose-runs.ts';
import { firstOf } from './list-changes.ts';
import type { Reading } from './reading.ts';

export interface Differences {
  project: ProjectRow;
  /** The earlier run and the later one. */
  first: RunRow;
  second: RunRow;
  /** The history of the first run was cleared: what changed since is told as far as later visits know it. */
  isCleared: boolean;
  counts: Record<RunDifference | 'unchanged' | 'unvisited', number>;
  /** The limit counts for all rows together. */
  rows(wanted?: readonly RunDifference[]): AsyncGenerator<ToldChange>;
}

/** The two runs in either order. */
export async function compareTwoRuns(
  reading: Reading,
  runs: readonly [number, number],
  limit = Number.POSITIVE_INFINITY,
): Promise<Differences> {
  const { side } = reading;
  const { project, first, second } = await findTwoRuns(reading, runs);
  const comparison = await compareRuns(side.visitsAfter(project.id, 0), first.run, second.run);
  const told = await tellDifferences(side, project, [first, second], comparison);
  const left = { rows: limit };
  return {
    ...{ project, first, second, counts: told.counts },
    // Without its visits nobody knows what the pages were then: later ones stand for them, as far as they go.
    isCleared: first.pages > 0 && (await side.ledger(first.run)).length === 0,
    rows: (wanted = RUN_DIFFERENCES) => firstOf(told.rows(wanted), left),
  };
}

/** The two runs in either order, the earlier one first. */
export async function findTwoRuns(reading: Reading, runs: readonly [number, number]): Promise<ComparedRuns> {
  const found = [await findRun(reading, runs[0]), await findRun(reading, runs[1])];
  const [first, second] = found.sort((a, b) => a.run - b.run);
  refuseOddPair(first, second);
  return { project: await projectOf(reading.side, first.project), first, second };
}

function refuseOddPair(first: RunRow, second: RunRow): void {
  if (first.run === second.run)
    throw sumiError('runs-not-comparable', { reason: `run ${first.run} is given twice; expected two runs` });
  if (first.project !== second.project)
    throw sumiError('runs-not-comparable', {
      reason: `run ${first.run} is of the project "${first.project}", run ${second.run} of "${second.project}"; expected two runs of one project`,
    });
}

interface ToldDifferences {
  rows: (wanted: readonly RunDifference[]) => AsyncGenerator<ToldChange>;
  counts: Differences['counts'];
}

/** Reads the details of the pages that differ one by one: however many they are, one is held at a time. */
async function tellDifferences(
  side: ReadSide,
  project: ProjectRow,
  [first, second]: [RunRow, RunRow],
  { differences, unchanged, unvisited }: RunComparison,
): Promise<ToldDifferences> {
  const tellPage = (page: PageDifference) => tellDifference(side, { project, first, second }, page);
  async function* rows(wanted: readonly RunDifference[]): AsyncGenerator<ToldChange> {
    for (const page of differences) {
      const told = wanted.includes(page.difference) ? await tellPage(page) : null;
      if (told !== null) yield told;
    }
  }
  const counts = { changed: 0, added: 0, removed: 0, failed: 0, unchanged, unvisited };
  for (const page of differences) {
    // Whether a change was taken back shows only when several are put together.
    const isOpen = page.difference === 'changed' && page.steps > 1;
    counts[isOpen && (await tellPage(page)) === null ? 'unchanged' : page.difference]++;
  }
  return { rows, counts };
}

export interface ComparedRuns {
  project: ProjectRow;
  first: RunRow;
  second: RunRow;
}

/** Null when nothing is left of its changes. */
export async function tellDifference(
  side: ReadSide,
  { project, first, second }: ComparedRuns,
  { pageId, difference, steps }: PageDifference,
): Promise<ToldChange | null> {
  async function rowsOf(outcomes: readonly VisitOutcome[]): Promise<ChangeRow[]> {
    const rows: ChangeRow[] = [];
    const [fromRun, toRun] = [first.run + 1, second.run];
    for await (const row of side.changes({ fromRun, toRun, projectId: project.id, pageId, outcomes }))
      rows.push(row);
    return rows;
  }
  const rows = await rowsOf(TOLD_BY[difference]);
  const last = rows.at(-1);
  if (last === undefined) return null;
  // Of a page that came, went or failed, all that was in between says nothing.
  if (difference !== 'changed') return toldDifference(last, difference, null, project.project);
  // What it lost may have been read as something else since: then more than its type differs.
  if (steps === 1 && last.outcome === 'changed' && last.change?.lost === undefined)
    return { ...toldChange(last, project.project), text_steps: [] };
  const history = await side.visits(pageId);
  // What came later where nothing changed: of a type that was refused at first.
  const isLost = rows.some(({ change }) => change?.lost !== undefined);
  const all = isLost ? await rowsOf([...TOLD_BY.changed, 'unchanged']) : rows;
  const changes = all.flatMap(({ run, change }) => (change === null ? [] : [{ run, change }]));
  const merged = mergeChanges(changes, pageAfter(history, first.run), pageAfter(history, second.run));
  return merged === null ? null : toldDifference(last, difference, merged, project.project);
}

/** The visits that tell of a page. */
const TOLD_BY: Record<RunDifference, readonly VisitOutcome[]> = {
  changed: ['changed', 'gone'],
  added: ['new', 'changed'],
  removed: ['gone'],
  failed: ['failed'],
};
