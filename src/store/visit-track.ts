/**
 * Visits by run, newest first unless asked otherwise; within a run by page, then by time: the order of the table's own
 * key. Of one page, the runs that visited it are joined to it; else one run is read after the other.
 */
import type { Cut } from './list-cursor.ts';
import type { ListDatabase } from './list-database.ts';
import type { SortOrder, VisitListFilter } from './list-queries.ts';
import { oneOf } from './page-conditions.ts';
import { type Condition, condition, onward } from './table-track.ts';
import { outcomeNumber } from './visit-rows.ts';
import type { Seen, Track } from './walk-list.ts';

interface VisitKey {
  run: number;
  page: number;
  at: number;
  fits: number;
}

/** Runs that are looked up together. */
const RUNS = 100;

export function createVisitTrack(
  db: ListDatabase,
  filter: VisitListFilter,
  { projectId, order }: { projectId: number | null; order: SortOrder },
): Track {
  const { pageId, fromRun, toRun, outcomes } = filter;
  const ofRun: Condition[] = [];
  if (projectId !== null) ofRun.push(condition('r.project_id = ?', projectId));
  if (fromRun !== undefined) ofRun.push(condition('r.id >= ?', fromRun));
  if (toRun !== undefined) ofRun.push(condition('r.id <= ?', toRun));
  const wanted =
    outcomes === undefined ? condition('1 = 1') : oneOf('v.outcome', outcomes.map(outcomeNumber));
  const chosen = `v.run_id AS run, v.page_id AS page, v.visited_at AS at, CASE WHEN ${wanted.sql} THEN 1 ELSE 0 END AS fits`;
  const ask = (from: string, where: readonly Condition[], sorted: string, size: number) =>
    db.ask<VisitKey>(
      `SELECT ${chosen} FROM ${from} WHERE ${where.map(({ sql }) => sql).join(' AND ')}
       ORDER BY v.run_id ${sorted}, v.page_id ${sorted}, v.visited_at ${sorted} LIMIT ?`,
      [...wanted.values, ...where.flatMap(({ values }) => values), size],
    );

  /** Every run is one lookup of the page in it. */
  function ofPage(from: Cut | null, direction: 'forward' | 'back', size: number): Promise<VisitKey[]> {
    const { sign, sorted } = onward(order, from, direction);
    const where = [...ofRun, condition('v.page_id = ?', pageId)];
    if (from !== null) {
      where.push(condition(`r.id ${sign[0]}= ?`, from.key[0]));
      where.push(condition(`(v.run_id, v.page_id, v.visited_at) ${sign} (?, ?, ?)`, ...from.key));
    }
    return ask('run r CROSS JOIN visit v', [...where, condition('v.run_id = r.id')], sorted, size);
  }

  async function runsFrom(first: number | null, sign: string, sorted: string): Promise<number[]> {
    const where = [...ofRun, condition('EXISTS (SELECT 1 FROM visit v WHERE v.run_id = r.id)')];
    if (first !== null) where.push(condition(`r.id ${sign} ?`, first));
    const rows = await db.ask<{ id: number }>(
      `SELECT r.id FROM run r WHERE ${where.map(({ sql }) => sql).join(' AND ')} ORDER BY r.id ${sorted} LIMIT ${RUNS}`,
      where.flatMap(({ values }) => values),
    );
    return rows.map(({ id }) => id);
  }

  async function ofRuns(from: Cut | null, direction: 'forward' | 'back', size: number): Promise<VisitKey[]> {
    const { sign, sorted } = onward(order, from, direction);
    const found: VisitKey[] = [];
    let runs = await runsFrom(from === null ? null : (from.key[0] as number), `${sign[0]}=`, sorted);
    while (runs.length > 0) {
      for (const run of runs) {
        const where = [condition('v.run_id = ?', run)];
        if (from !== null && run === from.key[0])
          where.push(condition(`(v.page_id, v.visited_at) ${sign} (?, ?)`, from.key[1], from.key[2]));
        found.push(...(await ask('visit v', where, sorted, size - found.length)));
        if (found.length >= size) return found;
      }
      runs = runs.length < RUNS ? [] : await runsFrom(runs[RUNS - 1], sign[0], sorted);
    }
    return found;
  }

  const read = pageId === undefined ? ofRuns : ofPage;
  return {
    keyLength: 3,
    step: async (...place) =>
      (await read(...place)).map(
        ({ run, page, at, fits }): Seen => ({ key: [run, page, at], fits: fits === 1 }),
      ),
  };
}
