/** The figures of one run and the errors of a map, on PostgreSQL. */
import { type MapErrors, readMapErrors } from '../map-errors.ts';
import { type AskRows, type ReportDialect, type RunReport, readRunReport } from '../run-report.ts';
import { NO_DEPTH } from '../settlement.ts';
import type { Sql } from './connection.ts';

const DIALECT: ReportDialect = {
  // With the host, so that each page is one lookup in one partition.
  fetchedOfUrl: 'f.page_id = u.id AND f.host_id = u.host_id',
  noDepth: NO_DEPTH,
  mediaType: (column) => `lower(trim(split_part(${column}, ';', 1)))`,
  byBytes: (text) => `${text} COLLATE "C"`,
};

export function readReport(sql: Sql, runId: number): Promise<RunReport | null> {
  return readRunReport(askOf(sql), DIALECT, runId);
}

export function readErrors(sql: Sql, projectId: number, runId: number): Promise<MapErrors> {
  return readMapErrors(askOf(sql), projectId, runId);
}

function askOf(sql: Sql): AskRows {
  return async (text) => [...(await sql.unsafe(text))] as Awaited<ReturnType<AskRows>>;
}
