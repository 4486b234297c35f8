/** DuckDB's casts are the judge of converted values: what is not null is what a cast of the same text gives. */
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { convertValue, type TypedValue, valueTypeOf } from '../../src/parse/extract/typed-value.ts';
import { seededRandom } from '../seeded-random.ts';

const seed = Number(process.env.SUMI_SEED ?? 20_261_119);
let instance: DuckDBInstance;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
});
afterAll(() => instance.closeSync());

const TYPES = [
  'TINYINT',
  'INTEGER',
  'UBIGINT',
  'HUGEINT',
  'DECIMAL(9,2)',
  'DECIMAL(38,10)',
  'DOUBLE',
  'BOOLEAN',
  'DATE',
  'TIMESTAMP',
];

/** As text that DuckDB's own cast to VARCHAR gives. */
function shown(value: TypedValue, type: string): string {
  const [, scale] = /,(\d+)\)/.exec(type) ?? [];
  if (scale !== undefined) {
    const digits = String(value)
      .replace('-', '')
      .padStart(Number(scale) + 1, '0');
    const at = digits.length - Number(scale);
    return `${String(value).startsWith('-') ? '-' : ''}${digits.slice(0, at)}.${digits.slice(at)}`;
  }
  if (type === 'DATE') return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
  if (type !== 'TIMESTAMP') return String(value);
  const micros = BigInt.asIntN(64, value as bigint);
  const second = micros / 1_000_000n - (micros % 1_000_000n < 0n ? 1n : 0n);
  const rest = String(micros - second * 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const time = new Date(Number(second) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return rest === '' ? time : `${time}.${rest}`;
}

it(`agree with the casts of DuckDB (SUMI_SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const digits = (most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => random.below(10)).join('');
  const two = (most: number) => String(random.below(most)).padStart(2, '0');
  const TEXTS = [
    () => `${random.pick(['', '-', '+'])}${digits(4)}`,
    () => `${random.pick(['', '-'])}${digits(20)}`,
    () => `${random.pick(['', '-'])}${digits(9)}.${digits(6)}`,
    () => `${digits(3)}.${digits(2)}e${random.pick(['', '-'])}${random.below(6)}`,
    () => `${1000 + random.below(2000)}-${two(14)}-${two(33)}`,
    () =>
      `${1900 + random.below(200)}-${two(13)}-${two(32)}${random.pick(['T', ' '])}${two(26)}:${two(61)}:${two(61)}${random.pick(['', '.5', `.${digits(6)}`])}${random.pick(['', 'Z'])}`,
    () => random.pick(['true', 'F', '1', '0', 'no', '', ' ', 'x', '1,5', '1.299,00 €']),
  ];
  const connection = await instance.connect();
  let agreed = 0;
  for (const type of TYPES) {
    const texts = Array.from({ length: 300 }, () => random.pick(TEXTS)());
    const rows = await connection.runAndReadAll(
      `SELECT CAST(TRY_CAST(t AS ${type}) AS VARCHAR) FROM (SELECT unnest(?::VARCHAR[]) AS t)`.replace(
        '?',
        `[${texts.map((text) => `'${text}'`).join(', ')}]`,
      ),
    );
    const wanted = rows.getRowsJS().map(([text]) => text as string | null);
    for (const [i, text] of texts.entries()) {
      const { value } = convertValue(text, valueTypeOf(type)!);
      // DuckDB rounds 74.7e-5 to 0.01.
      if (value === null || (type.startsWith('DECIMAL') && text.includes('e-'))) continue;
      // It takes -0 for an unsigned number, and not -0.0.
      if (type === 'UBIGINT' && text.startsWith('-')) continue;
      const ours = shown(value, type);
      const isSame = ours === wanted[i] || (type === 'DOUBLE' && Number(ours) === Number(wanted[i]));
      expect(isSame, `${JSON.stringify(text)} as ${type}: ${ours}, DuckDB ${wanted[i]}`).toBe(true);
      agreed++;
    }
  }
  connection.closeSync();
  expect(agreed).toBeGreaterThan(600);
});
