/**
 * What is prepared once to write into a table: statements, Appenders, and tables of the connection alone that carry values
 * into statements. All of it ends together.
 */
import type { DuckDBAppender, DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { quoteName } from './quote-name.ts';
import type { ExtractValues } from './row-filler.ts';
import { runNow } from './run-now.ts';
import type { TargetPlan } from './target-plan.ts';

export interface WriteTools {
  readonly connection: DuckDBConnection;
  readonly plan: TargetPlan;
  readonly extract: ExtractValues | undefined;
  prepare(sql: string): Promise<DuckDBPreparedStatement>;
  /** For statements that read rows; they say `$1` where a condition may stand. */
  prepareToRead(sql: string): Promise<DuckDBPreparedStatement>;
  openAppender(table: string, schema: string | null, catalog: string): Promise<DuckDBAppender>;
  /** Drops what a failed batch has left. */
  clear(): void;
  close(): void;
}

export function createWriteTools(
  connection: DuckDBConnection,
  plan: TargetPlan,
  extract: ExtractValues | undefined,
): WriteTools {
  const statements: DuckDBPreparedStatement[] = [];
  const appenders: DuckDBAppender[] = [];
  const prepare = async (sql: string) => {
    const statement = await connection.prepare(sql);
    statements.push(statement);
    return statement;
  };
  return {
    ...{ connection, plan, extract, prepare },
    // DuckDB plans by the rows that its tables have when a statement is prepared, and keeps the plan when they change: what
    // was empty or had no NULL then counts as such for ever (duckdb issue 23704). A parameter makes it plan each time.
    async prepareToRead(sql) {
      const statement = await prepare(sql);
      statement.bindBoolean(1, true);
      return statement;
    },
    async openAppender(table, schema, catalog) {
      const appender = await connection.createAppender(table, schema, catalog);
      appenders.push(appender);
      return appender;
    },
    clear() {
      for (const appender of appenders) appender.clear();
    },
    close() {
      for (const appender of appenders) closeAppender(appender);
      for (const statement of statements) statement.destroySync();
    },
  };
}

/** What is left in it is of a batch that was given up. */
function closeAppender(appender: DuckDBAppender): void {
  try {
    appender.clear();
    appender.closeSync();
  } catch {
    // Its table is gone.
  }
}

/** The catalog of tables that belong to the connection alone. They are empty between transactions. */
export const TEMPORARY = 'temp';

export interface TextTable {
  readonly name: string;
  fill(rows: readonly (readonly (string | null)[])[]): void;
  empty(): void;
}

export async function createTextTable(
  { connection, prepare, openAppender }: WriteTools,
  table: string,
  columns: readonly string[],
): Promise<TextTable> {
  const name = quoteName(TEMPORARY, 'main', table);
  const types = columns.map((column) => `${column} VARCHAR`);
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${quoteName(table)} (${types.join(', ')})`);
  const appender = await openAppender(table, null, TEMPORARY);
  const emptied = await prepare(`DELETE FROM ${name}`);
  return {
    name,
    fill(rows) {
      for (const row of rows) {
        for (const value of row) {
          if (value === null) appender.appendNull();
          else appender.appendVarchar(value);
        }
        appender.endRow();
      }
      appender.flushSync();
    },
    empty: () => runNow(emptied),
  };
}
