// The functions inside a real DuckDB, in the thread of the test, with a main thread that answers from a table.
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { SumiError, sumiError } from '../../errors.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import type { FeedRequest, MainThread } from '../thread/feed.ts';
import { FUNCTIONS } from './function-list.ts';
import { publishMacros } from './publish-macros.ts';
import { registerFunctions } from './register-functions.ts';
import { usesWeb } from './uses-web.ts';

/** Batches by kind; a function is asked anew for each feed. */
type Answers = Record<string, (args: never) => unknown[][]>;

interface Asked extends FeedRequest {
  taken: number;
  isClosed: boolean;
}

function fakeMain(answers: Answers) {
  const asked: Asked[] = [];
  const main: MainThread = {
    open(request) {
      const batches = answers[request.kind](request.args as never);
      const entry: Asked = { ...request, taken: 0, isClosed: false };
      asked.push(entry);
      return {
        next: () => batches[entry.taken++] ?? null,
        close() {
          entry.isClosed = true;
        },
      };
    },
  };
  return { main, asked };
}

const row = (url: string, more: Partial<CrawlRow> = {}): CrawlRow => ({
  ...{ url, surtKey: null, httpStatus: 200, contentType: 'text/html', crawlTime: Date.UTC(2026, 0, 2) },
  ...{ error: null, errorType: null, etag: null, lastModified: null, contentHash: null, finalUrl: url },
  ...{ redirectCount: 0, elapsedMs: 5, title: null, depth: 0, inputUrl: url, state: 'Processed' },
  ...{ body: Buffer.from(`<p>${url}</p>`), charset: 'utf-8', headers: [['x', 'y']], text: null, h1: null },
  ...{ metaDescription: null, lang: null, canonical: null, wordCount: 1 },
  ...more,
});

async function open(answers: Answers = {}) {
  const { main, asked } = fakeMain(answers);
  const instance = await DuckDBInstance.create(':memory:');
  const first = await instance.connect();
  const functions = registerFunctions(first, main);
  first.closeSync();
  const connection = await instance.connect();
  await publishMacros(connection);
  const rows = async (sql: string) => {
    try {
      return (await connection.runAndReadAll(sql)).getRowsJson();
    } finally {
      functions.endStatement(connection);
    }
  };
  return { rows, asked, functions, connection, instance };
}

const PAGE = `<table><tr><th>a<th>b<tr><td>1<td>2</table><a href="/x" rel="nofollow ugc">X</a><p class=k>one<p class=k>two`;

describe('functions on URLs', () => {
  it('answer for text, and NULL for NULL and what is no URL', async () => {
    const { rows } = await open();
    expect(
      await rows(`SELECT u, normalize_url(u), surt(u), registrable_domain(u), url_parts(u)
        FROM (VALUES ('HTTP://Shop.Example.co.uk:80/a/../b/?b=2&a=1#f'), (NULL), ('no url')) t(u)`),
    ).toEqual([
      [
        'HTTP://Shop.Example.co.uk:80/a/../b/?b=2&a=1#f',
        'http://shop.example.co.uk/b?a=1&b=2',
        'uk,co,example,shop)/b?a=1&b=2',
        'example.co.uk',
        {
          ...{ scheme: 'http', host: 'shop.example.co.uk', port: null, path: '/b/', query: 'b=2&a=1' },
          ...{ fragment: 'f', domain: 'example.co.uk' },
        },
      ],
      [null, null, null, null, null],
      ['no url', null, 'no url', 'no url', null],
    ]);
    expect(await rows('SELECT normalize_url(NULL), url_parts(NULL), html_text(NULL), "fetch"(NULL)')).toEqual(
      [[null, null, null, null]],
    );
  });

  it('refuse other types with the value and what was expected', async () => {
    const { rows, functions } = await open();
    const error = await rows('SELECT surt([1, 2])').catch((thrown: Error) => thrown);
    expect(functions.errorOf((error as Error).message)).toMatchObject({
      message: 'surt() got [1, 2] as url; expected a text.',
    });
    expect(functions.errorOf('Binder Error: something else')).toBe(null);
  });
});

describe('functions on HTML', () => {
  it('read text, links, tables and selectors, from text and from bytes', async () => {
    const { rows } = await open();
    const html = `'${PAGE}'`;
    expect(await rows(`SELECT html_text('<p>a<br>b'), html_text('<p>h\\xC3\\xA9'::BLOB)`)).toEqual([
      ['a\nb', 'hé'],
    ]);
    expect(
      await rows(`SELECT html_links(${html}, 'http://a.example/d/'), html_links(${html})[1].url`),
    ).toEqual([
      [[{ url: 'http://a.example/x', href: '/x', text: 'X', rel: 'nofollow ugc', nofollow: true }], null],
    ]);
    expect(
      await rows(`SELECT html_table(${html}), html_table(${html}, 2), html_table(${html}, n := 1)[2][1]`),
    ).toEqual([
      [
        [
          ['a', 'b'],
          ['1', '2'],
        ],
        null,
        '1',
      ],
    ]);
    expect(
      await rows(`SELECT css_select(${html}, '.k'), css_select(${html}, 'a', 'rel'), css_select(NULL, 'a')`),
    ).toEqual([[['one', 'two'], ['nofollow ugc'], null]]);
  });

  it('name a selector that is none', async () => {
    const { rows, functions } = await open();
    const error = (await rows(`SELECT css_select('<p>', 'a[')`).catch((thrown) => thrown)) as Error;
    expect(functions.errorOf(error.message)).toMatchObject({
      code: 'selector-invalid',
      details: { selector: 'a[' },
    });
  });
});

describe('fetch()', () => {
  const answers = {
    fetch: ({ urls }: { urls: string[] }) => [
      urls.map((given) => ({ given, row: row(given), isNofollow: false })),
    ],
  };

  it('asks for a vector at once, and for a URL once a statement', async () => {
    const { rows, asked } = await open(answers);
    const sql = `SELECT "fetch"(u).http_status, "fetch"(u).body FROM (VALUES ('http://a/'), (NULL), ('http://b/'), ('http://a/')) t(u)`;
    expect(await rows(sql)).toEqual([
      [200, '<p>http://a/</p>'],
      [null, null],
      [200, '<p>http://b/</p>'],
      [200, '<p>http://a/</p>'],
    ]);
    expect(asked.map(({ args }) => (args as { urls: string[] }).urls)).toEqual([['http://a/', 'http://b/']]);
    await rows(sql);
    expect(asked.length).toBe(2);
  });

  it('works laterally, and gives its columns', async () => {
    const { rows, asked } = await open(answers);
    const found = await rows(`SELECT u, f.* FROM (VALUES ('http://a/'), ('http://b/')) t(u),
      LATERAL (SELECT unnest("fetch"(u))) f ORDER BY u`);
    expect(found.map(([given, url, , status, body]) => [given, url, status, body])).toEqual([
      ['http://a/', 'http://a/', 200, '<p>http://a/</p>'],
      ['http://b/', 'http://b/', 200, '<p>http://b/</p>'],
    ]);
    expect(asked.flatMap(({ args }) => (args as { urls: string[] }).urls).sort()).toEqual([
      'http://a/',
      'http://b/',
    ]);
    expect(await rows(`SELECT f.crawl_time, f.headers['x'] FROM (SELECT "fetch"('http://a/') AS f)`)).toEqual(
      [['2026-01-02 00:00:00', 'y']],
    );
  });

  it('asks for nothing until it runs', async () => {
    const { rows, asked, connection } = await open(answers);
    await rows(`EXPLAIN SELECT "fetch"('http://a/'), * FROM crawl('http://a/')`);
    (await connection.prepare(`SELECT "fetch"('http://a/')`)).destroySync();
    expect(asked).toEqual([]);
    await rows(`SELECT "fetch"(u) FROM (SELECT 'http://a/' || range AS u FROM range(100)) LIMIT 3`);
    expect((asked[0].args as { urls: string[] }).urls.length).toBe(3);
  });

  it('passes options on, and refuses what is none', async () => {
    const { rows, asked, functions } = await open(answers);
    await rows(`SELECT "fetch"('http://a/', {timeout_seconds: 2.5, http_headers: ['a'], threads: 3})`);
    expect(asked[0].args).toMatchObject({
      options: { timeout_seconds: 2.5, http_headers: ['a'], threads: 3 },
    });
    const error = (await rows(`SELECT "fetch"('http://a/', 5)`).catch((thrown) => thrown)) as Error;
    expect(functions.errorOf(error.message)?.message).toContain('got 5 as options');
  });
});

describe('crawl()', () => {
  const crawl = () => Array.from({ length: 1000 }, (_, at) => [row(`http://a/${at}`)]);

  it('takes a text, a list, options by name or place, as STRUCT or MAP', async () => {
    const { rows, asked } = await open({ crawl: () => [] });
    for (const call of [
      `crawl('a')`,
      `crawl(['a', NULL, 'b'])`,
      `crawl('a', options := {max_crawl_pages: 3, follow_links: true})`,
      `crawl('a', MAP {'threads': 2})`,
      `crawl(NULL)`,
    ])
      await rows(`FROM ${call}`);
    const given = asked.map(({ args }) => args as { urls: string[]; options: object });
    expect(given.map(({ urls, options }) => [urls, options])).toEqual([
      [['a'], {}],
      [['a', 'b'], {}],
      [['a'], { max_crawl_pages: 3, follow_links: true }],
      [['a'], { threads: 2 }],
      [[], {}],
    ]);
  });

  it('has the columns of a CRAWL', async () => {
    const { rows } = await open({ crawl });
    const columns = await rows(`SELECT column_name, column_type FROM (DESCRIBE FROM crawl('a'))`);
    expect(columns.map(([name]) => name).join(' ')).toBe(
      'url surt_key http_status body content_type crawl_time error error_type etag last_modified content_hash ' +
        'final_url redirect_count elapsed_ms title depth input_url state text h1 meta_description lang canonical ' +
        'word_count headers',
    );
    expect(columns).toContainEqual(['crawl_time', 'TIMESTAMP']);
    expect(columns).toContainEqual(['headers', 'MAP(VARCHAR, VARCHAR)']);
  });

  it('sends only what is asked for', async () => {
    const { rows, asked } = await open({ crawl });
    await rows(`SELECT url FROM crawl('a') LIMIT 1`);
    await rows(`SELECT body, headers FROM crawl('a') LIMIT 1`);
    expect(await rows(`SELECT count(*) FROM crawl('a')`)).toEqual([['1000']]);
    expect(asked.map(({ args }) => (args as { wants: object }).wants)).toEqual([
      { body: false, text: false, headers: false },
      { body: true, text: false, headers: true },
      { body: false, text: false, headers: false },
    ]);
  });

  it('takes no more batches than LIMIT needs, and is closed after the statement', async () => {
    const { rows, asked, connection } = await open({ crawl });
    expect(await rows(`SELECT url FROM crawl('a') LIMIT 3`)).toEqual([
      ['http://a/0'],
      ['http://a/1'],
      ['http://a/2'],
    ]);
    expect([asked[0].taken, asked[0].isClosed]).toEqual([3, true]);
    await connection.run('SET enable_caching_operators = false');
    await rows(`SELECT url FROM crawl('a') WHERE url LIKE '%5' LIMIT 2`);
    expect([asked[1].taken, asked[1].isClosed]).toEqual([16, true]);
  });

  it('feeds a MERGE', async () => {
    const { rows } = await open({
      crawl: () => [[row('http://a/1', { title: 'new' }), row('http://a/2', { title: 'two' })]],
    });
    await rows(`CREATE TABLE t AS SELECT 'http://a/1' AS url, 'old' AS title`);
    await rows(`MERGE INTO t USING (FROM crawl('a')) c ON t.url = c.url
      WHEN MATCHED THEN UPDATE SET title = c.title WHEN NOT MATCHED THEN INSERT (url, title) VALUES (c.url, c.title)`);
    expect(await rows('FROM t ORDER BY url')).toEqual([
      ['http://a/1', 'new'],
      ['http://a/2', 'two'],
    ]);
  });

  it('fails as its maker does, with all details', async () => {
    const { rows, functions } = await open({
      crawl: () => {
        throw sumiError('url-invalid', { url: 'x y' });
      },
    });
    const error = (await rows(`FROM crawl('x y')`).catch((thrown) => thrown)) as Error;
    expect(error.message).toContain('x y');
    expect(functions.errorOf(error.message)).toBeInstanceOf(SumiError);
    expect(functions.errorOf(error.message)).toMatchObject({ code: 'url-invalid' });
  });

  it('gives many rows a batch, more than a vector holds', async () => {
    const { rows } = await open({
      crawl: () => [Array.from({ length: 5000 }, (_, at) => row(`http://a/${at}`))],
    });
    expect(await rows(`SELECT count(*), count(DISTINCT url), sum(len(body)) > 5000 FROM crawl('a')`)).toEqual(
      [['5000', '5000', true]],
    );
  });

  it('leaves binary bodies out and decodes others', async () => {
    const { rows } = await open({
      crawl: () => [
        [
          row('http://a/1', { contentType: 'image/png', charset: null }),
          row('http://a/2', {
            contentType: 'text/html; charset=iso-8859-2',
            charset: 'iso-8859-2',
            body: Buffer.from([0xb1]),
          }),
          row('http://a/3', {
            contentType: 'application/ld+json',
            charset: null,
            body: Buffer.from('{"ä":1}'),
          }),
        ],
      ],
    });
    expect(await rows(`SELECT body FROM crawl('a')`)).toEqual([[null], ['ą'], ['{"ä":1}']]);
  });
});

describe('the other tables', () => {
  it('give what their feeds give', async () => {
    const entry = {
      url: 'http://a/1',
      lastmod: '2026-01-01',
      changefreq: null,
      priority: 0.5,
      sitemap: 'http://a/s',
    };
    const check = {
      url: 'http://a/',
      agent: 'x',
      allowed: false,
      rule: 'Disallow /',
      crawlDelay: 2,
      status: 200,
    };
    const { rows, asked } = await open({
      sitemap: () => [[entry]],
      robots: () => [[check]],
      fetch: () => [
        [{ given: 'http://a/', row: row('http://a/', { body: Buffer.from(PAGE) }), isNofollow: false }],
      ],
    });
    expect(await rows(`FROM sitemap('a')`)).toEqual([['http://a/1', '2026-01-01', null, 0.5, 'http://a/s']]);
    expect(await rows(`FROM robots_check('http://a/', 'x')`)).toEqual([
      ['http://a/', 'x', false, 'Disallow /', 2],
    ]);
    expect(await rows(`FROM robots_check('http://a/')`)).toEqual([
      ['http://a/', 'x', false, 'Disallow /', 2],
    ]);
    expect(await rows(`FROM links('http://a/')`)).toEqual([
      ['http://a/', 'http://a/x', '/x', 'X', 'nofollow ugc', true],
    ]);
    expect(asked.map(({ args }) => (args as { agent?: string }).agent)).toEqual([
      undefined,
      'x',
      null,
      undefined,
    ]);
  });
});

describe('duckdb_functions()', () => {
  it('explains all of them on every connection, whatever is used', async () => {
    const { instance } = await open();
    const connection = await instance.connect();
    await connection.run(`ATTACH ':memory:' AS other; USE other`);
    await publishMacros(connection);
    const found = await connection.runAndReadAll(
      `SELECT function_name, parameters, comment FROM duckdb_functions() WHERE database_name = 'temp'`,
    );
    const told = new Map(
      found.getRowsJson().map(([name, parameters, comment]) => [name, { parameters, comment }]),
    );
    for (const { name, parameters, comment } of FUNCTIONS)
      expect(told.get(name)).toEqual({ parameters: parameters.map((one) => one.split(' ')[0]), comment });
    expect((await connection.runAndReadAll(`SELECT surt('http://a.example/')`)).getRowsJson()).toEqual([
      ['example,a)/'],
    ]);
    await publishMacros(connection);
  });

  it('names the functions that ask the web', () => {
    expect(['SELECT * FROM crawl (x)', 'SELECT "fetch"(u)', `from SITEMAP('a')`].map(usesWeb)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['SELECT crawl FROM t', 'SELECT surt(x)', 'SELECT prefetch(x)'].map(usesWeb)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
