// EXTRACT from end to end: what the page says, as columns of the table.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer } from '../web/fake-web.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';

const bench = useSqlBench();

const PRODUCT = `<!DOCTYPE html><html><head><title>Lamp</title>
<meta name="description" content="A lamp &amp; more"><meta property="og:title" content="The lamp">
<script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":"19.90"}}</script></head>
<body><h1> Lamp <b>one</b></h1><span class="price">1234567.891</span><a href="/b">b</a><a href="https://x.test/?q=1">x</a></body></html>`;
const BROKEN = `<html><head><script type="application/ld+json">{"offers":{"price":"ask us"}}</script></head>
<body><h1>Second</h1><h1>not this</h1><p class="price">free</p></body></html>`;
const ITEMS = `css 'h1', css '.price' AS price DECIMAL(10,2), css 'a' ATTR 'href' ALL AS hrefs,
  jsonld.offers.price AS offer DOUBLE, og.title, meta.description`;
const PAGES = { '/lamp': PRODUCT, '/broken': BROKEN, '/missing': { status: 404, body: '<h1>No</h1>' } };

const COLUMNS = "SELECT name, type FROM pragma_table_info('t')";

describe('EXTRACT', () => {
  it('fills columns of a new table; what cannot be converted, and what is not there, is NULL', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    const input = `SELECT unnest(['${web.url('/lamp')}', '${web.url('/broken')}'])`;
    expect(
      await sql.rows(
        `CRAWL (${input}) INTO t EXTRACT (${ITEMS.replace('og.title', 'og.title AS og_title')}) WITH (${QUICK})`,
      ),
    ).toMatchObject([{ Count: 2, new: 2 }]);
    expect(
      await sql.rows('SELECT title, h1, price, hrefs, offer, og_title, description FROM t ORDER BY url'),
    ).toEqual([
      { title: null, h1: 'Second', price: null, hrefs: [], offer: null, og_title: null, description: null },
      {
        ...{ title: 'Lamp', h1: 'Lamp one', price: 1234567.89, hrefs: ['/b', 'https://x.test/?q=1'] },
        ...{ offer: 19.9, og_title: 'The lamp', description: 'A lamp & more' },
      },
    ]);
    const types = Object.fromEntries((await sql.rows(COLUMNS)).map(({ name, type }) => [name, type]));
    expect(types).toMatchObject({
      price: 'DECIMAL(10,2)',
      hrefs: 'VARCHAR[]',
      offer: 'DOUBLE',
      h1: 'VARCHAR',
    });
  });

  it('names its own column for one of the crawl, before any request', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    const error = await sql.error(
      `CRAWL (SELECT '${web.url('/lamp')}') INTO t EXTRACT (og.title) WITH (${QUICK})`,
    );
    expect(error.code).toBe('sql-target-column');
    expect(error.hint).toContain('AS ');
    expect(web.log).toEqual([]);
    expect(await sql.rows("FROM duckdb_tables() WHERE table_name = 't'")).toEqual([]);
  });

  it('adds its columns to an existing table, which need have no body; a later CRAWL adds others', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    await sql.rows(
      "CREATE TABLE t (url VARCHAR, seen INTEGER DEFAULT 7, price DECIMAL(10,2)); INSERT INTO t VALUES ('old', 1, 2)",
    );
    const statement = (path: string, items: string) =>
      `CRAWL (SELECT '${web.url(path)}') INTO t EXTRACT (${items}) WITH (${QUICK})`;
    expect(await sql.rows(statement('/lamp', "css 'h1', css '.price' AS price"))).toMatchObject([
      { Count: 1 },
    ]);
    expect(await sql.rows(statement('/broken', "css 'h1' AS first, css 'h1' ALL AS every"))).toMatchObject([
      { Count: 1 },
    ]);
    expect(await sql.rows('FROM t ORDER BY url')).toEqual([
      {
        url: web.url('/broken'),
        seen: 7,
        price: null,
        h1: 'Second',
        first: 'Second',
        every: ['Second', 'not this'],
      },
      { url: web.url('/lamp'), seen: 7, price: 1234567.89, h1: 'Lamp one', first: null, every: null },
      { url: 'old', seen: 1, price: 2, h1: null, first: null, every: null },
    ]);
  });

  it('reads what a page that failed was answered with, as body does, and has no values without a body', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    const input = `SELECT unnest(['${web.url('/missing')}', 'no url'])`;
    await sql.rows(`CRAWL (${input}) INTO t EXTRACT (css 'h1', css 'h1' ALL AS every) WITH (${QUICK})`);
    expect(await sql.rows('SELECT http_status, h1, every FROM t ORDER BY url')).toEqual([
      { http_status: 404, h1: 'No', every: ['No'] },
      { http_status: null, h1: null, every: null },
    ]);
  });

  it('keeps a value when the row is replaced, and renews it', async () => {
    let isUp = false;
    const web = await bench.web({
      pages: {
        '/a': (exchange) =>
          answer(exchange, isUp ? { body: '<h1>up</h1>' } : { status: 503, body: '<h1>down</h1>' }),
      },
    });
    const sql = await bench.open(join(bench.folder(), 'x.duckdb'));
    const statement = `CRAWL (SELECT '${web.url('/a')}') INTO t EXTRACT (css 'h1') WITH (${QUICK}, max_retries 0)`;
    await sql.rows(statement);
    isUp = true;
    expect(await sql.rows(statement)).toMatchObject([{ updated: 1 }]);
    expect(await sql.rows('SELECT http_status, h1 FROM t')).toEqual([{ http_status: 200, h1: 'up' }]);
  });

  it('is refused where a selector or a type is wrong, with its place', async () => {
    const web = await bench.web({ pages: PAGES });
    const sql = await bench.open();
    const crawl = (items: string) => `CRAWL (SELECT '${web.url('/lamp')}') INTO t\n EXTRACT (${items})`;
    const selector = await sql.error(crawl("css 'h1[[' AS x"));
    expect([selector.code, selector.details.line]).toEqual(['selector-invalid', 2]);
    expect((await sql.error(crawl("css 'h1' AS x NOSUCHTYPE"))).message).toContain('NOSUCHTYPE');
    expect((await sql.error(crawl("css 'h1' ALL AS x INTEGER"))).details).toMatchObject({ line: 2 });
    expect((await sql.error(crawl("css 'h1', css 'h1'"))).details).toMatchObject({ line: 2 });
    expect(web.log).toEqual([]);
    expect(await sql.rows("FROM duckdb_tables() WHERE table_name = 't'")).toEqual([]);
  });
});
