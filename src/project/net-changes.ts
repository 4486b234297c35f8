/**
 * What the changes of several runs come to, one row a page: a page that changed in three runs is told once, with what
 * differs between both ends, and one that changed and changed back is not told. It reads the brief visits of the window
 * first, then the details of one page at a time: what it holds is a number or two a visited page.
 */
import { type BriefVisit, compareRuns } from '../change/compare-runs.ts';
import { mergeChanges, pageAfter } from '../change/merge-changes.ts';
import { type ToldChange, toldChange, toldDifference } from '../change/told-change.ts';
import { VISIT_OUTCOMES, type VisitOutcome } from '../change/visit-record.ts';
import type { ChangeRow, ProjectRow, ReadSide, VisitRow } from '../store/read-side.ts';

export interface ChangeWindow {
  project: ProjectRow;
  fromRun: number;
  toRun: number;
  /** Visits before this wall time are not meant; null: all of the runs. */
  sinceMs: number | null;
}

export const CHANGE_OUTCOMES: readonly VisitOutcome[] = ['changed', 'new', 'gone'];
export const isChange = (outcome: VisitOutcome) => CHANGE_OUTCOMES.includes(outcome);

export interface NetChanges {
  rows(outcomes: readonly VisitOutcome[]): AsyncGenerator<ToldChange>;
  /** Pages by what became of them. */
  counts: ReadonlyMap<VisitOutcome, number>;
  /** Pages that changed in the window and are at its end what they were before it. */
  takenBack: number;
}

/** What the window has of a page. */
interface Visited {
  changes: number;
  visits: number;
  /** Of a page that changed several times: what that comes to; null where nothing is left of it. */
  net?: VisitOutcome | null;
}

export const isInWindow = ({ fromRun, toRun, sinceMs }: ChangeWindow, run: number, visitedAt: number) =>
  run >= fromRun && run <= toRun && (sinceMs === null || visitedAt >= sinceMs);

/** `isWhole`: pages that did not change, or could not be read, are told as well. */
export async function readNetChanges(
  side: ReadSide,
  window: ChangeWindow,
  isWhole: boolean,
): Promise<NetChanges> {
  const { project } = window;
  const pages = await readVisited(side, window);
  const counts = new Map<VisitOutcome, number>();
  let takenBack = 0;
  for (const [pageId, page] of pages) {
    if (page.changes > 1)
      page.net = (await tellNetChange(side, window, pageId))?.outcome as VisitOutcome | null;
    if (page.changes > 1 && page.net == null) takenBack++;
  }
  const netOf = (row: ChangeRow) => {
    const { changes, net } = pages.get(row.page_id)!;
    return changes > 1 ? (net ?? null) : row.outcome;
  };
  async function* lastRows(): AsyncGenerator<ChangeRow> {
    const seen = new Map<number, number>();
    const outcomes = isWhole ? VISIT_OUTCOMES : CHANGE_OUTCOMES;
    for await (const row of rowsOf(side, window, outcomes)) {
      const page = pages.get(row.page_id);
      // Visited since the window was read.
      if (page === undefined) continue;
      const isTelling = page.changes === 0 || isChange(row.outcome);
      if (!isTelling) continue;
      const before = seen.get(row.page_id) ?? 0;
      seen.set(row.page_id, before + 1);
      if (before + 1 === (page.changes === 0 ? page.visits : page.changes)) yield row;
    }
  }
  for (const { changes, net } of pages.values())
    if (changes > 1 && net != null) counts.set(net, (counts.get(net) ?? 0) + 1);
  for await (const row of lastRows()) {
    if (pages.get(row.page_id)!.changes > 1) continue;
    counts.set(row.outcome, (counts.get(row.outcome) ?? 0) + 1);
  }
  return {
    counts,
    takenBack,
    async *rows(outcomes) {
      for await (const row of lastRows()) {
        const net = netOf(row);
        if (net === null || !outcomes.includes(net)) continue;
        const isMerged = pages.get(row.page_id)!.changes > 1;
        const told = isMerged
          ? await tellNetChange(side, window, row.page_id)
          : toldChange(row, project.project);
        if (told !== null) yield told;
      }
    },
  };
}

async function readVisited(side: ReadSide, window: ChangeWindow): Promise<Map<number, Visited>> {
  const pages = new Map<number, Visited>();
  for await (const { run, pageId, visitedAt, outcome } of side.visitsAfter(
    window.project.id,
    window.fromRun - 1,
  )) {
    if (!isInWindow(window, run, visitedAt)) continue;
    const page = pages.get(pageId) ?? { changes: 0, visits: 0 };
    page.visits++;
    if (isChange(outcome)) page.changes++;
    pages.set(pageId, page);
  }
  return pages;
}

async function* rowsOf(
  side: ReadSide,
  window: ChangeWindow,
  outcomes: readonly VisitOutcome[],
  pageId?: number,
): AsyncGenerator<ChangeRow> {
  const { project, fromRun, toRun } = window;
  for await (const row of side.changes({ fromRun, toRun, projectId: project.id, pageId, outcomes }))
    if (isInWindow(window, row.run, Date.parse(row.visited_at))) yield row;
}

/** Before the window and in it. */
const [BEFORE, WITHIN] = [1, 2];

/** What all changes of a page in the window come to; null where nothing is left of them. */
export async function tellNetChange(
  side: ReadSide,
  window: ChangeWindow,
  pageId: number,
): Promise<ToldChange | null> {
  const { project } = window.project;
  const rows: ChangeRow[] = [];
  for await (const row of rowsOf(side, window, [...CHANGE_OUTCOMES, 'unchanged'], pageId)) rows.push(row);
  const told = rows.filter(({ outcome }) => isChange(outcome));
  const last = told.at(-1);
  if (last === undefined) return null;
  // A visit that failed says nothing of the page: it is as it was known before.
  const history = asSides(await side.visits(pageId), window).filter(({ outcome }) => outcome !== 'failed');
  const { differences } = await compareRuns(briefly(history, pageId), BEFORE, WITHIN);
  const difference = differences[0]?.difference;
  if (difference === undefined) return null;
  if (difference === 'removed') return toldDifference(last, 'gone', null, project);
  const isNew = told.some(({ outcome }) => outcome === 'new');
  if (difference === 'added' && isNew) return toldDifference(last, 'new', null, project);
  // What was kept when a page lost its content is compared with what came later, where nothing else changed.
  const isLost = told.some(({ change }) => change?.lost !== undefined);
  const steps = (isLost ? rows : told).flatMap(({ run, change }) =>
    change === null ? [] : [{ run, change }],
  );
  const merged = mergeChanges(steps, pageAfter(history, BEFORE), pageAfter(history, WITHIN));
  if (difference === 'changed')
    return merged === null ? null : toldDifference(last, 'changed', merged, project);
  // It was gone before the window, and is there again: both ends as it was read say nothing of that.
  const back = told.flatMap(({ change }) => change?.fields ?? []).find(({ name }) => name === 'status');
  const whole = toldDifference(last, 'changed', merged, project);
  if (back === undefined || whole.parts.includes('status')) return whole;
  return { ...whole, parts: ['status', ...whole.parts], fields: [back, ...whole.fields] };
}

function asSides(history: readonly VisitRow[], window: ChangeWindow): VisitRow[] {
  const isIn = ({ run, visited_at }: VisitRow) => isInWindow(window, run, Date.parse(visited_at));
  const first = history.findIndex(isIn);
  return history
    .filter(({ run }) => run <= window.toRun)
    .map((visit, at) => ({ ...visit, run: first !== -1 && at >= first ? WITHIN : BEFORE }));
}

async function* briefly(history: readonly VisitRow[], pageId: number): AsyncGenerator<BriefVisit> {
  for (const { run, outcome, known_by: knownBy } of history) yield { run, pageId, outcome, knownBy };
}
