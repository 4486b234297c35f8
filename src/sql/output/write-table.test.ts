import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { widthOf } from '../../render/terminal-text.ts';
import { createResultWriter } from './create-result-writer.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function draw(sql: string, width?: number): Promise<string> {
  const result = await connection.stream(sql);
  const types = result.columnTypes();
  const columns = result.columnNames().map((name, i) => ({ name, type: types[i] }));
  const writer = createResultWriter({ format: 'table', columns, width });
  let text = '';
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
    text += [...writer.chunk(chunk)].join('');
  return text + writer.end();
}

describe('a table', () => {
  it('has names, types, rows and their number; numbers stand on the right, NULL is shown', async () => {
    const sql =
      "SELECT * FROM (VALUES ('日本', 1, 1.50), (NULL, 1000, -2.00), ('a', NULL, NULL)) t(name, n, d)";
    expect(await draw(sql)).toBe(
      [
        '┌─────────┬───────┬──────────────┐',
        '│ name    │     n │            d │',
        '│ varchar │ int32 │ decimal(3,2) │',
        '├─────────┼───────┼──────────────┤',
        '│ 日本    │     1 │         1.50 │',
        '│ NULL    │  1000 │        -2.00 │',
        '│ a       │  NULL │         NULL │',
        '└─────────┴───────┴──────────────┘',
        '3 rows',
        '',
      ].join('\n'),
    );
  });

  it('has a head also without rows', async () => {
    const text = await draw('SELECT 1 AS a WHERE false');
    expect(text).toContain('│     a │\n│ int32 │\n');
    expect(text.endsWith('0 rows\n')).toBe(true);
  });

  it('fits into the width: long values are cut, URLs inside', async () => {
    const sql = `SELECT 'https://example.com/' || repeat('a/', 60) || 'end' AS url, repeat('text ', 40) AS body,
      200 AS http_status`;
    const text = await draw(sql, 80);
    for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(80);
    expect(text).toContain('/end │');
    expect(text).toContain('text…');
    expect(text).toContain('│ http_status │');
  });

  it('leaves columns in the middle out when there is no room, and says so', async () => {
    const names = Array.from({ length: 18 }, (_, i) => `'value of ${i}' AS column_${i}`);
    const text = await draw(`SELECT ${names.join()}`, 60);
    for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(60);
    expect(text).toContain('│ … │');
    expect(text).toMatch(/1 row, 18 columns \(\d shown\)\n$/);
  });

  it('without a width shows values whole', async () => {
    const text = await draw("SELECT repeat('x', 5000) AS body, 1 AS n");
    expect(text).toContain('x'.repeat(5000));
  });

  it('keeps the widths of its first chunk; a longer value stays whole where the line has room', async () => {
    const sql =
      "SELECT CASE WHEN i < 2048 THEN 'short' ELSE 'a much longer value' END AS v FROM range(2049) r(i)";
    const lines = (await draw(sql, 80)).split('\n');
    expect(lines[4]).toBe('│ short   │');
    expect(lines.at(-4)).toBe('│ a much longer value │');
    const narrow = (await draw(sql, 20)).split('\n');
    expect(narrow.at(-4)).toBe('│ a much… │');
  });

  it('cannot control the terminal: not by values, not by names', async () => {
    const text = await draw(
      `SELECT 'x' || chr(27) || '[31m' || chr(155) || chr(10) || 'y' AS "a${'\u001b'}[2J"`,
    );
    expect(/\p{Cc}/u.test(text.replaceAll('\n', ''))).toBe(false);
    expect(text.split('\n').length).toBe(8);
  });
});
