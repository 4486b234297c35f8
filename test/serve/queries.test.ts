/** Queries of programs that are not trusted: what they read, how they are bounded, and that they hold nobody up. */
import { describe, expect, it } from 'vitest';
import { page, useBench } from '../crawls/crawl-site.ts';
import { crawlInto, eachStore, type StorePlace } from '../crawls/each-store.ts';
import { answer } from '../web/fake-web.ts';
import { addressOf, crawlSmallSite, errorOf, SMALL_SITE as SITE, useAsking } from './ask-queries.ts';

const bench = useBench();
const STORES = eachStore(bench);
const asking = useAsking();
const crawled = (place: StorePlace, project?: string, pages?: Record<string, string>) =>
  crawlSmallSite(bench, place, project, pages);

/** Rows without an end that anybody sees. */
const ENDLESS = 'SELECT sum(a.range * b.range) FROM range(10000000000) a, range(1000) b';

describe.each(['SQLite', 'PostgreSQL'] as const)('a query on %s', (store) => {
  it('sees the views of its project, also by the name of the catalog, and nothing of others', async () => {
    const place = await STORES[store]();
    const origin = await crawled(place);
    await crawled(place, 'two', { ...SITE, '/': page('Secret of two', '/a', '/c'), '/c': page('C') });
    const ask = asking(addressOf(place));
    const found = await ask('SELECT url, title, status_code FROM pages ORDER BY id');
    expect(found).toMatchObject({
      columns: [
        { name: 'url', type: 'VARCHAR' },
        { name: 'title', type: 'VARCHAR' },
        { name: 'status_code', type: 'INTEGER' },
      ],
      rows: [
        [`${origin}/`, 'Home', 200],
        [`${origin}/a`, 'A', 200],
        [`${origin}/b`, 'B', 200],
      ],
      truncated: false,
    });
    expect((await ask('FROM site.main.pages SELECT count(*)')).rows).toEqual([[3]]);
    expect(await ask('SELECT count(*) FROM sumi_pages').catch((error) => error.code)).toBe('query-no-table');
    const tables = (await ask('SHOW TABLES')).rows.flat() as string[];
    for (const table of tables) {
      const { rows } = await ask(`SELECT * FROM ${table}`);
      expect(JSON.stringify(rows), table).not.toContain('Secret of two');
    }
    const [[projects]] = (await ask('SELECT list(DISTINCT project) FROM runs')).rows;
    expect(projects).toEqual(['one']);
  });

  it('is answered while a crawl writes', async () => {
    const place = await STORES[store]();
    let release = () => {};
    const web = await bench.web({
      pages: {
        ...SITE,
        '/b': (exchange) => {
          release = () => answer(exchange, { body: page('B') });
        },
      },
    });
    const { handle } = await crawlInto(place, web.origin, { project: 'one' });
    await web.asked('/b');
    const ask = asking(addressOf(place));
    await expect
      .poll(async () => (await ask("SELECT count(*) FROM pages WHERE state = 'Processed'")).rows[0][0])
      .toBe(2);
    release();
    expect((await handle.finished).pages).toBe(3);
    expect((await ask("SELECT count(*) FROM pages WHERE state = 'Processed'")).rows).toEqual([[3]]);
  });

  it('says which project there is not', async () => {
    const place = await STORES[store]();
    await crawled(place);
    const error = await errorOf(asking(addressOf(place), 'three')('SELECT 1'));
    expect(error.httpStatus).toBe(404);
  });
});

describe('a query', () => {
  it('has its tables and columns told', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    expect((await ask('SHOW TABLES')).rows.flat()).toEqual([
      'cc_index',
      'hosts',
      'links',
      'live',
      'page_changes',
      'pages',
      'runs',
      'sitemap_entries',
      'visits',
    ]);
    expect((await ask('DESCRIBE pages')).rows).toContainEqual(
      expect.arrayContaining(['visited_at', 'TIMESTAMP']),
    );
    expect((await ask('SUMMARIZE SELECT status_code FROM pages')).rows).toHaveLength(1);
    const columns = await ask(
      "SELECT column_name FROM information_schema.columns WHERE table_name = 'hosts'",
    );
    expect(columns.rows.flat()).toContain('known_urls');
    expect(JSON.stringify((await ask('EXPLAIN SELECT * FROM pages')).rows)).toContain('SUMI_SITE');
    expect((await ask('EXPLAIN ANALYZE SELECT * FROM pages')).rows).toHaveLength(1);
  });

  it('gives values as JSON holds them', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    const values: [sql: string, expected: unknown][] = [
      ['9007199254740991::BIGINT', 9007199254740991],
      ['9007199254740993::BIGINT', '9007199254740993'],
      ['(-9007199254740993)::BIGINT', '-9007199254740993'],
      ['sum(1)', 1],
      ["'nan'::DOUBLE", 'nan'],
      ["'-inf'::DOUBLE", '-inf'],
      ['1.5::DOUBLE', 1.5],
      ['1.10::DECIMAL(4, 2)', '1.10'],
      ["TIMESTAMP '2026-01-02 03:04:05.678'", '2026-01-02T03:04:05.678Z'],
      ["TIMESTAMPTZ '2026-01-02 03:04:05+02'", '2026-01-02T01:04:05Z'],
      ["DATE '2026-01-02'", '2026-01-02'],
      ["TIMESTAMP 'infinity'", 'infinity'],
      ["'\\x00\\xFF'::BLOB", 'AP8='],
      ['true', true],
      ['NULL', null],
      ['[1, NULL, 2]', [1, null, 2]],
      ["{a: 1, b: ['x'], c: {d: 9007199254740993}}", { a: 1, b: ['x'], c: { d: '9007199254740993' } }],
      ["MAP {'k': [1]}", { k: [1] }],
      ['\'{"a": [1, true]}\'::JSON', { a: [1, true] }],
      ['\'{"a": 12345678901234567890}\'::JSON', '{"a": 12345678901234567890}'],
      ['row(1, 2)', [1, 2]],
      ['1e400::DOUBLE', 'inf'],
    ];
    const found = await ask(`SELECT ${values.map(([sql]) => sql).join(', ')}`);
    expect(found.rows[0]).toEqual(values.map(([, expected]) => expected));
    expect(JSON.parse(JSON.stringify(found.rows[0]))).toEqual(found.rows[0]);
  });

  it('takes parameters by place and by name, also lists', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    expect((await ask('SELECT ? + ?, ?', { params: [1, 2, "'; DROP TABLE pages"] })).rows).toEqual([
      [3, "'; DROP TABLE pages"],
    ]);
    expect((await ask('SELECT $a, len($b)', { params: { a: null, b: ['x', 'y'] } })).rows).toEqual([
      [null, 2],
    ]);
    expect((await errorOf(ask('SELECT $a', { params: { b: 1 } }))).httpStatus).toBe(400);
    expect((await errorOf(ask('SELECT $1'))).httpStatus).toBe(400);
  });

  it('that cannot be read is told with line and column', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    const places: [sql: string, code: string, line: number, column: number][] = [
      ['SELECT 1\nFRM pages', 'sql-syntax', 2, 5],
      ["SELECT 'é',\n  nothing FROM pages", 'sql-failed', 2, 3],
      ["-- é\n SELECT 'open", 'sql-syntax', 2, 9],
      ["SELECT '😀', x FROM\n\n  other", 'query-no-table', 3, 3],
    ];
    for (const [sql, code, line, column] of places) {
      const error = await errorOf(ask(sql));
      expect({ code: error.code, ...error.details }, sql).toMatchObject({ code, line, column });
      expect(error.httpStatus).toBe(400);
      expect(error.message).not.toContain('.help');
    }
  });

  it('that fails after its first rows is no answer', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    const error = await errorOf(
      ask("SELECT CASE WHEN range = 9000 THEN error('late') END FROM range(20000)", { limit: 10_000 }),
    );
    expect(error.message).toContain('late');
  });

  it('is cut in rows, in the size of a cell and as a whole, and says so', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    const cut = await ask('FROM range(100)', { limit: 7 });
    expect(cut).toMatchObject({ truncated: true, rows: { length: 7 } });
    expect((await ask('FROM range(7)', { limit: 7 })).truncated).toBe(false);
    const most = await ask('FROM range(1000000000000)', { limit: 1_000_000 });
    expect(most).toMatchObject({ truncated: true, rows: { length: 10_000 } });
    const long = await ask("SELECT repeat('é', 100000), [repeat('x', 100000)]");
    expect(long.truncated).toBe(true);
    expect(long.rows[0].map((cell) => String(cell).length)).toEqual([65_536, 65_536]);
    const wide = await ask("SELECT repeat('x', 60000) FROM range(1000)");
    expect(wide.truncated).toBe(true);
    expect(JSON.stringify(wide.rows).length).toBeLessThan(8 * 1024 * 1024 + 1000);
    expect(wide.rows.length).toBeGreaterThan(100);
  });

  it('is stopped when its time is over, its waiting counted, and the next one is answered', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    await ask('SELECT 1');
    const all = await Promise.all([
      ...[1, 2].map(() => errorOf(ask(ENDLESS, { timeoutMs: 1500 }))),
      errorOf(ask('SELECT 1', { timeoutMs: 500 })),
    ]);
    expect(all.map(({ code, httpStatus }) => [code, httpStatus])).toEqual([
      ['query-timeout', 408],
      ['query-timeout', 408],
      ['query-timeout', 408],
    ]);
    expect((await ask('SELECT 1')).rows).toEqual([[1]]);
  });

  it('is stopped in the middle of one call that DuckDB cannot interrupt', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    expect((await errorOf(ask("SELECT md5(lpad('x', 900000000, 'y'))", { timeoutMs: 1000 }))).code).toBe(
      'query-timeout',
    );
    expect((await ask('SELECT 1')).rows).toEqual([[1]]);
  });

  it('is stopped when it needs too much memory, also outside of what DuckDB counts', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    const hungry = ["SELECT md5(repeat('x', 4000000000))", 'SELECT len(list(range)) FROM range(300000000)'];
    for (const sql of hungry)
      expect(await errorOf(ask(sql, { timeoutMs: 60_000 })), sql).toMatchObject({
        code: 'query-memory',
        httpStatus: 408,
      });
    expect((await ask('SELECT 1')).rows).toEqual([[1]]);
  });

  it('ends with who asked', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    await ask('SELECT 1');
    const stop = new AbortController();
    const asked = errorOf(ask(ENDLESS, { signal: stop.signal }));
    stop.abort();
    expect((await asked).code).toBe('query-stopped');
    expect((await errorOf(ask('SELECT 1', { signal: AbortSignal.abort() }))).code).toBe('query-stopped');
    expect((await Promise.all([1, 2, 3, 4].map(() => ask('SELECT 2')))).map(({ rows }) => rows)).toEqual(
      [1, 2, 3, 4].map(() => [[2]]),
    );
  });

  it('leaves nothing behind for the next one', async () => {
    const place = await STORES.SQLite();
    await crawled(place);
    const ask = asking(addressOf(place));
    for (const sql of [
      'CREATE TEMP TABLE kept AS SELECT 1',
      'SET VARIABLE kept = 1',
      'PREPARE kept AS SELECT 1',
    ])
      expect((await errorOf(ask(sql))).code).toBe('query-refused');
    expect((await errorOf(ask('FROM kept'))).code).toBe('query-no-table');
  });
});
