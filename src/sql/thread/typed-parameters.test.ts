import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { typedParameters } from './typed-parameters.ts';

it('gives every kind of value to DuckDB, by place and by name', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const given = [
    ...[null, true, 7, -1.5, 2 ** 60, 2n ** 62n, 2n ** 100n, 'x', new Uint8Array([0, 255])],
    ...[new Date('2024-02-29T12:00:00.123Z'), ['a', null, 'b'], [], [1, 2.5], [[1], [2]]],
  ];
  const list = given.map((_, at) => `$${at + 1}::VARCHAR`).join(', ');
  const found = await connection.runAndReadAll(`SELECT ${list}`, ...typedParameters(given));
  expect(found.getRows()[0]).toEqual([
    ...[
      null,
      'true',
      '7',
      '-1.5',
      '1.152921504606847e+18',
      `${2n ** 62n}`,
      `${2n ** 100n}`,
      'x',
      '\\x00\\xFF',
    ],
    ...['2024-02-29 12:00:00.123', '[a, NULL, b]', '[]', '[1.0, 2.5]', '[[1], [2]]'],
  ]);
  const named = await connection.runAndReadAll('SELECT $a + $b', ...typedParameters({ a: 1, b: 2 }));
  expect(String(named.getRows()[0][0])).toBe('3');
  connection.closeSync();
});
