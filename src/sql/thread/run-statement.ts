/**
 * Runs one statement of the user on the user's connection and writes its result chunk by chunk, in the format that was
 * asked for: only text crosses threads. An interrupt that comes before DuckDB has begun is heard, too.
 */
import { type DuckDBConnection, ResultReturnType } from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';
import { createResultWriter } from '../output/create-result-writer.ts';
import type { ResultFormat } from '../output/result-format.ts';
import type { SqlParameters } from '../sql-session.ts';
import { toSqlError } from './duckdb-errors.ts';
import { beginReading, type Reading } from './reading.ts';
import { typedParameters } from './typed-parameters.ts';

/** How often a statement under way is looked at: whether it is to end, and how far it is. */
const LOOK_MS = 100;

export interface StatementRequest {
  text: string;
  parameters: SqlParameters | undefined;
  format: ResultFormat;
  width: number | undefined;
  /** Functions in it ask the web: rows are shown as they come, and no more is asked for than is needed. */
  usesWeb: boolean;
  /** The user has begun one. */
  isInTransaction: boolean;
}

export interface StatementSurroundings {
  connection: DuckDBConnection;
  flow: RowFlow;
  isInterrupted: () => boolean;
  /** What a function of ours threw, by the text in which DuckDB tells it. */
  errorOf: (text: string) => Error | null;
  /** The last that one of them threw. */
  latestError: () => Error | null;
  tell: (piece: string) => Promise<void>;
  onProgress: (percent: number | null) => void;
}

/**
 * Without them DuckDB gathers rows before it shows any, and asks for many more than `LIMIT` needs. With '1B' some queries
 * with ORDER BY never end.
 */
const AS_THEY_COME = [
  'SET SESSION enable_caching_operators = false',
  "SET SESSION streaming_buffer_size = '2B'",
];
const GATHERED = ['RESET SESSION enable_caching_operators', 'RESET SESSION streaming_buffer_size'];

/** How a connection passes rows on, and its time zone: remembered, so that ordinary statements cost nothing more. */
export interface RowFlow {
  asTheyCome: boolean;
  /** Null: it has to be asked. */
  timeZone: string | null;
}

/** In a transaction that has failed nothing can be set: the statement that follows says so, or ends it. */
async function setFlow(connection: DuckDBConnection, flow: RowFlow, asTheyCome: boolean): Promise<void> {
  if (flow.asTheyCome === asTheyCome) return;
  try {
    for (const setting of asTheyCome ? AS_THEY_COME : GATHERED) await connection.run(setting);
    flow.asTheyCome = asTheyCome;
  } catch {
    // Tried again before the next statement.
  }
}

export async function runStatement(
  request: StatementRequest,
  { connection, flow, isInterrupted, errorOf, latestError, tell, onProgress }: StatementSurroundings,
): Promise<{ rows: number | null }> {
  const { text, parameters, format, width, usesWeb } = request;
  await setFlow(connection, flow, usesWeb);
  const timeZone = await timeZoneOf(connection, flow);
  let reading: Reading | null = null;
  const look = setInterval(() => {
    if (isInterrupted()) connection.interrupt();
    else {
      const { percentage } = connection.progress;
      onProgress(percentage < 0 ? null : percentage);
    }
  }, LOOK_MS);
  try {
    reading = await beginReading(connection, request, latestError);
    const result = await connection.stream(text, ...typedParameters(parameters));
    if (result.returnType !== ResultReturnType.QUERY_RESULT) {
      await reading.keep();
      return { rows: null };
    }
    const types = result.columnTypes();
    const columns = result.columnNames().map((name, at) => ({ name, type: types[at] }));
    const writer = createResultWriter({ format, columns, width, timeZone });
    let rows = 0;
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
      rows += chunk.rowCount;
      for (const piece of writer.chunk(chunk)) await tell(piece);
    }
    // DuckDB ends a stream that is interrupted as if it were whole.
    if (isInterrupted()) throw sumiError('sql-interrupted');
    await reading.expectWhole(rows);
    await reading.keep();
    await tell(writer.end());
    return { rows };
  } catch (error) {
    throw toSqlError(error, text, errorOf);
  } finally {
    clearInterval(look);
    await reading?.end();
    if (SETS_TIME_ZONE.test(text)) flow.timeZone = null;
    onProgress(null);
  }
}

const SETS_TIME_ZONE = /time\s*zone/i;

/** Asked before the statement: another query on its connection would end its stream. */
async function timeZoneOf(connection: DuckDBConnection, flow: RowFlow): Promise<string> {
  if (flow.timeZone !== null) return flow.timeZone;
  try {
    const found = await connection.runAndReadAll("SELECT current_setting('TimeZone')");
    flow.timeZone = found.getRows()[0][0] as string;
    return flow.timeZone;
  } catch {
    // In a transaction that has failed nothing can be asked, and the statement gives no rows.
    return 'UTC';
  }
}
