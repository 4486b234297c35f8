// What may stand as the query of a CRAWL, and what its texts mean.
import { describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type FakeWeb, type Handler } from '../web/fake-web.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';

const bench = useSqlBench();

const titled: Handler = (exchange) => answer(exchange, { body: page(exchange.path) });
const WITH = `WITH (${QUICK})`;
const pathsOf = (web: FakeWeb) =>
  web.log
    .filter(({ path }) => path !== '/robots.txt')
    .map(({ path }) => path)
    .sort();

describe('the query of a CRAWL', () => {
  it('takes parameters by place and by name', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    const rows = (script: string, parameters: Parameters<typeof sql.rows>[1]) => sql.rows(script, parameters);
    await rows(`CRAWL (SELECT $1 || i FROM range(3) r(i) WHERE i <> $2) INTO t ${WITH}`, [
      `${web.origin}/p`,
      1,
    ]);
    await rows(`CRAWL (SELECT ? || ?) INTO t ${WITH}`, [`${web.origin}/p`, 'x']);
    await rows(`CRAWL (SELECT unnest($urls)) INTO t ${WITH}`, { urls: [web.url('/py'), web.url('/pz')] });
    expect(pathsOf(web)).toEqual(['/p0', '/p2', '/px', '/py', '/pz']);
    // Other values are another statement: nothing of the first one is left waiting.
    await rows(`CRAWL (SELECT $1 || i FROM range(3) r(i) WHERE i <> $2) INTO t ${WITH}`, [
      `${web.origin}/p`,
      0,
    ]);
    expect(pathsOf(web)).toEqual(['/p0', '/p1', '/p2', '/px', '/py', '/pz']);
    expect(await rows('EXPLAIN CRAWL (SELECT $1) INTO t', [web.url('/px')])).toEqual(
      expect.arrayContaining([expect.objectContaining({ topic: 'input', name: 'known', value: '1' })]),
    );
  });

  it.each([
    ['a temporary table', 'SELECT url FROM given', 'CREATE TEMP TABLE given AS '],
    ['a CTE', 'WITH given AS (SELECT url FROM base) SELECT url FROM given', 'CREATE TABLE base AS '],
    ['ORDER BY and LIMIT', 'SELECT url FROM base ORDER BY url DESC LIMIT 3', 'CREATE TABLE base AS '],
    ['a comment at its end', 'SELECT url FROM base -- all of it)', 'CREATE TABLE base AS '],
    ['a comment between', 'SELECT /* ) -- */ url\nFROM base', 'CREATE TABLE base AS '],
    ['FROM first', 'FROM base', 'CREATE TABLE base AS '],
    ['VALUES', 'VALUES', ''],
    ['a UNION', 'SELECT url FROM base UNION ALL SELECT url FROM base', 'CREATE TABLE base AS '],
    ['a table of its own catalog', 'SELECT url FROM memory.base', 'CREATE TABLE memory.base AS '],
    ['a macro', 'SELECT url FROM given()', 'CREATE TABLE base AS '],
  ])('may be %s', async (_, query, setup) => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    if (setup !== '') await sql.rows(`${setup} SELECT '${web.origin}/p' || i AS url FROM range(3) r(i)`);
    if (query.includes('given()')) await sql.rows('CREATE MACRO given() AS TABLE SELECT url FROM base');
    const values = `VALUES ('${web.url('/p0')}'), ('${web.url('/p1')}'), ('${web.url('/p2')}')`;
    const text = query === 'VALUES' ? values : query;
    expect(await sql.rows(`CRAWL (${text}\n) INTO t ${WITH} -- the end`)).toMatchObject([
      { Count: 3, new: 3 },
    ]);
    expect(pathsOf(web)).toEqual(['/p0', '/p1', '/p2']);
  });

  it('gives its texts back in input_url, to join with what they came from', async () => {
    const web = await bench.web({
      pages: { '/p*': titled, '/moved': { status: 301, headers: { location: '/p9' } } },
    });
    const sql = await bench.open();
    const host = web.origin.replace('http://', '');
    await sql.rows(`CREATE TABLE seeds AS SELECT * FROM (VALUES (1, '${web.url('/p1')}'), (2, ' ${web.origin.toUpperCase()}/p2#frag '),
      (3, '${web.origin}/a/../p3'), (4, '${web.url('/moved')}'), (5, 'not a url'), (6, '${host}/p6')) s(id, link)`);
    await sql.rows(`CRAWL (SELECT link FROM seeds) INTO t WITH (${QUICK}, sitemaps never)`);
    const joined = await sql.rows(
      `SELECT id, coalesce(title, error_type) AS said FROM seeds JOIN t ON trim(link) = trim(input_url) ORDER BY id`,
    );
    expect(joined).toEqual(
      [
        { id: 1, said: '/p1' },
        { id: 2, said: '/p2' },
        { id: 3, said: '/p3' },
        // A redirect has no content of its own.
        { id: 5, said: 'invalid_url' },
        { id: 6, said: '/p6' },
      ].flatMap((row) => (row.id === 5 ? [{ id: 4, said: null }, row] : [row])),
    );
    expect(await sql.rows("SELECT input_url FROM t WHERE url LIKE '%/p9'")).toEqual([{ input_url: null }]);
    // As given: a plain join finds all.
    expect(await sql.rows('SELECT count(*) AS n FROM seeds JOIN t ON link = input_url')).toEqual([{ n: 6 }]);
  });

  it('may name hosts without a scheme: they stand for their sites', async () => {
    const sitemap: Handler = (exchange) =>
      answer(exchange, {
        headers: { 'content-type': 'application/xml' },
        body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${exchange.url('/p1', exchange.host)}</loc></url></urlset>`,
      });
    const web = await bench.web({
      hosts: 2,
      pages: { '0:/sitemap.xml': sitemap, '/': titled, '/p*': titled },
    });
    const sql = await bench.open();
    const [one, two] = web.origins.map((origin) => origin.replace('http://', ''));
    await sql.rows(`CRAWL (SELECT unnest(['${one}', '${two}'])) INTO t ${WITH}`);
    expect(await sql.rows('SELECT url, input_url FROM t ORDER BY url')).toEqual([
      { url: web.url('/p1'), input_url: null },
      { url: web.url('/', 1), input_url: two },
    ]);
    // Known now: no page is asked for again.
    const asked = pathsOf(web).filter((path) => /^\/(p1)?$/.test(path));
    await sql.rows(`CRAWL (SELECT unnest(['${one}', '${two}'])) INTO t ${WITH}`);
    expect(pathsOf(web).filter((path) => /^\/(p1)?$/.test(path))).toEqual(asked);
  });

  it.each(['auto', 'never'])('may name pages without a scheme, with sitemaps %s', async (sitemaps) => {
    const web = await bench.web({ pages: { '/': titled, '/p*': titled } });
    const sql = await bench.open();
    const host = web.origin.replace('http://', '');
    const input = `SELECT unnest(['${host}/p1', '${web.url('/p2')}', '${host}'])`;
    await sql.rows(`CRAWL (${input}) INTO t WITH (${QUICK}, sitemaps ${sitemaps})`);
    expect(await sql.rows('SELECT url, input_url FROM t ORDER BY url')).toEqual([
      { url: web.url('/'), input_url: host },
      { url: web.url('/p1'), input_url: `${host}/p1` },
      { url: web.url('/p2'), input_url: web.url('/p2') },
    ]);
    const pages = pathsOf(web).filter((path) => !path.includes('sitemap'));
    expect(pages).toEqual(['/', '/p1', '/p2']);
    if (sitemaps === 'never') expect(pathsOf(web)).toEqual(pages);
  });

  it('of 20,000 URLs of one host is taken as far as LIMIT says, and no further', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    const statement = `CRAWL (SELECT '${web.origin}/p' || i FROM range(20000) r(i)) INTO t WITH (${QUICK}, threads 8) LIMIT 100`;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 100, new: 100 }]);
    const first = pathsOf(web).length;
    // What was under way when the last row was written.
    expect(first).toBeLessThanOrEqual(100 + 8 + 100);
    expect(await sql.rows(statement)).toMatchObject([{ Count: 100, new: 100 }]);
    expect(await sql.rows('SELECT count(*) AS n, count(DISTINCT url) AS urls FROM t')).toEqual([
      { n: 200, urls: 200 },
    ]);
  });

  it('with LIMIT 0 asks for nothing', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    expect(await sql.rows(`CRAWL (SELECT '${web.url('/p1')}') INTO t ${WITH} LIMIT 0`)).toMatchObject([
      { Count: 0 },
    ]);
    expect(web.log).toEqual([]);
  });

  it('that gives nothing asks for nothing, and makes the table', async () => {
    const sql = await bench.open();
    for (const nothing of ["SELECT 'https://x.test/' WHERE false", 'SELECT NULL', "SELECT ''"])
      expect(await sql.rows(`CRAWL (${nothing}) INTO t ${WITH}`)).toMatchObject([{ Count: 0 }]);
    expect(await sql.rows('SELECT count(*) AS n FROM t')).toEqual([{ n: 0 }]);
  });

  it('that fails in the middle ends before any request, with its place', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    const failing = `SELECT CASE WHEN i < 90000 THEN '${web.origin}/p' || i ELSE error('no more of these') END FROM range(100000) r(i)`;
    const error = await sql.error(`SELECT 1;\nCRAWL (${failing}) INTO t ${WITH}`);
    expect([error.code, error.message]).toEqual(['sql-failed', expect.stringContaining('no more of these')]);
    expect(web.log).toEqual([]);
    expect(await sql.rows(`CRAWL (SELECT '${web.url('/p1')}') INTO t ${WITH}`)).toMatchObject([{ Count: 1 }]);
  });

  it('may be of another type than text, and of one column only', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    await sql.rows(`CREATE TYPE links AS ENUM ('${web.url('/p1')}')`);
    expect(await sql.rows(`CRAWL (SELECT '${web.url('/p1')}'::links) INTO t ${WITH}`)).toMatchObject([
      { Count: 1 },
    ]);
    expect(await sql.rows(`CRAWL (SELECT 42) INTO t ${WITH}`)).toMatchObject([{ Count: 1, failed: 1 }]);
    for (const query of [
      `SELECT 'x', 'y'`,
      'INSERT INTO t (url) VALUES (1) RETURNING url',
      'DELETE FROM t',
      'PRAGMA version',
      'SELECT 1; SELECT 2',
    ])
      expect((await sql.error(`CRAWL (${query}) INTO t ${WITH}`)).code).toMatch(/^sql-/);
    expect(await sql.rows('SELECT count(*) AS n FROM t')).toEqual([{ n: 2 }]);
  });

  it('may ask the web itself', async () => {
    const web = await bench.web({ pages: { '/': page('Home', '/p1', '/p2'), '/p*': titled } });
    const sql = await bench.open();
    await sql.rows(`CRAWL (SELECT '${web.url('/')}') INTO homes WITH (${QUICK}, sitemaps never)`);
    expect(
      await sql.rows(
        `CRAWL (SELECT url FROM crawl('${web.url('/p1')}', options := {default_crawl_delay: 0})) INTO t ${WITH}`,
      ),
    ).toMatchObject([{ Count: 1 }]);
  });
});
