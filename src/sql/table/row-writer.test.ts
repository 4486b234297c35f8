import { type DuckDBConnection, DuckDBScalarFunction, INTEGER } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { crawlRow } from '../../../test/sql/crawl-row.ts';
import { askStock, rowsOf, startChild, useDuckFolder } from '../../../test/sql/duck-folder.ts';
import { openTarget, type WantedColumn } from './check-target.ts';
import type { CrawlRow } from './crawl-row.ts';
import type { OpenDatabase } from './open-database.ts';
import { createRowWriter, type RowWriter } from './row-writer.ts';

const folder = useDuckFolder();

interface Written {
  database: OpenDatabase;
  /** The user's connection. */
  user: DuckDBConnection;
  writer: RowWriter;
}

const target = { catalog: null, schema: null, table: 'pages' };

/** `made`: the table as the user made it; without it the CRAWL makes one. */
async function openWriter(
  made: readonly string[] = [],
  extracted: readonly WantedColumn[] = [],
  values?: (row: CrawlRow) => unknown[],
): Promise<Written> {
  const database = await folder.open('web.db');
  const user = await database.connect();
  for (const statement of made) await user.run(statement);
  const plan = await openTarget(user, { target, extracted });
  const writer = await createRowWriter(await database.connect(), plan, values);
  return { database, user, writer };
}

const urlOf = (name: string | number) => `https://example.com/${name}`;
const page = (name: string | number, more: Partial<CrawlRow> = {}) => crawlRow(urlOf(name), more);
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

describe('rows that are new', () => {
  it('have every value in its column, of the table that a CRAWL makes', async () => {
    const { user, writer, database } = await openWriter();
    const row: CrawlRow = crawlRow('https://example.com/a', {
      surtKey: 'com,example)/a',
      httpStatus: 404,
      body: bytes('<p>größe 漢 \0 \u{1f600}</p>'),
      contentType: 'text/html; charset=utf-8',
      charset: 'utf-8',
      crawlTime: Date.UTC(2024, 1, 29, 23, 59, 58, 123),
      error: 'http: 404',
      errorType: 'http_client_error',
      etag: '"x"',
      lastModified: 'Thu, 01 Jan 2024 00:00:00 GMT',
      contentHash: 'ab'.repeat(32),
      finalUrl: 'https://example.com/b',
      redirectCount: 2,
      elapsedMs: 123_456,
      title: 'lone \ud800 half',
      depth: 3,
      inputUrl: 'example.com/a',
      state: 'DeadLink',
    });
    expect(writer.append([row, page('empty', { httpStatus: null, elapsedMs: null })])).toEqual({
      written: 2,
      refused: [],
    });
    expect(await rowsOf(user, `SELECT * FROM pages WHERE url LIKE '%/a'`)).toEqual([
      [
        ...['https://example.com/a', 'com,example)/a', 404, '<p>größe 漢 \0 \u{1f600}</p>'],
        ...['text/html; charset=utf-8', new Date('2024-02-29T23:59:58.123Z')],
        ...['http: 404', 'http_client_error', '"x"', 'Thu, 01 Jan 2024 00:00:00 GMT', 'ab'.repeat(32)],
        ...['https://example.com/b', 2, 123_456, 'lone \ufffd half', 3, 'example.com/a', 'DeadLink'],
      ],
    ]);
    await database.close();
    expect(await askStock(folder.path('web.db'), `SELECT count(*), count(body) FROM pages`)).toEqual([
      ['2', '1'],
    ]);
  });

  it('are in UTC, whatever the time zone of the user', async () => {
    const { user, writer } = await openWriter([
      `SET TimeZone = 'America/New_York'`,
      'CREATE TABLE pages (url VARCHAR, crawl_time TIMESTAMPTZ)',
    ]);
    const noon = Date.UTC(2024, 5, 1, 12);
    writer.append([page(1, { crawlTime: noon })]);
    const times = 'SELECT epoch_ms(crawl_time), crawl_time::VARCHAR FROM pages';
    expect(await rowsOf(user, times)).toEqual([[BigInt(noon), '2024-06-01 08:00:00-04']]);
    writer.touch([urlOf(1)], noon + 3_600_000);
    expect(await rowsOf(user, times)).toEqual([[BigInt(noon + 3_600_000), '2024-06-01 09:00:00-04']]);
  });

  it('fill the columns that a table has, and leave the others to their defaults', async () => {
    const { user, writer } = await openWriter([
      `CREATE TABLE pages (seen BOOLEAN DEFAULT true, note VARCHAR DEFAULT 'n', word_count BIGINT, "URL" VARCHAR,
       headers MAP(VARCHAR, VARCHAR), text VARCHAR, h1 VARCHAR, meta_description VARCHAR, lang VARCHAR,
       canonical VARCHAR, host VARCHAR GENERATED ALWAYS AS (split_part("URL", '/', 3)), body BLOB, more INTEGER[])`,
    ]);
    const headers = [
      ['Server', 'x "y" = \\ {}'],
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ] as const;
    writer.append([
      page(1, {
        ...{ wordCount: 5, headers, text: bytes('wörter'), h1: 'H', metaDescription: 'd', lang: 'de' },
        ...{ canonical: urlOf(2), contentType: 'image/png', body: new Uint8Array([0, 255, 34]) },
      }),
      page(2),
    ]);
    expect(
      await rowsOf(
        user,
        `SELECT seen, note, word_count, headers::VARCHAR, map_keys(headers), headers['server'], text, h1,
         meta_description, lang, canonical, host, hex(body), more FROM pages ORDER BY url`,
      ),
    ).toEqual([
      [
        ...[true, 'n', 5n, expect.any(String), ['server', 'set-cookie'], 'x "y" = \\ {}', 'wörter', 'H'],
        ...['d', 'de', urlOf(2), 'example.com', '00FF22', null],
      ],
      [true, 'n', null, null, null, null, null, null, null, null, null, 'example.com', null, null],
    ]);
    expect(await rowsOf(user, `SELECT headers['set-cookie'] FROM pages WHERE headers IS NOT NULL`)).toEqual([
      ['a=1, b=2'],
    ]);
  });

  it('get defaults that differ from row to row', async () => {
    const { user, writer } = await openWriter([
      'CREATE SEQUENCE ids START 5',
      `CREATE TABLE pages (id INTEGER PRIMARY KEY DEFAULT nextval('ids'), url VARCHAR, at TIMESTAMP DEFAULT now(),
       tag UUID DEFAULT uuid(), title VARCHAR NOT NULL DEFAULT concat('no ', 'title'))`.replace(
        ' at ',
        ' made ',
      ),
    ]);
    writer.append([page(0, { title: 'zero' })]);
    writer.append([page(1), page(2, { title: 'two' })]);
    writer.append([page(3)]);
    expect(await rowsOf(user, 'SELECT id, url, title FROM pages ORDER BY id')).toEqual([
      [5, urlOf(0), 'zero'],
      [6, urlOf(1), 'no title'],
      [7, urlOf(2), 'two'],
      [8, urlOf(3), 'no title'],
    ]);
    expect(await rowsOf(user, 'SELECT count(DISTINCT tag), count(DISTINCT made) FROM pages')).toEqual([
      [4n, 3n],
    ]);
  });

  it('get the values that EXTRACT found, or NULL where they are not of the type', async () => {
    const found: Record<string, unknown[]> = {
      [urlOf(1)]: ['12.5', '2024-01-02', ['a', 'b'], { a: 1 }, 7, '{"b": 2}', ['1', '2']],
      [urlOf(2)]: ['cheap', null, [], null, 'text', 'plain', ['x']],
    };
    const column = (name: string, type: string) => ({ name, type: { text: type } });
    const { user, writer } = await openWriter(
      [],
      [
        ...[column('price', 'DECIMAL(6,2)'), column('day', 'DATE'), column('tags', 'VARCHAR[]')],
        ...[
          column('data', 'JSON'),
          column('words', 'VARCHAR'),
          column('more', 'JSON'),
          column('ids', 'INTEGER[]'),
        ],
      ],
      (row) => found[row.url],
    );
    expect(writer.append([page(1), page(2)]).refused).toEqual([]);
    expect(
      await rowsOf(
        user,
        `SELECT price::VARCHAR, day::VARCHAR, tags, data->>'a', words, more->>'$.b', more::VARCHAR, ids
         FROM pages ORDER BY url`,
      ),
    ).toEqual([
      ['12.50', '2024-01-02', ['a', 'b'], '1', '7', '2', '{"b":2}', [1, 2]],
      [null, null, [], null, 'text', null, '"plain"', [null]],
    ]);
  });
});

describe('a batch', () => {
  it('that has a refused row is written without it', async () => {
    const { user, writer } = await openWriter([
      'CREATE TABLE pages (url VARCHAR PRIMARY KEY, http_status INTEGER CHECK (http_status < 500), title VARCHAR UNIQUE)',
      `INSERT INTO pages VALUES ('${urlOf('old')}', 200, 'taken')`,
    ]);
    const rows = Array.from({ length: 50 }, (_, index) => page(index));
    rows[7] = page(7, { title: 'taken' });
    rows[30] = page(30, { httpStatus: 503 });
    rows[31] = page('old');
    const { written, refused } = writer.append(rows);
    expect(written).toBe(47);
    expect(refused.map(({ url }) => url)).toEqual([urlOf(7), urlOf(30), urlOf('old')]);
    expect(refused.map(({ error }) => error)).toEqual([
      expect.stringContaining('title: taken'),
      expect.stringContaining('http_status < 500'),
      expect.stringContaining('url: '),
    ]);
    expect(await rowsOf(user, 'SELECT count(*), count(DISTINCT url) FROM pages')).toEqual([[48n, 48n]]);
    expect(writer.append([page('next')])).toEqual({ written: 1, refused: [] });
  });

  it('that has a URL twice keeps its later row', async () => {
    const { user, writer } = await openWriter();
    writer.append([page(1, { title: 'first' }), page(2), page(1, { title: 'second' })]);
    writer.replace([page(2, { title: 'third' }), page(2, { title: 'fourth' })]);
    expect(await rowsOf(user, 'SELECT url, title FROM pages ORDER BY url')).toEqual([
      [urlOf(1), 'second'],
      [urlOf(2), 'fourth'],
    ]);
  });

  it('may be empty', async () => {
    const { writer } = await openWriter();
    expect(writer.append([])).toEqual({ written: 0, refused: [] });
    expect(writer.replace([])).toEqual({ written: 0, refused: [] });
    writer.touch([], 0);
    writer.setChains([]);
  });

  it('is written while a function inside of DuckDB holds the thread, and other connections see it', async () => {
    const { user, database, writer } = await openWriter();
    let calls = 0;
    const other = await database.connect();
    other.registerScalarFunction(
      DuckDBScalarFunction.create({
        name: 'write_now',
        parameterTypes: [INTEGER],
        returnType: INTEGER,
        mainFunction: (_, input, output) => {
          calls++;
          writer.append([page(`call-${calls}`), page(`again-${calls}`)]);
          writer.replace([page(`again-${calls}`, { title: 'new' })]);
          for (let row = 0; row < input.rowCount; row++) output.setItem(row, calls);
          output.flush();
        },
      }),
    );
    await other.run(
      'SELECT count(write_now(i::INTEGER)), (SELECT count(*) FROM pages) FROM range(20000) r(i)',
    );
    expect(calls).toBeGreaterThan(1);
    expect(await rowsOf(user, 'SELECT count(*), count(title) FROM pages')).toEqual([
      [BigInt(calls * 2), BigInt(calls)],
    ]);
  });

  it('stays whole when the process is killed in the middle of writing', async () => {
    const child = startChild('test/sql/append-batches.ts', [folder.path('web.db')]);
    let told = 0;
    while (told < 5_000) told = Number(await child.line());
    await child.kill();
    const [[rows, urls, broken]] = (await askStock(
      folder.path('web.db'),
      `SELECT count(*)::INTEGER, count(DISTINCT url)::INTEGER,
       (SELECT count(*)::INTEGER FROM (SELECT depth FROM pages GROUP BY depth HAVING count(*) <> 100)) FROM pages`,
    )) as number[][];
    expect(rows).toBeGreaterThanOrEqual(told);
    expect([rows % 100, urls, broken]).toEqual([0, rows, 0]);
    const { writer, user } = await openWriter();
    writer.append([page('after')]);
    expect(await rowsOf(user, 'SELECT count(*)::INTEGER FROM pages')).toEqual([[rows + 1]]);
  });
});

describe('rows that replace others', () => {
  it('are the only ones of their URL', async () => {
    const { user, writer } = await openWriter([
      'CREATE TABLE pages (url VARCHAR, title VARCHAR, body VARCHAR)',
      `INSERT INTO pages SELECT '${urlOf('')}' || (i % 1500), 'old', 'x' FROM range(3000) r(i)`,
    ]);
    const rows = Array.from({ length: 1200 }, (_, index) => page(index, { title: 'new', body: bytes('y') }));
    expect(writer.replace(rows)).toEqual({ written: 1200, refused: [] });
    expect(writer.replace([page(1400, { title: 'new' })])).toEqual({ written: 1, refused: [] });
    expect(
      await rowsOf(user, 'SELECT title, count(*), count(DISTINCT url) FROM pages GROUP BY ALL ORDER BY 1'),
    ).toEqual([
      ['new', 1201n, 1201n],
      ['old', 598n, 299n],
    ]);
    expect(await rowsOf(user, `SELECT count(*) FROM duckdb_tables() WHERE temporary`)).toEqual([[0n]]);
  });

  it('keep what others have written into columns of their own', async () => {
    for (const id of ['id INTEGER', `id INTEGER PRIMARY KEY DEFAULT nextval('ids')`]) {
      const { user, writer, database } = await openWriter([
        'CREATE OR REPLACE SEQUENCE ids START 100',
        `CREATE OR REPLACE TABLE pages (${id}, note VARCHAR DEFAULT 'none', url VARCHAR UNIQUE, title VARCHAR)`.replace(
          'OR REPLACE SEQUENCE',
          'SEQUENCE',
        ),
        `INSERT INTO pages VALUES (1, 'mine', '${urlOf(1)}', 'old'), (2, NULL, '${urlOf(2)}', 'old')`,
      ]);
      expect(writer.replace([page(1, { title: 'new' }), page(2), page(3)]).refused).toEqual([]);
      expect(await rowsOf(user, 'SELECT id, note, url, title FROM pages ORDER BY url')).toEqual([
        [1, 'mine', urlOf(1), 'new'],
        [2, null, urlOf(2), null],
        [id.includes('nextval') ? 100 : null, 'none', urlOf(3), null],
      ]);
      await user.run('DROP TABLE pages');
      await user.run('DROP SEQUENCE ids');
      await database.close();
    }
  });

  it('leave the old one where the new one is refused', async () => {
    const { user, writer } = await openWriter([
      'CREATE TABLE pages (url VARCHAR PRIMARY KEY, title VARCHAR UNIQUE)',
      `INSERT INTO pages SELECT '${urlOf('')}' || i, 'old ' || i FROM range(20) r(i)`,
    ]);
    const rows = Array.from({ length: 10 }, (_, index) => page(index, { title: `new ${index}` }));
    rows[4] = page(4, { title: 'old 15' });
    expect(writer.replace(rows)).toMatchObject({ written: 9, refused: [{ url: urlOf(4) }] });
    expect(await rowsOf(user, `SELECT title FROM pages WHERE url = '${urlOf(4)}'`)).toEqual([['old 4']]);
    expect(await rowsOf(user, 'SELECT count(*), count(DISTINCT url) FROM pages')).toEqual([[20n, 20n]]);
    expect(writer.replace([page(5, { title: 'newer' })]).written).toBe(1);
    expect(await rowsOf(user, `SELECT count(*) FROM pages WHERE title LIKE 'new%'`)).toEqual([[9n]]);
  });
});

describe('rows that a transaction of the user has changed', () => {
  it('are refused until it ends; the others of the batch are written', async () => {
    const { user, writer } = await openWriter();
    writer.append([page(1), page(2), page(3)]);
    await user.run('BEGIN');
    await user.run(`DELETE FROM pages WHERE url = '${urlOf(2)}'`);
    const rows = [1, 2, 3].map((name) => page(name, { title: 'new' }));
    expect(writer.replace(rows)).toMatchObject({ written: 2, refused: [{ url: urlOf(2) }] });
    await user.run('ROLLBACK');
    expect(writer.replace(rows)).toEqual({ written: 3, refused: [] });
    expect(await rowsOf(user, 'SELECT count(*), count(title) FROM pages')).toEqual([[3n, 3n]]);
  });
});

describe('an answer that nothing has changed', () => {
  it('renews the time of its rows alone', async () => {
    const { user, writer } = await openWriter();
    writer.append([page(1, { crawlTime: 1000, title: 'a' }), page(2, { crawlTime: 2000 }), page(3)]);
    writer.touch([urlOf(1), urlOf(2), urlOf('unknown')], 5000);
    expect(await rowsOf(user, 'SELECT epoch_ms(crawl_time), title FROM pages ORDER BY url')).toEqual([
      [5000n, 'a'],
      [5000n, null],
      [1_700_000_000_123n, null],
    ]);
  });

  it('means nothing to a table without times', async () => {
    const { user, writer } = await openWriter(['CREATE TABLE pages (url VARCHAR)']);
    writer.append([page(1)]);
    writer.touch([urlOf(1)], 5000);
    expect(await rowsOf(user, 'FROM pages')).toEqual([[urlOf(1)]]);
  });
});

describe('the end of a redirect chain', () => {
  it('is told to the rows where it began', async () => {
    const { user, writer } = await openWriter();
    writer.append([page(1, { httpStatus: 301 }), page(2, { httpStatus: 302 }), page(3)]);
    writer.setChains([
      { url: urlOf(1), finalUrl: urlOf('end'), redirectCount: 3, error: null },
      { url: urlOf(2), finalUrl: null, redirectCount: 10, error: 'redirect: loop' },
    ]);
    expect(
      await rowsOf(user, 'SELECT final_url, redirect_count, error, error_type FROM pages ORDER BY url'),
    ).toEqual([
      [urlOf('end'), 3, null, null],
      [null, 10, 'redirect: loop', 'redirect_error'],
      [urlOf(3), 0, null, null],
    ]);
  });
});

describe('a table that is not what it was', () => {
  const changes: [string, string, RegExp][] = [
    ['was dropped', 'DROP TABLE pages', /was dropped/],
    ['has a column more', 'ALTER TABLE pages ADD COLUMN more INTEGER', /was altered/],
    ['has a column less', 'ALTER TABLE pages DROP COLUMN title', /was altered/],
    ['has another name for a column', 'ALTER TABLE pages RENAME COLUMN title TO heading', /was altered/],
    ['has another type', 'ALTER TABLE pages ALTER COLUMN depth TYPE VARCHAR', /was altered/],
    [
      'has other columns in the same number',
      'ALTER TABLE pages DROP COLUMN error; ALTER TABLE pages ADD COLUMN error VARCHAR',
      /was altered/,
    ],
    ['has another name', 'ALTER TABLE pages RENAME TO sites', /was dropped/],
    ['is a view now', 'DROP TABLE pages; CREATE VIEW pages AS SELECT 1 AS url', /was altered/],
  ];
  for (const [what, statement, told] of changes)
    it(`${what}: nothing more is written, and what was written stays`, async () => {
      const { user, writer } = await openWriter();
      writer.append([page(1), page(2)]);
      const table = statement.includes('TO sites') ? 'sites' : 'pages';
      await user.run(statement);
      const rows = /DROP TABLE/.test(statement) ? null : `SELECT count(*) FROM ${table}`;
      for (const write of [
        () => writer.append([page(3)]),
        () => writer.replace([page(1)]),
        () => writer.touch([urlOf(1)], 1),
        () => writer.setChains([{ url: urlOf(1), finalUrl: null, redirectCount: 1, error: null }]),
      ])
        expect(write).toThrow(
          expect.objectContaining({ code: 'sql-target-lost', message: expect.stringMatching(told) }),
        );
      if (rows !== null) expect(await rowsOf(user, rows)).toEqual([[2n]]);
      writer.close();
    });

  it('goes on in a table that was made anew with the same columns', async () => {
    const { user, writer } = await openWriter();
    writer.append([page(1)]);
    await user.run('CREATE OR REPLACE TABLE pages AS FROM pages WHERE false');
    writer.append([page(2)]);
    expect(await rowsOf(user, 'SELECT url FROM pages')).toEqual([[urlOf(2)]]);
  });

  it('is being altered by somebody who has not committed', async () => {
    const { user, writer } = await openWriter();
    await user.run('BEGIN');
    await user.run('ALTER TABLE pages ADD COLUMN more INTEGER');
    expect(() => writer.append([page(1)])).toThrow(expect.objectContaining({ code: 'sql-target-lost' }));
    await user.run('ROLLBACK');
    expect(writer.append([page(1)]).written).toBe(1);
  });
});

describe('a disk that is full', () => {
  it('ends the writing; the file has whole batches', async () => {
    // Blocks of 1024 bytes that any file of the process may have.
    const child = startChild(
      'test/sql/append-batches.ts',
      [folder.path('web.db')],
      `trap '' XFSZ; ulimit -f 3000;`,
    );
    const printed = (await child.end()).trim().split('\n');
    expect(printed.at(-1)).toContain('sql-target-unwritable');
    const told = Number(printed.at(-2));
    const [[rows]] = (await askStock(
      folder.path('web.db'),
      'SELECT count(*)::INTEGER FROM pages',
    )) as number[][];
    expect(rows).toBeGreaterThanOrEqual(told);
    expect(rows % 100).toBe(0);
  });
});
