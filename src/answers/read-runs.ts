/** Runs as programs get them: the store's row with what the service noted of it. Runs of commands are there too. */
import type { ListAnswer } from '../contract/lists.ts';
import type { ChangeSummary, Run, RunState } from '../contract/runs.ts';
import { sumiError } from '../errors.ts';
import { STATUS_OF_STATE } from '../running/phase.ts';
import { MOST_ENTRIES, type RunLogEntry, readRunLog } from '../running/run-log.ts';
import { type RunNote, readRunNotes } from '../running/run-notes.ts';
import { MOST_LOOKED_AT } from '../store/list-queries.ts';
import type { ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import type { Answering } from './answering.ts';
import { countByReading, listAnswer, type PageOfList, readResults, totalOf } from './list-answer.ts';
import { labelOf, runNumberOf } from './reading-of.ts';

type Asked = Pick<Answering, 'side' | 'records' | 'storeLabel'>;

export interface RunsQuestion extends PageOfList {
  states?: readonly RunState[];
}

/** Newest first. */
export async function listRuns(
  asked: Asked,
  project: ProjectRow,
  { states, ...place }: RunsQuestion,
  now: number,
): Promise<ListAnswer<Run>> {
  const filter = { project: project.project, ...(states && { statuses: [...states] }) };
  const results = await readResults(asked.side, 'runs', { filter }, place);
  const items = await describeRuns(asked, [project], results.rows, now);
  return { ...listAnswer(items, results), ...(await totalOf(asked.side, 'runs', filter, place)) };
}

/** Of these projects: those that the caller may see. */
export async function listAllRuns(
  asked: Asked,
  projects: readonly ProjectRow[],
  { states, limit, cursor, count }: RunsQuestion,
  now: number,
): Promise<ListAnswer<Run>> {
  const filter = states === undefined ? {} : { statuses: [...states] };
  const seen = new Set(projects.map(({ project }) => project));
  const read = async (place: PageOfList): Promise<ListAnswer<RunRow>> => {
    const results = await readResults(asked.side, 'runs', { filter }, place);
    return listAnswer(
      results.rows.filter(({ project }) => seen.has(project)),
      results,
    );
  };
  const { items, ...cursors } = await read({ limit, cursor });
  return {
    items: await describeRuns(asked, projects, items, now),
    ...cursors,
    ...(count === true && (await countByReading(read))),
  };
}

/** A run of this project; what is no number is no run. */
export async function findRunOf(
  { side }: Pick<Answering, 'side'>,
  project: ProjectRow,
  text: string,
): Promise<RunRow> {
  const number = runNumberOf(text);
  const row = number === null ? null : await side.run(number);
  if (row === null || row.project !== project.project)
    throw sumiError('unknown-run', { run: text.slice(0, 40), file: labelOf(project) });
  return row;
}

export async function readRun(asked: Asked, project: ProjectRow, text: string, now: number): Promise<Run> {
  const row = await findRunOf(asked, project, text);
  const [run] = await describeRuns(asked, [project], [row], now);
  return { ...run, change_summary: run.change_summary ?? (await countOutcomes(asked.side, row.run)) };
}

export async function describeRuns(
  { side, records }: Asked,
  projects: readonly ProjectRow[],
  rows: readonly RunRow[],
  now: number,
): Promise<Run[]> {
  const described: Run[] = [];
  const notes = new Map<number, RunNote>();
  const firsts = new Map<string, number | null>();
  for (const project of projects) {
    const numbers = rows.filter((row) => row.project === project.project).map(({ run }) => run);
    if (numbers.length === 0) continue;
    firsts.set(project.project, await firstRunOf(side, project.project));
    for (const [run, note] of await readRunNotes(records, project.uid, numbers)) notes.set(run, note);
  }
  const uids = new Map(projects.map(({ project, uid }) => [project, uid]));
  /** Visits that this call has counted. */
  let counted = 0;
  for (const row of rows) {
    const note = notes.get(row.run) ?? null;
    const isFirst = firsts.get(row.project) === row.run;
    let summary: ChangeSummary | null = note?.statistics ?? null;
    if (summary === null && counted + row.pages <= MOST_LOOKED_AT) {
      counted += row.pages;
      summary = await countOutcomes(side, row.run);
    }
    described.push(describeRun(row, uids.get(row.project)!, { note, isFirst, summary, now }));
  }
  return described;
}

async function firstRunOf(side: ReadSide, project: string): Promise<number | null> {
  const { rows } = await side.list('runs', { filter: { project }, order: 'asc', limit: 20 });
  return rows.find(isCrawl)?.run ?? null;
}

async function countOutcomes(side: ReadSide, run: number): Promise<ChangeSummary> {
  const summary = { new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0 };
  for (const { outcome, visits } of await side.ledger(run)) summary[outcome] += visits;
  return summary;
}

interface KnownOfRun {
  note: RunNote | null;
  isFirst: boolean;
  summary: ChangeSummary | null;
  now: number;
}

function describeRun(row: RunRow, projectUid: string, { note, isFirst, summary, now }: KnownOfRun): Run {
  const state = row.status as RunState;
  const endedAt = row.finished_at === null ? now : Date.parse(row.finished_at);
  const durationMs = Math.max(0, endedAt - Date.parse(row.started_at));
  return {
    run: row.run,
    project_id: projectUid,
    type: isFirst ? 'initial' : (note?.type ?? 'manual'),
    status: STATUS_OF_STATE[state] as Run['status'],
    state,
    mode: row.mode as Run['mode'],
    mode_reason: row.mode_reason,
    started_at: row.started_at,
    completed_at: row.finished_at,
    error: note?.error?.message ?? row.error,
    meta: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, string>),
    change_summary: summary && {
      new: summary.new,
      changed: summary.changed,
      unchanged: summary.unchanged,
      gone: summary.gone,
      failed: summary.failed,
    },
    statistics: {
      ...{ pages: row.pages, requests: row.requests, bytes: row.bytes, left_out: row.left_out },
      duration_ms: durationMs,
      pages_per_second: durationMs > 0 ? Math.round((row.pages / durationMs) * 100_000) / 100 : null,
    },
  };
}

/** Oldest first; the last thousand are kept. */
export async function listRunLog(
  asked: Asked,
  project: ProjectRow,
  text: string,
  { limit = 50, cursor, count }: PageOfList,
): Promise<ListAnswer<RunLogEntry>> {
  const { run } = await findRunOf(asked, project, text);
  const place = cursor === undefined ? { after: 0, before: null } : readLogCursor(cursor);
  const kept = await readRunLog(asked.records, project.uid, run, { limit: MOST_ENTRIES });
  const { after, before } = place;
  const beyond = kept.filter(({ nth }) => nth > after && (before === null || nth < before));
  const items = before === null ? beyond.slice(0, limit) : beyond.slice(-limit);
  const [first, last] = [items.at(0)?.nth ?? after + 1, items.at(-1)?.nth ?? after];
  const isMore = kept.some(({ nth }) => nth > last);
  const isBefore = kept.some(({ nth }) => nth < first);
  return {
    items,
    next_cursor: isMore ? writeLogCursor({ after: last, before: null }) : null,
    prev_cursor: isBefore ? writeLogCursor({ after: 0, before: first }) : null,
    ...(count === true && { total: kept.length, total_is_exact: true }),
  };
}

interface LogPlace {
  after: number;
  before: number | null;
}

const writeLogCursor = ({ after, before }: LogPlace) =>
  Buffer.from(JSON.stringify(['log', after, before])).toString('base64url');

function readLogCursor(text: string): LogPlace {
  try {
    const [kind, after, before] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const isNumber = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    if (kind === 'log' && isNumber(after) && (before === null || isNumber(before)))
      return { after: after as number, before: before as number | null };
  } catch {
    // What cannot be read is told below.
  }
  throw sumiError('cursor-unreadable', {
    cursor: text.slice(0, 40),
    errors: [{ pointer: '/cursor', detail: 'It is no cursor of this list.' }],
  });
}
