/**
 * Makes sure that rows that are read one after another are all of them. The driver ends a stream that fails in the middle as
 * if it were whole. A failure ends the transaction, so such a statement gets one, which is asked after the last row. Why it
 * failed is found by running it once more without its rows; what asks the web is not run again.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { SumiError, sumiError } from '../../errors.ts';
import { firstWords } from '../language/read-statement.ts';
import type { SqlParameters } from '../sql-session.ts';
import { toSqlError } from './duckdb-errors.ts';
import { typedParameters } from './typed-parameters.ts';

export interface ReadingRequest {
  text: string;
  parameters: SqlParameters | undefined;
  /** The user has begun one. */
  isInTransaction: boolean;
  usesWeb: boolean;
  /** DuckDB refuses whatever would write. */
  isReadOnly?: boolean;
}

export interface Reading {
  /** After the last row; throws when there should be more. */
  expectWhole(rows: number): Promise<void>;
  /** Keeps what the statement did; throws when that cannot be. */
  keep(): Promise<void>;
  /** However it ended; what is not kept is undone. */
  end(): Promise<void>;
}

/** Statements that only read, or that may be part of a transaction as well. */
const READS: ReadonlySet<string | undefined> = new Set([
  ...['SELECT', 'FROM', 'WITH', 'VALUES', 'TABLE', 'PIVOT', 'UNPIVOT', 'SUMMARIZE', 'EXECUTE'],
  // A bracket.
  undefined,
]);

const AGAIN = 'SELECT count(hash(everything)) FROM (';

/** `latestError`: what a function of ours threw last. */
export async function beginReading(
  connection: DuckDBConnection,
  { text, parameters, isInTransaction, usesWeb, isReadOnly = false }: ReadingRequest,
  latestError: () => Error | null,
): Promise<Reading> {
  let isOurs = !isInTransaction && READS.has(firstWords(text)[0]);
  const isWatched = isInTransaction || isOurs;
  if (isOurs) await connection.run(isReadOnly ? 'BEGIN TRANSACTION READ ONLY' : 'BEGIN');

  async function keep(): Promise<void> {
    if (!isOurs) return;
    await connection.run('COMMIT');
    isOurs = false;
  }

  async function end(): Promise<void> {
    if (!isOurs) return;
    isOurs = false;
    // One that DuckDB has ended itself is no more.
    await connection.run('ROLLBACK').catch(() => {});
  }

  async function findCause(): Promise<Error | null> {
    if (usesWeb) return latestError();
    if (isInTransaction) return null;
    await end();
    try {
      await connection.run(
        `${AGAIN}${text.replace(/;\s*$/, '')}\n) AS everything`,
        ...typedParameters(parameters),
      );
      return null;
    } catch (error) {
      const found = toSqlError(error, '');
      // What cannot stand in brackets is told by nobody.
      return found instanceof SumiError && found.code === 'sql-syntax' ? null : found;
    }
  }

  return {
    keep,
    end,
    async expectWhole(rows) {
      if (!isWatched) return;
      try {
        await connection.run('SELECT 1');
      } catch (error) {
        throw (
          (await findCause()) ??
          sumiError(
            'sql-failed',
            {
              problem: `The query failed after ${rows} rows, and DuckDB does not tell why.`,
              advice: 'Run it as CREATE TABLE … AS: that tells why. In a transaction run ROLLBACK before.',
            },
            error,
          )
        );
      }
    },
  };
}
