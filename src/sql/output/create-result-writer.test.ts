import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResultWriter } from './create-result-writer.ts';
import type { ResultFormat } from './result-format.ts';

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

interface Asked {
  width?: number;
  timeZone?: string;
}

async function pieces(sql: string, format: ResultFormat, asked: Asked = {}): Promise<string[]> {
  const result = await connection.stream(sql);
  const types = result.columnTypes();
  const columns = result.columnNames().map((name, i) => ({ name, type: types[i] }));
  const writer = createResultWriter({ format, columns, ...asked });
  const texts: string[] = [];
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
    texts.push(...writer.chunk(chunk));
  return [...texts, writer.end()];
}

const write = async (sql: string, format: ResultFormat, asked?: Asked) =>
  (await pieces(sql, format, asked)).join('');

/** What DuckDB itself says, one value. */
async function cast(expression: string): Promise<unknown> {
  const reader = await connection.runAndReadAll(`SELECT CAST(${expression} AS VARCHAR)`);
  return reader.getRows()[0][0];
}

/** One value in CSV, read back. */
async function csvValue(expression: string, asked?: Asked): Promise<string> {
  const lines = await write(`SELECT ${expression} AS x`, 'csv', asked);
  const text = lines.slice('x\n'.length, -1);
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}

const SCALARS = [
  ...[
    'true',
    'false',
    '42::TINYINT',
    '-7::SMALLINT',
    '9223372036854775807',
    '(-9223372036854775808)::BIGINT',
  ],
  ...['18446744073709551615::UBIGINT', "'170141183460469231731687303715884105727'::HUGEINT"],
  ...["'340282366920938463463374607431768211455'::UHUGEINT", "'-12345678901234567890123456789'::BIGNUM"],
  ...[
    '1.50::DECIMAL(5,2)',
    '-0.05::DECIMAL(4,2)',
    "'-99999999999999999999999999999999999.999'::DECIMAL(38,3)",
  ],
  ...[
    '7::DECIMAL(4,0)',
    '1e15',
    '1e16',
    '123456789012345678::DOUBLE',
    '1e17',
    '0.0001::DOUBLE',
    '0.00001::DOUBLE',
  ],
  ...[
    '1.5e-7',
    '0::DOUBLE',
    '-1 * 0::DOUBLE',
    '100.0::DOUBLE',
    '1e300',
    '0.1::DOUBLE + 0.2::DOUBLE',
    "'nan'::DOUBLE",
  ],
  ...["'inf'::DOUBLE", "'-inf'::DOUBLE", '9007199254740993::DOUBLE', '1e22', '-123456.789::DOUBLE', '5e-324'],
  ...['0.1::FLOAT', '16777216::FLOAT', '3.4e38::FLOAT', '1e-5::FLOAT', '1.17e-38::FLOAT', '123456790::FLOAT'],
  ...['-0.3::FLOAT', '1e10::FLOAT', "'nan'::FLOAT", 'pi()::FLOAT', '1e-45::FLOAT'],
  ...["''", "'plain'", '\'a "b", c\'', "'first\nsecond'", "'héllo 日本 🦆'"],
  ...[
    "'\\x00\\xFFab'::BLOB",
    "'a''b'::BLOB",
    "''::BLOB",
    "'\\x5Cx41\\x5C'::BLOB",
    "encode(chr(127) || ' ~[]^')",
    "'0101101'::BIT",
  ],
  ...[
    "DATE '2020-02-29'",
    "DATE '0001-06-01 (BC)'",
    "DATE '0001-01-01'",
    "DATE '0002-12-31 (BC)'",
    "DATE '9999-12-31'",
    "DATE '0044-03-15 (BC)'",
    "DATE '12345-01-02'",
    "'infinity'::DATE",
    "'-infinity'::DATE",
  ],
  ...["TIME '12:34:56.789'", "TIME '24:00:00'", "TIME '00:00:00'", "'12:34:56+05:30'::TIMETZ"],
  ...["'12:34:56-08'::TIMETZ", "'12:34:56+01:02:03'::TIMETZ", "'01:02:03.123456789'::TIME_NS"],
  ...[
    "TIMESTAMP '2020-01-01'",
    "TIMESTAMP '2020-01-01 10:00:00.1'",
    "TIMESTAMP '1969-12-31 23:59:59.999999'",
  ],
  ...[
    "'infinity'::TIMESTAMP",
    "TIMESTAMP '0001-06-01 (BC) 01:00:00'",
    "'0001-06-01 (BC)'::TIMESTAMP_S",
    "TIMESTAMP '9999-12-31 23:59:59.5'",
    "TIMESTAMP '0044-03-15 (BC) 12:00:00'",
    "'2020-01-01 00:00:01.5'::TIMESTAMP_MS",
  ],
  ...["'2020-01-01 00:00:00.123456789'::TIMESTAMP_NS", "'2020-01-01 00:00:01'::TIMESTAMP_S"],
  ...["INTERVAL '1 year 2 month 3 day 4 hour 5.5 second'", "INTERVAL '-1 day'", "INTERVAL '-30 second'"],
  ...["INTERVAL '-14 month' + INTERVAL '3 day'", "INTERVAL '0 day'", "INTERVAL '100 hour'"],
  ...["UUID '00000000-0000-0000-0000-00000000000a'", "UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
  ...["'b'::ENUM('a', 'b')", '\'{"a": 1}\'::JSON'],
];

const NESTED = [
  "['a b', 'it''s', 'x,y', NULL, 'NULL', '', 'plain', 'a:b', '[1]', 'a\"b', 'a\\b', 'null', 'Null']",
  "['{x', 'x}', '(a', 'a)', 'a=b', ';', ' lead', 'trail ', 'tab\tx', 'line\nend', 'é', '-', '\"', '\\', '\\''']",
  '[1.5::DOUBLE, 1::DOUBLE, NULL]',
  '[1::FLOAT, 0.1::FLOAT]',
  '[[1, 2], [], NULL, [NULL]]',
  '[]',
  'MAP {}',
  "[DATE '2020-01-01', NULL]",
  "[TIMESTAMP '2020-01-01 10:00:00']",
  "[INTERVAL '1 day', INTERVAL '2 hour']",
  "['\\x00a'::BLOB, 'b'::BLOB]",
  "{'a b': 'x', 'c': 'it''s', 'd': NULL}",
  "{'x y': [{'q': 'a, b'}], 'null': 1, 'a''b': 2, 'a\\b': 3}",
  "MAP {'k a': 1, 'b': NULL}",
  "MAP {'null': 'x', 'a=b': 'c=d', 'q,': ''}",
  'MAP {1: [1, 2], 2: []}',
  "MAP {{'a': 1}: 'x', {'a': 2}: 'y'}",
  'array_value(1, 2, NULL)',
  'array_value([1], [2, 3])',
  "row(1, 'a b', NULL, 'it''s')",
  "[row(1, 'x'), row(2, 'y,z')]",
  "{'k': row('a,b', 2)}",
  'row(row(1, 2), [row(3, 4)])',
  "union_value(a := 'x, ''y')",
  "[union_value(a := 'x y')]",
  "[union_value(a := 'x, y')]",
  "{'u': union_value(a := 'x, y')}",
  '[\'"a"\'::JSON, \'{"a": 1}\'::JSON, NULL]',
  "{'j': '\"a\"'::JSON, 'n': '1'::JSON}",
  "MAP {'a': '{\"b\": [1]}'::JSON}",
  "{'a': [1.5::DOUBLE], 'b': DATE '2020-01-01', 'c': true, 'd': 'x'::BLOB, 'f': TIME '10:00:00'}",
  "{'i': UUID '00000000-0000-0000-0000-00000000000a'}",
  "{'g': 1.50::DECIMAL(5,2), 'l': MAP {'a': [1]}, 'm': array_value(1, 2)}",
  "['b'::ENUM('a', 'b', 'c d')]",
  "[1::VARIANT, 'a, b'::VARIANT]",
  "{'v': 'a, b'::VARIANT}",
  '\'{"a": [1, "x y", null, {"b": 1.5}]}\'::JSON::VARIANT',
  "[{'a': 'it''s', 'b': ['x, y']}]::VARIANT",
  "'POINT ZM (1 2.5 -3 1e300)'::GEOMETRY",
  "'POINT EMPTY'::GEOMETRY",
  "'POLYGON M ((0 0 1, 1 0 1, 1 1 1, 0 0 1), (0.1 0.1 2, 0.2 0.1 2, 0.2 0.2 2, 0.1 0.1 2))'::GEOMETRY",
  "'MULTIPOINT (EMPTY, 1 2)'::GEOMETRY",
  "'MULTILINESTRING ((1 2, 3 4), (5 6, 7 8))'::GEOMETRY",
  "'MULTIPOLYGON Z (((0 0 9, 1 0 9, 1 1 9, 0 0 9)))'::GEOMETRY",
  "'GEOMETRYCOLLECTION (POINT (100000000 0.1), LINESTRING EMPTY, MULTIPOINT (1 2))'::GEOMETRY",
  "['POINT (1 2)'::GEOMETRY]",
  '42::VARIANT',
  "{'a': 'x y', 'b': [1, 2]}::VARIANT",
  "['a', NULL]::VARIANT",
  "DATE '2020-01-01'::VARIANT",
];

describe('values as text', () => {
  it.each(SCALARS)('are what DuckDB casts to: %s', async (expression) => {
    expect(await csvValue(expression)).toBe(await cast(expression));
  });

  it.each(NESTED)('are what DuckDB casts to, with parts: %s', async (expression) => {
    expect(await csvValue(expression)).toBe(await cast(expression));
  });

  it('of random doubles and floats are what DuckDB casts to', async () => {
    for (const type of ['DOUBLE', 'FLOAT']) {
      const value = `((hash(i) % 2000001)::DOUBLE - 1000000) * pow(10, (hash(i + 7) % 60)::INT - 30)::${type}`;
      const sql = `SELECT (${value})::${type} AS x, CAST(x AS VARCHAR) AS y FROM range(20000) t(i)`;
      const lines = (await write(sql, 'csv')).trimEnd().split('\n').slice(1);
      expect(lines.filter((line) => line.split(',')[0] !== line.split(',')[1])).toEqual([]);
      expect(lines.length).toBe(20_000);
    }
  });

  it('of random times and dates are what DuckDB casts to', async () => {
    const micros =
      '(hash(i)::HUGEINT % 18000000000000000000 - 9000000000000000000)::BIGINT // (1 + i % 7 * 1000)';
    const sql = `SELECT make_timestamp(${micros}) AS x, x::DATE AS d, x::VARCHAR AS y, d::VARCHAR AS e
      FROM range(20000) t(i)`;
    const rows = (await write(sql, 'csv'))
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(rows.filter(([x, d, y, e]) => x !== y || d !== e)).toEqual([]);
    expect(rows.length).toBe(20_000);
  });

  it('of random texts in lists and structs are what DuckDB casts to', async () => {
    const letters = `list_reduce([''] || list_transform(range((hash(i) % 5)::BIGINT), n ->
      substr(
        ' ab"''\\(),:=[]{};nul' || chr(9) || chr(10) || 'é',
        (hash(i * 31 + n) % 21)::BIGINT + 1, 1)), (a, b) -> a || b)`;
    const sql = `SELECT [s] AS l, {'k': s} AS k, MAP {s: s} AS m, CAST(l AS VARCHAR) AS l2, CAST(k AS VARCHAR) AS k2,
      CAST(m AS VARCHAR) AS m2 FROM (SELECT ${letters} AS s FROM range(3000) t(i))`;
    const rows = (await write(sql, 'jsonl')).trimEnd().split('\n');
    const texts = (await pieces(sql, 'csv')).join('');
    expect(rows.length).toBe(3000);
    const fields = texts.match(/"(?:[^"]|"")*"|[^,\n]+/g)!.slice(6);
    for (let i = 0; i < fields.length; i += 6)
      expect(fields.slice(i, i + 3)).toEqual(fields.slice(i + 3, i + 6));
  });

  it.each(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns', 'Australia/Lord_Howe'])(
    'of times with a zone follow the session in %s, summer time and the time before zones included',
    async (timeZone) => {
      await connection.run(`SET TimeZone = '${timeZone}'`);
      const times = ['2024-07-01 12:00:00+00', '2024-01-01 12:00:00.5+00', '1800-01-01 12:00:00+00'];
      for (const time of [
        ...times,
        '0044-01-01 (BC) 00:00:00+00',
        '0001-06-01 (BC) 00:00:00+00',
        'infinity',
        '1969-12-31 23:59:59.9+00',
      ]) {
        const expression = `'${time}'::TIMESTAMPTZ`;
        expect(await csvValue(expression, { timeZone })).toBe(await cast(expression));
        expect(await csvValue(`[${expression}]`, { timeZone })).toBe(await cast(`[${expression}]`));
      }
    },
  );
});

describe('JSON', () => {
  const json = async (expression: string) => {
    const line = await write(`SELECT ${expression} AS x`, 'json');
    return line.slice('[{"x":'.length, -'}]\n'.length);
  };

  it.each([
    ['9223372036854775807', '9223372036854775807'],
    ['18446744073709551615::UBIGINT', '18446744073709551615'],
    ["'170141183460469231731687303715884105727'::HUGEINT", '170141183460469231731687303715884105727'],
    ["'123456789012345678901234567890'::BIGNUM", '123456789012345678901234567890'],
    ['12345678901234567890.123456789::DECIMAL(38,9)', '12345678901234567890.123456789'],
    ['1.50::DECIMAL(5,2)', '1.50'],
    ['0.1::FLOAT', '0.1'],
    ['1e300', '1e+300'],
    ['0.1::DOUBLE + 0.2::DOUBLE', '0.30000000000000004'],
    ["'nan'::DOUBLE", 'null'],
    ["[1, 'inf'::FLOAT]", '[1.0,null]'],
    ['true', 'true'],
    ['NULL', 'null'],
    ["'a\"b\n\u001b[31m'", '"a\\"b\\n\\u001b[31m"'],
    ["'\\x00\\xFFa'::BLOB", '"\\\\x00\\\\xFFa"'],
    ["DATE '2020-01-01'", '"2020-01-01"'],
    ["INTERVAL '1 day'", '"1 day"'],
    ["'101'::BIT", '"101"'],
    ["'b'::ENUM('a', 'b')", '"b"'],
    ["UUID '00000000-0000-0000-0000-00000000000a'", '"00000000-0000-0000-0000-00000000000a"'],
    ['[1, NULL, 3]', '[1,null,3]'],
    ["array_value('a', 'b')", '["a","b"]'],
    ["{'a b': [{'q': 'x'}], 'n': NULL}", '{"a b":[{"q":"x"}],"n":null}'],
    ["MAP {1: 'x', 2: NULL}", '{"1":"x","2":null}'],
    ["MAP {'k': [1.50::DECIMAL(3,2)]}", '{"k":[1.50]}'],
    ['union_value(k := 3)', '{"k":3}'],
    ["row(1, 'x', row(2, NULL))", '[1,"x",[2,null]]'],
    ["[row(1, 'x')]", '[[1,"x"]]'],
    ["{'a': 12345678901234567890}::VARIANT", '{"a":12345678901234567890}'],
    ['\'{"n": 12345678901234567890.10}\'::JSON', '{"n": 12345678901234567890.10}'],
    ["['[1]'::JSON]", '[[1]]'],
    ["{'j': '[1]'::JSON}", '{"j":[1]}'],
    ['\'{\n "a":\r\n 1}\'::JSON', '{  "a":  1}'],
    [
      "to_json({'a': 'nan'::DOUBLE, 'b': '-Infinity, NaN,]', 'c': '-inf'::DOUBLE})",
      '{"a":null,"b":"-Infinity, NaN,]","c":null}',
    ],
    ["'[1,]'::JSON", '[1]'],
  ])('of %s is %s', async (expression, expected) => {
    const text = await json(expression);
    expect(text).toBe(expected);
    JSON.parse(text);
  });

  it('is one array a result on one line, also of many chunks and of no rows', async () => {
    const text = await write("SELECT i, 'x\n' || i AS t FROM range(5000) r(i)", 'json');
    expect(text.indexOf('\n')).toBe(text.length - 1);
    const rows = JSON.parse(text) as { i: number; t: string }[];
    expect(rows.length).toBe(5000);
    expect(rows[4999]).toEqual({ i: 4999, t: 'x\n4999' });
    expect(await write('SELECT 1 AS a WHERE false', 'json')).toBe('[]\n');
  });

  it('has one object a line as jsonl', async () => {
    const text = await write('SELECT i FROM range(3000) r(i)', 'jsonl');
    const lines = text.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => (JSON.parse(line) as { i: number }).i)).toEqual(
      Array.from({ length: 3000 }, (_, i) => i),
    );
    expect(await write('SELECT 1 AS a WHERE false', 'jsonl')).toBe('');
  });

  it('keeps columns of one name apart, as DuckDB does where it makes a table of them', async () => {
    expect(await write('SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a', 'jsonl')).toBe(
      '{"a":1,"a_1":2,"b":3,"a_2":4}\n',
    );
    expect(await write('SELECT 1 AS a, 2 AS a_1, 3 AS a', 'jsonl')).toBe('{"a":1,"a_1":2,"a_2":3}\n');
  });
});

describe('CSV', () => {
  it('tells NULL from the empty text and quotes what needs it', async () => {
    const sql = `SELECT 'a,b' AS "x ""y""", NULL AS n, '' AS e, 'l1' || chr(13) || chr(10) || 'l2' AS t, '=1+1' AS f`;
    expect(await write(sql, 'csv')).toBe('"x ""y""",n,e,t,f\n"a,b",,"","l1\r\nl2",=1+1\n');
  });

  it('is read back by DuckDB as it was', async () => {
    const text = await write('SELECT NULL AS n UNION ALL SELECT 1', 'csv');
    expect(text.split('\n').filter((line) => line !== '').length).toBe(3);
  });

  it('has its head also without rows', async () => {
    expect(await write('SELECT 1 AS a, 2 AS b WHERE false', 'csv')).toBe('a,b\n');
  });
});

describe('Markdown', () => {
  it('is a table whose cells cannot end early', async () => {
    const sql = "SELECT 'a|b' AS t, 'x' || chr(10) || '<b>`*' AS u, 7 AS n, NULL AS z, 'C:\\d \\| \\' AS s";
    expect(await write(sql, 'markdown')).toBe(
      '| t | u | n | z | s |\n| --- | --- | ---: | ---: | --- |\n' +
        '| a\\|b | x<br>\\<b>\\`\\* | 7 | NULL | C:\\d \\\\\\| \\\\ |\n',
    );
    expect(await write('SELECT 1 AS a WHERE false', 'markdown')).toBe('| a |\n| ---: |\n');
  });
});

describe('pieces', () => {
  it('of wide rows stay small, of narrow rows are few', async () => {
    for (const format of ['json', 'jsonl', 'csv', 'markdown', 'table'] as const) {
      const wide = await pieces("SELECT i, repeat('x', 20000) AS body FROM range(2000) r(i)", format);
      expect(Math.max(...wide.map((text) => text.length)), format).toBeLessThan(2_000_000);
      const narrow = await pieces('SELECT i FROM range(100000) r(i)', format);
      expect(narrow.length, format).toBeLessThan(200);
    }
  });
});
