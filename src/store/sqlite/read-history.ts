/**
 * The history on SQLite: visits stand by run, then by page, so that a run's are read in a row and a page's by one look a
 * run. A file of a version before history has none.
 */
import type { Database } from 'better-sqlite3';
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

const BATCH = 1000;
const VISIT = `v.run_id, v.visited_at, v.outcome, v.known_by, v.status_code, v.etag, v.last_modified, v.content_hash,
  v.text_hash, v.simhash_distance, v.wire_bytes, v.bytes_saved, v.duration_ms`;

export function readLedger(db: Database, runId: number): LedgerRow[] {
  const rows = db
    .prepare(
      `SELECT outcome, known_by, count(*) AS visits, sum(bytes_saved) AS bytes_saved FROM visit WHERE run_id = ?
       GROUP BY outcome, known_by`,
    )
    .all(runId) as StoredLedgerRow[];
  return ledgerOf(rows);
}

/** After all visits of the page. */
const endOf = (page: number) => ({ afterPage: page, afterTime: Number.MAX_SAFE_INTEGER });

export function createHistoryReader(db: Database) {
  const runsOf = (projectId: number, from: number, to: number) =>
    db
      .prepare('SELECT id FROM run WHERE project_id = ? AND id BETWEEN ? AND ? ORDER BY id')
      .pluck()
      .all(projectId, from, to) as number[];

  function visitsOf(pageId: number): VisitRow[] {
    // CROSS JOIN asks for the page in each run of its project; the other way round all visits would be read.
    const rows = db
      .prepare(
        `SELECT ${VISIT} FROM run r CROSS JOIN visit v ON v.run_id = r.id AND v.page_id = @page
         WHERE r.project_id = (SELECT project_id FROM url WHERE id = @page) ORDER BY v.run_id, v.visited_at`,
      )
      .all({ page: pageId }) as StoredVisit[];
    return rows.map(visitRowOf);
  }

  /** Those that have something to say of a page: a project that is watched has thousands, and few visited it. */
  const runsOfPage = (filter: ChangeFilter, outcomes: string) =>
    db
      .prepare(
        `SELECT DISTINCT r.id FROM run r CROSS JOIN visit v ON v.run_id = r.id AND v.page_id = ?
         WHERE r.project_id = ? AND r.id BETWEEN ? AND ? AND v.outcome IN (${outcomes}) ORDER BY r.id`,
      )
      .pluck()
      .all(filter.pageId, filter.projectId, filter.fromRun, filter.toRun) as number[];

  async function* changesOf(filter: ChangeFilter): AsyncGenerator<ChangeRow> {
    const outcomes = (filter.outcomes ?? TOLD_OUTCOMES).map(outcomeNumber).join(', ');
    const ofPage = filter.pageId === undefined ? '' : 'AND v.page_id = @page';
    const read = db.prepare(
      `SELECT ${VISIT}, v.page_id, u.url, f.title, c.parts, c.detail
       FROM visit v CROSS JOIN url u ON u.id = v.page_id LEFT JOIN fetched f ON f.page_id = v.page_id
         LEFT JOIN page_change c ON c.run_id = v.run_id AND c.page_id = v.page_id AND c.visited_at = v.visited_at
       WHERE v.run_id = @run AND (v.page_id, v.visited_at) > (@afterPage, @afterTime) AND v.outcome IN (${outcomes})
         ${ofPage} ORDER BY v.page_id, v.visited_at LIMIT @size`,
    );
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    const page = filter.pageId === undefined ? {} : { page: filter.pageId };
    const runs =
      filter.pageId === undefined
        ? runsOf(filter.projectId, filter.fromRun, filter.toRun)
        : runsOfPage(filter, outcomes);
    for (const run of runs) {
      const isPartly = run === filter.fromRun && filter.afterPage !== undefined;
      let after = isPartly ? endOf(filter.afterPage!) : { afterPage: 0, afterTime: 0 };
      while (left > 0) {
        const size = Math.min(BATCH, left);
        const rows = read.all({ run, ...after, ...page, size }) as StoredChange[];
        for (const row of rows) yield changeRowOf(row);
        left -= rows.length;
        if (rows.length < size) break;
        const last = rows[rows.length - 1];
        after = { afterPage: last.page_id, afterTime: last.visited_at };
      }
    }
  }

  /** Sorted by SQLite, a run at a time, on disk when it must. */
  async function* visitsAfter(projectId: number, runId: number): AsyncGenerator<VisitRowBrief> {
    const read = db.prepare(
      `SELECT v.run_id, v.page_id, u.host_id, v.visited_at, v.outcome, v.known_by, v.status_code, v.last_modified
       FROM visit v JOIN url u ON u.id = v.page_id WHERE v.run_id = ? ORDER BY v.visited_at, v.page_id`,
    );
    for (const run of runsOf(projectId, runId + 1, Number.MAX_SAFE_INTEGER))
      for (const row of read.iterate(run) as Iterable<StoredBrief>) yield briefOf(row);
  }

  return {
    visits: async (pageId: number) => visitsOf(pageId),
    changes: changesOf,
    ledger: async (runId: number) => readLedger(db, runId),
    visitsAfter,
  };
}
