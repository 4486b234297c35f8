import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import type { SumiError } from '../../errors.ts';
import { toSqlError } from './duckdb-errors.ts';

/** What a session makes of DuckDB's refusal. */
async function errorOf(statement: string): Promise<SumiError> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run('SET errors_as_json = true');
    await connection.stream(statement);
    throw new Error(`DuckDB took ${statement}`);
  } catch (error) {
    return toSqlError(error, statement) as SumiError;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

it('a mistake that the parser finds is told in words, with its place', async () => {
  const { code, message, details } = await errorOf("SELECT 'é', 1 FRM t;");
  expect(code).toBe('sql-syntax');
  expect(message).not.toMatch(/[{}]|extract statements/);
  expect(details.offset).toBe("SELECT 'é', 1 FRM ".length);
});

it('a name that is missing is told in words, with its place', async () => {
  const { code, message, details } = await errorOf("SELECT 'é' AS a, nothing");
  expect(code).toBe('sql-failed');
  expect(message).toMatch(/^Binder Error: Referenced column "nothing" was not found/);
  expect(details.offset).toBe("SELECT 'é' AS a, ".length);
});
