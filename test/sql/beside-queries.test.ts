// A CRAWL in the background and what else happens in the session meanwhile: queries, transactions, functions that ask the
// web, changes of the table, the end. Nobody waits for anybody for ever, and no row is lost.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SumiError } from '../../src/errors.ts';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange, type Handler } from '../web/fake-web.ts';
import { QUICK, type TestSession, useSqlBench } from './sql-bench.ts';

const bench = useSqlBench();

/** Answers when it is let: what comes before waits. */
function createGate() {
  let isOpen = false;
  const held: (() => void)[] = [];
  const behind =
    (handler: Handler): Handler =>
    (exchange) => {
      if (isOpen) handler(exchange);
      else held.push(() => handler(exchange));
    };
  return {
    behind,
    open() {
      isOpen = true;
      for (const release of held.splice(0)) release();
    },
  };
}

const titled: Handler = (exchange: Exchange) => answer(exchange, { body: page(exchange.path) });
const range = (origin: string, count: number, name = 'p') =>
  `SELECT '${origin}/${name}' || i FROM range(${count}) r(i)`;
const ROWS = 'SELECT count(*) AS n, count(DISTINCT url) AS urls FROM t';

async function failureOf(work: Promise<unknown>): Promise<SumiError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SumiError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** Rows that can be seen; asked again until there are some. */
async function someRows(sql: TestSession, table = 't'): Promise<number> {
  for (;;) {
    const [{ n }] = await sql.rows(`SELECT count(*) AS n FROM ${table}`);
    if ((n as number) > 0) return n as number;
  }
}

describe('beside a background CRAWL', () => {
  it('queries, CREATE TABLE AS and a transaction do their work, and so does the CRAWL', async () => {
    const gate = createGate();
    const web = await bench.web({ pages: { '/p*': titled, '/last': gate.behind(titled) } });
    const sql = await bench.open();
    const input = `SELECT '${web.url('/last')}' UNION ALL ${range(web.origin, 300)}`;
    await sql.rows(
      `CREATE TABLE other (x INTEGER); CRAWL (${input}) INTO t WITH (${QUICK}, background true)`,
    );
    await sql.rows('BEGIN');
    for (let i = 0; i < 20; i++) await sql.rows(`INSERT INTO other VALUES (${i})`);
    const [{ n: inside }] = await sql.rows('SELECT count(*) AS n FROM t');
    await web.asked('/p299');
    await sql.rows('COMMIT');
    expect(await sql.rows('SELECT count(*) AS n, sum(x) AS s FROM other')).toEqual([{ n: 20, s: 190 }]);
    const some = await someRows(sql);
    expect(some).toBeGreaterThanOrEqual(inside as number);
    await sql.rows('CREATE TABLE copied AS FROM t');
    expect(await sql.rows("SELECT status FROM crawls() WHERE target = 't'")).toEqual([{ status: 'running' }]);
    gate.open();
    await sql.rest();
    expect(await sql.rows(ROWS)).toEqual([{ n: 301, urls: 301 }]);
    expect(await sql.rows('SELECT status, rows, waiting, errors FROM crawls()')).toEqual([
      { status: 'completed', rows: 301, waiting: 0, errors: 0 },
    ]);
    const [{ n: copied }] = await sql.rows('SELECT count(*) AS n FROM copied');
    expect(copied).toBeGreaterThanOrEqual(some);
  });

  it('a transaction that was given up takes no row of the CRAWL with it', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    await sql.rows('CREATE TABLE other (x INTEGER)');
    await sql.rows(`CRAWL (${range(web.origin, 100)}) INTO t WITH (${QUICK}, background true)`);
    await sql.rows('BEGIN; INSERT INTO other VALUES (1)');
    await sql.rest();
    await sql.rows('ROLLBACK');
    expect(await sql.rows(ROWS)).toEqual([{ n: 100, urls: 100 }]);
    expect(await sql.rows('SELECT count(*) AS n FROM other')).toEqual([{ n: 0 }]);
  });

  it('the user may write into the table: rows of both stay', async () => {
    const gate = createGate();
    const web = await bench.web({ pages: { '/p*': gate.behind(titled) } });
    const sql = await bench.open();
    await sql.rows(`CRAWL (${range(web.origin, 40)}) INTO t WITH (${QUICK}, background true)`);
    await sql.rows("BEGIN; INSERT INTO t (url) VALUES ('mine')");
    gate.open();
    await web.asked('/p39');
    await sql.rows('COMMIT');
    await sql.rest();
    expect(await sql.rows(ROWS)).toEqual([{ n: 41, urls: 41 }]);
  });

  it('a query that is read slowly and one that takes long do not hold up rows', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    await sql.rows(`CRAWL (${range(web.origin, 60)}) INTO t WITH (${QUICK}, background true)`);
    let pieces = 0;
    const output = {
      async write() {
        // The reader takes its second piece only when the CRAWL has ended.
        if (++pieces === 2) await sql.rest();
      },
    };
    await sql.run('SELECT i FROM range(200000) r(i)', { format: 'csv', output });
    expect(pieces).toBeGreaterThan(2);
    expect(await sql.rows(ROWS)).toEqual([{ n: 60, urls: 60 }]);
  });

  it('crawl() of the same host gets its turn, and both end', async () => {
    const web = await bench.web({ pages: { '/p*': titled, '/q*': titled } });
    const sql = await bench.open();
    await sql.rows(`CRAWL (${range(web.origin, 80)}) INTO t WITH (${QUICK}, background true)`);
    const urls = Array.from({ length: 20 }, (_, i) => `'${web.url(`/q${i}`)}'`).join(', ');
    const options = `options := {default_crawl_delay: 0}`;
    expect(await sql.rows(`SELECT count(*) AS n FROM crawl([${urls}], ${options})`)).toEqual([{ n: 20 }]);
    await sql.rest();
    expect(await sql.rows(ROWS)).toEqual([{ n: 80, urls: 80 }]);
  });

  it('crawl() does not wait for ever for a CRAWL that replaces rows on the same host', async () => {
    const gate = createGate();
    let isUp = false;
    const web = await bench.web({
      pages: {
        '/p*': (exchange) => (isUp ? gate.behind(titled)(exchange) : answer(exchange, { status: 404 })),
        '/q*': titled,
        '/first': titled,
      },
      hosts: 2,
    });
    const sql = await bench.open();
    const statement = `CRAWL (${range(web.origin, 40)}) INTO t WITH (${QUICK}, max_parallel_per_domain 2, batch_size 1)`;
    await sql.rows(statement);
    await sql.rows("UPDATE t SET http_status = 500, error_type = 'http_server_error'");
    isUp = true;
    await sql.rows(statement.replace('batch_size 1', 'batch_size 1, background true'));
    await web.asked('/p0', 2);
    // By its first request the function is known to hold the DuckDB thread; the rows come after that.
    const options = 'options := {default_crawl_delay: 0, max_parallel_per_domain: 2}';
    const listening = sql.rows(
      `SELECT count(*) AS n FROM crawl(['${web.url('/first', 1)}', '${web.url('/q1')}'], ${options})`,
    );
    await web.asked('/first');
    gate.open();
    expect(await listening).toEqual([{ n: 2 }]);
    await sql.rest();
    expect(
      await sql.rows('SELECT count(*) AS n, count(DISTINCT url) AS urls, min(http_status) AS s FROM t'),
    ).toEqual([{ n: 40, urls: 40, s: 200 }]);
  });

  it('crawl() does not wait for ever for a CRAWL whose condition is asked of DuckDB', async () => {
    const pages = {
      '/': page('Home', ...Array.from({ length: 40 }, (_, i) => `/p${i}`)),
      '/p*': linked,
      '/q*': titled,
    };
    const web = await bench.web({ pages });
    const sql = await bench.open();
    const where = "WHERE strpos(url, 'never') = 0";
    await sql.rows(
      `CRAWL (SELECT '${web.url('/')}') INTO t ${where} WITH (${QUICK}, follow_links true, sitemaps never, max_parallel_per_domain 2, background true)`,
    );
    const urls = Array.from({ length: 10 }, (_, i) => `'${web.url(`/q${i}`)}'`).join(', ');
    expect(
      await sql.rows(
        `SELECT count(*) AS n FROM crawl([${urls}], options := {default_crawl_delay: 0, max_parallel_per_domain: 2})`,
      ),
    ).toEqual([{ n: 10 }]);
    await sql.rest();
    expect(await sql.rows(ROWS)).toEqual([{ n: 41 + 40, urls: 81 }]);
  });
});

const linked: Handler = (exchange) =>
  answer(exchange, { body: page(exchange.path, exchange.path.endsWith('/x') ? '/' : `${exchange.path}/x`) });

describe('a table that is changed meanwhile', () => {
  it.each([
    ['dropped', 'DROP TABLE t', /dropped/],
    ['given a column', 'ALTER TABLE t ADD COLUMN more INTEGER', /altered/],
    ['deprived of a column', 'ALTER TABLE t DROP COLUMN title', /altered/],
    ['given another name', 'ALTER TABLE t RENAME TO u', /dropped|altered/],
    ['given a column of another name', 'ALTER TABLE t RENAME COLUMN title TO heading', /altered/],
    ['made anew', 'CREATE OR REPLACE TABLE t (url VARCHAR)', /dropped|altered/],
  ])('%s ends the CRAWL with an error; rows stay, and it goes on', async (_, change, says) => {
    const gate = createGate();
    const web = await bench.web({ pages: { '/p*': titled, '/later*': gate.behind(titled) } });
    const sql = await bench.open();
    const statement = `CRAWL (${range(web.origin, 10)} UNION ALL ${range(web.origin, 5, 'later')}) INTO t WITH (${QUICK}, background true)`;
    await sql.rows(statement);
    await web.asked('/later0');
    while ((await someRows(sql)) < 10);
    await sql.rows(change);
    gate.open();
    const error = await failureOf(sql.rest());
    expect([error.code, error.message]).toEqual(['sql-target-lost', expect.stringMatching(says)]);
    expect(await sql.rows('SELECT status FROM crawls()')).toEqual([{ status: 'failed' }]);
    const kept = change.includes('RENAME TO') ? 'u' : change.startsWith('ALTER') ? 't' : null;
    if (kept !== null) expect(await sql.rows(`SELECT count(*) AS n FROM ${kept}`)).toEqual([{ n: 10 }]);
    const before = web.log.length;
    await sql.rows(statement);
    await sql.rest();
    expect(await sql.rows(ROWS)).toEqual([{ n: 15, urls: 15 }]);
    const asked = web.log.slice(before).filter(({ path }) => path !== '/robots.txt');
    expect(asked.length).toBe(kept === 't' ? 5 : 15);
  });

  it('a row that was deleted meanwhile is not missed: it is asked for by the next CRAWL', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    const statement = `CRAWL (${range(web.origin, 10)}) INTO t WITH (${QUICK})`;
    await sql.rows(statement);
    await sql.rows("DELETE FROM t WHERE url LIKE '%/p3'");
    expect(await sql.rows(statement)).toMatchObject([{ Count: 1 }]);
    expect(await sql.rows(ROWS)).toEqual([{ n: 10, urls: 10 }]);
  });
});

describe('the end', () => {
  it('STOP CRAWL stops all or one, says which, and the same statements go on', async () => {
    let isSlow = true;
    const slowly: Handler = (exchange) => {
      if (isSlow) setTimeout(() => titled(exchange), 50);
      else titled(exchange);
    };
    const web = await bench.web({ hosts: 2, pages: { '0:/p*': titled, '1:/p*': slowly } });
    const sql = await bench.open();
    const one = `CRAWL (${range(web.origins[0], 20)}) INTO t WITH (${QUICK}, background true)`;
    const two = `CRAWL (${range(web.origins[1], 400)}) INTO u WITH (${QUICK}, max_parallel_per_domain 1, background true)`;
    await sql.rows(`${one}; ${two}`);
    await web.asked('/p0', 2);
    expect((await sql.error('STOP CRAWL INTO v')).code).toBe('sql-no-crawl');
    expect(await sql.rows('stop crawl into u')).toMatchObject([{ id: 2, status: 'stopped' }]);
    await sql.rest();
    expect(await sql.rows('SELECT status FROM crawls() ORDER BY id')).toEqual([
      { status: 'completed' },
      { status: 'stopped' },
    ]);
    expect(await sql.rows('STOP CRAWL')).toEqual([]);
    isSlow = false;
    await sql.rows(two);
    await sql.rest();
    expect(await sql.rows(ROWS.replace('FROM t', 'FROM u'))).toEqual([{ n: 400, urls: 400 }]);
    expect(web.log.filter(({ host }) => host === 1).length).toBe(401);
  });

  it('of a script is waited for by the next one: both have their whole results', async () => {
    const sql = await bench.open();
    const count = (length: number) => sql.rows(`SELECT i FROM range(${length}) r(i)`);
    const results = await Promise.all([count(30_000), count(20_000), count(10)]);
    expect(results.map(({ length }) => length)).toEqual([30_000, 20_000, 10]);
  });

  it('of the session ends a background CRAWL in good order; the next session goes on', async () => {
    const gate = createGate();
    const web = await bench.web({ pages: { '/p*': titled, '/later*': gate.behind(titled) } });
    const file = join(bench.folder(), 'x.duckdb');
    const sql = await bench.open(file);
    const statement = `CRAWL (${range(web.origin, 30)} UNION ALL ${range(web.origin, 20, 'later')}) INTO t WITH (${QUICK}, background true)`;
    await sql.rows(statement);
    await web.asked('/later0');
    while ((await someRows(sql)) < 30);
    const closed = sql.close();
    gate.open();
    await closed;
    const again = await bench.open(file);
    const [{ n }] = await again.rows(ROWS);
    expect(n).toBeGreaterThanOrEqual(30);
    expect(n).toBeLessThan(50);
    await again.rows(statement);
    await again.rest();
    expect(await again.rows(ROWS)).toEqual([{ n: 50, urls: 50 }]);
    const pages = web.log.filter(({ path }) => path !== '/robots.txt').map(({ path }) => path);
    expect(new Set(pages).size).toBe(pages.length);
  });

  it('by an interrupt keeps the rows of a CRAWL; the session lives on', async () => {
    const gate = createGate();
    const web = await bench.web({ pages: { '/p*': titled, '/later*': gate.behind(titled) } });
    const sql = await bench.open();
    const statement = `CRAWL (${range(web.origin, 10)} UNION ALL ${range(web.origin, 10, 'later')}) INTO t WITH (${QUICK})`;
    const running = failureOf(sql.rows(statement));
    await web.asked('/later0');
    sql.interrupt();
    gate.open();
    expect((await running).code).toBe('sql-interrupted');
    const [{ n }] = await sql.rows(ROWS);
    expect(n).toBeGreaterThanOrEqual(10);
    expect(n).toBeLessThan(20);
    expect(await sql.rows('SELECT status FROM crawls()')).toEqual([{ status: 'stopped' }]);
    expect(await sql.rows(statement)).toMatchObject([{ Count: 20 - (n as number) }]);
    expect(await sql.rows(ROWS)).toEqual([{ n: 20, urls: 20 }]);
  });

  it('by an interrupt before the first request makes none', async () => {
    const web = await bench.web({ pages: { '/p*': titled } });
    const sql = await bench.open();
    for (const slow of [
      'SELECT count(*)::VARCHAR FROM range(1000000000000) r(i) WHERE hash(i) = 7',
      range(web.origin, 10),
    ]) {
      const running = failureOf(sql.rows(`CRAWL (${slow}) INTO t WITH (${QUICK})`));
      sql.interrupt();
      expect((await running).code).toBe('sql-interrupted');
    }
    expect(web.log).toEqual([]);
    expect(await sql.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });

  it('by an interrupt of a long query, of one that waits for the web, and of a wait between statements', async () => {
    const gate = createGate();
    const web = await bench.web({ pages: { '/held': gate.behind(titled), '/p*': titled } });
    const sql = await bench.open();
    const long = failureOf(
      sql.rows('SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 7; SELECT 1'),
    );
    sql.interrupt();
    expect((await long).code).toBe('sql-interrupted');
    const waiting = failureOf(sql.rows(`SELECT title FROM crawl('${web.url('/held')}')`));
    await web.asked('/held');
    sql.interrupt();
    expect((await waiting).code).toBe('sql-interrupted');
    gate.open();
    sql.interrupt();
    expect(await sql.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
    expect(await sql.rows(`SELECT title FROM crawl('${web.url('/p1')}')`)).toEqual([{ title: '/p1' }]);
  });
});
