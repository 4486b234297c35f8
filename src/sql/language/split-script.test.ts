import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { isComplete, splitScript } from './split-script.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});

const texts = (script: string) => splitScript(script).map(({ text }) => text);

describe('a script', () => {
  it('falls into its statements, without semicolons, comments around them, and empty ones', () => {
    expect(
      texts(`;; SELECT 1; -- one;\n /* ; */ ;\nCRAWL (SELECT ';') INTO "a;b" /* ; */\n;SELECT $$;$$`),
    ).toEqual(['SELECT 1', `CRAWL (SELECT ';') INTO "a;b"`, 'SELECT $$;$$']);
  });

  it('tells where each begins: offset, line, and column in characters', () => {
    const script = `SELECT '🦆'; SELECT 2;\r\n  SELECT 3;\r -- x\n\tSELECT 4`;
    const statements = splitScript(script);
    expect(statements.map(({ line, column }) => `${line}:${column}`)).toEqual(['1:1', '1:13', '2:3', '4:2']);
    for (const { text, start } of statements) expect(script.startsWith(text, start)).toBe(true);
  });

  it('ends with what never ends, which is its last statement', () => {
    expect(texts(`SELECT 1; SELECT 'a; SELECT 2;`)).toEqual(['SELECT 1', `SELECT 'a; SELECT 2;`]);
    expect(texts('SELECT 1; /* SELECT 2;')).toEqual(['SELECT 1', '/* SELECT 2;']);
  });

  it('of nothing, blanks or comments has no statement', () => {
    expect(['', ' \n', '--', '/* a */;;', ';'].flatMap(texts)).toEqual([]);
  });

  it('has the same statements for DuckDB', async () => {
    const { next, below, pick } = seededRandom(22);
    const values = [
      `'a;b'`,
      `'it''s;'`,
      `E'\\';'`,
      `E'a\\\\'`,
      `'\\'`,
      `$$;$$`,
      `$t$;$$;$t$`,
      `x'3b'`,
      `";"`,
      '1',
      '.5e3',
      `'🦆;'`,
      `[1, 2]`,
      `{'a;': 1}`,
      `'a'\n';b'`,
      `E'a'\n'\\';b'`,
      'e',
      'x -- ;\n',
      'a$b',
    ];
    const blanks = [' ', '\n', '/* ; */', '/* /* ; */ ; */', '-- ; \' "\n', '\t', '\r\n', '--\r'];
    const value = () => `${pick(values)}${pick(blanks)}`;
    const statements = [
      () => `SELECT${pick(blanks)} ${value()},${value()} FROM (SELECT 1 AS ";", 1 AS e, 1 AS x, 1 AS a$b)`,
      () => `CREATE TABLE t (a INTEGER DEFAULT 1)`,
      () => `INSERT INTO t VALUES (${value()})`,
      () => `WITH c AS (SELECT ${value()}) FROM c`,
      () => `SET VARIABLE v = ${pick(["'a;'", '$$;$$', '1'])}`,
      () => `VALUES (${value()}),(${value()})`,
    ];
    let most = 0;
    for (let round = 0; round < 400; round++) {
      const pieces = Array.from({ length: 1 + below(5) }, () =>
        next() < 0.2 ? pick(blanks) : pick(statements)() + pick(blanks),
      );
      const script = `SELECT 1;${pieces.join(pick([';', ';;', '; ']))}`;
      const theirs = await connection.extractStatements(script);
      expect(texts(script).length, script).toBe(theirs.count);
      most = Math.max(most, theirs.count);
    }
    expect(most).toBeGreaterThan(4);
  });

  it('of many statements on one line takes time in proportion', () => {
    expect(splitScript(`SELECT '🦆';`.repeat(20_000)).at(-1)).toMatchObject({
      line: 1,
      column: 20_000 * 11 - 10,
    });
  });
});

describe('a text is complete', () => {
  it.each([
    ['', true],
    [' -- nothing\n', true],
    [';', true],
    ['SELECT 1', false],
    ['SELECT 1;', true],
    ['SELECT 1; -- done', true],
    ['SELECT 1; /* not done', false],
    ['SELECT 1; SELECT 2', false],
    [`SELECT ';`, false],
    [`SELECT ';';`, true],
    ['SELECT $$;', false],
    ['SELECT ";', false],
    ['CRAWL (SELECT 1', false],
    ['CRAWL (SELECT 1) INTO t;', true],
  ])('%s: %s', (text, isDone) => {
    expect(isComplete(text)).toBe(isDone);
  });
});
