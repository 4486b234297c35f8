import { describe, expect, it } from 'vitest';
import { SumiError } from '../../errors.ts';
import { errorInScript } from './place.ts';
import type { CrawlStatement } from './read-crawl.ts';
import { readStatement } from './read-statement.ts';

/** `line:column message hint` of what a statement is refused with. */
function refused(text: string): string {
  try {
    readStatement(text);
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    expect(error.code).toBe('sql-syntax');
    expect(error.hint).toMatch(/^[A-Z].*\.$/s);
    const { line, column, problem } = error.details;
    return `${line}:${column} ${problem}`;
  }
  throw new Error(`taken: ${text}`);
}

const crawl = (text: string) => readStatement(text) as CrawlStatement;
const CRAWL = 'CRAWL (SELECT 1) INTO t';

describe('whose a statement is', () => {
  it.each([
    ['CRAWL (SELECT 1) INTO t', 'crawl'],
    ['/* a */ crawl/**/(select 1)into t', 'crawl'],
    ['-- a\nExplain -- b\n Crawl (SELECT 1) INTO t', 'crawl'],
    ['STOP CRAWL', 'stop-crawl'],
    ['stop /* it */ crawl into t;', 'stop-crawl'],
    ['Show Crawls', 'show-crawls'],
    ['SHOW CRAWLS ;', 'show-crawls'],
    [`ATTACH 'a.db' AS a (TYPE sumi)`, 'attach-site'],
    ['', 'duckdb'],
    ['SELECT 1', 'duckdb'],
    ['FROM crawl', 'duckdb'],
    ['"crawl" (1)', 'duckdb'],
    [`'CRAWL (SELECT 1) INTO t'`, 'duckdb'],
    ['CREATE TABLE crawl (a INTEGER)', 'duckdb'],
    ['WITH crawl AS (SELECT 1) FROM crawl', 'duckdb'],
    ['EXPLAIN SELECT * FROM crawl', 'duckdb'],
    ['EXPLAIN ANALYZE SELECT 1', 'duckdb'],
    ['SHOW TABLES', 'duckdb'],
    ['SHOW crawls.main', 'duckdb'],
    ['SHOW "crawls"', 'duckdb'],
    ['SHOW crawl', 'duckdb'],
    [`ATTACH 'a.db' AS a`, 'duckdb'],
    [`ATTACH 'a.db' AS sumi (READ_ONLY)`, 'duckdb'],
    [`ATTACH 'a.db' AS a (TYPE sqlite)`, 'duckdb'],
  ])('%s: %s', (text, kind) => {
    expect(readStatement(text).kind).toBe(kind);
  });

  it(`DuckDB's are kept as they are`, () => {
    expect(readStatement(' SELECT /* a */ 1; ')).toEqual({ kind: 'duckdb', text: ' SELECT /* a */ 1; ' });
  });
});

describe('CRAWL', () => {
  it('has a query and a table', () => {
    expect(crawl(`CRAWL (SELECT ')', f(x) FROM "a)" -- )\n WHERE b = $1 ) INTO pages`)).toEqual({
      kind: 'crawl',
      isExplain: false,
      query: { text: `SELECT ')', f(x) FROM "a)" -- )\n WHERE b = $1`, start: 7 },
      target: {
        catalog: null,
        schema: null,
        table: 'pages',
        written: { text: 'pages', start: 60 },
        place: { line: 2, column: 22 },
      },
      extract: [],
      condition: null,
      options: [],
      limit: null,
      text: `CRAWL (SELECT ')', f(x) FROM "a)" -- )\n WHERE b = $1 ) INTO pages`,
    });
  });

  it('may be explained; its text begins with CRAWL', () => {
    expect(crawl(`explain ${CRAWL}`)).toMatchObject({ isExplain: true, text: CRAWL, query: { start: 15 } });
  });

  it.each([
    ['pages', [null, null, 'pages']],
    ['Web.Pages', [null, 'Web', 'Pages']],
    ['file.main.pages', ['file', 'main', 'pages']],
    ['"my file" . "a""b".\n"WITH"', ['my file', 'a"b', 'WITH']],
    ['a.where', [null, 'a', 'where']],
    ['数据', [null, null, '数据']],
  ])('writes into %s', (name, parts) => {
    const { catalog, schema, table, written } = crawl(`CRAWL (SELECT 1) INTO ${name} LIMIT 1`).target;
    expect([catalog, schema, table]).toEqual(parts);
    expect(written.text).toBe(name);
  });

  it('takes its clauses in any order', () => {
    const clauses = [`EXTRACT (css 'h1')`, `WHERE url LIKE '%/limit/%'`, `WITH (threads 4)`, 'LIMIT 7'];
    const orders = (rest: string[]): string[][] =>
      rest.length === 0
        ? [[]]
        : rest.flatMap((one) => orders(rest.filter((other) => other !== one)).map((o) => [one, ...o]));
    const all = orders(clauses);
    expect(all).toHaveLength(24);
    for (const order of all) {
      const text = `${CRAWL} ${order.join(' ')}`;
      const read = crawl(text);
      expect(
        read.extract.map(({ name }) => name),
        text,
      ).toEqual(['h1']);
      expect(read.condition?.text, text).toBe(`url LIKE '%/limit/%'`);
      expect(text.startsWith(read.condition!.text, read.condition!.start)).toBe(true);
      expect(
        read.options.map(({ name, value }) => [name, value]),
        text,
      ).toEqual([['threads', '4']]);
      expect(read.limit, text).toBe(7);
    }
  });

  it.each([
    `url LIKE 'with' AND url <> 'limit 5'`,
    `CASE WHEN url LIKE '%a' THEN true ELSE (SELECT x FROM t LIMIT 1) END`,
    `url IN (SELECT a FROM t WHERE b LIMIT 3)`,
    'EXTRACT(year FROM now()) > 2000',
    "a AND extract('year' FROM now()) = 3 OR NOT extract(hour FROM now()) > 1",
    'x = extract(year FROM now())',
    `now()::timestamp with time zone > '2020-01-01'`,
    `url = "limit" AND t.limit = [1, 2][1] AND {'with': 1} IS NOT NULL`,
    'url /* WITH (threads */ = $$ LIMIT 1 $$',
    `(WITH a AS (SELECT true AS b) SELECT b FROM a LIMIT 1)`,
  ])('its condition ends where a clause begins: %s', (condition) => {
    for (const rest of ['', ' WITH (threads 4)', ' LIMIT 3', ` EXTRACT (css 'a')`]) {
      expect(crawl(`${CRAWL} WHERE ${condition}${rest}`).condition).toEqual({ text: condition, start: 30 });
    }
  });

  it.each([
    ['0', 0],
    ['10', 10],
    ['1_000', 1000],
  ])('LIMIT %s', (text, limit) => {
    expect(crawl(`${CRAWL} LIMIT ${text}`).limit).toBe(limit);
  });

  it.each([
    ['CRAWL', '1:6 found the end after CRAWL; expected ('],
    [`CRAWL SELECT 'a' INTO t`, '1:7 found SELECT after CRAWL; expected ('],
    ['CRAWL () INTO t', '1:8 there is nothing in the brackets after CRAWL; expected a query'],
    [`CRAWL (SELECT '🦆')`, '1:19 found the end after the query; expected INTO'],
    [`CRAWL (SELECT '🦆') pages`, '1:20 found pages after the query; expected INTO'],
    ['CRAWL (SELECT 1 INTO t', '1:7 the bracket ( is never closed; expected )'],
    ['CRAWL (SELECT 1)) INTO t', '1:17 the bracket ) closes nothing; expected an opening one before it'],
    ['CRAWL (SELECT [1)] INTO t', '1:17 the bracket ) closes nothing; expected ]'],
    ['CRAWL (SELECT 1) INTO', '1:22 found the end after INTO; expected the name of a table'],
    ['CRAWL (SELECT 1) INTO WHERE true', '1:23 found WHERE after INTO; expected the name of a table'],
    [`CRAWL (SELECT 1) INTO 'pages'`, `1:23 found 'pages' after INTO; expected the name of a table`],
    ['CRAWL (SELECT 1) INTO ""', '1:23 the name "" is empty; expected the name of a table'],
    ['CRAWL (SELECT 1) INTO a.b.c.d', '1:29 found d after .; expected the name of a table'],
    ['CRAWL (SELECT 1) INTO a.', '1:25 found the end after .; expected the name of a table'],
    [`${CRAWL} ORDER BY 1`, '1:25 found ORDER after t; expected EXTRACT, WHERE, WITH, LIMIT or the end'],
    [`${CRAWL} LIMIT 5 + 5`, '1:33 found + after 5; expected EXTRACT, WHERE, WITH or the end'],
    [`${CRAWL} LIMIT 5 LIMIT 6`, '1:33 LIMIT stands here a second time; expected it once'],
    [`${CRAWL} WHERE a WHERE b`, '1:33 WHERE stands here a second time; expected it once'],
    [`${CRAWL} WHERE`, '1:30 found the end after WHERE; expected a condition'],
    [`${CRAWL} WHERE LIMIT 1`, '1:31 found LIMIT after WHERE; expected a condition'],
    [`${CRAWL} LIMIT`, '1:30 LIMIT is the end; expected a whole number of at least 0'],
    [`${CRAWL} LIMIT -1`, '1:31 LIMIT is -1; expected a whole number of at least 0'],
    [`${CRAWL} LIMIT 1.5`, '1:31 LIMIT is 1.5; expected a whole number of at least 0'],
    [
      `${CRAWL} LIMIT 99999999999999999999`,
      '1:31 LIMIT is 99999999999999999999; expected a whole number of at least 0',
    ],
    [`${CRAWL} LIMIT 'a'`, `1:31 LIMIT is 'a'; expected a whole number of at least 0`],
    [`${CRAWL} LIMIT ?`, '1:31 LIMIT is ?; expected a whole number of at least 0'],
    [
      `${CRAWL}\n-- 🦆\nWHERE '🦆' = $1`,
      '3:13 the parameter $1 stands outside of the query; expected parameters in the query only',
    ],
    [`${CRAWL} WHERE url = 'a`, `1:37 a string begins with 'a and never ends; expected '`],
    [
      'EXPLAIN ANALYZE CRAWL (SELECT 1) INTO t',
      '1:9 found ANALYZE between EXPLAIN and CRAWL; expected CRAWL',
    ],
    ['STOP CRAWL pages', '1:12 found pages after CRAWL; expected INTO or the end'],
    ['STOP CRAWL INTO', '1:16 found the end after INTO; expected the name of a table'],
    ['STOP CRAWL INTO a b', '1:19 found b after a; expected the end'],
    ['SELECT /* 🦆 */ "abc', '1:16 a quoted name begins with "abc and never ends; expected "'],
  ])('%s is refused', (text, error) => {
    expect(refused(text)).toBe(error);
  });

  it('the place of an error can be counted in the script', () => {
    const place = (text: string) => {
      try {
        return readStatement(text);
      } catch (error) {
        return (errorInScript(error, { line: 4, column: 10 }) as SumiError).details;
      }
    };
    expect(place('CRAWL x')).toMatchObject({ line: 4, column: 16 });
    expect(place('CRAWL\n x')).toMatchObject({ line: 5, column: 2 });
    expect(errorInScript('other', { line: 1, column: 1 })).toBe('other');
  });
});

describe('STOP CRAWL', () => {
  it('names one crawl, or none', () => {
    expect(readStatement('STOP CRAWL')).toEqual({ kind: 'stop-crawl', target: null });
    expect(readStatement('STOP CRAWL INTO web."My Pages"')).toMatchObject({
      target: { catalog: null, schema: 'web', table: 'My Pages' },
    });
  });
});

describe('EXTRACT', () => {
  const items = (text: string) => crawl(`${CRAWL} EXTRACT (${text})`).extract;
  const rule = (text: string) => items(text)[0].rule;

  it.each([
    [`css 'h1'`, { kind: 'css', selector: 'h1', take: 'text', isAll: false }],
    [`CSS 'h1' text`, { kind: 'css', selector: 'h1', take: 'text', isAll: false }],
    [`css 'h1' HTML`, { kind: 'css', selector: 'h1', take: 'html', isAll: false }],
    [`css 'a' ALL`, { kind: 'css', selector: 'a', take: 'text', isAll: true }],
    [`css 'a' TEXT ALL`, { kind: 'css', selector: 'a', take: 'text', isAll: true }],
    [
      `css 'a' attr 'href'`,
      { kind: 'css', selector: 'a', take: 'attribute', attribute: 'href', isAll: false },
    ],
    [
      `css 'a' ATTR 'href' ALL`,
      { kind: 'css', selector: 'a', take: 'attribute', attribute: 'href', isAll: true },
    ],
    [
      `css 'a' ALL ATTR 'href'`,
      { kind: 'css', selector: 'a', take: 'attribute', attribute: 'href', isAll: true },
    ],
    [`css 'a[title=''x'']' ALL`, { kind: 'css', selector: `a[title='x']`, take: 'text', isAll: true }],
    ['jsonld.name', { kind: 'jsonld', path: ['name'] }],
    ['JSONLD.offers.price', { kind: 'jsonld', path: ['offers', 'price'] }],
    ['jsonld.offers.0.price', { kind: 'jsonld', path: ['offers', '0', 'price'] }],
    ['jsonld."@type"', { kind: 'jsonld', path: ['@type'] }],
    ['jsonld.@graph.x', { kind: 'jsonld', path: ['@graph', 'x'] }],
    ['jsonld."a.b".c', { kind: 'jsonld', path: ['a.b', 'c'] }],
    ['og.image', { kind: 'og', name: 'image' }],
    ['og.image:width', { kind: 'og', name: 'image:width' }],
    ['meta.theme-color', { kind: 'meta', name: 'theme-color' }],
    ['meta.dc.title', { kind: 'meta', name: 'dc.title' }],
    ['meta."og:title"', { kind: 'meta', name: 'og:title' }],
    ['meta.article:published_time', { kind: 'meta', name: 'article:published_time' }],
  ])('%s', (text, expected) => {
    expect(rule(text)).toEqual(expected);
    expect(items(`${text} AS x DECIMAL(10,2)`)).toMatchObject([
      { rule: expected, name: 'x', type: 'DECIMAL(10,2)' },
    ]);
  });

  it.each([
    [`css 'h1'`, 'h1', null],
    [`css 'div.price > span'`, 'div_price_span', null],
    [`css '*'`, 'css', null],
    [`css '.5-stars'`, '_5_stars', null],
    [`css '.preço'`, 'preço', null],
    ['jsonld.offers.price', 'price', null],
    ['jsonld.@type', 'type', null],
    ['jsonld.datePublished TIMESTAMP', 'datePublished', 'TIMESTAMP'],
    ['og.image:width INTEGER', 'image_width', 'INTEGER'],
    ['meta.dc.title', 'title', null],
    [`css 'a' ATTR 'href' ALL AS links VARCHAR[]`, 'links', 'VARCHAR[]'],
    [`css 'a' TEXT AS t TEXT`, 't', 'TEXT'],
    [`css 'a' TEXT TEXT`, 'a', 'TEXT'],
    [`css 'a' AS "My Col" STRUCT(a INTEGER, b VARCHAR[])`, 'My Col', 'STRUCT(a INTEGER, b VARCHAR[])'],
    [`css 'a' AS t TIMESTAMP /* x */ WITH TIME ZONE`, 't', 'TIMESTAMP /* x */ WITH TIME ZONE'],
    [`css 'a' AS mood ENUM('good, really', 'bad')`, 'mood', `ENUM('good, really', 'bad')`],
    [`css 'a' AS price DECIMAL(10,2)`, 'price', 'DECIMAL(10,2)'],
  ])('%s is the column %s', (text, name, type) => {
    expect(items(text)).toMatchObject([{ name, type }]);
  });

  it('has several items, with their places', () => {
    const read = crawl(`${CRAWL}\nEXTRACT (css '🦆' AS a, og.title INTEGER,\n  meta.x)`).extract;
    expect(read.map(({ name, place, typePlace }) => [name, place, typePlace])).toEqual([
      ['a', { line: 2, column: 10 }, null],
      ['title', { line: 2, column: 24 }, { line: 2, column: 33 }],
      ['x', { line: 3, column: 3 }, null],
    ]);
  });

  it.each([
    ['', '1:34 found ) after (; expected css, jsonld, og or meta'],
    [`css 'a',`, '1:42 found ) after ,; expected css, jsonld, og or meta'],
    [`xpath '//a'`, '1:34 found xpath in EXTRACT; expected css, jsonld, og or meta'],
    ['css', '1:37 found ) after css; expected a selector in quotes'],
    [`css ' '`, `1:38 found ' ' after css; expected a selector in quotes`],
    ['css h1', '1:38 found h1 after css; expected a selector in quotes'],
    [`css 'a' ATTR`, '1:46 found ) after ATTR; expected the name of an attribute in quotes'],
    [`css 'a' ATTR href`, '1:47 found href after ATTR; expected the name of an attribute in quotes'],
    [
      `css 'a' HTML ATTR 'x'`,
      '1:47 found ATTR where it is said already; expected one of TEXT, HTML, ATTR, and ALL once',
    ],
    [
      `css 'a' ALL ALL`,
      '1:46 found ALL where it is said already; expected one of TEXT, HTML, ATTR, and ALL once',
    ],
    [`css 'a' AS`, '1:44 found ) after AS; expected the name of a column'],
    [`css 'a' AS 'b'`, `1:45 found 'b' after AS; expected the name of a column`],
    [`css 'a' 'b'`, `1:42 found 'b' after 'a'; expected AS, a type, a comma or )`],
    [`css '🦆' = 5`, `1:42 found = after '🦆'; expected AS, a type, a comma or )`],
    ['jsonld', '1:34 jsonld has no complete path behind it; expected names after points'],
    ['jsonld.', '1:34 jsonld has no complete path behind it, found .; expected names after points'],
    ['jsonld.a..b', '1:34 jsonld has no complete path behind it, found b; expected names after points'],
    ['og .title', '1:34 og has no complete path behind it; expected names after points'],
    [`css 'a', meta.A`, '1:43 EXTRACT has two columns A; expected a name for each'],
  ])('(%s) is refused', (text, error) => {
    expect(refused(`${CRAWL} EXTRACT (${text})`)).toBe(error);
  });

  it('needs brackets', () => {
    expect(refused(`${CRAWL} EXTRACT css 'a'`)).toBe('1:33 found css after EXTRACT; expected (');
  });
});

describe('WITH', () => {
  const entries = (text: string) =>
    crawl(`${CRAWL} WITH (${text})`).options.map(({ name, value }) => [name, value]);

  it.each([
    ['threads 4', 'threads', '4'],
    ['THREADS=4', 'threads', '4'],
    ['threads /* = */ = /* x */ 4', 'threads', '4'],
    ['max_retries -1', 'max_retries', '-1'],
    ['max_retries=-1', 'max_retries', '-1'],
    ['max_retries +1', 'max_retries', '1'],
    ['default_crawl_delay 0.5', 'default_crawl_delay', '0.5'],
    ['max_response_bytes 1e6', 'max_response_bytes', '1000000'],
    ['max_response_bytes 1_000', 'max_response_bytes', '1000'],
    ['max_response_bytes 10MB', 'max_response_bytes', '10MB'],
    ['timeout_seconds 2m', 'timeout_seconds', '2m'],
    ['follow_links on', 'follow_links', 'on'],
    ['follow_links = True', 'follow_links', 'True'],
    ['max_crawl_pages none', 'max_crawl_pages', 'none'],
    ['max_crawl_pages NULL', 'max_crawl_pages', null],
    [`user_agent 'It''s (me, really)'`, 'user_agent', `It's (me, really)`],
    [`accept_content_types ['text/html', 'text/*']`, 'accept_content_types', ['text/html', 'text/*']],
    [`accept_content_types = ('text/html')`, 'accept_content_types', ['text/html']],
    ['accept_content_types []', 'accept_content_types', []],
    [`"max_retries" 3`, 'max_retries', '3'],
    ['max-retries 3', 'max_retries', '3'],
    ['Max-Retry-Backoff-Seconds = 3', 'max_retry_backoff_seconds', '3'],
    ['http2 true', 'http2', 'true'],
    ['on-429 suspend', 'on_429', 'suspend'],
    ['retries 3', 'max_retries', '3'],
    ["include '/a,b/'", 'include', '/a,b/'],
  ])('(%s)', (text, name, value) => {
    expect(entries(text)).toEqual([[name, value]]);
    expect(entries(`background true, ${text}`)).toEqual([
      ['background', 'true'],
      [name, value],
    ]);
  });

  it('knows where each key and value stands', () => {
    const [, entry] = crawl(`${CRAWL} WITH (user_agent '🦆',\n threads = 4)`).options;
    expect(entry).toMatchObject({ place: { line: 2, column: 2 }, valuePlace: { line: 2, column: 12 } });
  });

  it.each([
    ['', '1:31 found ) after (; expected the name of an option'],
    ['threads 4,', '1:41 found ) after ,; expected the name of an option'],
    ['threads', '1:31 threads has no value; expected one behind it'],
    ['threads =', '1:31 threads has no value; expected one behind it'],
    ['threads, http2 true', '1:31 threads has no value; expected one behind it'],
    ['threads 4 http2 true', '1:41 found http2 after the value 4; expected a comma or )'],
    ['threads 2 * 4', '1:41 found * after the value 2; expected a comma or )'],
    ['threads = = 4', '1:41 found = after =; expected a value'],
    ['threads -x', '1:40 found x after -; expected a value'],
    ['4 threads', '1:31 found 4 in WITH; expected the name of an option'],
    [`reject_content_types ['a'`, '1:56 the bracket ) closes nothing; expected ]'],
    [`reject_content_types ['a' 'b']`, `1:57 found 'b' in a list; expected ]`],
    [`user_agent '🦆', threads 4, threads 5`, '1:58 threads stands in WITH twice; expected it once'],
    ['max_retries 4, retries 5', '1:46 max_retries and retries set the same; expected one of them'],
    [
      'allow_subdomains true, allowed_hosts any',
      '1:54 allow_subdomains and allowed_hosts set the same; expected one of them',
    ],
    [
      `user_agent '🦆', max_retry 3`,
      '1:47 WITH has no option max_retry; expected one of CRAWL or of docs/options.md',
    ],
    ["db 'x'", '1:31 db cannot be set in CRAWL: what a CRAWL keeps is its table and the file beside it'],
    ['threads $1', '1:39 found $1 after threads; expected a value'],
  ])('(%s) is refused', (text, error) => {
    expect(refused(`${CRAWL} WITH (${text})`)).toBe(error);
  });

  it.each([
    ['max_retry', 'max_retries'],
    ['theads', 'threads'],
    ['depth', 'max_crawl_depth'],
    ['follow-link', 'follow_links'],
  ])('for %s the nearest name is %s', (written, nearest) => {
    try {
      readStatement(`${CRAWL} WITH (${written} 3)`);
      expect.unreachable();
    } catch (error) {
      expect((error as SumiError).hint).toBe(`Try ${nearest}. docs/sql.md lists the names.`);
    }
  });

  it('needs brackets', () => {
    expect(refused(`${CRAWL} WITH threads 4`)).toBe('1:30 found threads after WITH; expected (');
    expect(refused(`${CRAWL} WITH`)).toBe('1:29 found the end after WITH; expected (');
  });
});

describe('ATTACH … (TYPE sumi)', () => {
  it.each([
    [`ATTACH 'sumi.db' AS site (TYPE sumi)`, {}],
    [`attach /* a */ database 'sumi.db' as site (type SUMI)`, {}],
    [`ATTACH IF NOT EXISTS 'sumi.db' AS site (TYPE 'sumi');`, { whenThere: 'keep' }],
    [`ATTACH OR REPLACE DATABASE 'sumi.db' AS site (READ_ONLY, TYPE sumi)`, { whenThere: 'replace' }],
    [`ATTACH 'sumi.db' AS site (TYPE sumi, READ_ONLY true, PROJECT 'my shop')`, { project: 'my shop' }],
    [`ATTACH 'sumi.db' AS "si te" (PROJECT shop, TYPE sumi)`, { project: 'shop', name: 'si te' }],
    [`ATTACH 'postgres://a@b/c' AS site (TYPE sumi)`, { address: 'postgres://a@b/c' }],
  ])('%s', (text, expected) => {
    expect(readStatement(text)).toMatchObject({
      kind: 'attach-site',
      address: 'sumi.db',
      name: 'site',
      project: null,
      whenThere: 'error',
      ...expected,
    });
  });

  it.each([
    [`ATTACH 'a' (TYPE sumi)`, '1:12 found ( after the path; expected AS'],
    ['ATTACH a AS b (TYPE sumi)', '1:8 found a after ATTACH; expected the path of a file in quotes'],
    [`ATTACH '🦆' AS (TYPE sumi)`, '1:15 found ( after AS; expected a name for the database'],
    [`ATTACH 'a' AS b (TYPE sumi, PROJECT)`, '1:36 found ) after PROJECT; expected the name of a project'],
    [
      `ATTACH 'a' AS b (TYPE sumi, PROJCT 'x')`,
      '1:29 ATTACH of a store has no option PROJCT; expected TYPE, PROJECT, READ_ONLY',
    ],
    [`ATTACH 'a' AS b (TYPE sumi, TYPE sumi)`, '1:29 TYPE stands there twice; expected it once'],
    [
      `ATTACH 'a' AS b (TYPE sumi, READ_ONLY false)`,
      '1:39 found false after READ_ONLY; expected TRUE or nothing',
    ],
    [`ATTACH 'a' AS b (TYPE sumi) x`, '1:29 found x after the brackets; expected the end'],
    [`ATTACH IF EXISTS 'a' AS b (TYPE sumi)`, '1:11 found EXISTS after IF; expected NOT'],
  ])('%s is refused', (text, error) => {
    expect(refused(text)).toBe(error);
  });
});
