/** The figures behind the pictures of a project, on PostgreSQL. */
import { type ChangeFigures, type FiguresDialect, readChangeFigures } from '../change-figures.ts';
import { NO_DEPTH } from '../settlement.ts';
import type { Sql } from './connection.ts';

const DIALECT: FiguresDialect = {
  // With the host, so that each page is one lookup in one partition.
  fetchedOfUrl: 'f.page_id = u.id AND f.host_id = u.host_id',
  visitOfUrl: 'u.id = v.page_id AND u.host_id = v.host_id',
  noDepth: NO_DEPTH,
  placeOf: (text, part) => `strpos(${text}, '${part}')`,
  byBytes: (text) => `${text} COLLATE "C"`,
};

export function readFigures(sql: Sql, projectId: number, runId: number | null): Promise<ChangeFigures> {
  const ask = async (text: string) =>
    [...(await sql.unsafe(text))] as unknown as Record<string, string | number | null>[];
  return readChangeFigures(ask, DIALECT, projectId, runId);
}
