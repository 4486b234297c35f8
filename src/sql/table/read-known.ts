/**
 * What a table knows of URLs, read as a stream: memory does not grow with the table. A URL that stands in several rows comes
 * several times. Rows without a URL are none of the crawl's.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ErrorType } from './crawl-row.ts';
import { quoteName } from './quote-name.ts';
import { findColumn, type TargetPlan } from './target-plan.ts';

/** By columns. The arrays are made anew for each batch: they may be given to another thread. */
export interface KnownBatch {
  urls: string[];
  /** 1: the row is of a failure that may be over by now. */
  isPassing: Uint8Array;
  /** Wall milliseconds; 0 where the row has none. */
  crawledAt: Float64Array;
}

const MOST_ROWS = 10_000;

const PASSING: readonly ErrorType[] = ['http_server_error', 'http_rate_limited'];

export async function* readKnown(connection: DuckDBConnection, plan: TargetPlan): AsyncIterable<KnownBatch> {
  const url = quoteName(findColumn(plan, 'url')!.name);
  const result = await connection.stream(
    `SELECT ${url}, ${passingOf(plan)}, ${timeOf(plan)} FROM ${plan.qualified} WHERE ${url} IS NOT NULL`,
  );
  let batch = createBatch();
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
    if (batch.urls.length + chunk.rowCount > MOST_ROWS) {
      yield cut(batch);
      batch = createBatch();
    }
    const at = batch.urls.length;
    const [urls, passing, times] = [0, 1, 2].map((column) => chunk.getColumnValues(column));
    for (let row = 0; row < chunk.rowCount; row++) {
      batch.urls.push(urls[row] as string);
      batch.isPassing[at + row] = passing[row] === true ? 1 : 0;
      batch.crawledAt[at + row] = (times[row] as number | null) ?? 0;
    }
  }
  if (batch.urls.length > 0) yield cut(batch);
}

function createBatch(): KnownBatch {
  return { urls: [], isPassing: new Uint8Array(MOST_ROWS), crawledAt: new Float64Array(MOST_ROWS) };
}

function cut({ urls, isPassing, crawledAt }: KnownBatch): KnownBatch {
  const { length } = urls;
  return length === MOST_ROWS
    ? { urls, isPassing, crawledAt }
    : { urls, isPassing: isPassing.slice(0, length), crawledAt: crawledAt.slice(0, length) };
}

/** By the word for what went wrong, and by the status: a table need not have both. */
function passingOf(plan: TargetPlan): string {
  const errorType = findColumn(plan, 'error_type');
  const status = findColumn(plan, 'http_status');
  const signs: string[] = [];
  if (errorType !== undefined) {
    const name = quoteName(errorType.name);
    const words = PASSING.map((word) => `'${word}'`).join(', ');
    signs.push(`starts_with(${name}, 'network_')`, `${name} IN (${words})`);
  }
  if (status !== undefined) {
    const name = quoteName(status.name);
    signs.push(`${name} = 429`, `${name} BETWEEN 500 AND 599`);
  }
  return signs.length === 0 ? 'false' : `coalesce(${signs.join(' OR ')}, false)`;
}

function timeOf(plan: TargetPlan): string {
  const time = findColumn(plan, 'crawl_time');
  if (time === undefined) return 'NULL::DOUBLE';
  const name = quoteName(time.name);
  const moment = time.type.endsWith('TIME ZONE') ? name : `CAST(${name} AS TIMESTAMP)`;
  return `CAST(epoch_ms(${moment}) AS DOUBLE)`;
}
