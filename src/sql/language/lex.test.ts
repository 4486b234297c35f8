/** The judge of strings, names and words is DuckDB itself. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, it } from 'vitest';
import { lex } from './lex.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});

const duckValue = async (expression: string) =>
  (await connection.runAndReadAll(`SELECT ${expression}`)).getRows()[0][0];
const kinds = (text: string) => lex(text).map(({ kind, text: written }) => `${kind} ${written}`);

describe('strings are what DuckDB takes them for', () => {
  it.each([
    `'it''s'`,
    `''`,
    `''''`,
    `'back\\slash'`,
    `'two -- /* no comment */ ; $$'`,
    `E'a\\'b\\\\'`,
    `e'it''s \\n\\t\\101\\x41\\q'`,
    `$$a ' " ; -- b$$`,
    `$tag$a $$ b$tag$`,
    `$tä1$a$tä$b$tä1$`,
    `$_$a$_$`,
    `N'ä'`,
    `'one' \n 'two'`,
    `'one' -- a comment\n  'two''s'`,
    `E'one\\'' \n 'two\\''`,
    `'🦆;'`,
  ])('%s', async (literal) => {
    const tokens = lex(literal);
    expect(tokens.map(({ kind }) => kind)).toEqual(['string']);
    expect(tokens[0].value).toBe(await duckValue(literal));
    expect(tokens[0].text).toBe(literal);
  });

  it('two on one line are two', () => {
    expect(kinds(`'a' 'b'`)).toEqual([`string 'a'`, `string 'b'`]);
  });

  it('blobs and bits are no texts', () => {
    expect(kinds(`x'00ff' B'01'`)).toEqual([`blob x'00ff'`, `blob B'01'`]);
  });
});

describe('names and words', () => {
  it.each(['"a ""b"" ; c"', '"🦆"', '"select"'])(
    'a quoted name is what DuckDB takes it for: %s',
    async (name) => {
      const [token] = lex(name);
      expect(token.kind).toBe('identifier');
      expect((await connection.runAndReadAll(`SELECT 1 AS ${name}`)).columnNames()).toEqual([token.value]);
    },
  );

  it.each(['ä', 'a$b', '_1', '数', 'a🦆', 'e', 'x'])('%s is one word', async (word) => {
    expect(kinds(word)).toEqual([`word ${word}`]);
    expect((await connection.runAndReadAll(`SELECT 1 AS ${word}`)).columnNames()).toEqual([word]);
  });

  it('keywords are words in capitals, whatever their case', () => {
    expect(lex('Select sELECT').map(({ value }) => value)).toEqual(['SELECT', 'SELECT']);
  });

  it.each([0xa0, 0x2000, 0x200b, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff])(
    'the character %i is a space for both',
    async (code) => {
      const space = String.fromCharCode(code);
      expect(kinds(`a${space}b`)).toEqual(['word a', 'word b']);
      expect(await named(`a${space}`)).toEqual(['a']);
    },
  );

  it.each([0x85, 0x1680, 0x180e, 0x200c, 0x200d, 0x2028, 0x2061])(
    'the character %i is a letter for both',
    async (code) => {
      const word = `a${String.fromCharCode(code)}`;
      expect(kinds(word)).toEqual([`word ${word}`]);
      expect(await named(word)).toEqual([word]);
    },
  );

  async function named(name: string) {
    return (await connection.runAndReadAll(`SELECT 1 AS ${name} FROM (SELECT 1) AS one`)).columnNames();
  }
});

describe('the rest', () => {
  it('comments are no tokens, and those with stars nest', () => {
    expect(kinds('a -- b\rc /* d /* e */ -- f */ g /***/ h--')).toEqual([
      'word a',
      'word c',
      'word g',
      'word h',
    ]);
  });

  it('a comment begins in the middle of an operator', () => {
    expect(kinds('1+--2\n3*/*4*/5')).toEqual(['number 1', 'symbol +', 'number 3', 'symbol *', 'number 5']);
  });

  it('numbers have points, exponents, underscores and a base', () => {
    const numbers = ['1', '1_000', '1.5', '.5', '1.', '1e5', '1.5e-3', '0xFF', '0b101', '0o17'];
    expect(kinds(numbers.join(' '))).toEqual(numbers.map((number) => `number ${number}`));
  });

  it('what touches a number is a word of its own', () => {
    expect(kinds('10MB')).toEqual(['number 10', 'word MB']);
  });

  it('parameters are numbered, named or neither', () => {
    expect(kinds('$1 $name ? $1$')).toEqual([
      'parameter $1',
      'parameter $name',
      'parameter ?',
      'parameter $1',
      'symbol $',
    ]);
  });

  it('tokens have offsets in UTF-16', () => {
    expect(lex(`/* 🦆 */ a '🦆' b`).map(({ start, end }) => [start, end])).toEqual([
      [9, 10],
      [11, 15],
      [16, 17],
    ]);
  });
});

describe('what never ends is an error at its beginning, for DuckDB as well', () => {
  it.each([
    [`SELECT '🦆',\n 'abc`, 2, 2, `'`],
    [`SELECT E'abc\\'`, 1, 8, `'`],
    [`SELECT "abc`, 1, 8, '"'],
    [`SELECT '🦆' $x$abc$$`, 1, 12, '$x$'],
    ['SELECT 1 /* /* */', 1, 10, '*/'],
  ])('%s', async (text, line, column, ending) => {
    expect(() => lex(text)).toThrow(
      expect.objectContaining({ code: 'sql-syntax', details: expect.objectContaining({ line, column }) }),
    );
    expect(() => lex(text)).toThrow(`expected ${ending}`);
    await expect(connection.extractStatements(text)).rejects.toThrow(/unterminated/);
  });

  it('a megabyte of text is no trouble', () => {
    const text = `SELECT '${`a''`.repeat(500_000)}' /* ${'* '.repeat(500_000)} */`;
    expect(lex(text)).toHaveLength(2);
  });
});
