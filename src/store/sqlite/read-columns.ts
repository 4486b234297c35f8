/**
 * Columns on SQLite. A batch is a statement of its own that is read to its end at once, so that nothing is held between
 * two of them: whoever stops asking has nothing to close.
 */
import type { Database } from 'better-sqlite3';
import { sumiError } from '../../errors.ts';
import {
  type ColumnBatch,
  type ColumnFile,
  type ColumnQuestion,
  type ColumnValue,
  toColumns,
} from '../column-port.ts';
import { type ColumnDialect, columnQuery, columnSources, type ReadByKey } from '../column-sources.ts';
import type { HostRow } from '../read-rows.ts';
import { openForReading, storeError } from './open-database.ts';
import { readProjects } from './project-rows.ts';
import { hostsOf } from './read-hosts.ts';
import { showAsCurrent } from './read-older.ts';

/** As many as a vector of DuckDB holds. */
const ROWS = 2048;

/** Only pages whose links have changed since need a list; most have none. */
const LINK_RUNS = `CASE WHEN EXISTS (SELECT 1 FROM link_change c WHERE c.page_id = l.page_id AND c.added <> '[]') THEN
  (SELECT json_group_array(COALESCE((SELECT max(c.run_id) FROM link_change c, json_each(c.added) a
      WHERE c.page_id = l.page_id AND a.value = j.value), l.run_id)) FROM json_each(l.targets) j) END`;

/** The log of requests has no index by page: it is read once, into a table of this connection's own. */
const FAILURES = `DROP TABLE IF EXISTS temp.failure_of;
CREATE TEMP TABLE failure_of (run_id, page_id, failure, PRIMARY KEY (run_id, page_id)) WITHOUT ROWID;
INSERT INTO temp.failure_of SELECT run_id, page_id, max(failure) FROM request
  WHERE page_id IS NOT NULL AND failure IS NOT NULL GROUP BY run_id, page_id`;

const DIALECT: ColumnDialect = {
  hash: (column) => `NULLIF(lower(hex(${column})), '')`,
  bits: (column) => `CAST(${column} AS TEXT)`,
  whole: (number) => `CAST(round(${number}) AS INTEGER)`,
  list: (column) => column,
  linkRuns: LINK_RUNS,
  failure: '(SELECT q.failure FROM failure_of q WHERE q.run_id = v.run_id AND q.page_id = v.page_id)',
  isByHost: false,
  join: 'CROSS JOIN',
  keepsOrder: true,
  parameter: () => '?',
};

const SOURCES = columnSources(DIALECT);

export function* columnsOf(db: Database, question: ColumnQuestion): Generator<ColumnBatch> {
  if (question.table === 'hosts') return yield* hostColumns(db, question);
  if (question.columns.includes('failure')) db.exec(FAILURES);
  const source = SOURCES[question.table as ReadByKey];
  const { text, keyWidth, first, values } = columnQuery(source, question, DIALECT);
  const read = db.prepare(text).raw();
  for (let after: unknown[] = first; ; ) {
    const rows = read.all(...after, ...values, ROWS) as unknown[][];
    if (rows.length > 0) yield toColumns(rows, keyWidth);
    if (rows.length < ROWS) return;
    after = rows[rows.length - 1].slice(0, keyWidth);
  }
}

function* hostColumns(db: Database, { columns, project }: ColumnQuestion): Generator<ColumnBatch> {
  let some: ColumnValue[][] = [];
  for (const host of hostsOf(db, { project: project ?? undefined })) {
    some.push(columns.map((name) => host[name as keyof HostRow]));
    if (some.length < ROWS) continue;
    yield toColumns(some, 0);
    some = [];
  }
  if (some.length > 0) yield toColumns(some, 0);
}

export function openSqliteColumns(path: string): ColumnFile {
  const db = openForReading(path);
  // A file that a crawler made but never filled holds no tables to ask.
  if (db.pragma('user_version', { simple: true }) === 0) {
    db.close();
    throw sumiError('db-missing', { file: path });
  }
  showAsCurrent(db);
  return {
    projects: async () => readProjects(db),
    *columns(question) {
      try {
        yield* columnsOf(db, question);
      } catch (error) {
        throw storeError(error, path, true);
      }
    },
    close: () => void db.close(),
  };
}
