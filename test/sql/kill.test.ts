// A process that dies in the middle of a CRAWL. What the disk holds then is judged by itself (a row commits before its page
// settles), and at the end by the fake web's log: no row is lost, none stands twice, what was done is not done again.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { createSiteGraph } from '../../src/demo/site-graph.ts';
import { page } from '../crawls/crawl-site.ts';
import { answer, type FakeWeb, type Handler } from '../web/fake-web.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';
import { type SqlProcess, startSqlProcess } from './sql-process.ts';

const bench = useSqlBench();

/** Resolves when the web was asked for so many pages, or the process has ended before. */
async function pagesAsked(web: FakeWeb, count: number, { ended }: SqlProcess): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (pagesOf(web).length < count && !isOver) await new Promise((resolve) => setImmediate(resolve));
}

const pagesOf = (web: FakeWeb) => web.log.filter(({ path }) => !/robots|sitemap/.test(path));

/** Pages that the store beside the table has settled. */
function settledIn(file: string): string[] {
  const path = `${file}.sumi`;
  if (!existsSync(path)) return [];
  const db = new Sqlite(path, { readonly: true });
  try {
    const rows = db.prepare("SELECT url FROM pages WHERE state IN ('Processed', 'DeadLink')").all();
    return (rows as { url: string }[]).map(({ url }) => url);
  } catch (error) {
    // Killed before there was a table.
    if (/no such table/.test((error as Error).message)) return [];
    throw error;
  } finally {
    db.close();
  }
}

async function rowsIn(file: string): Promise<string[]> {
  const sql = await bench.open(file);
  const there = await sql.rows("FROM duckdb_tables() WHERE table_name = 't'");
  const rows = there.length === 0 ? [] : await sql.rows('SELECT url FROM t');
  await sql.close();
  return rows.map(({ url }) => url as string);
}

/** As tables and stores have it. */
const urlOf = (web: FakeWeb, path: string) => web.url(path.replace(/(?<=.)\/$/, ''));
const sorted = (urls: Iterable<string>) => [...urls].sort();

describe('after kill -9', () => {
  it('the same statement goes on: one row a URL, none lost, nothing that was settled is asked again', async () => {
    const graph = createSiteGraph({ seed: 22, pages: 500, textWords: 50 });
    const web = await bench.web({ graph });
    const file = join(bench.folder(), 'web.duckdb');
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK}, follow_links true, max_parallel_per_domain 3)`;
    const served = new Set<string>();
    let done: string[] = [];
    for (const moment of [1, 20, 60, 200]) {
      const from = pagesOf(web).length;
      const running = startSqlProcess([file, '-c', statement]);
      await pagesAsked(web, from + moment, running);
      running.child.kill('SIGKILL');
      const { signal } = await running.ended;
      const [rows, settled] = [await rowsIn(file), settledIn(file)];
      expect(signal).toBe('SIGKILL');
      expect(new Set(rows).size).toBe(rows.length);
      // A row commits before its page settles.
      expect(settled.filter((url) => !rows.includes(url))).toEqual([]);
      expect(done.filter((url) => !rows.includes(url))).toEqual([]);
      const again = pagesOf(web)
        .slice(from)
        .map(({ path }) => urlOf(web, path));
      expect(again.filter((url) => done.includes(url))).toEqual([]);
      done = settled;
      for (const url of again) served.add(url);
    }
    const from = pagesOf(web).length;
    const { code, stderr } = await startSqlProcess([file, '--json', '-c', statement]).ended;
    expect([code, stderr]).toEqual([0, '']);
    const last = pagesOf(web)
      .slice(from)
      .map(({ path }) => urlOf(web, path));
    expect(last.filter((url) => done.includes(url))).toEqual([]);
    const rows = await rowsIn(file);
    const all = Array.from({ length: graph.pages }, (_, index) => urlOf(web, graph.pathOf(index)));
    expect(sorted(rows)).toEqual(sorted(all));
    expect([...served].filter((url) => !rows.includes(url))).toEqual([]);
    // Nothing is left to do.
    const before = web.log.length;
    expect((await startSqlProcess([file, '--json', '-c', statement]).ended).stdout).toContain('"Count":0');
    expect(pagesOf(web).length).toBe(pagesOf({ ...web, log: web.log.slice(0, before) } as FakeWeb).length);
  });

  it('while rows are replaced, each has its old or its new value, never none and never both', async () => {
    const count = 120;
    let version = 'old';
    const paths = Array.from({ length: count }, (_, i) => `/p${i}`);
    const content: Handler = (exchange) => answer(exchange, { body: page(version) });
    const sitemap: Handler = (exchange) =>
      answer(exchange, {
        headers: { 'content-type': 'application/xml' },
        body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths
          .map((path) => `<url><loc>${exchange.url(path)}</loc><lastmod>2040-01-01</lastmod></url>`)
          .join('')}</urlset>`,
      });
    const web = await bench.web({ pages: { '/p*': content, '/sitemap.xml': sitemap } });
    const file = join(bench.folder(), 'web.duckdb');
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK}, update_stale true, batch_size 10, max_parallel_per_domain 3)`;
    const first = await startSqlProcess([
      file,
      '--json',
      '-c',
      statement.replace('update_stale true', 'update_stale false'),
    ]).ended;
    expect([first.code, first.stderr]).toEqual([0, '']);
    version = 'new';
    for (const moment of [5, 50, 90]) {
      const running = startSqlProcess([file, '-c', statement]);
      await pagesAsked(web, pagesOf(web).length + moment, running);
      running.child.kill('SIGKILL');
      await running.ended;
      const sql = await bench.open(file);
      expect(
        await sql.rows('SELECT count(*) AS n, count(DISTINCT url) AS urls, count(title) AS titles FROM t'),
      ).toEqual([{ n: count, urls: count, titles: count }]);

      await sql.close();
    }
    const { code } = await startSqlProcess([file, '--json', '-c', statement]).ended;
    expect(code).toBe(0);
    const sql = await bench.open(file);
    expect(
      await sql.rows('SELECT title, count(*) AS n, count(DISTINCT url) AS urls FROM t GROUP BY title'),
    ).toEqual([{ title: 'new', n: count, urls: count }]);
  });
});

describe('Ctrl-C of a command', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends a CRAWL in good order with exit code 3; it goes on later',
    async (signal) => {
      const graph = createSiteGraph({ seed: 23, pages: 150, textWords: 50 });
      const web = await bench.web({ graph });
      const file = join(bench.folder(), 'web.duckdb');
      const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK}, follow_links true, max_parallel_per_domain 2)`;
      const running = startSqlProcess([file, '--json', '-c', `${statement}; SELECT 'never'`]);
      await pagesAsked(web, 30, running);
      running.child.kill(signal);
      const { code, stdout, stderr } = await running.ended;
      expect([code, stdout]).toEqual([3, '']);
      expect(JSON.parse(stderr)).toMatchObject({ code: 'sql-interrupted' });
      const rows = await rowsIn(file);
      expect(rows.length).toBeGreaterThanOrEqual(20);
      expect(rows.length).toBeLessThan(150);
      const again = await startSqlProcess([file, '--json', '-c', statement]).ended;
      expect([again.code, again.stderr]).toEqual([0, '']);
      expect(JSON.parse(again.stdout)).toMatchObject([{ Count: 150 - rows.length }]);
      expect(sorted(await rowsIn(file)).length).toBe(150);
      // In good order: nothing was asked twice.
      const asked = pagesOf(web).map(({ path }) => path);
      expect(asked.length).toBe(new Set(asked).size);
    },
  );

  it('while a background CRAWL is waited for, too', async () => {
    const graph = createSiteGraph({ seed: 24, pages: 100, textWords: 50 });
    const web = await bench.web({ graph });
    const file = join(bench.folder(), 'web.duckdb');
    const statement = `CRAWL (SELECT '${web.url('/')}') INTO t WITH (${QUICK}, follow_links true, max_parallel_per_domain 2, background true)`;
    const running = startSqlProcess([file, '--json', '-c', statement]);
    await pagesAsked(web, 20, running);
    running.child.kill('SIGINT');
    const { code, stdout } = await running.ended;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject([{ id: 1, status: 'running' }]);
    // A script's end waits for it.
    expect((await startSqlProcess([file, '--json', '-c', statement]).ended).code).toBe(0);
    const rows = await rowsIn(file);
    expect([rows.length, new Set(rows).size]).toEqual([100, 100]);
  });
});
