/**
 * Runs prepared statements to their end without the event loop, which stands still while a function inside DuckDB waits for
 * the main thread. A statement that changes something belongs between BEGIN and COMMIT: what ran by itself only commits
 * when the next one starts.
 */
import { DuckDBPendingResultState, type DuckDBPreparedStatement } from '@duckdb/node-api';

/** Rounds of looking before the thread sleeps: what other threads of DuckDB do mostly takes microseconds. */
const ROUNDS_AWAKE = 50;
const SLEEP_MS = 0.2;

const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export function runNow(statement: DuckDBPreparedStatement): void {
  const pending = statement.start();
  for (let round = 0; ; round++) {
    const state = pending.runTask();
    if (state === DuckDBPendingResultState.RESULT_READY) return;
    if (state === DuckDBPendingResultState.NO_TASKS_AVAILABLE && round > ROUNDS_AWAKE)
      Atomics.wait(nobody, 0, 0, SLEEP_MS);
  }
}

export interface Transactions {
  /** All that `work` does on the connection commits, or nothing. */
  run(work: () => void): void;
}

export async function createTransactions(
  prepare: (sql: string) => Promise<DuckDBPreparedStatement>,
): Promise<Transactions> {
  const begin = await prepare('BEGIN');
  const commit = await prepare('COMMIT');
  const rollback = await prepare('ROLLBACK');
  return {
    run(work) {
      runNow(begin);
      try {
        work();
        runNow(commit);
      } catch (error) {
        try {
          runNow(rollback);
        } catch {
          // A COMMIT that failed has ended the transaction.
        }
        throw error;
      }
    },
  };
}
