/** What PostgreSQL itself says it was given. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import type { PostgresDatabases } from '../../../test/servers/start-postgres.ts';
import { connect, disconnect, type Sql } from './connection.ts';
import { type Columns, PackedRows, packed, packedNumbers, unpacked, unpackedBut } from './pack-columns.ts';

let postgres: PostgresDatabases;
let address: string;
let sql: Sql;

beforeAll(async () => {
  postgres = await sharedPostgres();
  address = await postgres.newDatabase();
  sql = connect(address, { max: 1, applicationName: 'test' });
});

afterAll(async () => {
  await disconnect(sql);
  await postgres.dropDatabase(address);
});

const COLUMNS: Columns = [
  ['n', 'int4'],
  ['small', 'int2'],
  ['wide', 'int8'],
  ['real', 'float8'],
  ['words', 'text'],
  ['bytes', 'bytea'],
  ['id', 'uuid'],
];

/** The rows as PostgreSQL prints them, behind a value that is no column. */
async function told(rows: readonly object[]): Promise<Record<string, string | null>[]> {
  const texts = COLUMNS.map(([name]) => `${name}::text`).join(', ');
  const statement = `SELECT $1::text AS other, ${texts} FROM ${unpacked(2, COLUMNS, 'r')}`;
  const found = await sql.begin((tx) =>
    tx.unsafe(statement, ['other', ...packed(tx, COLUMNS, rows)] as never[], { prepare: true }),
  );
  return found.map(({ other, ...row }) => {
    expect(other).toBe('other');
    return row;
  });
}

const NOTHING = { n: null, small: null, wide: null, real: null, words: null, bytes: null, id: null };

describe('rows packed by columns', () => {
  it('come out as they went in, to the ends of each type', async () => {
    const printed = '00112233-4455-6677-8899-aabbccddeeff';
    const id = Buffer.from(printed.replaceAll('-', ''), 'hex');
    const bytes = Uint8Array.of(0, 1, 254, 255);
    const rows = [
      { n: 2 ** 31 - 1, small: 32767, wide: 2 ** 53 - 1, real: 0.1, words: 'añ東😀"\\{,}', bytes, id },
      {
        n: -(2 ** 31),
        small: -32768,
        wide: -(2 ** 53) + 1,
        real: -1e300,
        words: '',
        bytes: bytes.slice(4),
        id,
      },
      { n: 0, small: 0, wide: -(2n ** 63n), real: 0, words: Buffer.from('bytes é'), bytes, id },
      { n: -1, small: -1, wide: -1, real: -0.5, words: 'NULL', bytes, id },
    ];
    expect(await told(rows)).toEqual([
      {
        n: '2147483647',
        small: '32767',
        wide: '9007199254740991',
        real: '0.1',
        words: 'añ東😀"\\{,}',
        bytes: '\\x0001feff',
        id: printed,
      },
      {
        n: '-2147483648',
        small: '-32768',
        wide: '-9007199254740991',
        real: '-1e+300',
        words: '',
        bytes: '\\x',
        id: printed,
      },
      {
        n: '0',
        small: '0',
        wide: '-9223372036854775808',
        real: '0',
        words: 'bytes é',
        bytes: '\\x0001feff',
        id: printed,
      },
      { n: '-1', small: '-1', wide: '-1', real: '-0.5', words: 'NULL', bytes: '\\x0001feff', id: printed },
    ]);
  });

  it('may lack values, and whole columns', async () => {
    expect(await told([{ n: 1 }, { n: 2, words: 'w' }, { ...NOTHING, n: 3 }])).toEqual([
      { ...NOTHING, n: '1' },
      { ...NOTHING, n: '2', words: 'w' },
      { ...NOTHING, n: '3' },
    ]);
  });

  it('have U+FFFD for what PostgreSQL does not take as text', async () => {
    const rows = [
      { n: 1, words: 'a\0b\0' },
      { n: 2, words: Buffer.from('\0\0é') },
      { n: 3, words: 'half \ud83d pair' },
      { n: 4, words: Uint8Array.of(0x61, 0xff, 0x62) },
    ];
    expect((await told(rows)).map(({ words }) => words)).toEqual([
      'a\ufffdb\ufffd',
      '\ufffd\ufffdé',
      'half \ufffd pair',
      'a\ufffdb',
    ]);
  });

  it('are one prepared statement, whichever columns are empty', async () => {
    const count = async () =>
      (await sql`SELECT count(*)::int AS n FROM pg_prepared_statements`)[0].n as number;
    await told([{ n: 1 }]);
    const before = await count();
    for (const row of [{ words: 'w' }, { wide: 1 }, { real: 1, id: Buffer.alloc(16) }]) {
      await told([{ n: 1, ...row }]);
    }
    expect(await count()).toBe(before);
  });

  it('have NULL for numbers that are none, and refuse those that do not fit', async () => {
    expect(await told([{ n: 1, real: Number.NaN, wide: Number.POSITIVE_INFINITY, small: 2 }])).toEqual([
      { ...NOTHING, n: '1', small: '2' },
    ]);
    const misfits = [
      { n: 2 ** 31 },
      { n: 1.5 },
      { n: 1, small: 32768 },
      { n: 1, wide: 0.5 },
      { n: 1, wide: 2 ** 53 },
    ];
    for (const row of misfits) await expect(told([row]), JSON.stringify(row)).rejects.toThrow(RangeError);
  });

  it('may be many and long', async () => {
    const rows = Array.from({ length: 700 }, (_, n) => ({
      n,
      words: '東'.repeat(n * 7),
      bytes: new Uint8Array(n),
    }));
    const found = await told(rows);
    expect(found).toHaveLength(700);
    for (const [n, { words, bytes }] of found.entries()) {
      expect(words!.length).toBe(n * 7);
      expect(bytes!.length).toBe(2 + 2 * n);
    }
  });
});

it('a list of numbers comes out whole, and in parts, which may be empty', async () => {
  const parts = async (numbers: number[]) => {
    const [row] = await sql.begin((tx) =>
      tx.unsafe('SELECT $1::int4[] AS whole, ($1::int4[])[2:3] AS part, ($1::int4[])[2:1] AS none', [
        packedNumbers(tx, Int32Array.from(numbers)),
      ] as never[]),
    );
    return [row.whole, row.part, row.none];
  };
  expect(await parts([2 ** 31 - 1, -1, 0, 7])).toEqual([[2 ** 31 - 1, -1, 0, 7], [-1, 0], []]);
  expect(await parts([])).toEqual([[], [], []]);
});

describe('rows packed as they come', () => {
  const statement = `SELECT r.n, r.words FROM ${unpackedBut(
    1,
    [
      ['n', 'int4'],
      ['words', 'text'],
    ],
    'r',
  )} ORDER BY r.n`;
  const told = (rows: PackedRows, leftOut: number[] = []) =>
    sql.begin((tx) => tx.unsafe(statement, [...rows.parameters(tx), leftOut] as never[], { prepare: true }));

  it('are told without those that are left out, and their memory serves the next ones', async () => {
    const rows = new PackedRows([
      ['n', 'int4'],
      ['words', 'text'],
    ]);
    expect([1, 2, 3].map((n) => rows.add({ n, words: 'x'.repeat(700 * n) }))).toEqual([1, 2, 3]);
    expect((await told(rows, [2])).map(({ n, words }) => [n, words.length])).toEqual([
      [1, 700],
      [3, 2100],
    ]);
    rows.clear();
    rows.add({ n: 7, words: null });
    expect([...(await told(rows))]).toEqual([{ n: 7, words: null }]);
  });

  it('leave nothing behind of one that does not fit', async () => {
    const rows = new PackedRows([
      ['n', 'int4'],
      ['words', 'text'],
    ]);
    rows.add({ n: 1, words: 'one' });
    const wrong = new PackedRows([
      ['words', 'text'],
      ['n', 'int4'],
    ]);
    wrong.add({ n: 1, words: 'one' });
    expect(() => wrong.add({ n: 0.5, words: 'half' })).toThrow(RangeError);
    expect(() => rows.add({ n: 0.5, words: 'half' })).toThrow(RangeError);
    wrong.add({ n: 2, words: 'two' });
    rows.add({ n: 2, words: 'two' });
    expect([...(await told(rows))]).toEqual([
      { n: 1, words: 'one' },
      { n: 2, words: 'two' },
    ]);
    const other = `SELECT r.n, r.words FROM ${unpackedBut(
      1,
      [
        ['words', 'text'],
        ['n', 'int4'],
      ],
      'r',
    )} ORDER BY r.n`;
    const found = await sql.begin((tx) =>
      tx.unsafe(other, [...wrong.parameters(tx), []] as never[], { prepare: true }),
    );
    expect([...found]).toEqual([
      { n: 1, words: 'one' },
      { n: 2, words: 'two' },
    ]);
  });
});
