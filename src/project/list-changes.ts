/**
 * What changed: in a run, in all runs since one, since a time, or since a reader last looked; and the history of a page.
 * It reads what visits noted and compares nothing itself. Rows come as they are read, and one limit counts for all of
 * them together.
 */
import { type ToldChange, toldChange } from '../change/told-change.ts';
import { VISIT_OUTCOMES, type VisitOutcome } from '../change/visit-record.ts';
import { sumiError } from '../errors.ts';
import type { PageRow, ReadSide } from '../store/read-side.ts';
import { type ChosenRuns, chooseAllRuns, chooseRuns, projectOf, type WhichRuns } from './choose-runs.ts';
import { requirePages } from './find-pages.ts';
import { CHANGE_OUTCOMES, type NetChanges, readNetChanges } from './net-changes.ts';
import type { Reading } from './reading.ts';

export interface ChangesQuestion extends WhichRuns {
  /** Also pages that did not change or could not be read. */
  isWhole?: boolean;
  /** Of several runs what each one found, in place of what they come to. */
  isByRun?: boolean;
  limit?: number;
  /** Wall time. */
  now: number;
}

export interface Changes extends ChosenRuns {
  /** One row a page that tells what several runs come to, in place of one a visit. */
  isNet: boolean;
  /** Pages that changed and are at the end what they were at the beginning; 0 where each run is told. */
  takenBack: number;
  /** What was asked for. */
  outcomes: readonly VisitOutcome[];
  /** Pages by what became of them; null where nobody counted them. */
  counts: ReadonlyMap<VisitOutcome, number> | null;
  rows(outcomes?: readonly VisitOutcome[]): AsyncGenerator<ToldChange>;
  /** The limit is reached: there may have been more. */
  readonly isCut: boolean;
}

export async function listChanges(reading: Reading, question: ChangesQuestion): Promise<Changes> {
  const { side } = reading;
  const chosen = await chooseRuns(reading, question, question.now);
  const { project, runs, sinceMs } = chosen;
  const outcomes: readonly VisitOutcome[] = question.isWhole
    ? [...CHANGE_OUTCOMES, 'unchanged', 'failed']
    : CHANGE_OUTCOMES;
  const isNet = question.isByRun !== true && runs.length > 0 && (runs.length > 1 || sinceMs !== null);
  const window = { project, fromRun: runs[0]?.run ?? 0, toRun: runs.at(-1)?.run ?? 0, sinceMs };
  const net = isNet ? await readNetChanges(side, window, question.isWhole === true) : null;
  const left = { rows: question.limit ?? Number.POSITIVE_INFINITY };
  return {
    ...chosen,
    ...{ isNet, outcomes, takenBack: net?.takenBack ?? 0, counts: await countsOf(side, chosen, net) },
    rows: (wanted = outcomes) =>
      net === null ? rowsOf(side, chosen, wanted, left) : firstOf(net.rows(wanted), left),
    get isCut() {
      return left.rows <= 0;
    },
  };
}

async function countsOf(
  side: ReadSide,
  { runs, sinceMs }: ChosenRuns,
  net: NetChanges | null,
): Promise<Changes['counts']> {
  if (net !== null) return net.counts;
  // By time, the runs' own counts say too much.
  if (sinceMs !== null) return null;
  const counts = new Map<VisitOutcome, number>();
  for (const { run } of runs) {
    for (const { outcome, visits } of await side.ledger(run))
      counts.set(outcome, (counts.get(outcome) ?? 0) + visits);
  }
  return counts;
}

/** How many rows may still be given. */
export interface RowsLeft {
  rows: number;
}

export async function* firstOf<Row>(rows: AsyncIterable<Row>, left: RowsLeft): AsyncGenerator<Row> {
  if (left.rows <= 0) return;
  for await (const row of rows) {
    yield row;
    if (--left.rows <= 0) return;
  }
}

async function* rowsOf(
  side: ReadSide,
  { project, runs, sinceMs }: Omit<ChosenRuns, 'look'>,
  outcomes: readonly VisitOutcome[],
  left: RowsLeft,
  pageId?: number,
): AsyncGenerator<ToldChange> {
  if (runs.length === 0 || left.rows <= 0) return;
  const [fromRun, toRun] = [runs[0].run, runs.at(-1)!.run];
  for await (const row of side.changes({ fromRun, toRun, projectId: project.id, pageId, outcomes })) {
    if (sinceMs !== null && Date.parse(row.visited_at) < sinceMs) continue;
    yield toldChange(row, project.project);
    if (--left.rows <= 0) return;
  }
}

export interface PageHistory {
  /** Of the first project that knows it. */
  page: PageRow;
  rows(): AsyncGenerator<ToldChange>;
}

/** All visits of a page, in every project that knows it, or those of the runs asked for. */
export async function listPageHistory(
  reading: Reading,
  url: string,
  question: Pick<ChangesQuestion, 'run' | 'afterRun' | 'sinceMs' | 'limit' | 'now'>,
): Promise<PageHistory> {
  const { side } = reading;
  const { run, afterRun, sinceMs, limit, now } = question;
  const number = run ?? afterRun;
  const isAll = number === undefined && sinceMs === undefined;
  const pages = await requirePages(reading, url);
  const chosen: { page: PageRow; runs: ChosenRuns }[] = [];
  for (const page of pages) {
    // A run belongs to one project; the others have nothing to say of it.
    if (pages.length > 1 && number !== undefined && (await side.run(number))?.project !== page.project)
      continue;
    const ofProject = { ...reading, project: page.project };
    const runs = isAll
      ? await chooseAllRuns(ofProject)
      : await chooseRuns(ofProject, { run, afterRun, sinceMs }, now);
    chosen.push({ page, runs });
  }
  if (chosen.length === 0) throw sumiError('unknown-run', { run: number!, file: reading.storeLabel });
  const left = { rows: limit ?? Number.POSITIVE_INFINITY };
  return {
    page: chosen[0].page,
    async *rows() {
      for (const { page, runs } of chosen) {
        const project = await projectOf(side, page.project);
        yield* rowsOf(side, { ...runs, project }, VISIT_OUTCOMES, left, page.id);
      }
    },
  };
}
