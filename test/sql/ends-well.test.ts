// What used to wait for ever, or to end the process: a session that is closed in the middle of things, functions of ours in
// the condition of a CRAWL, rows that no page waits for, a second CRAWL into a table. And words that had no effect.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer } from '../web/fake-web.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';

const bench = useSqlBench();
const LONG = 'SELECT count(*) AS n FROM range(1000000000000) r(i) WHERE i % 7 = 3';

describe('closing a session', () => {
  it.each([
    ['a query', () => LONG],
    ['crawl()', (origin: string) => `SELECT count(*) AS n FROM crawl('${origin}/held')`],
    [
      'a CRAWL',
      (origin: string) => `CRAWL (SELECT '${origin}/held') INTO t WITH (${QUICK}, timeout_seconds 1)`,
    ],
    ['the query of a CRAWL', () => `CRAWL (SELECT n::VARCHAR FROM (${LONG})) INTO t`],
  ])('ends %s that is under way', async (_, script) => {
    const web = await bench.web({ pages: { '/held': () => {} } });
    const sql = await bench.open();
    const [running, waiting] = [sql.error(script(web.origin)), sql.error('SELECT 1 AS one')];
    if (script(web.origin).includes('/held')) await web.asked('/held');
    await sql.close();
    expect((await running).code).toBe('sql-interrupted');
    expect((await waiting).code).toBe('sql-interrupted');
  });
});

describe('a condition that DuckDB is asked', () => {
  it('may call functions of ours, through macros and views too', async () => {
    const web = await bench.web({
      pages: { '/p*': (exchange) => answer(exchange, { body: '<a href="/q1">x</a><a href="/q2">y</a>' }) },
    });
    const sql = await bench.open();
    const input = `SELECT '${web.origin}/p' || i FROM range(20) r(i)`;
    const links = `WITH (${QUICK}, follow_links true)`;
    await sql.rows(
      `CREATE MACRO ends_in(page, sign) AS ends_with(surt(page), sign);
       CRAWL (${input}) INTO t WHERE ends_in(url, '1') OR ends_in(url, '3') ${links}`,
    );
    const paths = `SELECT regexp_extract(url, '[pq]\\d+$') AS path FROM t ORDER BY ALL`;
    expect((await sql.rows(paths)).map(({ path }) => path)).toEqual(['p1', 'p11', 'p13', 'p3', 'q1']);
    await sql.rows(`CRAWL (${input}) INTO b WHERE surt(url) LIKE '%2' WITH (${QUICK}, background true)`);
    await sql.rest();
    expect(await sql.rows('SELECT count(*) AS n FROM b')).toEqual([{ n: 2 }]);
  });

  it.each(['fetch(url).http_status = 200', "url IN (SELECT url FROM sitemap('127.0.0.1'))"])(
    'may not ask the web: %s',
    async (condition) => {
      const sql = await bench.open(null);
      const { code, message } = await sql.error(
        `CRAWL (SELECT 'http://127.0.0.1:9/') INTO t WHERE ${condition}`,
      );
      expect({ code, message }).toMatchObject({
        code: 'sql-condition',
        message: expect.stringMatching(/asks the web/),
      });
      expect(await sql.rows("SELECT count(*) AS n FROM duckdb_tables() WHERE table_name = 't'")).toEqual([
        { n: 0 },
      ]);
    },
  );
});

describe('a background CRAWL', () => {
  it('fails as a whole where rows without a page cannot be written', async () => {
    const sql = await bench.open();
    // So many that the table is dropped before they are read.
    await sql.rows(`CREATE TABLE t AS SELECT 'http://127.0.0.1/' || i AS url FROM range(200000) r(i)`);
    await sql.rows(
      `CRAWL (SELECT 'no url ' || i FROM range(3000) r(i)) INTO t WITH (background true); DROP TABLE t`,
    );
    await expect(sql.rest()).rejects.toMatchObject({ code: 'sql-target-lost' });
    expect(await sql.rows('SELECT status FROM crawls()')).toEqual([{ status: 'failed' }]);
  });

  it('goes on when a second one with EXTRACT into its table is refused', async () => {
    const web = await bench.web({
      pages: { '/p*': (exchange) => answer(exchange, { body: 'x' }), '/held': () => {} },
    });
    const sql = await bench.open();
    await sql.rows(
      `CRAWL (SELECT '${web.origin}/held') INTO t WITH (${QUICK}, background true, timeout_seconds 1)`,
    );
    await web.asked('/held');
    const error = await sql.error(`CRAWL (SELECT '${web.origin}/p1') INTO T EXTRACT (css 'h1' AS head)`);
    expect(error.code).toBe('sql-crawl-under-way');
    expect(await sql.rows("SELECT count(*) AS n FROM duckdb_columns() WHERE column_name = 'head'")).toEqual([
      { n: 0 },
    ]);
    expect(await sql.rows('SELECT status FROM crawls()')).toEqual([{ status: 'running' }]);
  });
});

describe('LIMIT 0', () => {
  it('asks nobody', async () => {
    const web = await bench.web({ pages: { '/p*': 'x' } });
    const sql = await bench.open(null);
    const [{ Count: count }] = await sql.rows(
      `CRAWL (SELECT '${web.origin}/p1') INTO t WITH (${QUICK}) LIMIT 0`,
    );
    expect(count).toBe(0);
    expect(web.log).toEqual([]);
  });
});

describe('words that had no effect', () => {
  it('SET holds for a view that asks the web', async () => {
    const web = await bench.web({ pages: { '/p1': 'x' } });
    const sql = await bench.open(null);
    await sql.rows(
      `CREATE VIEW v AS SELECT error_type FROM crawl('${web.origin}/p1', options := {max_retries: 0})`,
    );
    expect(await sql.rows("SET http_proxy = '127.0.0.1:1'; FROM v")).not.toEqual([{ error_type: null }]);
    expect(web.log).toEqual([]);
  });

  it('IF NOT EXISTS and OR REPLACE hold for a store, and an error of DuckDB has a code', async () => {
    const file = join(bench.folder(), 'web.duckdb');
    const sql = await bench.open(file);
    await sql.rows("CRAWL (SELECT 'mailto:x') INTO t");
    const site = `'${file}.sumi' AS site (TYPE sumi)`;
    await sql.rows(`ATTACH ${site}; ATTACH IF NOT EXISTS ${site}; ATTACH OR REPLACE ${site}`);
    expect(await sql.rows('SELECT count(*) AS n FROM site.pages')).toEqual([{ n: 0 }]);
    expect((await sql.error(`ATTACH ${site}`)).code).toBe('sql-failed');
  });
});
