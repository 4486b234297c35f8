/** The figures of one run and the errors of a map, on SQLite. */
import type { Database } from 'better-sqlite3';
import { type MapErrors, readMapErrors } from '../map-errors.ts';
import { type AskRows, type ReportDialect, type RunReport, readRunReport } from '../run-report.ts';
import { NO_DEPTH } from '../settlement.ts';

const DIALECT: ReportDialect = {
  fetchedOfUrl: 'f.page_id = u.id',
  noDepth: NO_DEPTH,
  mediaType: (column) => `lower(trim(substr(${column}, 1, instr(${column} || ';', ';') - 1)))`,
  byBytes: (text) => text,
};

export function readReport(db: Database, runId: number): Promise<RunReport | null> {
  return readRunReport(askOf(db), DIALECT, runId);
}

export function readErrors(db: Database, projectId: number, runId: number): Promise<MapErrors> {
  return readMapErrors(askOf(db), projectId, runId);
}

function askOf(db: Database): AskRows {
  return async (sql) => db.prepare(sql).all() as Awaited<ReturnType<AskRows>>;
}
