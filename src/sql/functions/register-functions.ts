/**
 * The SQL functions of Sumi, made known to a DuckDB instance under inner names (publish-macros.ts gives them their own).
 * Registered on one connection, they are there for all connections of its instance. Those that need the web wait for the
 * main thread inside of a callback, which runs on the thread that registered them.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { MainThread } from '../thread/feed.ts';
import { crawlsTable } from './crawls-table.ts';
import { fetchFunction } from './fetch-function.ts';
import { createFunctionErrors } from './function-errors.ts';
import { htmlFunctions } from './html-functions.ts';
import { trackFeeds } from './open-feeds.ts';
import { urlFunctions } from './url-functions.ts';
import { webTables } from './web-tables.ts';

export interface RegisteredFunctions {
  /** What DuckDB is told of an error, so that it is found again by its text. */
  textOf(error: unknown): string;
  /** What a function threw, by the text in which DuckDB tells it; null for an error of somebody else. */
  errorOf(text: string): Error | null;
  /** The last that a function of the statement under way threw. */
  latestError(): Error | null;
  /**
   * To be called when a statement of the connection is over, however it ended: what its functions asked of the web is
   * given up, and what they fetched is forgotten.
   */
  endStatement(connection: DuckDBConnection): void;
}

export function registerFunctions(connection: DuckDBConnection, main: MainThread): RegisteredFunctions {
  const errors = createFunctionErrors();
  const feeds = trackFeeds(main);
  const fetch = fetchFunction({ errors, feeds });
  for (const scalar of [...urlFunctions(errors), ...htmlFunctions(errors), fetch.definition])
    connection.registerScalarFunction(scalar);
  for (const table of [...webTables({ errors, feeds }), crawlsTable({ errors, feeds })])
    connection.registerTableFunction(table);
  return {
    textOf: errors.textOf,
    errorOf: (text) => errors.find(text),
    latestError: () => errors.latest,
    endStatement({ clientContext: { connectionId } }) {
      feeds.closeOf(connectionId);
      fetch.forget(connectionId);
      errors.forget();
    },
  };
}
