// What a second reading of the session found: ends that did not come, rows that came back or were asked twice.
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { beginReading } from '../../src/sql/thread/reading.ts';
import { page } from '../crawls/crawl-site.ts';
import type { Handler } from '../web/fake-web.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';

const bench = useSqlBench();

const sitemapOf =
  (entry: string): Handler =>
  ({ response, url }) =>
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(
        `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entry.replaceAll('{}', url(''))}</urlset>`,
      );

describe('a session', () => {
  it('judges by a condition that calls a function of ours with constants alone', async () => {
    const web = await bench.web({ pages: { '/a': page('A') } });
    const sql = await bench.open();
    const where = "WHERE url <> normalize_url('HTTP://x.example/')";
    expect(await sql.rows(`CRAWL (SELECT '${web.url('/a')}') INTO t ${where} WITH (${QUICK})`)).toMatchObject(
      [{ new: 1 }],
    );
  });

  it('answers no completion while a result is read, and the result stays whole', async () => {
    const sql = await bench.open(null);
    let text = '';
    await sql.run('SELECT i FROM range(100000) t(i)', {
      format: 'csv',
      output: {
        async write(piece) {
          text += piece;
          expect((await sql.complete('SEL')).words).toEqual([]);
        },
      },
    });
    expect(text.split('\n').length).toBe(100_002);
    expect((await sql.complete('SEL')).words).toContain('SELECT ');
  });

  it('closes while a reader takes nothing more, and closing twice is closing once', async () => {
    const sql = await bench.open(null);
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const stalled = sql.run('SELECT i FROM range(1000000) t(i)', {
      format: 'csv',
      output: {
        write() {
          isAsked();
          return new Promise<void>(() => {});
        },
      },
    });
    const ended = expect(stalled).rejects.toMatchObject({ code: 'sql-interrupted' });
    await asked;
    await sql.close();
    await ended;
  });

  it('tells a commit that fails, and keeps nothing of it', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const [one, other] = [await instance.connect(), await instance.connect()];
    await one.run('CREATE TABLE t (id INTEGER PRIMARY KEY)');
    const text = 'WITH x AS (SELECT 1 AS id) INSERT INTO t FROM x';
    const reading = await beginReading(
      one,
      { text, parameters: undefined, isInTransaction: false, usesWeb: false },
      () => null,
    );
    await one.run(text);
    await other.run('INSERT INTO t VALUES (1)');
    await expect(reading.keep()).rejects.toThrow(/1/);
    await reading.end();
    expect((await one.runAndReadAll('SELECT count(*)::INTEGER FROM t')).getRows()).toEqual([[1]]);
    for (const connection of [one, other]) connection.closeSync();
    instance.closeSync();
  });
});

describe('CRAWL', () => {
  it('brings back deleted rows of pages that robots.txt forbids', async () => {
    const web = await bench.web({
      robots: 'User-agent: *\nDisallow: /no\n',
      pages: {
        '/yes': page('Y'),
        '/sitemap.xml': sitemapOf('<url><loc>{}/yes</loc></url><url><loc>{}/no</loc></url>'),
      },
    });
    const sql = await bench.open();
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK})`;
    await sql.rows(statement);
    await sql.rows('DELETE FROM t');
    await sql.rows(statement);
    expect(await sql.rows('SELECT error_type FROM t ORDER BY url')).toEqual([
      { error_type: 'robots_disallowed' },
      { error_type: null },
    ]);
    expect(web.requestsTo('/no')).toEqual([]);
  });

  it('with update_stale requests no page twice that is new', async () => {
    const entry = '<url><loc>{}/a</loc><changefreq>always</changefreq></url>';
    const web = await bench.web({ pages: { '/a': page('A'), '/sitemap.xml': sitemapOf(entry) } });
    const sql = await bench.open();
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK}, update_stale true)`;
    expect(await sql.rows(statement)).toMatchObject([{ new: 1, unchanged: 0 }]);
    expect(web.requestsTo('/a').length).toBe(1);
    await sql.rows(statement);
    expect(web.requestsTo('/a').length).toBe(2);
  });

  it('hides a password that was written as a name in quotes', async () => {
    const web = await bench.web({ pages: { '/a': page('A') } });
    const sql = await bench.open();
    await sql.rows(`CRAWL (SELECT '${web.url('/a')}' AS auth) INTO t WITH (auth "u:geheim", ${QUICK})`);
    const [{ statement }] = await sql.rows('FROM crawls()');
    expect(statement).not.toContain('geheim');
    expect(statement).toContain(web.url('/a'));
  });
});
