/** crawls(): the CRAWL statements of the session, as SHOW CRAWLS lists them. */
import {
  BIGINT,
  type DuckDBTableFunction,
  DuckDBTimestampValue,
  type DuckDBValue,
  TIMESTAMP,
  VARCHAR,
} from '@duckdb/node-api';
import type { CrawlListRow } from '../crawls/crawl-list.ts';
import type { RowColumn } from './crawl-columns.ts';
import type { FunctionErrors } from './function-errors.ts';
import type { OpenFeeds } from './open-feeds.ts';
import { makeTable } from './table-function.ts';

const MICROSECONDS = 1000n;

const timestamp = (at: number | null): DuckDBValue =>
  at === null ? null : new DuckDBTimestampValue(BigInt(Math.round(at)) * MICROSECONDS);
const count = (name: string, of: (row: CrawlListRow) => number): RowColumn<CrawlListRow> => ({
  name,
  type: BIGINT,
  of: (row) => BigInt(of(row)),
});

const COLUMNS: readonly RowColumn<CrawlListRow>[] = [
  count('id', ([id]) => id),
  { name: 'target', type: VARCHAR, of: ([, target]) => target },
  { name: 'status', type: VARCHAR, of: ([, , status]) => status },
  count('rows', ([, , , rows]) => rows),
  count('pages', ([, , , , pages]) => pages),
  count('errors', ([, , , , , errors]) => errors),
  count('waiting', ([, , , , , , waiting]) => waiting),
  { name: 'started_at', type: TIMESTAMP, of: ([, , , , , , , startedAt]) => timestamp(startedAt) },
  { name: 'finished_at', type: TIMESTAMP, of: ([, , , , , , , , finishedAt]) => timestamp(finishedAt) },
  { name: 'statement', type: VARCHAR, of: (row) => row[9] },
];

export function crawlsTable(around: { errors: FunctionErrors; feeds: OpenFeeds }): DuckDBTableFunction {
  return makeTable<CrawlListRow>(
    'sumi_crawls',
    {
      parameters: ['id'],
      columns: COLUMNS,
      bind: (argument) => {
        const id = argument('id');
        return () => ({ kind: 'crawls', args: { id: id === null ? null : Number(id) } });
      },
      rowsOf: (batch) => batch as CrawlListRow[],
    },
    around,
  );
}
