// CRAWL into tables that people have made: by column name, with what they added, or refused before any request.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type FakeWeb } from '../web/fake-web.ts';
import { QUICK, type TestSession, useSqlBench } from './sql-bench.ts';

const bench = useSqlBench();

const RICH = `<!DOCTYPE html><html lang="en"><head><title>Rich</title><meta name="description" content="About">
<link rel="canonical" href="/rich"></head><body><main><h1>Head</h1><p>Some words that are read.</p></main></body></html>`;
const PAGES = {
  '/rich': { body: RICH, headers: { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] } },
  '/a': page('A'),
  '/png': { body: new Uint8Array([137, 80, 78, 71, 0, 255]), headers: { 'content-type': 'image/png' } },
};

const crawl = (web: FakeWeb, path: string, table: string, more = '') =>
  `CRAWL (SELECT '${web.url(path)}') INTO ${table} WITH (${QUICK}${more})`;

/** Refused, and nothing was asked of anybody. */
async function refusal(sql: TestSession, web: FakeWeb, script: string) {
  const error = await sql.error(script);
  expect(error.code).toMatch(/^sql-/);
  expect(error.hint).not.toBe('');
  expect(web.log).toEqual([]);
  return error;
}

describe('CRAWL into a table that is there', () => {
  it('finds columns by name, in any order and case, and leaves others their defaults', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    await sql.rows(`CREATE SEQUENCE ids; CREATE TABLE t (id INTEGER DEFAULT nextval('ids'), Title VARCHAR, mine VARCHAR DEFAULT 'x',
      URL VARCHAR, "Http_Status" SMALLINT, note VARCHAR)`);
    await sql.rows(
      `CRAWL (SELECT unnest(['${web.url('/rich')}', '${web.url('/a')}'])) INTO t WITH (${QUICK})`,
    );
    expect(await sql.rows('SELECT * EXCLUDE (id) FROM t ORDER BY URL')).toEqual([
      { Title: 'A', mine: 'x', URL: web.url('/a'), Http_Status: 200, note: null },
      { Title: 'Rich', mine: 'x', URL: web.url('/rich'), Http_Status: 200, note: null },
    ]);
    expect(await sql.rows('SELECT id FROM t ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('fills headers, text, h1 and the other columns that are filled where present, and body as bytes', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    await sql.rows(`CREATE TABLE t (url VARCHAR, headers MAP(VARCHAR, VARCHAR), "text" VARCHAR, h1 VARCHAR, meta_description VARCHAR,
      lang VARCHAR, canonical VARCHAR, word_count INTEGER, body BLOB)`);
    await sql.rows(
      `CRAWL (SELECT unnest(['${web.url('/rich')}', '${web.url('/png')}'])) INTO t WITH (${QUICK})`,
    );
    const [rich] =
      await sql.rows(`SELECT * EXCLUDE (headers, body), headers['x-one'] AS one, headers['set-cookie'] AS cookies,
      headers['content-type'] AS type, decode(body) AS body FROM t WHERE url LIKE '%/rich'`);
    expect(rich).toMatchObject({
      ...{ h1: 'Head', meta_description: 'About', lang: 'en', canonical: web.url('/rich'), one: '1' },
      ...{ cookies: 'a=1, b=2', type: 'text/html; charset=utf-8', body: RICH },
    });
    expect(rich.text).toContain('Some words that are read.');
    expect(rich.word_count).toBeGreaterThan(3);
    expect(await sql.rows("SELECT hex(body) AS body, text FROM t WHERE url LIKE '%/png'")).toEqual([
      { body: '89504E4700FF', text: null },
    ]);
  });

  it('without a body column, and with a key on url', async () => {
    const web = await bench.web({
      pages: { ...PAGES, '/flaky': (exchange) => answer(exchange, { status: exchange.nth > 1 ? 200 : 503 }) },
    });
    const sql = await bench.open();
    await sql.rows(
      'CREATE TABLE t (url VARCHAR PRIMARY KEY, http_status INTEGER NOT NULL DEFAULT 0, crawl_time TIMESTAMPTZ NOT NULL)',
    );
    expect(await sql.rows(crawl(web, '/a', 't'))).toMatchObject([{ Count: 1 }]);
    expect(await sql.rows(crawl(web, '/a', 't'))).toMatchObject([{ Count: 0 }]);
    const flaky = crawl(web, '/flaky', 't', ', max_retries 0');
    expect(await sql.rows(flaky)).toMatchObject([{ Count: 1, failed: 1 }]);
    expect(await sql.rows(flaky)).toMatchObject([{ Count: 1, updated: 1 }]);
    expect(await sql.rows('SELECT url, http_status FROM t ORDER BY url')).toEqual([
      { url: web.url('/a'), http_status: 200 },
      { url: web.url('/flaky'), http_status: 200 },
    ]);
  });

  it('replaces a row within a key, and keeps what others wrote in it', async () => {
    let isUp = false;
    const web = await bench.web({
      pages: { '/x*': (exchange) => answer(exchange, { status: isUp ? 200 : 500, body: 'x' }) },
    });
    const sql = await bench.open();
    await sql.rows(
      "CREATE TABLE t (url VARCHAR PRIMARY KEY, http_status INTEGER, mine VARCHAR DEFAULT 'unread')",
    );
    const statement =
      `CRAWL (SELECT '${web.origin}/x' || i FROM range(50) t(i)) INTO t WITH (${QUICK}, max_retries 0, max_host_failures 1000)`.replace(
        ', max_host_failures 1000',
        '',
      );
    await sql.rows(statement);
    await sql.rows("UPDATE t SET mine = 'read'");
    const before = await sql.rows('SELECT count(*) AS n FROM t');
    isUp = true;
    await sql.rows(statement);
    await sql.rows(statement);
    expect(before).toEqual([{ n: 50 }]);
    expect(
      await sql.rows(
        'SELECT count(*) AS n, count(DISTINCT url) AS urls, min(http_status) AS s, min(mine) AS m FROM t',
      ),
    ).toEqual([{ n: 50, urls: 50, s: 200, m: 'read' }]);
  });

  it('takes schemas, other databases and names with spaces', async () => {
    const web = await bench.web({ pages: PAGES });
    const folder = bench.folder();
    const file = join(folder, 'main.duckdb');
    const sql = await bench.open(file);
    await sql.rows(
      `CREATE SCHEMA s; CREATE SCHEMA "my schema"; ATTACH '${join(folder, 'other.duckdb')}' AS o; CREATE SCHEMA o.deep`,
    );
    const targets = ['s.pages', '"my schema"."my ""pages"""', 'o.pages', 'o.deep.pages', '"sélect"'];
    for (const target of targets) {
      expect(await sql.rows(crawl(web, '/a', target))).toMatchObject([{ Count: 1, new: 1 }]);
      expect(await sql.rows(crawl(web, '/a', target))).toMatchObject([{ Count: 0 }]);
      expect(await sql.rows(`SELECT title FROM ${target}`)).toEqual([{ title: 'A' }]);
    }
    // Each is a table of its own, with a name of its own.
    expect((await sql.rows('SELECT DISTINCT target FROM crawls()')).length).toBe(targets.length);
    await sql.rows('USE s');
    await sql.rows(crawl(web, '/rich', 'pages'));
    expect(await sql.rows('SELECT count(*) AS n FROM s.pages')).toEqual([{ n: 2 }]);
    await sql.close();
    const again = await bench.open(file);
    expect(await again.rows('SELECT count(*) AS n FROM s.pages')).toEqual([{ n: 2 }]);
  });

  it('may be the table that the input comes from', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    await sql.rows(
      `CREATE TABLE t (url VARCHAR, http_status INTEGER); CREATE TABLE seeds AS SELECT '${web.url('/a')}' AS url`,
    );
    await sql.rows(
      `CRAWL (SELECT url FROM seeds WHERE url NOT IN (SELECT url FROM t)) INTO t WITH (${QUICK})`,
    );
    expect(await sql.rows('FROM t')).toEqual([{ url: web.url('/a'), http_status: 200 }]);
  });
});

describe('a table that cannot take rows is told before any request', () => {
  it.each([
    ['a column without a value', 'CREATE TABLE t (url VARCHAR, must INTEGER NOT NULL)', 'must'],
    ['a column that may lack one', 'CREATE TABLE t (url VARCHAR, title VARCHAR NOT NULL)', 'title'],
    ['a column of another type', 'CREATE TABLE t (url VARCHAR, http_status DATE)', 'http_status'],
    ['no column url', 'CREATE TABLE t (link VARCHAR)', 'url'],
    ['a generated column', "CREATE TABLE t (url VARCHAR, title VARCHAR AS (url || 'x'))", 'title'],
    ['a view', 'CREATE VIEW t AS SELECT 1 AS url', 'view'],
    ['a temporary table', 'CREATE TEMP TABLE t (url VARCHAR)', 'temporary'],
    ['an open transaction', 'BEGIN', 'transaction'],
    ['an open transaction, otherwise begun', 'START TRANSACTION READ WRITE', 'transaction'],
    ['an open transaction with a comment before', '/* x */ begin transaction', 'transaction'],
    ['a catalog that is not there', '', 'nowhere', 'nowhere.main.t'],
    ['a schema that is not there', '', 'nowhere', 'nowhere.t'],
  ])('%s', async (_, setup, named, target = 't') => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    await sql.rows(setup);
    const error = await refusal(sql, web, crawl(web, '/a', target));
    expect(`${error.message} ${error.hint}`).toContain(named);
  });

  it('a read-only session', async () => {
    const web = await bench.web({ pages: PAGES });
    const file = join(bench.folder(), 'x.duckdb');
    const first = await bench.open(file);
    await first.rows('CREATE TABLE t (url VARCHAR)');
    await first.close();
    const sql = await bench.open(file, true);
    for (const target of ['t', 'fresh']) {
      const error = await refusal(sql, web, crawl(web, '/a', target));
      expect(error.message).toContain('read-only');
    }
  });
});
