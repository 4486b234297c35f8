import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendExtracted } from './append-extracted.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run("SET TimeZone = 'Asia/Tokyo'");
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

/** What stands in a column of that type, as text; null for NULL. */
async function stored(value: unknown, type: string): Promise<unknown> {
  await connection.run(`CREATE OR REPLACE TABLE t (v ${type})`);
  const appender = await connection.createAppender('t');
  if (!appendExtracted(appender, value, type)) appender.appendNull();
  appender.endRow();
  appender.closeSync();
  const shown = type === 'TIMESTAMPTZ' ? "v AT TIME ZONE 'UTC'" : 'v';
  return (await connection.runAndReadAll(`SELECT CAST(${shown} AS VARCHAR) FROM t`)).getRows()[0][0];
}

describe('an extracted value in a column', () => {
  it.each([
    ['2024-05-31T10:00:00+02:00', 'TIMESTAMP', '2024-05-31 08:00:00'],
    ['2024-05-31T10:00:00+02:00', 'TIMESTAMPTZ', '2024-05-31 08:00:00'],
    ['1969-12-31T23:59:59.250Z', 'TIMESTAMP', '1969-12-31 23:59:59.25'],
    ['12.5', 'INTEGER', null],
    ['0x10', 'INTEGER', null],
    ['1_000', 'INTEGER', null],
    ['42', 'INTEGER', '42'],
    ['9223372036854775807', 'BIGINT', '9223372036854775807'],
    ['infinity', 'DOUBLE', null],
    ['1e999', 'DOUBLE', null],
    ['0.1', 'DOUBLE', '0.1'],
    ['epoch', 'DATE', null],
    ['2024-05-31', 'DATE', '2024-05-31'],
    ['74.7e-5', 'DECIMAL(9,2)', '0.00'],
    ['-0.05', 'DECIMAL(9,2)', '-0.05'],
    ['1.299,00 €', 'DECIMAL(10,2)', null],
    ['19.99', 'DECIMAL(10,2)', '19.99'],
    ['true', 'BOOLEAN', 'true'],
    [['a', 'b,c', ''], 'VARCHAR[]', `[a, 'b,c', '']`],
    [['1', 'x', '3'], 'INTEGER[]', '[1, NULL, 3]'],
    [{ a: [1] }, 'JSON', '{"a":[1]}'],
    ['text', 'VARCHAR', 'text'],
    [null, 'VARCHAR', null],
  ])('%j as %s is %j', async (value, type, expected) => {
    expect(await stored(value, type)).toBe(expected);
  });
});
