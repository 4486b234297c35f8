// A DuckDB thread with the SQL functions and nothing else: runs a query, gives its rows or its error.
import { parentPort, workerData } from 'node:worker_threads';
import { DuckDBInstance } from '@duckdb/node-api';
import { packError } from '../../src/primitives/travelling-error.ts';
import { publishMacros } from '../../src/sql/functions/publish-macros.ts';
import { registerFunctions } from '../../src/sql/functions/register-functions.ts';
import { SIGNAL, type ThreadData } from '../../src/sql/thread/messages.ts';
import { createMainThread } from '../../src/sql/thread/wait-for-main.ts';

const { signal: shared, feeds } = workerData as ThreadData;
const signal = new Int32Array(shared);
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const functions = registerFunctions(connection, createMainThread({ signal, feeds, serveRows: () => false }));
await publishMacros(connection);
await connection.run('SET enable_caching_operators = false');
// With a buffer of a single byte, DuckDB never ends a query with ORDER BY.
await connection.run("SET streaming_buffer_size = '2B'");

async function answer(sql: string): Promise<unknown> {
  Atomics.add(signal, SIGNAL.statement, 1);
  try {
    const rows: unknown[] = [];
    const result = await connection.stream(sql);
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
      const found = chunk.getRows();
      rows.push(
        ...found.map((row) => row.map((value) => (typeof value === 'object' ? String(value) : value))),
      );
      parentPort!.postMessage({ chunk: found.length });
    }
    return { rows: rows.map((row) => (row as unknown[]).map((one) => (one === 'null' ? null : one))) };
  } catch (error) {
    return { error: packError(functions.errorOf((error as Error).message) ?? error) };
  } finally {
    functions.endStatement(connection);
  }
}

parentPort!.on('message', async (sql: string | null) => {
  if (sql !== null) return parentPort!.postMessage(await answer(sql));
  connection.closeSync();
  instance.closeSync();
  feeds.close();
  parentPort!.close();
});
