/** History for reading: a page's visits, a run's changes, what was spared. In the order of the table's own key. */

import type { ChangeFilter, ChangeRow, VisitRow, VisitRowBrief } from '../read-rows.ts';
import type { LedgerRow } from '../run-port.ts';
import {
  briefOf,
  changeRowOf,
  ledgerOf,
  outcomeNumber,
  type StoredBrief,
  type StoredChange,
  type StoredLedgerRow,
  type StoredVisit,
  TOLD_OUTCOMES,
  visitRowOf,
} from '../visit-rows.ts';
import type { Sql } from './connection.ts';
import { ask, type Runner } from './session.ts';

/** What changed may be a hundred kilobytes. */
const CHANGES_A_BATCH = 500;
const BRIEFS_A_BATCH = 5000;

const COLUMNS = `v.run_id, v.visited_at, v.outcome, v.known_by, v.status_code, v.etag, v.last_modified, v.content_hash,
  v.text_hash, v.simhash_distance, v.wire_bytes, v.bytes_saved, v.duration_ms`;

// With the runs that can have visited it: the key begins with the run.
const HISTORY = `
SELECT ${COLUMNS} FROM url u JOIN run r ON r.project_id = u.project_id AND r.id >= u.discovered_run
JOIN visit v ON v.run_id = r.id AND v.page_id = u.id AND v.host_id = u.host_id
WHERE u.id = $1 ORDER BY v.run_id, v.visited_at`;
// Those that have something to say of a page: a project that is watched has thousands, and few visited it.
const RUNS_OF_PAGE = `
SELECT DISTINCT r.id FROM url u JOIN run r ON r.project_id = u.project_id AND r.id >= u.discovered_run
JOIN visit v ON v.run_id = r.id AND v.page_id = u.id AND v.host_id = u.host_id
WHERE u.id = $1 AND r.project_id = $2 AND r.id BETWEEN $3 AND $4 AND v.outcome = ANY ($5::smallint[]) ORDER BY r.id`;
const LEDGER = `
SELECT outcome, known_by, count(*) AS visits, sum(bytes_saved) AS bytes_saved FROM visit WHERE run_id = $1
GROUP BY outcome, known_by`;

const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

export async function readLedger(runner: Runner, runId: number): Promise<LedgerRow[]> {
  return ledgerOf(await ask<StoredLedgerRow>(runner, LEDGER, [runId]));
}

export function createHistoryReader(sql: Sql) {
  async function visits(pageId: number): Promise<VisitRow[]> {
    return (await ask<StoredVisit>(sql, HISTORY, [pageId])).map(visitRowOf);
  }

  async function runsOf(projectId: number, from: number, to: number): Promise<number[]> {
    const rows = await ask<{ id: number }>(
      sql,
      'SELECT id FROM run WHERE project_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id',
      [projectId, from, to],
    );
    return idsOf(rows);
  }

  /** A run after the other, each by its key; the joins are cut to the batch's range of pages, lest each reads all. */
  async function* changes(filter: ChangeFilter): AsyncGenerator<ChangeRow> {
    const { pageId = null, outcomes = TOLD_OUTCOMES } = filter;
    const wanted = outcomes.map(outcomeNumber);
    const within = (id: string) => `${id} BETWEEN $2 AND (SELECT max(page_id) FROM v)`;
    const text = `WITH v AS MATERIALIZED (SELECT * FROM visit
        WHERE run_id = $1 AND (page_id, visited_at) > ($2::int, $3::bigint)
          AND outcome = ANY ($5::smallint[]) ${pageId === null ? '' : 'AND page_id = $6'}
        ORDER BY page_id, visited_at LIMIT $4)
      SELECT ${COLUMNS}, v.page_id, u.url, f.title, c.parts, c.detail
      FROM v JOIN url u ON u.id = v.page_id AND u.host_id = v.host_id AND ${within('u.id')}
      LEFT JOIN fetched f ON f.page_id = v.page_id AND f.host_id = v.host_id AND ${within('f.page_id')}
      LEFT JOIN page_change c ON c.run_id = $1 AND c.page_id = v.page_id AND c.visited_at = v.visited_at
        AND c.host_id = v.host_id AND ${within('c.page_id')}
      ORDER BY v.page_id, v.visited_at`;
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    const { projectId, fromRun, toRun } = filter;
    const runs =
      pageId === null
        ? await runsOf(projectId, fromRun, toRun)
        : await ask<{ id: number }>(sql, RUNS_OF_PAGE, [pageId, projectId, fromRun, toRun, wanted]).then(
            idsOf,
          );
    for (const run of runs) {
      const isPartly = run === fromRun && filter.afterPage !== undefined;
      // After all visits of that page.
      for (let after = isPartly ? [filter.afterPage!, Number.MAX_SAFE_INTEGER] : [0, 0]; left > 0; ) {
        const size = Math.min(CHANGES_A_BATCH, left);
        const only = pageId === null ? [] : [pageId];
        const rows = await ask<StoredChange>(sql, text, [run, ...after, size, wanted, ...only]);
        for (const row of rows) yield changeRowOf(row);
        left -= rows.length;
        if (rows.length < size) break;
        const last = rows[rows.length - 1];
        after = [last.page_id, last.visited_at];
      }
    }
  }

  /** A cursor, because the key is not in the order of time: each run is sorted once. */
  async function* visitsAfter(projectId: number, runId: number): AsyncGenerator<VisitRowBrief> {
    for (const run of await runsOf(projectId, runId + 1, 2 ** 31 - 1)) {
      const found = sql.unsafe<StoredBrief[]>(
        `SELECT run_id, page_id, host_id, visited_at, outcome, known_by, status_code, last_modified FROM visit
         WHERE run_id = $1 ORDER BY visited_at, page_id`,
        [run],
      );
      for await (const rows of found.cursor(BRIEFS_A_BATCH)) for (const row of rows) yield briefOf(row);
    }
  }

  return { visits, changes, ledger: (runId: number) => readLedger(sql, runId), visitsAfter };
}
