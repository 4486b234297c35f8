// CRAWL from end to end: a real DuckDB, the engine, and the fake web's own log as the judge of what was requested.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import type { Handler } from '../web/fake-web.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';

const bench = useSqlBench();

const SITE = {
  '/': page('Home', '/a', '/b'),
  '/a': page('A', '/deep/one'),
  '/b': page('B', '/'),
  '/deep/one': page('One', '/deep/two'),
  '/deep/two': page('Two'),
};

const urlset = (...entries: string[]) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`;

describe('CRAWL', () => {
  it('requests the pages of its input and writes a row for each', async () => {
    const web = await bench.web({ pages: SITE });
    const sql = await bench.open();
    const input = `SELECT unnest(['${web.url('/a')}', '${web.url('/b')}', '${web.url('/missing')}'])`;
    const [result] = await sql.rows(`CRAWL (${input}) INTO pages WITH (${QUICK})`);
    expect(result).toMatchObject({ Count: 3, new: 2, updated: 0, unchanged: 0, failed: 1, skipped: 0 });
    expect(typeof result.seconds).toBe('number');
    const rows = await sql.rows('SELECT * EXCLUDE (crawl_time, elapsed_ms) FROM pages ORDER BY url');
    expect(
      rows.map(({ url, http_status, state, error_type, title, depth, input_url }) => [
        ...[new URL(url as string).pathname, http_status, state, error_type, title, depth],
        input_url === url,
      ]),
    ).toEqual([
      ['/a', 200, 'Processed', null, 'A', 0, true],
      ['/b', 200, 'Processed', null, 'B', 0, true],
      ['/missing', 404, 'DeadLink', 'http_client_error', null, 0, true],
    ]);
    expect(rows[0].body).toContain('<title>A</title>');
    expect(rows[0].surt_key).toContain(')/a');
    expect(rows[0].content_hash).toMatch(/^[\da-f]{64}$/);
    expect(web.log.map(({ path }) => path).sort()).toEqual(['/a', '/b', '/missing', '/robots.txt']);
  });

  it('asks for nothing that has a row, and again for rows that were deleted', async () => {
    const web = await bench.web({ pages: SITE });
    const file = join(bench.folder(), 'web.duckdb');
    const statement = `CRAWL (SELECT unnest(['${web.url('/a')}', '${web.url('/b')}'])) INTO pages WITH (${QUICK})`;
    const first = await bench.open(file);
    await first.rows(statement);
    expect(await first.rows(statement)).toMatchObject([{ Count: 0 }]);
    await first.close();
    const second = await bench.open(file);
    await second.rows("DELETE FROM pages WHERE url LIKE '%/a'");
    expect(await second.rows(statement)).toMatchObject([{ Count: 1, new: 1 }]);
    expect([web.requestsTo('/a').length, web.requestsTo('/b').length]).toEqual([2, 1]);
    await second.close();
    // The table is the truth: without the store beside it, too.
    rmSync(`${file}.sumi`);
    const third = await bench.open(file);
    expect(await third.rows(statement)).toMatchObject([{ Count: 0 }]);
    expect([web.requestsTo('/a').length, web.requestsTo('/b').length]).toEqual([2, 1]);
  });

  it('asks again for failures that may be over, and leaves those that last', async () => {
    let isUp = false;
    const web = await bench.web({
      pages: {
        '/flaky': ({ response }) => response.writeHead(isUp ? 200 : 503).end(isUp ? 'up' : ''),
        '/gone': { status: 410 },
      },
    });
    const sql = await bench.open();
    const statement = `CRAWL (SELECT unnest(['${web.url('/flaky')}', '${web.url('/gone')}'])) INTO t WITH (${QUICK}, max_retries 1)`;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 2, failed: 2 }]);
    expect(await sql.rows('SELECT error_type FROM t ORDER BY url')).toEqual([
      { error_type: 'http_server_error' },
      { error_type: 'http_client_error' },
    ]);
    isUp = true;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 1, updated: 1 }]);
    expect(await sql.rows('SELECT http_status FROM t ORDER BY url')).toEqual([
      { http_status: 200 },
      { http_status: 410 },
    ]);
    expect(web.requestsTo('/gone').length).toBe(1);
  });

  it('takes a site for what its sitemaps name, a page for itself, and a site without sitemaps for its page', async () => {
    const sitemap: Handler = ({ response, url }) =>
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(urlset(`<url><loc>${url('/a')}</loc></url>`, `<url><loc>${url('/deep/one')}</loc></url>`));
    const web = await bench.web({ pages: { ...SITE, '/sitemap.xml': sitemap } });
    const bare = await bench.web({ pages: SITE });
    const sql = await bench.open();
    await sql.rows(`CRAWL (SELECT unnest(['${web.url('/')}', '${bare.url('/')}'])) INTO t WITH (${QUICK})`);
    const paths = (log: { path: string }[]) => log.map(({ path }) => path);
    expect(
      paths(web.log)
        .filter((path) => !path.includes('sitemap') && path !== '/robots.txt')
        .sort(),
    ).toEqual(['/a', '/deep/one']);
    expect(paths(bare.log)).toContain('/');
    const other = await bench.web({ pages: { ...SITE, '/sitemap.xml': sitemap } });
    await sql.rows(`CRAWL (SELECT '${other.url('/b')}') INTO pages WITH (${QUICK})`);
    expect(paths(other.log).sort()).toEqual(['/b', '/robots.txt']);
    await sql.rows(`CRAWL (SELECT '${other.url('/b')}') INTO whole WITH (${QUICK}, sitemaps always)`);
    expect(await sql.rows('SELECT url FROM whole ORDER BY url')).toEqual(
      ['/a', '/b', '/deep/one'].map((path) => ({ url: other.url(path) })),
    );
  });

  it.each([
    ['a condition that is judged without DuckDB', "url NOT LIKE '%/deep/%'"],
    [
      'a condition that DuckDB is asked',
      "url NOT IN (SELECT 'x' || url FROM t) AND length(url) > 0 AND strpos(url, '/deep/') = 0",
    ],
  ])('follows links within %s', async (_, condition) => {
    const web = await bench.web({ pages: SITE });
    const sql = await bench.open();
    await sql.rows('CREATE TABLE t (url VARCHAR)');
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO pages WHERE ${condition} WITH (follow_links true, ${QUICK})`;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 3, new: 3 }]);
    expect(await sql.rows('SELECT depth FROM pages ORDER BY url')).toEqual([
      { depth: 0 },
      { depth: 1 },
      { depth: 1 },
    ]);
    expect(web.requestsTo('/deep/one').length).toBe(0);
    // A wider condition finds what the first one left out.
    const wider = statement.replace(condition, "url NOT LIKE '%/two'");
    expect(await sql.rows(wider)).toMatchObject([{ Count: 1, new: 1 }]);
    expect([web.requestsTo('/deep/one').length, web.requestsTo('/deep/two').length]).toEqual([1, 0]);
  });

  it('writes at most as many rows as LIMIT says, and goes on with the next call', async () => {
    const pages = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`/${i}`, page(`${i}`)]));
    const web = await bench.web({ pages });
    const sql = await bench.open();
    const input = `SELECT '${web.origin}/' || i FROM range(12) t(i)`;
    const statement = `CRAWL (${input}) INTO t WITH (${QUICK}) LIMIT 5`;
    for (const rows of [5, 10, 12]) {
      await sql.rows(statement);
      expect(await sql.rows('SELECT count(*) AS n, count(DISTINCT url) AS urls FROM t')).toEqual([
        { n: rows, urls: rows },
      ]);
    }
    expect(await sql.rows(statement)).toMatchObject([{ Count: 0 }]);
  });

  it('counts NULL and empty text, writes a row for text that is no URL, and asks twice-given URLs once', async () => {
    const web = await bench.web({ pages: SITE });
    const sql = await bench.open();
    const input = `SELECT unnest([NULL, '', ' ', 'no url at all', '${web.url('/a')}', '${web.url('/a#x')}', 'ftp://x/y'])`;
    expect(await sql.rows(`CRAWL (${input}) INTO t WITH (${QUICK})`)).toMatchObject([
      { Count: 3, failed: 2 },
    ]);
    const rows = await sql.rows(
      'SELECT url, error_type, surt_key FROM t WHERE error_type IS NOT NULL ORDER BY url',
    );
    expect(rows).toEqual([
      { url: 'ftp://x/y', error_type: 'invalid_url', surt_key: null },
      { url: 'no url at all', error_type: 'invalid_url', surt_key: null },
    ]);
    expect(web.requestsTo('/a').length).toBe(1);
    const explained = await sql.rows(`EXPLAIN CRAWL (${input}) INTO t WITH (${QUICK})`);
    expect(
      explained.filter(({ topic }) => topic === 'input').map(({ name, value }) => `${name} ${value}`),
    ).toEqual(expect.arrayContaining(['new 0', 'known 1', 'invalid 2', 'empty 3']));
  });

  it('asks stale rows again after new ones, with conditions, and renews the time of a 304', async () => {
    let lastmod = '2020-01-01';
    const etag: Handler = ({ request, response }) => {
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304, { etag: '"1"' }).end();
      else response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' }).end('<title>A</title>');
    };
    const sitemap: Handler = ({ response, url }) =>
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(
          urlset(
            `<url><loc>${url('/a')}</loc><lastmod>${lastmod}</lastmod></url>`,
            `<url><loc>${url('/b')}</loc><lastmod>2020-01-01</lastmod></url>`,
          ),
        );
    const web = await bench.web({ pages: { '/a': etag, '/b': page('B'), '/sitemap.xml': sitemap } });
    const sql = await bench.open();
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK}, update_stale true, sitemap_cache_hours 0)`;
    await sql.rows(statement);
    await sql.rows("UPDATE t SET crawl_time = '2021-01-01'");
    expect(await sql.rows(statement)).toMatchObject([{ Count: 0, unchanged: 0 }]);
    lastmod = '2022-02-02';
    expect(await sql.rows(statement)).toMatchObject([{ Count: 0, unchanged: 1 }]);
    expect(await sql.rows("SELECT crawl_time > '2022-02-02' AS renewed FROM t ORDER BY url")).toEqual([
      { renewed: true },
      { renewed: false },
    ]);
    expect([web.requestsTo('/a').length, web.requestsTo('/b').length]).toEqual([2, 1]);
  });

  it('keeps a row that was read when its page fails for the moment, and counts the failure', async () => {
    let isUp = true;
    const flaky: Handler = ({ response }) =>
      response
        .writeHead(isUp ? 200 : 503, { 'content-type': 'text/html' })
        .end(isUp ? '<title>A</title>' : '');
    const sitemap: Handler = ({ response, url }) =>
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(urlset(`<url><loc>${url('/a')}</loc><lastmod>2022-02-02</lastmod></url>`));
    const web = await bench.web({ pages: { '/a': flaky, '/sitemap.xml': sitemap } });
    const sql = await bench.open();
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK}, update_stale true, max_retries 0)`;
    await sql.rows(statement);
    await sql.rows("UPDATE t SET crawl_time = '2021-01-01'");
    isUp = false;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 0, updated: 0, failed: 1 }]);
    expect(await sql.rows('SELECT http_status, title FROM t')).toEqual([{ http_status: 200, title: 'A' }]);
    isUp = true;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 0, unchanged: 1 }]);
  });

  it('leads a redirect on: the source has its target, the target has the content', async () => {
    const web = await bench.web({
      pages: {
        '/one': { status: 301, headers: { location: '/two' } },
        '/two': { status: 302, headers: { location: '/three' } },
        '/three': page('Three'),
        '/loop': { status: 302, headers: { location: '/loop?x' } },
        '/loop*': { status: 302, headers: { location: '/loop' } },
      },
    });
    const sql = await bench.open();
    await sql.rows(
      `CRAWL (SELECT unnest(['${web.url('/one')}', '${web.url('/loop')}'])) INTO t WITH (${QUICK})`,
    );
    const rows = await sql.rows(
      'SELECT url, http_status, final_url, redirect_count, title, error_type FROM t ORDER BY url',
    );
    const byPath = Object.fromEntries(
      rows.map(({ url, ...rest }) => [(url as string).replace(web.origin, ''), rest]),
    );
    expect(byPath['/one']).toMatchObject({
      http_status: 301,
      final_url: web.url('/three'),
      redirect_count: 2,
    });
    expect(byPath['/three']).toMatchObject({ http_status: 200, title: 'Three', redirect_count: 0 });
    expect(byPath['/loop'].error_type).toBe('redirect_error');
  });

  it('gives rows to what robots.txt forbids, unless log_skipped says no', async () => {
    const web = await bench.web({ pages: SITE, robots: 'User-agent: *\nDisallow: /b\n' });
    const sql = await bench.open();
    const input = `SELECT unnest(['${web.url('/a')}', '${web.url('/b')}'])`;
    expect(await sql.rows(`CRAWL (${input}) INTO t WITH (${QUICK})`)).toMatchObject([
      { Count: 2, new: 1, skipped: 1 },
    ]);
    expect(await sql.rows('SELECT error_type, error FROM t ORDER BY url')).toMatchObject([
      { error_type: null },
      { error_type: 'robots_disallowed', error: expect.stringContaining('Disallow /b') },
    ]);
    expect(await sql.rows(`CRAWL (${input}) INTO u WITH (${QUICK}, log_skipped false)`)).toMatchObject([
      { Count: 1, skipped: 1 },
    ]);
    expect(web.requestsTo('/b').length).toBe(0);
  });

  it('goes on in the background while queries run, and is listed', async () => {
    const held: (() => void)[] = [];
    const web = await bench.web({
      pages: {
        '/slow': ({ response }) => void held.push(() => response.writeHead(200).end('x')),
        '/quick': page('Q'),
      },
    });
    const sql = await bench.open();
    const input = `SELECT unnest(['${web.url('/quick')}', '${web.url('/slow')}'])`;
    expect(await sql.rows(`CRAWL (${input}) INTO t WITH (${QUICK}, background true)`)).toMatchObject([
      { id: 1, status: 'running' },
    ]);
    await web.asked('/slow');
    expect(await sql.rows('SHOW CRAWLS')).toMatchObject([
      { id: 1, status: 'running', statement: expect.any(String) },
    ]);
    expect(await sql.rows('SELECT 42 AS n')).toEqual([{ n: 42 }]);
    expect((await sql.error(`CRAWL (${input}) INTO t WITH (${QUICK})`)).code).toBe('sql-crawl-under-way');
    for (const release of held) release();
    await sql.rest();
    expect(await sql.rows('SHOW CRAWLS')).toMatchObject([{ id: 1, status: 'completed' }]);
    expect(await sql.rows(`CRAWL (${input}) INTO t WITH (${QUICK})`)).toMatchObject([{ Count: 0 }]);
    expect(await sql.rows('SELECT count(*) AS n FROM t')).toEqual([{ n: 2 }]);
  });

  it('is refused before any request where something is wrong, with its place', async () => {
    const web = await bench.web({ pages: SITE });
    const sql = await bench.open();
    const crawl = `CRAWL (SELECT '${web.url('/a')}')`;
    await sql.rows('CREATE VIEW v AS SELECT 1 AS url; CREATE TEMP TABLE temp_one (url VARCHAR)');
    const cases: [string, string, number?][] = [
      [`${crawl}`, 'sql-syntax'],
      [`CRAWL SELECT 1 INTO t`, 'sql-syntax'],
      [`${crawl} INTO t WITH (delay)`, 'sql-syntax'],
      [`${crawl} INTO t LIMIT -1`, 'sql-syntax'],
      [`CRAWL (SELECT 1, 2) INTO t`, 'sql-input-columns'],
      [`CRAWL (INSERT INTO v VALUES (1) RETURNING url) INTO t`, 'sql-failed'],
      [`${crawl} INTO t WITH (follow_linx true)`, 'sql-syntax'],
      [`CRAWL (SELECT nothing) INTO t`, 'sql-failed'],
    ];
    for (const [script, code] of cases)
      expect([script, (await sql.error(script)).code]).toEqual([script, code]);
    for (const script of [
      `${crawl} INTO t WHERE 1`,
      `${crawl} INTO t WHERE nope`,
      `${crawl} INTO v`,
      `${crawl} INTO temp_one`,
    ])
      expect((await sql.error(script)).code).toMatch(/^sql-/);
    const placed = await sql.error(`SELECT 1;\n${crawl} INTO t\n  WHERE urll = 'x'`);
    expect(placed.details).toMatchObject({ line: 3, column: 9 });
    const failing = await sql.error(`CRAWL (\n  SELECT CAST('é' || range AS INTEGER) FROM range(3)) INTO t2`);
    expect(failing.details).toMatchObject({ line: 2, column: 10 });
    await sql.rows('DROP TABLE IF EXISTS t2');
    expect((await sql.error(`BEGIN; ${crawl} INTO t`)).code).toMatch(/^sql-/);
    await sql.rows('ROLLBACK');
    expect(web.log).toEqual([]);
    expect(await sql.rows("SELECT table_name FROM duckdb_tables() WHERE table_name = 't'")).toEqual([]);
  });

  it('is explained without a request, also where its query would make some', async () => {
    const web = await bench.web({ pages: SITE });
    const sql = await bench.open();
    const lines = await sql.rows(`EXPLAIN CRAWL (SELECT url FROM sitemap('${web.url('/')}')) INTO t`);
    expect(lines.filter(({ topic }) => topic === 'input')).toMatchObject([{ name: 'not read' }]);
    expect(web.log).toEqual([]);
    expect(await sql.rows("SELECT table_name FROM duckdb_tables() WHERE table_name = 't'")).toEqual([]);
  });

  it('is refused where a rule of the table calls a function of the session', async () => {
    const sql = await bench.open();
    await sql.rows('CREATE TABLE t (url VARCHAR, CHECK (length(surt(url)) > 0))');
    const error = await sql.error(`CRAWL (SELECT 'not a url') INTO t`);
    expect([error.code, error.message]).toEqual(['sql-target', expect.stringContaining('surt')]);
  });

  it('takes functions of the web and settings of the session in its query', async () => {
    const web = await bench.web({ pages: SITE });
    const sql = await bench.open();
    const input = `SELECT f.final_url FROM (SELECT fetch('${web.url('/a')}') AS f WHERE current_setting('http_timeout') = 30)`;
    expect(await sql.rows(`CRAWL (${input}) INTO t WITH (${QUICK})`)).toMatchObject([{ Count: 1, new: 1 }]);
    expect(await sql.rows(`SELECT fetch('${web.url('/b')}').title AS title`)).toEqual([{ title: 'B' }]);
  });

  it('leaves nothing behind in memory, and a store beside a file', async () => {
    const web = await bench.web({ pages: SITE });
    const file = join(bench.folder(), 'web.duckdb');
    const sql = await bench.open(file);
    await sql.rows(`CRAWL (SELECT '${web.url('/a')}') INTO t WITH (${QUICK})`);
    expect(existsSync(`${file}.sumi`)).toBe(true);
    const memory = await bench.open(null);
    expect(await memory.rows(`CRAWL (SELECT '${web.url('/a')}') INTO t WITH (${QUICK})`)).toMatchObject([
      { new: 1 },
    ]);
  });
});
