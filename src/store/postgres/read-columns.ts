/** Columns on PostgreSQL: the answers of sqlite/read-columns.ts, row for row. */
import { type ColumnBatch, type ColumnQuestion, type ColumnValue, toColumns } from '../column-port.ts';
import { type ColumnDialect, columnQuery, columnSources, type ReadByKey } from '../column-sources.ts';
import type { HostRow } from '../read-rows.ts';
import { rowsOf } from './cancel-queries.ts';
import type { Sql } from './connection.ts';
import { hex } from './views.ts';

/** Journeys cost more here than rows; links are sets, which may be a hundred kilobytes each. */
const ROWS = 5000;
const SETS = 1000;

const LINK_RUNS = `CASE WHEN EXISTS (SELECT 1 FROM link_change c
    WHERE c.page_id = l.page_id AND c.host_id = l.host_id AND cardinality(c.added) > 0) THEN
  (SELECT array_to_json(array_agg(COALESCE((SELECT max(c.run_id) FROM link_change c
      WHERE c.page_id = l.page_id AND c.host_id = l.host_id AND j.target = ANY (c.added)), l.run_id) ORDER BY j.n))::text
    FROM unnest(l.targets) WITH ORDINALITY AS j(target, n)) END`;

const DIALECT: ColumnDialect = {
  hash: hex,
  bits: (column) => `${column}::text`,
  whole: (number) => `floor(${number} + 0.5)`,
  list: (column) => `array_to_json(${column})::text`,
  linkRuns: LINK_RUNS,
  failure: `(SELECT max(q.failure) FROM request q
    WHERE q.page_id = v.page_id AND q.host_id = v.host_id AND q.run_id = v.run_id)`,
  isByHost: true,
  join: 'JOIN',
  keepsOrder: false,
  parameter: (number) => `$${number}`,
};

const SOURCES = columnSources(DIALECT);

type Hosts = (filter: { project?: string }) => AsyncIterable<HostRow>;

export async function* columnsOf(
  sql: Sql,
  question: ColumnQuestion,
  hosts: Hosts,
): AsyncGenerator<ColumnBatch> {
  if (question.table === 'hosts') return yield* hostColumns(question, hosts);
  const query = columnQuery(SOURCES[question.table as ReadByKey], question, DIALECT);
  const { text, keyWidth, first, values } = query;
  const size = question.table === 'link_sets' ? SETS : ROWS;
  for (let after: unknown[] = first; ; ) {
    const asked = sql.unsafe(text, [...after, ...values, size] as never[], { prepare: true }).values();
    const rows = (await rowsOf(sql, asked as never)) as unknown as unknown[][];
    if (rows.length > 0) yield toColumns(rows, keyWidth);
    if (rows.length < size) return;
    after = rows[rows.length - 1].slice(0, keyWidth);
  }
}

async function* hostColumns({ columns, project }: ColumnQuestion, hosts: Hosts): AsyncGenerator<ColumnBatch> {
  let some: ColumnValue[][] = [];
  for await (const host of hosts({ project: project ?? undefined })) {
    some.push(columns.map((name) => host[name as keyof HostRow]));
    if (some.length < ROWS) continue;
    yield toColumns(some, 0);
    some = [];
  }
  if (some.length > 0) yield toColumns(some, 0);
}
