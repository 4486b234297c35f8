/** What the main thread may ask of the DuckDB thread, one entry each. `tell` gives a piece and waits until it was taken. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { StatementType } from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';
import type { ExtractionRule } from '../../parse/extract/extraction-rule.ts';
import {
  type AttachRequest,
  attachSite,
  closeSites,
  registerSiteFunctions,
  settleSites,
} from '../attached/attach-site.ts';
import { publishMacros } from '../functions/publish-macros.ts';
import { registerFunctions } from '../functions/register-functions.ts';
import { SETTINGS_QUERY } from '../language/rewrite-settings.ts';
import { answerQuery } from '../queries/answer-query.ts';
import type { QueryResult, QueryTask } from '../queries/query-messages.ts';
import type { SqlParameters } from '../sql-session.ts';
import { openTarget, type TargetRequest } from '../table/check-target.ts';
import { openDatabase } from '../table/open-database.ts';
import { quoteText } from '../table/quote-name.ts';
import { type KnownBatch, readKnown } from '../table/read-known.ts';
import { createRowWriter, type RedirectEnd } from '../table/row-writer.ts';
import type { TargetPlan } from '../table/target-plan.ts';
import { askCondition } from '../where/ask-condition.ts';
import { type CheckedCondition, checkCondition } from '../where/check-condition.ts';
import { movedBack, toSqlError } from './duckdb-errors.ts';
import { extractValues } from './extract-values.ts';
import { runStatement, type StatementRequest } from './run-statement.ts';
import type { ThreadState } from './thread-state.ts';
import { typedParameters } from './typed-parameters.ts';

type Tell<Piece> = (piece: Piece) => Promise<void>;

/** Errors with their place; and without the last three DuckDB does not say how far a query is. */
const ON_EVERY_CONNECTION = `SET errors_as_json = true; SET enable_progress_bar = true;
  SET enable_progress_bar_print = false; SET progress_bar_time = 0`;

async function connect({ database }: ThreadState): Promise<DuckDBConnection> {
  const connection = await database!.connect();
  await connection.run(ON_EVERY_CONNECTION);
  await publishMacros(connection);
  return connection;
}

/** Names mean what they mean to the user, but for temporary tables. */
async function connectAsUser(state: ThreadState): Promise<DuckDBConnection> {
  const connection = await connect(state);
  const [[path]] = (await state.user.runAndReadAll("SELECT current_setting('search_path')")).getRowsJS();
  await connection.run(`SET search_path = ${quoteText(String(path))}`);
  return connection;
}

async function open(request: { file: string | null; isReadOnly: boolean }, state: ThreadState) {
  state.database = await openDatabase(request);
  const first = await state.database.connect();
  state.functions = registerFunctions(first, state.main);
  registerSiteFunctions(first, state.main, state.functions.textOf);
  first.closeSync();
  state.user = await connect(state);
  return { catalog: state.database.catalog };
}

async function run(
  request: StatementRequest & { statement: number },
  state: ThreadState,
  tell: Tell<string>,
) {
  const { user, main, functions } = state;
  state.begins(request.statement);
  try {
    return await runStatement(request, {
      connection: user,
      flow: state.flow,
      tell,
      isInterrupted: () => state.isInterrupted(request.statement),
      errorOf: functions.errorOf,
      latestError: functions.latestError,
      onProgress: state.onProgress,
    });
  } finally {
    functions.endStatement(user);
    await settleSites(user, main);
  }
}

async function complete({ text }: { text: string }, state: ThreadState) {
  const found = await state.user.runAndReadAll(
    'SELECT suggestion, suggestion_start FROM sql_auto_complete($1)',
    [text],
  );
  const rows = found.getRowsJS() as [string, number][];
  return { words: rows.map(([word]) => word), start: rows.length === 0 ? text.length : rows[0][1] };
}

async function settings(_: unknown, state: ThreadState) {
  const [found] = (await state.user.runAndReadAll(SETTINGS_QUERY)).getRowObjectsJS();
  return { ...found, threads: Number(found.threads) };
}

/** On a connection like that on which it will be asked. */
async function checkOn(
  { condition, isBackground }: { condition: string; isBackground: boolean },
  state: ThreadState,
): Promise<CheckedCondition> {
  if (!isBackground) return checkCondition(state.user, condition);
  const connection = await connectAsUser(state);
  try {
    return await checkCondition(connection, condition);
  } finally {
    connection.closeSync();
  }
}

/** The query of a CRAWL: one SELECT of one column; whatever would write is refused before it runs. */
async function checkInput({ query }: { query: string }, state: ThreadState) {
  try {
    const statement = await state.user.prepare(query);
    try {
      if (statement.statementType !== StatementType.SELECT)
        throw sumiError('sql-input-no-select', { found: StatementType[statement.statementType] });
      if (statement.columnCount !== 1)
        throw sumiError('sql-input-columns', { columns: statement.columnCount });
    } finally {
      statement.destroySync();
    }
  } catch (error) {
    throw toSqlError(error, query);
  }
}

const AS_TEXT = 'SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (';

/** The input as text, NULL as null. */
async function readInput(
  { query, parameters, statement }: { query: string; parameters?: SqlParameters; statement: number },
  state: ThreadState,
  tell: Tell<(string | null)[]>,
) {
  state.begins(statement);
  const text = `${AS_TEXT}${query}\n)`;
  const look = setInterval(() => {
    if (state.isInterrupted(statement)) state.user.interrupt();
  }, 100);
  try {
    // Whole before its first row: a stream that fails ends as if it were whole.
    const result = await state.user.run(text, ...typedParameters(parameters));
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
      await tell(chunk.getColumnValues(0) as (string | null)[]);
  } catch (error) {
    throw movedBack(toSqlError(error, text, state.functions.errorOf), AS_TEXT.length);
  } finally {
    clearInterval(look);
    state.functions.endStatement(state.user);
  }
}

interface OpenCrawl extends TargetRequest {
  crawl: number;
  rules: readonly ExtractionRule[];
  /** The user goes on with other statements meanwhile. */
  isBackground: boolean;
  /** What DuckDB will be asked of each URL; null: nothing. */
  asked: string | null;
}

async function openCrawl(
  { crawl, rules, isBackground, asked, ...request }: OpenCrawl,
  state: ThreadState,
): Promise<TargetPlan> {
  const found = await openTarget(state.user, { ...request, home: state.database!.catalog });
  const plan = { ...found, wantsBody: found.wantsBody || rules.length > 0 };
  const connection = await connect(state);
  const asks = isBackground ? await connectAsUser(state) : state.user;
  // Columns that EXTRACT would add are not there where the table is only looked at.
  const writer =
    request.isDry === true
      ? null
      : await createRowWriter(connection, plan, rules.length === 0 ? undefined : extractValues(rules));
  const condition = asked === null ? null : await askCondition(asks, asked);
  state.crawls.set(crawl, { connection, plan, writer, asks, condition });
  return plan;
}

async function closeCrawl({ crawl }: { crawl: number }, state: ThreadState) {
  const found = state.crawls.get(crawl);
  if (found === undefined) return;
  state.crawls.delete(crawl);
  await found.condition?.close();
  found.writer?.close();
  if (found.asks !== state.user) found.asks.closeSync();
  found.connection.closeSync();
}

async function known({ crawl }: { crawl: number }, state: ThreadState, tell: Tell<KnownBatch>) {
  const { connection, plan, writer } = state.crawlOf(crawl);
  if (plan.isNew && writer === null) return;
  for await (const batch of readKnown(connection, plan)) await tell(batch);
}

async function close(_: unknown, state: ThreadState) {
  for (const crawl of [...state.crawls.keys()]) await closeCrawl({ crawl }, state);
  if (state.database === null) return;
  closeSites(state.main);
  state.user.closeSync();
  await state.database.close();
}

export const VERBS = {
  open,
  run,
  complete,
  settings,
  checkInput,
  readInput,
  openCrawl,
  closeCrawl,
  known,
  close,
  checkCondition: checkOn,
  /** In an instance of its own, whatever else the thread has open. */
  async answerQuery(
    { statement, ...task }: QueryTask & { statement: number },
    { main, begins }: ThreadState,
    tell: Tell<QueryResult>,
  ) {
    begins(statement);
    try {
      await answerQuery(task, main, tell);
    } catch (error) {
      throw toSqlError(error, '');
    }
  },
  setChains: ({ crawl, chains }: { crawl: number; chains: RedirectEnd[] }, state: ThreadState) =>
    state.writerOf(crawl).setChains(chains),
  async nameOf({ target }: Pick<TargetRequest, 'target'>, { user, database }: ThreadState) {
    const request = { target, extracted: [], isDry: true, home: database!.catalog };
    return (await openTarget(user, request)).name;
  },
  async attach(request: Omit<AttachRequest, 'main'>, { user, main }: ThreadState) {
    try {
      await attachSite(user, { ...request, main });
    } catch (error) {
      throw toSqlError(error, '');
    }
  },
};
