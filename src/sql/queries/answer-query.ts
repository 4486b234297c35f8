/**
 * Answers one query of a stranger in the DuckDB thread: a new instance in memory that holds nothing but the views of one
 * project, and reaches no file, no network and no extension. The instance ends with the query, so that no query leaves
 * anything behind for the next. Results are bounded in rows, in the size of a cell and as a whole.
 */
import { type DuckDBConnection, ResultReturnType } from '@duckdb/node-api';
import { SumiError, sumiError } from '../../errors.ts';
import { registerSiteFunction } from '../attached/site-function.ts';
import { openSource, type SiteScan } from '../attached/site-source.ts';
import { siteViews } from '../attached/site-tables.ts';
import { errorInScript } from '../language/place.ts';
import { itemReader } from '../output/read-item.ts';
import { toSqlError, withPlace } from '../thread/duckdb-errors.ts';
import type { MainThread } from '../thread/feed.ts';
import { beginReading } from '../thread/reading.ts';
import { typedParameters } from '../thread/typed-parameters.ts';
import { CATALOG, SITE } from './allowed-names.ts';
import { checkQuery } from './check-query.ts';
import { type LockedInstance, lockedInstance, MEMORY_LIMIT } from './locked-instance.ts';
import type { QueryResult, QueryTask } from './query-messages.ts';
import { dataEncoder } from './value-data.ts';

/** Characters of a cell; a longer one is cut, and the answer says so. */
const MOST_OF_CELL = 64 * 1024;
/** Characters of JSON of a whole answer. */
const MOST_OF_ANSWER = 8 * 1024 * 1024;

/** Resolves when all is closed again; `tell` has the answer before. */
export async function answerQuery(
  { address, project, sql, params, limit }: QueryTask,
  main: MainThread,
  tell: (answer: QueryResult) => Promise<void>,
): Promise<void> {
  const source = await openSource({ address, project }, main, []);
  const scans = new Set<SiteScan>();
  let locked: LockedInstance | null = null;
  try {
    locked = await lockedInstance(async (connection) => {
      registerSiteFunction(connection, {
        sourceOf: (site) => (site === SITE ? source : undefined),
        onScan: (scan) => scans.add(scan),
        onEnd: (scan) => scans.delete(scan),
        textOf: (error) => (error instanceof SumiError ? `${error.message} ${error.hint}` : String(error)),
      });
      await connection.run(`ATTACH ':memory:' AS ${CATALOG}; USE ${CATALOG}.main`);
      for (const [name, view] of Object.entries(siteViews(SITE)))
        await connection.run(`CREATE VIEW ${name} AS ${view}`);
    });
    await tell(await run(locked.connection, { sql, params, limit }));
  } catch (error) {
    throw advised(error);
  } finally {
    locked?.close();
    for (const scan of scans) scan.close();
    source.close();
  }
}

async function run(
  connection: DuckDBConnection,
  { sql, params, limit }: Pick<QueryTask, 'sql' | 'params' | 'limit'>,
): Promise<QueryResult> {
  const { text, place } = await checkQuery(connection, sql);
  const parameters = params ?? undefined;
  const request = { text, parameters, isInTransaction: false, usesWeb: false, isReadOnly: true };
  const reading = await beginReading(connection, request, () => null);
  try {
    const result = await connection.stream(text, ...typedParameters(parameters));
    if (result.returnType !== ResultReturnType.QUERY_RESULT)
      throw sumiError('query-refused', { problem: 'it gives no rows' });
    const types = result.columnTypes();
    const columns = result.columnNames().map((name, at) => ({
      name,
      type: types[at].alias ?? String(types[at]),
    }));
    const encoders = types.map(dataEncoder);
    const readers = types.map(itemReader);
    const rows: unknown[][] = [];
    let size = 0;
    let isCut = false;
    const cell = (value: unknown): unknown => {
      const { kept, length, wasCut } = cutCell(value);
      size += length;
      isCut ||= wasCut;
      return kept;
    };
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
      const vectors = columns.map((_, at) => chunk.getColumnVector(at));
      for (let at = 0; at < chunk.rowCount; at++) {
        if (rows.length === limit) return { columns, rows, truncated: true };
        const row = vectors.map((vector, column) => {
          const value = readers[column](vector, at);
          return cell(value === null ? null : encoders[column](value));
        });
        if (size > MOST_OF_ANSWER) return { columns, rows, truncated: true };
        rows.push(row);
      }
    }
    await reading.expectWhole(rows.length);
    return { columns, rows, truncated: isCut };
  } catch (error) {
    throw explained(error, text, place);
  } finally {
    await reading.end();
  }
}

function explained(error: unknown, text: string, place: { line: number; column: number }): unknown {
  const found = toSqlError(error, text);
  if (found instanceof SumiError && /^Out of Memory Error/.test(String(found.details.problem)))
    return sumiError('query-memory', { limit: MEMORY_LIMIT }, error);
  return errorInScript(
    withPlace(found, text, (offset) => offset),
    place,
  );
}

/** The advice of the SQL door is for sessions, where one statement follows another. */
const ADVICE = 'Check the statement. SHOW TABLES lists the tables, DESCRIBE and the name of one its columns.';

function advised(error: unknown): unknown {
  if (!(error instanceof SumiError) || !('advice' in error.details)) return error;
  return new SumiError(error.code, { ...error.details, advice: ADVICE }, error.cause);
}

function cutCell(value: unknown): { kept: unknown; length: number; wasCut: boolean } {
  if (typeof value === 'string') return cutText(value);
  if (typeof value !== 'object' || value === null) return { kept: value, length: 24, wasCut: false };
  const text = JSON.stringify(value);
  return text.length <= MOST_OF_CELL ? { kept: value, length: text.length, wasCut: false } : cutText(text);
}

function cutText(text: string): { kept: string; length: number; wasCut: boolean } {
  const wasCut = text.length > MOST_OF_CELL;
  // No half of a character that takes two units.
  const kept = wasCut ? text.slice(0, MOST_OF_CELL).replace(/[\ud800-\udbff]$/, '') : text;
  return { kept, length: kept.length + 2, wasCut };
}
