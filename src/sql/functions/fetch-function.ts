/**
 * fetch(): a vector of URLs is asked for at once, and a URL once a statement. What was fetched is kept until whoever runs
 * statements says that the statement is over, because DuckDB asks once for each place where the answer is used.
 */
import { type DuckDBScalarFunction, DuckDBStructValue, STRUCT } from '@duckdb/node-api';
import type { FetchedRow } from '../feeds/fetch-feed.ts';
import { createBodyReader } from '../table/body-text.ts';
import { optionsOf, textOf } from './arguments.ts';
import { crawlColumns } from './crawl-columns.ts';
import type { FunctionErrors } from './function-errors.ts';
import type { OpenFeeds } from './open-feeds.ts';
import { makeScalar } from './scalar-function.ts';

export interface FetchFunction {
  definition: DuckDBScalarFunction;
  /** The connection's statement is over. */
  forget(connection: number): void;
}

/** What a row has only within a crawl. */
const OF_CRAWLS: ReadonlySet<string> = new Set(['depth', 'input_url']);
const PLACE = { call: 'fetch()', name: 'url' };

export function fetchFunction({
  errors,
  feeds,
}: {
  errors: FunctionErrors;
  feeds: OpenFeeds;
}): FetchFunction {
  const columns = crawlColumns(createBodyReader()).filter(({ name }) => !OF_CRAWLS.has(name));
  /** By connection, then by options, then by URL as given. */
  const fetched = new Map<number, Map<string, DuckDBStructValue>>();

  function structOf({ row }: FetchedRow): DuckDBStructValue {
    return new DuckDBStructValue(Object.fromEntries(columns.map(({ name, of }) => [name, of(row)])));
  }

  function fetchAll(
    urls: readonly string[],
    given: string,
    connection: number,
  ): ReadonlyMap<string, DuckDBStructValue> {
    const known = fetched.get(connection) ?? new Map<string, DuckDBStructValue>();
    fetched.set(connection, known);
    const missing = [...new Set(urls)].filter((url) => !known.has(given + url));
    if (missing.length === 0) return known;
    const wants = { body: true, text: true, headers: true };
    const options = JSON.parse(given) as Record<string, unknown>;
    const feed = feeds.open(connection, { kind: 'fetch', args: { urls: missing, options, wants } });
    for (let batch = feed.next(); batch !== null; batch = feed.next())
      for (const row of batch as FetchedRow[]) known.set(given + row.given, structOf(row));
    return known;
  }

  const definition = makeScalar(
    'sumi_fetch',
    {
      takes: 2,
      returns: STRUCT(Object.fromEntries(columns.map(({ name, type }) => [name, type]))),
      isVolatile: true,
      answer(read, rowCount, connection) {
        const urls = Array.from({ length: rowCount }, (_, row) => textOf(read(0, row), PLACE));
        const options = optionsOf(rowCount === 0 ? null : read(1, 0), { call: 'fetch()', name: 'options' });
        const given = JSON.stringify(options);
        const answers = fetchAll(
          urls.filter((url) => url !== null),
          given,
          connection,
        );
        return urls.map((url) => (url === null ? null : (answers.get(given + url) ?? null)));
      },
    },
    errors,
  );
  return { definition, forget: (connection) => void fetched.delete(connection) };
}
