import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askCondition } from './ask-condition.ts';
import { checkCondition } from './check-condition.ts';
import { compileCondition } from './compile-condition.ts';

let database: DuckDBInstance;
let connection: DuckDBConnection;
beforeEach(async () => {
  database = await DuckDBInstance.create(':memory:');
  connection = await database.connect();
  await connection.run('SET errors_as_json = true');
});
afterEach(() => {
  connection.closeSync();
  database.closeSync();
});

const isCompiled = async (condition: string) =>
  compileCondition((await checkCondition(connection, condition)).ast) !== null;

describe('the condition of a CRAWL', () => {
  it.each([
    ["url = 'é' AND ur = 'a'", /column "ur" not found/, 'ur ='],
    ["url = 'é' AND\n  nofunction(url)", /nofunction does not exist/, 'nofunction'],
    ["url = 'é' AND url LIKE", /syntax error/, null],
    ["url = '日本' AND )", /syntax error/, ')'],
    ["url LIKE 'a' AND count(*) > 1", /cannot contain aggregates/, 'count'],
    ["url LIKE 'a' AND row_number() OVER () = 1", /cannot contain window functions/, 'row_number'],
    ['unnest([true, false])', /UNNEST/, 'unnest'],
    ["regexp_matches(url, '(')", /missing \)/, undefined],
    ['url', /of type VARCHAR; expected BOOLEAN/, 'url'],
    ['1', /of type INTEGER; expected BOOLEAN/, '1'],
    ["url = $1 OR url = 'a'", /parameters/, 'url'],
    ["url = 'a', url = 'b'", /STRUCT/, undefined],
    ["url = 'a'; DROP TABLE t", /syntax error|multiple statements/, undefined],
    ["true) AS c FROM (SELECT ''::VARCHAR AS url) AS other --", /syntax error|one condition/, undefined],
  ])('is refused: %s', async (condition, message, place) => {
    const error = await checkCondition(connection, condition).then(
      () => expect.fail('it was taken'),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ name: 'SumiError', message: expect.stringMatching(message) });
    if (place === undefined) return;
    expect(error.details.offset).toBe(place === null ? condition.length : condition.indexOf(place));
  });

  it('may hold subqueries and functions, which are left to DuckDB', async () => {
    await connection.run("CREATE TABLE seen AS SELECT 'a' AS url");
    for (const condition of [
      'url NOT IN (SELECT url FROM seen)',
      'NOT EXISTS (FROM seen WHERE seen.url = found.url)',
      'url = (SELECT max(url) FROM seen)',
    ])
      expect(await isCompiled(condition)).toBe(false);
  });

  it('is left to DuckDB where the user has made a function of a name in it', async () => {
    expect(await isCompiled("starts_with(url, 'a')")).toBe(true);
    await connection.run('CREATE MACRO starts_with(a, b) AS false');
    expect(await isCompiled("starts_with(url, 'a')")).toBe(false);
    expect(await isCompiled("url LIKE 'a'")).toBe(true);
    await connection.run('CREATE TEMP MACRO "~~"(a, b) AS false');
    expect(await isCompiled("url LIKE 'a'")).toBe(false);
  });

  it('is left to DuckDB where texts are not compared byte by byte', async () => {
    await connection.run("SET default_collation = 'NOCASE'");
    expect(await isCompiled("url = 'a'")).toBe(false);
    const asker = await askCondition(connection, "url = 'a'");
    expect(asker.judge(['a', 'A', 'b'])).toEqual([true, true, false]);
    asker.close();
  });
});

describe('a condition that is asked', () => {
  const ask = async (condition: string, urls: string[]) => {
    const asker = await askCondition(connection, condition);
    const answers = asker.judge(urls);
    asker.close();
    return answers;
  };

  it('is answered in the order of the URLs, one that stands twice twice', async () => {
    const urls = Array.from({ length: 5000 }, (_, at) => `https://a.test/${(at * 7919) % 1000}`);
    expect(await ask("url LIKE '%7'", urls)).toEqual(urls.map((url) => url.endsWith('7')));
    await connection.run(
      "CREATE TABLE seen AS SELECT 'https://a.test/' || i AS url FROM range(0, 1000, 2) t(i)",
    );
    const isEven = (url: string) => Number(url.split('/').at(-1)) % 2 === 0;
    expect(await ask('EXISTS (FROM seen WHERE seen.url = found.url)', urls)).toEqual(urls.map(isEven));
    expect(await ask('url NOT IN (SELECT url FROM seen)', urls)).toEqual(urls.map((url) => !isEven(url)));
  });

  it('is answered by true, false and null, for texts of any kind and for none', async () => {
    const urls = ['', "it's", '日本\n', '😀', '%_\\', 'a'.repeat(100_000)];
    expect(await ask('length(url) < 100', urls)).toEqual([true, true, true, true, true, false]);
    expect(await ask("nullif(url, '') = 'x'", ['', 'x', 'y'])).toEqual([null, true, false]);
    expect(await ask('true', [])).toEqual([]);
    expect(await ask('NULL', ['a'])).toEqual([null]);
  });

  it('answers one page after another, each its own', async () => {
    const asker = await askCondition(connection, "url LIKE '%1'");
    const pages = Array.from({ length: 20 }, (_, page) => [`${page}`, `${page}1`, `x${page}`]);
    const answers = pages.map((urls) => asker.judge(urls));
    expect(answers).toEqual(pages.map((urls) => urls.map((url) => url.endsWith('1'))));
    asker.close();
  });

  it('that fails while it runs throws with its place, and can be asked again', async () => {
    const asker = await askCondition(connection, "url <> 'x' AND url::INTEGER > 5");
    expect(() => asker.judge(['7', 'x', 'y'])).toThrow(
      expect.objectContaining({
        name: 'SumiError',
        message: expect.stringMatching(/Could not convert string/),
      }),
    );
    expect(asker.judge(['7', '3'])).toEqual([true, false]);
    asker.close();
  });
});
