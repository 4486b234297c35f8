import type { DuckDBConnection } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { rowsOf, useDuckFolder } from '../../../test/sql/duck-folder.ts';
import { SumiError } from '../../errors.ts';
import { openTarget, type TargetRequest } from './check-target.ts';

const folder = useDuckFolder();

async function connect(...statements: string[]): Promise<DuckDBConnection> {
  const connection = await (await folder.open('web.db')).connect();
  for (const statement of statements) await connection.run(statement);
  return connection;
}

/** `pages`, `a.pages`, `c.a.pages`; quotes are not understood. */
function named(text: string): TargetRequest['target'] {
  const [table, schema = null, catalog = null] = text.split('.').reverse();
  return { catalog, schema, table };
}

function open(connection: DuckDBConnection, text: string, more: Partial<TargetRequest> = {}) {
  return openTarget(connection, { target: named(text), extracted: [], home: 'web', ...more });
}

async function refusal(
  connection: DuckDBConnection,
  text: string,
  more: Partial<TargetRequest> = {},
): Promise<SumiError> {
  const tables = 'SELECT database_name, schema_name, table_name, sql FROM duckdb_tables() ORDER BY ALL';
  const before = await rowsOf(connection, tables);
  const error = await open(connection, text, more).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SumiError);
  expect(await rowsOf(connection, tables)).toEqual(before);
  return error as SumiError;
}

const css = (name: string, type: string | null = null, otherwise?: string) => ({
  ...{ name, type: type === null ? null : { text: type } },
  ...(otherwise === undefined ? {} : { otherwise }),
});

describe('a table that is not there', () => {
  it('is made with the columns of a CRAWL, the body packed, those of EXTRACT last', async () => {
    const connection = await connect();
    const extracted = [css('Price', 'decimal(10, 2)'), css('names', null, 'VARCHAR[]')];
    const plan = await open(connection, 'pages', { extracted });
    const columns = await rowsOf(
      connection,
      `SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'pages' ORDER BY column_index`,
    );
    expect(columns).toEqual([
      ['url', 'VARCHAR'],
      ['surt_key', 'VARCHAR'],
      ['http_status', 'INTEGER'],
      ['body', 'VARCHAR'],
      ['content_type', 'VARCHAR'],
      ['crawl_time', 'TIMESTAMP'],
      ['error', 'VARCHAR'],
      ['error_type', 'VARCHAR'],
      ['etag', 'VARCHAR'],
      ['last_modified', 'VARCHAR'],
      ['content_hash', 'VARCHAR'],
      ['final_url', 'VARCHAR'],
      ['redirect_count', 'INTEGER'],
      ['elapsed_ms', 'INTEGER'],
      ['title', 'VARCHAR'],
      ['depth', 'INTEGER'],
      ['input_url', 'VARCHAR'],
      ['state', 'VARCHAR'],
      ['Price', 'DECIMAL(10,2)'],
      ['names', 'VARCHAR[]'],
    ]);
    expect(plan.columns.map(({ name, type }) => [name, type])).toEqual(columns);
    expect(plan).toMatchObject({
      name: 'pages',
      isNew: true,
      missing: [],
      wantsBody: true,
      wantsText: false,
    });
    expect(structuredClone(plan)).toEqual(plan);
    await connection.run(
      `INSERT INTO pages (url, body) SELECT i, repeat(hash(i)::VARCHAR, 200) FROM range(9000) r(i)`,
    );
    await connection.run('CHECKPOINT');
    const packings = await rowsOf(
      connection,
      `SELECT DISTINCT compression FROM pragma_storage_info('pages')
       WHERE column_name = 'body' AND segment_type = 'VARCHAR'`,
    );
    expect(packings).toEqual([['ZSTD']]);
  });

  it('is made in memory and in a file of an old format, where bodies are packed in DuckDB’s own way', async () => {
    const path = folder.path('old.db');
    const connection = await connect(`ATTACH '${path}' AS old (STORAGE_VERSION 'v1.0.0')`);
    expect((await open(connection, 'old.pages')).name).toBe('old.main.pages');
    expect((await open(connection, 'memory.pages')).isNew).toBe(true);
    await connection.run(
      `INSERT INTO old.pages (url, body) SELECT i, repeat('hello world ' || i, 50) FROM range(30000) r(i)`,
    );
    await connection.run('CHECKPOINT old');
    const packings = await rowsOf(
      connection,
      `SELECT DISTINCT compression FROM pragma_storage_info('old.pages')
       WHERE column_name = 'body' AND segment_type = 'VARCHAR'`,
    );
    expect(packings.flat()).not.toContain('Uncompressed');
  });

  it('is planned and not made when it is only looked at', async () => {
    const connection = await connect();
    const plan = await open(connection, 'pages', { isDry: true, extracted: [css('price')] });
    expect(plan).toMatchObject({ isNew: true });
    expect(plan.columns.at(-1)).toMatchObject({ name: 'price', source: { from: 'extract', at: 0 } });
    expect(await rowsOf(connection, 'SELECT count(*) FROM duckdb_tables()')).toEqual([[0n]]);
    await connection.run('CREATE TABLE pages (url VARCHAR)');
    await open(connection, 'pages', { isDry: true, extracted: [css('price')] });
    expect(await rowsOf(connection, `SELECT column_count FROM duckdb_tables()`)).toEqual([[1n]]);
  });
});

describe('the name of a table', () => {
  it('means what it means to DuckDB: the search path, a schema, a database, in any case', async () => {
    const connection = await connect(
      'CREATE SCHEMA "odd ""one"""',
      'CREATE SCHEMA news',
      `ATTACH ':memory:' AS other`,
      'CREATE TABLE news.Pages (url VARCHAR)',
    );
    const place = async (text: string) => {
      const { catalog, schema, table, isNew, name } = await open(connection, text, { isDry: true });
      return [catalog, schema, table, isNew, name];
    };
    expect(await place('pages')).toEqual(['web', 'main', 'pages', true, 'pages']);
    expect(await place('NEWS.PAGES')).toEqual(['web', 'news', 'Pages', false, 'news.Pages']);
    expect(await place('Other.pages')).toEqual(['other', 'main', 'pages', true, 'other.main.pages']);
    expect(await place('WEB.news.pages')).toEqual(['web', 'news', 'Pages', false, 'news.Pages']);
    await connection.run(`USE web."odd ""one"""`);
    expect(await place('pages')).toEqual(['web', 'odd "one"', 'pages', true, 'odd "one".pages']);
    await connection.run(`SET search_path = '"odd ""one""",news'`);
    expect(await place('pages')).toEqual(['web', 'news', 'Pages', false, 'news.Pages']);
    expect(await place('others')).toEqual(['web', 'odd "one"', 'others', true, 'odd "one".others']);
    await connection.run('USE other');
    expect(await place('pages')).toEqual(['other', 'main', 'pages', true, 'other.main.pages']);
  });

  it('has to mean one place that exists and can keep rows', async () => {
    folder.path('x');
    const seen = await connect('CREATE TABLE t (url VARCHAR)');
    await seen.run(`ATTACH '${folder.path('other.db')}' AS other`);
    await seen.run('CREATE TABLE other.pages (url VARCHAR)');
    await seen.run('DETACH other');
    await seen.run(`ATTACH '${folder.path('other.db')}' AS other (READ_ONLY)`);
    for (const statement of [
      'CREATE VIEW shown AS FROM t',
      'CREATE TEMP TABLE passing (url VARCHAR)',
      'CREATE TEMP VIEW glimpse AS FROM t',
      'CREATE SCHEMA other',
    ])
      await seen.run(statement);
    const problems: [string, RegExp][] = [
      ['shown', /it is a view/],
      ['SHOWN', /it is a view/],
      ['passing', /temporary/],
      ['glimpse', /temporary/],
      ['temp.pages', /temporary/],
      ['temp.main.passing', /temporary/],
      ['nowhere.pages', /no schema nowhere/],
      ['web.nowhere.pages', /no schema web\.nowhere/],
      ['nowhere.main.pages', /no database nowhere; expected one of .*web/],
      ['other.pages', /is a schema and a database/],
      ['other.main.pages', /read-only/],
      ['other.main.fresh', /read-only/],
      ['system.main.pages', /belongs to DuckDB/],
    ];
    for (const [text, problem] of problems) {
      const error = await refusal(seen, text);
      expect(error, text).toMatchObject({ code: 'sql-target', exitCode: 2 });
      expect(error.message, text).toMatch(problem);
    }
  });

  it('cannot be written to in a session that reads only, nor inside of a transaction', async () => {
    const first = await folder.open('web.db');
    await (await first.connect()).run('CREATE TABLE pages (url VARCHAR)');
    await first.close();
    const connection = await (await folder.open('web.db', true)).connect();
    for (const text of ['pages', 'fresh'])
      expect((await refusal(connection, text)).message).toContain('read-only');
    const inside = await refusal(connection, 'pages', { isInTransaction: true });
    expect(inside.message).toContain('BEGIN');
  });
});

describe('a table that is there', () => {
  it('is used by the names of its columns, in any order and any case; others get their defaults', async () => {
    const connection = await connect(
      `CREATE TABLE pages (id INTEGER NOT NULL DEFAULT 7, Title VARCHAR, "URL" VARCHAR PRIMARY KEY, note VARCHAR,
       host VARCHAR GENERATED ALWAYS AS (split_part("URL", '/', 3)), body BLOB, headers MAP(VARCHAR, VARCHAR),
       text VARCHAR, word_count BIGINT)`,
    );
    const plan = await open(connection, 'pages');
    expect(plan.columns.map(({ name, source }) => [name, source])).toEqual([
      ['id', { from: 'other' }],
      ['Title', { from: 'row', column: 'title' }],
      ['URL', { from: 'row', column: 'url' }],
      ['note', { from: 'other' }],
      ['body', { from: 'row', column: 'body' }],
      ['headers', { from: 'row', column: 'headers' }],
      ['text', { from: 'row', column: 'text' }],
      ['word_count', { from: 'row', column: 'word_count' }],
    ]);
    expect(plan).toMatchObject({ isNew: false, wantsBody: true, wantsText: true, wantsHeaders: true });
    expect(plan.missing).toContain('http_status');
    expect(plan.missing).not.toContain('title');
    expect(plan.missing).not.toContain('lang');
  });

  it('gets columns for EXTRACT, or keeps those that it has', async () => {
    const connection = await connect('CREATE TABLE pages (url VARCHAR, Price DOUBLE, day DATE, h1 VARCHAR)');
    const extracted = [css('price'), css('day', 'date'), css('tags', 'text[]'), css('H1')];
    const plan = await open(connection, 'pages', { extracted });
    expect(plan.columns.map(({ name, type, source }) => [name, type, source.from])).toEqual([
      ['url', 'VARCHAR', 'row'],
      ['Price', 'DOUBLE', 'extract'],
      ['day', 'DATE', 'extract'],
      ['h1', 'VARCHAR', 'extract'],
      ['tags', 'VARCHAR[]', 'extract'],
    ]);
    expect(await open(connection, 'pages', { extracted })).toEqual(plan);
  });

  it('is refused with the column, what it is and what was expected', async () => {
    const cases: [columns: string, column: string, found: RegExp, expected: RegExp][] = [
      ['url INTEGER', 'url', /INTEGER/, /VARCHAR/],
      ['url VARCHAR, Http_Status VARCHAR', 'Http_Status', /of the type VARCHAR/, /INTEGER.*SMALLINT/],
      ['url VARCHAR, elapsed_ms SMALLINT', 'elapsed_ms', /SMALLINT/, /INTEGER/],
      ['url VARCHAR, crawl_time DATE', 'crawl_time', /DATE/, /TIMESTAMP/],
      ['url VARCHAR, body INTEGER', 'body', /INTEGER/, /VARCHAR or BLOB/],
      ['url VARCHAR, headers VARCHAR', 'headers', /VARCHAR/, /MAP/],
      ['url VARCHAR, headers MAP(VARCHAR, INTEGER)', 'headers', /MAP/, /MAP\(VARCHAR, VARCHAR\)/],
      ['url VARCHAR, title VARCHAR NOT NULL', 'title', /NOT NULL/, /may be NULL/],
      ['url VARCHAR, id INTEGER NOT NULL', 'id', /NOT NULL/, /default/],
      ['url VARCHAR, id INTEGER PRIMARY KEY', 'id', /NOT NULL/, /default/],
      ['url VARCHAR, title VARCHAR GENERATED ALWAYS AS (upper(url))', 'title', /generated/, /VARCHAR/],
      ['a VARCHAR, url VARCHAR GENERATED ALWAYS AS (upper(a))', 'url', /generated/, /VARCHAR/],
    ];
    const connection = await connect();
    for (const [columns, column, found, expected] of cases) {
      await connection.run(`CREATE OR REPLACE TABLE pages (${columns})`);
      const error = await refusal(connection, 'pages');
      expect(error, columns).toMatchObject({ code: 'sql-target-column', exitCode: 2, details: { column } });
      expect(error.details.found, columns).toMatch(found);
      expect(error.details.expected, columns).toMatch(expected);
      expect(error.message).toContain('pages');
    }
    await connection.run('CREATE OR REPLACE TABLE pages (a VARCHAR)');
    expect((await refusal(connection, 'pages')).message).toContain('no column url');
  });

  it('takes NOT NULL where no row is without a value, or where there is a default', async () => {
    const connection = await connect(
      `CREATE TABLE pages (url VARCHAR NOT NULL UNIQUE, crawl_time TIMESTAMPTZ NOT NULL, state VARCHAR NOT NULL,
       title VARCHAR NOT NULL DEFAULT '', http_status SMALLINT, elapsed_ms HUGEINT, crawled DATE DEFAULT today())`,
    );
    expect((await open(connection, 'pages')).columns).toHaveLength(7);
  });

  it('is refused when EXTRACT cannot have its columns, and stays as it was', async () => {
    const connection = await connect(
      'CREATE TABLE pages (url VARCHAR, price VARCHAR, kind VARCHAR GENERATED ALWAYS AS (url), n INTEGER NOT NULL)',
    );
    const cases: [ReturnType<typeof css>, RegExp, RegExp][] = [
      [css('price', 'DOUBLE'), /of the type VARCHAR/, /DOUBLE/],
      [css('kind'), /generated/, /VARCHAR/],
      [css('n'), /NOT NULL/, /default/],
      [css('Title'), /filled by the CRAWL/, /another name/],
      [css('other', 'NOSUCHTYPE'), /NOSUCHTYPE/, /type of DuckDB/],
    ];
    for (const [column, found, expected] of cases) {
      const error = await refusal(connection, 'pages', { extracted: [css('fresh'), column] });
      expect(error, column.name).toMatchObject({ code: 'sql-target-column', exitCode: 2 });
      expect(error.details.found).toMatch(found);
      expect(error.details.expected).toMatch(expected);
    }
  });
});
