import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import type { JsonValue } from './read-loose-json.ts';
import { convertValue, type TypedValue, valueTypeOf } from './typed-value.ts';

const convert = (value: JsonValue, type: string) => convertValue(value, valueTypeOf(type)!);

describe('a value of a page', () => {
  it.each<[JsonValue, string, TypedValue]>([
    ['a ', 'VARCHAR', 'a '],
    [12.5, 'text', '12.5'],
    [true, 'VARCHAR(3)', 'true'],
    [{ a: [1] }, 'STRING', '{"a":[1]}'],
    [' 42 ', 'INTEGER', 42n],
    [42, 'BIGINT', 42n],
    ['-128', 'TINYINT', -128n],
    ['+7', 'int', 7n],
    ['1e3', 'INTEGER', 1000n],
    ['12.00', 'INTEGER', 12n],
    ['170141183460469231731687303715884105727', 'HUGEINT', 2n ** 127n - 1n],
    ['1.5', 'DOUBLE', 1.5],
    ['.5e-1', 'FLOAT8', 0.05],
    ['0.1', 'REAL', Math.fround(0.1)],
    ['12.345', 'DECIMAL(10,2)', 1235n],
    ['-12.345', 'NUMERIC(10, 2)', -1235n],
    ['12.344999', 'DECIMAL(10,2)', 1234n],
    ['1e2', 'DECIMAL(5,2)', 10000n],
    ['1', 'DECIMAL', 1000n],
    ['0.004', 'DECIMAL(5,2)', 0n],
    ['1e-9999', 'DECIMAL(5,2)', 0n],
    ['99999999999999999999999999999999999999', 'DECIMAL(38,0)', 10n ** 38n - 1n],
    ['TRUE', 'BOOLEAN', true],
    [false, 'bool', false],
    [1, 'BOOLEAN', true],
    ['f', 'LOGICAL', false],
    ['1970-01-02', 'DATE', 1],
    ['1969-12-31', 'DATE', -1],
    ['2024-02-29T23:00:00+02:00', 'DATE', 19782],
    ['0001-01-01', 'DATE', -719162],
    ['1970-01-01T00:00:00.000001Z', 'TIMESTAMP', 1n],
    ['1970-01-01 01:00', 'TIMESTAMP', 3_600_000_000n],
    ['1970-01-01T01:00:00+01:00', 'TIMESTAMPTZ', 0n],
    ['1970-01-01T01:00-0130', 'timestamp with time zone', 9_000_000_000n],
    ['1970-01-02', 'TIMESTAMP', 86_400_000_000n],
    ['1970-01-01T00:00:01,5', 'DATETIME', 1_500_000n],
    [['a', 'b'], 'VARCHAR[]', ['a', 'b']],
    ['a', 'VARCHAR[]', ['a']],
    [['1', '2'], 'INTEGER[]', [1n, 2n]],
    [[], 'DOUBLE[]', []],
    [[['1'], '2'], 'INTEGER[][]', [[1n], [2n]]],
    [['a', 1], 'VARCHAR', '["a",1]'],
    [{ a: 1 }, 'JSON', '{"a":1}'],
    ['{"a": 1,}', 'JSON', '{"a":1}'],
    ['text', 'JSON', '"text"'],
    ['12', 'JSON', '"12"'],
    [['a'], 'JSON', '["a"]'],
  ])('%j as %s', (value, type, wanted) => {
    expect(convert(value, type)).toEqual({ value: wanted, problem: null });
  });

  it.each<[JsonValue, string]>([
    ['1.299,00 €', 'DECIMAL(10,2)'],
    ['1,5', 'DOUBLE'],
    ['1 000', 'INTEGER'],
    ['12.5', 'INTEGER'],
    ['0x10', 'INTEGER'],
    ['Infinity', 'DOUBLE'],
    ['1e999', 'DOUBLE'],
    ['1e39', 'FLOAT'],
    ['NaN', 'DOUBLE'],
    ['', 'INTEGER'],
    ['128', 'TINYINT'],
    ['-1', 'UINTEGER'],
    ['1e9999', 'HUGEINT'],
    ['999.995', 'DECIMAL(5,2)'],
    [true, 'INTEGER'],
    ['yes please', 'BOOLEAN'],
    [2, 'BOOLEAN'],
    ['31.05.2024', 'DATE'],
    ['2024-02-30', 'DATE'],
    ['2023-02-29', 'DATE'],
    ['2024-05-31 noon', 'DATE'],
    ['2024-05', 'DATE'],
    ['0000-01-01', 'DATE'],
    ['2024-05-31T25:00', 'TIMESTAMP'],
    ['2024-05-31T10:00:00+99:00', 'TIMESTAMP'],
    [1717149600, 'TIMESTAMP'],
    [{ a: 1 }, 'INTEGER'],
    [['1'], 'INTEGER'],
  ])('%j is no %s: null, and why', (value, type) => {
    const { value: converted, problem } = convert(value, type);
    expect(converted).toBeNull();
    expect(problem).toBe(typeof value === 'string' ? value : JSON.stringify(value));
  });

  it('that is absent stays absent', () => {
    for (const type of ['VARCHAR', 'INTEGER', 'JSON', 'VARCHAR[]'])
      expect(convert(null, type)).toEqual({ value: null, problem: null });
  });

  it('keeps its place in a list where it does not fit', () => {
    expect(convert(['1', 'x', null, '4'], 'INTEGER[]')).toEqual({
      value: [1n, null, null, 4n],
      problem: 'x',
    });
  });

  it('is shown by its beginning where it does not fit', () => {
    expect(convert('x'.repeat(1000), 'INTEGER').problem).toHaveLength(101);
  });

  it('is the number that was written, in every type that can hold it', () => {
    const seed = Number(process.env.SUMI_SEED ?? 20_261_119);
    const random = seededRandom(seed);
    for (let i = 0; i < 2000; i++) {
      const cents = BigInt(random.below(1e9)) * (random.below(2) === 0 ? 1n : -1n);
      const text = `${cents < 0n ? '-' : ''}${String(cents < 0n ? -cents : cents)
        .padStart(3, '0')
        .replace(/(..)$/, '.$1')}`;
      expect(convert(text, 'DECIMAL(18,2)').value, `SUMI_SEED=${seed} ${text}`).toBe(cents);
      expect(convert(text, 'DECIMAL(18,4)').value).toBe(cents * 100n);
      expect(convert(`${text}e2`, 'BIGINT').value).toBe(cents);
      expect(convert(text, 'DOUBLE').value).toBe(Number(text));
      const moment = new Date(random.below(4e9) * 1000 - 2e12);
      expect(convert(moment.toISOString(), 'TIMESTAMP').value).toBe(BigInt(moment.getTime()) * 1000n);
      expect(convert(moment.toISOString(), 'DATE').value).toBe(Math.floor(moment.getTime() / 86_400_000));
    }
  });
});

describe('a type', () => {
  it.each([
    'VARCHAR',
    'text',
    '"varchar"',
    'DOUBLE PRECISION',
    'double  precision',
    'DECIMAL(38,38)',
    'INT[]',
    'JSON[]',
    'TIMESTAMP WITH TIME ZONE',
    'UHUGEINT',
  ])('%s is known', (name) => {
    expect(valueTypeOf(name)).not.toBeNull();
  });

  it.each([
    '',
    'BLOB',
    'INTERVAL',
    'STRUCT(a INT)',
    'MAP(INT, INT)',
    'DECIMAL(39,2)',
    'DECIMAL(2,3)',
    'DECIMAL(0,0)',
    'DECIMAL(1,2,3)',
    'INTEGER(3)',
    'INT[3]',
    'mood',
    'constructor',
    'TIME',
  ])('%s is none that values are made of', (name) => {
    expect(valueTypeOf(name)).toBeNull();
  });
});
