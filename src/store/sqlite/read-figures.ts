/** The figures behind the pictures of a project, on SQLite. */
import type { Database } from 'better-sqlite3';
import { type ChangeFigures, type FiguresDialect, readChangeFigures } from '../change-figures.ts';
import { NO_DEPTH } from '../settlement.ts';

const DIALECT: FiguresDialect = {
  fetchedOfUrl: 'f.page_id = u.id',
  visitOfUrl: 'u.id = v.page_id',
  noDepth: NO_DEPTH,
  placeOf: (text, part) => `instr(${text}, '${part}')`,
  byBytes: (text) => text,
};

export function readFigures(db: Database, projectId: number, runId: number | null): Promise<ChangeFigures> {
  const ask = async (sql: string) => db.prepare(sql).all() as Record<string, string | number | null>[];
  return readChangeFigures(ask, DIALECT, projectId, runId);
}
