/**
 * What changed, a page of results at a time: of one run its visits as they are, of several what they come to, one row a
 * page as `sumi changes` tells it. However large the project is, a call reads a bounded number of visits: a page is told
 * with its last change in the window, and what came before is looked up for that page alone.
 */
import { type ToldChange, toldChange } from '../change/told-change.ts';
import { type ChangePart, VISIT_OUTCOMES, type VisitOutcome } from '../change/visit-record.ts';
import type { Change } from '../contract/changes.ts';
import type { ListAnswer } from '../contract/lists.ts';
import { findRun } from '../project/choose-runs.ts';
import { CHANGE_OUTCOMES, isChange, isInWindow, tellNetChange } from '../project/net-changes.ts';
import type { VisitListFilter } from '../store/list-queries.ts';
import type { ChangeRow, ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import type { Answering } from './answering.ts';
import { countByReading, listAnswer, type PageOfList, readResults, totalOf } from './list-answer.ts';
import { pageUid } from './page-uid.ts';
import { readingOf } from './reading-of.ts';
import { type RunWindow, readWindowCursor, writeWindowCursor } from './window-cursor.ts';

/** last: the last run. run: all runs after it. sinceMs: all visits since that wall time. only: this run. */
export type SinceWhen = { last: true } | { run: number } | { sinceMs: number } | { only: number };

export interface ChangesQuestion extends PageOfList {
  since?: SinceWhen;
  /** Unless said: changed, new and gone. */
  outcomes?: readonly VisitOutcome[];
  /** Only where one of these parts changed. */
  parts?: readonly ChangePart[];
}

type Asked = Pick<Answering, 'side' | 'storeLabel'>;

export async function listChangesOf(
  asked: Asked,
  project: ProjectRow,
  question: ChangesQuestion,
): Promise<ListAnswer<Change>> {
  const { since = { last: true }, outcomes = CHANGE_OUTCOMES, parts, limit, cursor, count } = question;
  const about = [project.uid, since, [...outcomes].sort(), parts === undefined ? null : [...parts].sort()];
  const place =
    cursor === undefined
      ? { window: await findWindow(asked, project, since), inner: undefined }
      : readWindowCursor(cursor, about);
  const { window } = place;
  if (window === null) return { ...listAnswer([], NOTHING), ...(count === true && NONE) };
  const wanted = { ...window, outcomes, parts, sinceMs: 'sinceMs' in since ? since.sinceMs : null };
  const read = (at: PageOfList) => readWindow(asked.side, project, wanted, at);
  const { items, next_cursor, prev_cursor } = await read({ limit, cursor: place.inner });
  return {
    items,
    next_cursor: writeWindowCursor(about, window, next_cursor),
    prev_cursor: writeWindowCursor(about, window, prev_cursor),
    ...(count === true && (await countWindow(asked.side, project, wanted, read))),
  };
}

const NOTHING = { next: null, previous: null };
const NONE = { total: 0, total_is_exact: true };

interface WantedChanges extends RunWindow {
  outcomes: readonly VisitOutcome[];
  parts: readonly ChangePart[] | undefined;
  sinceMs: number | null;
}

const isOfOneRun = ({ fromRun, toRun, sinceMs }: WantedChanges) => fromRun === toRun && sinceMs === null;

/** Null: there is no run yet, or none since then. */
async function findWindow(asked: Asked, project: ProjectRow, since: SinceWhen): Promise<RunWindow | null> {
  if ('only' in since) {
    const { run } = await findRun(readingOf(asked, project), since.only);
    return { fromRun: run, toRun: run };
  }
  const isOlder = ({ finished_at }: RunRow) =>
    'sinceMs' in since && finished_at !== null && Date.parse(finished_at) < since.sinceMs;
  const first = 'run' in since ? (await findRun(readingOf(asked, project), since.run)).run + 1 : 0;
  let newest: number | null = null;
  let oldest = 0;
  for await (const row of runsBackwards(asked.side, project)) {
    if (!isCrawl(row)) continue;
    if (row.run < first || isOlder(row)) break;
    newest ??= row.run;
    oldest = row.run;
    // What is older is in the window anyway, or not wanted.
    if ('last' in since || 'run' in since) break;
  }
  if (newest === null) return null;
  return { fromRun: 'run' in since ? first : oldest, toRun: newest };
}

async function* runsBackwards(side: ReadSide, { project }: ProjectRow): AsyncGenerator<RunRow> {
  let cursor: string | undefined;
  do {
    const { rows, next } = await side.list('runs', { filter: { project }, limit: 100, cursor });
    yield* rows;
    cursor = next ?? undefined;
  } while (cursor !== undefined);
}

function filterOf({ project }: ProjectRow, wanted: WantedChanges): VisitListFilter {
  const { fromRun, toRun, outcomes } = wanted;
  const needsAll = outcomes.some((outcome) => !isChange(outcome));
  // Of several runs every change counts, whatever they come to.
  const told = isOfOneRun(wanted) ? [...outcomes] : needsAll ? [...VISIT_OUTCOMES] : [...CHANGE_OUTCOMES];
  return { project, fromRun, toRun, outcomes: told };
}

async function readWindow(
  side: ReadSide,
  project: ProjectRow,
  wanted: WantedChanges,
  place: PageOfList,
): Promise<ListAnswer<Change>> {
  const results = await readResults(side, 'changes', { filter: filterOf(project, wanted) }, place);
  const tell = createTeller(side, project, wanted);
  const items: Change[] = [];
  for (const row of results.rows) {
    const told = await tell(row);
    if (told !== null) items.push(describeChange(told, row.page_id, project.uid));
  }
  return listAnswer(items, results);
}

/** Null for a visit that is not told: the page has a later one, nothing is left of its changes, or another kind is wanted. */
function createTeller(side: ReadSide, project: ProjectRow, wanted: WantedChanges) {
  const window = { ...wanted, project };
  const { fromRun, toRun } = wanted;
  /** The newest ones of the page in the window: a page that is watched has thousands of visits. */
  async function newestOf(pageId: number, outcomes: readonly VisitOutcome[], limit: number) {
    const filter = { project: project.project, pageId, fromRun, toRun, outcomes: [...outcomes] };
    const { rows } = await side.list('visits', { filter, limit });
    return rows.filter(({ run, visited_at }) => isInWindow(window, run, Date.parse(visited_at)));
  }
  async function tellNet(row: ChangeRow): Promise<ToldChange | null> {
    const changes = await newestOf(row.page_id, CHANGE_OUTCOMES, 2);
    const [telling] = changes.length > 0 ? changes : await newestOf(row.page_id, VISIT_OUTCOMES, 1);
    if (telling?.run !== row.run || telling.visited_at !== row.visited_at) return null;
    if (changes.length > 1) return await tellNetChange(side, window, row.page_id);
    return toldChange(row, project.project);
  }
  return async (row: ChangeRow): Promise<ToldChange | null> => {
    const told = isOfOneRun(wanted) ? toldChange(row, project.project) : await tellNet(row);
    if (told === null || !wanted.outcomes.includes(told.outcome as VisitOutcome)) return null;
    return isOfParts(told, wanted.parts) ? told : null;
  };
}

export const isOfParts = ({ parts }: Pick<ToldChange, 'parts'>, wanted: readonly ChangePart[] | undefined) =>
  wanted === undefined || parts.some((part) => wanted.includes(part));

function countWindow(
  side: ReadSide,
  project: ProjectRow,
  wanted: WantedChanges,
  read: (place: PageOfList) => Promise<ListAnswer<unknown>>,
) {
  return isOfOneRun(wanted) && wanted.parts === undefined
    ? totalOf(side, 'changes', filterOf(project, wanted), { count: true })
    : countByReading(read);
}

/** What a row says beside its outcome. */
export function describeTold(told: ToldChange, pageId: number, projectUid: string): Omit<Change, 'outcome'> {
  const { outcome: _, project: __, text, text_steps = [], ...rest } = told;
  const piecesOf = (pieces: ToldChange['text']) => pieces?.map((piece) => [...piece]) ?? null;
  return {
    page_id: pageUid(projectUid, pageId),
    ...rest,
    text: piecesOf(text),
    text_steps: text_steps.map((step) => ({ ...step, text: piecesOf(step.text) })),
  };
}

function describeChange(told: ToldChange, pageId: number, projectUid: string): Change {
  return { outcome: told.outcome as VisitOutcome, ...describeTold(told, pageId, projectUid) };
}
