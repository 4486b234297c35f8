// How a CRAWL treats a site, by the site's own log: delays, blocks and limits hold for all threads and for all that asks the
// host in one session.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { page, seenAs } from '../crawls/crawl-site.ts';
import { earliestArrivals, startBeats } from '../faults/beats.ts';
import { answer, type FakeWeb, type FakeWebOptions, type Handler } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';
import { startProcess } from './sql-process.ts';

const bench = useSqlBench();
const beats = startBeats();

const THREADS = 'threads 32, max_parallel_per_domain 8';
const titled: Handler = (exchange) => answer(exchange, { body: page(exchange.path) });
const range = (origin: string, count: number, name = 'p') =>
  `SELECT '${origin}/${name}' || i FROM range(${count}) r(i)`;

/** From when a request can have arrived, not from when this process, which may have stood still, saw it. */
function gapsOf(web: FakeWeb, host = 0): number[] {
  const arrivals = earliestArrivals(web.log, beats);
  const own = web.log.flatMap((entry, at) => (entry.host === host ? [at] : []));
  return own.slice(1).map((at, n) => web.log[at].atMs - arrivals[own[n]]);
}

function expectGaps(web: FakeWeb, delayMs: number, count: number): void {
  const gaps = gapsOf(web);
  expect(gaps.length).toBe(count);
  for (const gapMs of gaps) expect(gapMs).toBeGreaterThanOrEqual(seenAs(delayMs));
  const spanMs = gaps.reduce((sum, gapMs) => sum + gapMs, 0);
  expect(spanMs).toBeGreaterThanOrEqual(gaps.length * delayMs - seenAs(delayMs));
}

/** The most requests that were open at once. */
function mostOpen(web: FakeWeb, host?: number): number {
  const log = web.log.filter((entry) => host === undefined || entry.host === host);
  return Math.max(
    ...log.map(({ atMs }) => log.filter((one) => one.atMs <= atMs && one.endedMs! > atMs).length),
  );
}

describe('the delay of a host', () => {
  it('is that of Crawl-delay, with 32 threads and 8 at once a host', async () => {
    const pages: FakeWebOptions['pages'] = { '/p*': titled };
    const web = await bench.web({ pages, robots: 'User-agent: *\nCrawl-delay: 0.15\n' });
    const sql = await bench.open();
    await sql.rows(`CRAWL (${range(web.origin, 12)}) INTO t WITH (${QUICK}, ${THREADS})`);
    expectGaps(web, 150, 12);
  });

  it('is the largest of default_crawl_delay, min_crawl_delay and Crawl-delay', async () => {
    const robots = 'User-agent: *\nCrawl-delay: 0.02\n';
    const web = await bench.web({ pages: { '/p*': titled }, robots });
    const sql = await bench.open();
    const own = 'adaptive_delay false, default_crawl_delay 0.01, min_crawl_delay 0.12';
    await sql.rows(`CRAWL (${range(web.origin, 8)}) INTO t WITH (${own}, ${THREADS})`);
    expectGaps(web, 120, 8);
    // max_crawl_delay bounds what is learned, not what a site asks for.
    const slow = await bench.web({ pages: { '/p*': titled }, robots: robots.replace('0.02', '0.2') });
    await sql.rows(`CRAWL (${range(slow.origin, 4)}) INTO t WITH (${QUICK}, max_crawl_delay 0.1)`);
    expectGaps(slow, 200, 4);
  });

  it('is shared by a CRAWL in the background and crawl() of a query', async () => {
    const web = await bench.web({ pages: { '/p*': titled, '/q*': titled } });
    const sql = await bench.open();
    const delay = 'default_crawl_delay 0.1, adaptive_delay false';
    await sql.rows(`CRAWL (${range(web.origin, 8)}) INTO t WITH (${delay}, background true)`);
    const urls = Array.from({ length: 4 }, (_, i) => `'${web.url(`/q${i}`)}'`).join(', ');
    const options = 'options := {default_crawl_delay: 0.1, adaptive_delay: false}';
    expect(await sql.rows(`SELECT count(*) AS n FROM crawl([${urls}], ${options})`)).toEqual([{ n: 4 }]);
    await sql.rest();
    expect(web.log.filter(({ path }) => path !== '/robots.txt').length).toBe(12);
    for (const gapMs of gapsOf(web)) expect(gapMs).toBeGreaterThanOrEqual(seenAs(100));
  });

  it('is shared by two CRAWLs in the background, and holds after the session', async () => {
    const web = await bench.web({ pages: { '/p*': titled, '/q*': titled } });
    const file = join(bench.folder(), 'x.duckdb');
    const sql = await bench.open(file);
    const delay = 'default_crawl_delay 0.1, adaptive_delay false';
    const crawl = (table: string, name: string) =>
      `CRAWL (${range(web.origin, 5, name)}) INTO ${table} WITH (${delay}, background true)`;
    await sql.rows(`${crawl('t', 'p')}; ${crawl('u', 'q')}`);
    await sql.close();
    const again = await bench.open(file);
    await again.rows(`${crawl('t', 'p')}; ${crawl('u', 'q')}`);
    await again.rest();
    expect(await again.rows('SELECT (SELECT count(*) FROM t) AS t, (SELECT count(*) FROM u) AS u')).toEqual([
      { t: 5, u: 5 },
    ]);
    for (const gapMs of gapsOf(web)) expect(gapMs).toBeGreaterThanOrEqual(seenAs(100));
  });
});

describe('429', () => {
  /** Milliseconds from the answer to the first refused request until the host was asked again, once those under way had come. */
  const pauseAfterRefusal = (web: FakeWeb) => {
    const refused = web.log.find(({ status }) => status === 429)!;
    // What was on its way when the answer left cannot know of it.
    const later = web.log.filter(({ atMs }) => atMs > refused.endedMs! + 60);
    return later[0].atMs - refused.atMs;
  };

  it('with Retry-After keeps all 32 threads from the host for so long', async () => {
    const web = await bench.web({
      pages: { '/p0': misbehaviours.rateLimitedForSeconds(1, 1), '/p*': titled },
    });
    const sql = await bench.open();
    // Slow enough that few are under way with the refused one.
    const own = `default_crawl_delay 0.02, adaptive_delay false, ${THREADS}`;
    expect(await sql.rows(`CRAWL (${range(web.origin, 60)}) INTO t WITH (${own})`)).toMatchObject([
      { Count: 60, new: 60 },
    ]);
    expect(web.requestsTo('/p0').length).toBe(2);
    expect(pauseAfterRefusal(web)).toBeGreaterThanOrEqual(900);
    const from = web.log.find(({ status }) => status === 429)!.endedMs! + 60;
    const until = web.log.find(({ status }) => status === 429)!.atMs + 900;
    expect(web.log.filter(({ atMs }) => atMs > from && atMs < until)).toEqual([]);
  });

  it('without it waits 1, 1, 2 seconds, and a success clears the block at once', async () => {
    const web = await bench.web({ pages: { '/p0': misbehaviours.rateLimitedSilently(3), '/p*': titled } });
    const sql = await bench.open();
    const own = `default_crawl_delay 0, adaptive_delay false, max_parallel_per_domain 1`;
    const input = `SELECT '${web.url('/p0')}'`;
    await sql.rows(`CRAWL (${input}) INTO t WITH (${own})`);
    const gaps = gapsOf(web).slice(1);
    expect(gaps.length).toBe(3);
    for (const [n, seconds] of [1, 1, 2].entries()) expect(gaps[n]).toBeGreaterThanOrEqual(seconds * 900);
    // Nothing of the block is left: the next 30 pages would take a minute else.
    const from = web.log.length;
    await sql.rows(`CRAWL (${range(web.origin, 30)}) INTO t WITH (${own})`);
    const later = web.log.slice(from);
    expect(later.length).toBe(29);
    expect(later.at(-1)!.atMs - later[0].atMs).toBeLessThan(5000);
    expect(await sql.rows('SELECT count(*) AS n FROM t WHERE error_type IS NULL')).toEqual([{ n: 30 }]);
  });

  it('that does not end becomes a row, which the next CRAWL asks for again', async () => {
    let isOver = false;
    const web = await bench.web({
      pages: {
        '/p0': (exchange) =>
          isOver ? titled(exchange) : answer(exchange, { status: 429, headers: { 'retry-after': '0' } }),
      },
    });
    const sql = await bench.open();
    const statement = `CRAWL (${range(web.origin, 1)}) INTO t WITH (${QUICK}, max_retries 1)`;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 1, failed: 1 }]);
    expect(await sql.rows('SELECT http_status, error_type FROM t')).toEqual([
      { http_status: 429, error_type: 'http_rate_limited' },
    ]);
    isOver = true;
    expect(await sql.rows(statement)).toMatchObject([{ Count: 1, updated: 1 }]);
    expect(await sql.rows('SELECT http_status, error_type FROM t')).toEqual([
      { http_status: 200, error_type: null },
    ]);
  });
});

describe('how many requests are open at once', () => {
  it('is the lesser of threads and max_total_connections, and of max_parallel_per_domain at a host', async () => {
    const web = await bench.web({ hosts: 6, pages: { '/p*': misbehaviours.slowHeaders(40) } });
    const sql = await bench.open();
    const input = web.origins.map((origin) => range(origin, 6)).join(' UNION ALL ');
    const crawl = (table: string, own: string) =>
      sql.rows(`CRAWL (${input}) INTO ${table} WITH (${QUICK}, ${own})`);
    await crawl('t', 'threads 32, max_total_connections 5');
    expect(mostOpen(web)).toBe(5);
    web.log.length = 0;
    await crawl('u', 'threads 3, max_total_connections 20');
    expect(mostOpen(web)).toBe(3);
    web.log.length = 0;
    await crawl('v', 'threads 32, max_parallel_per_domain 2');
    for (let host = 0; host < 6; host++) expect(mostOpen(web, host)).toBeLessThanOrEqual(2);
    expect(mostOpen(web)).toBeGreaterThan(5);
  });
});

describe('the record of it', () => {
  it('is read by `sumi audit` and `sumi why`, which find nothing wrong', async () => {
    const web = await bench.web({
      pages: { '/p0': misbehaviours.rateLimitedForSeconds(1, 1), '/p*': titled },
      robots: 'User-agent: *\nCrawl-delay: 0.05\nDisallow: /p7\n',
    });
    const file = join(bench.folder(), 'x.duckdb');
    const sql = await bench.open(file);
    await sql.rows(`CRAWL (${range(web.origin, 10)}) INTO t WITH (default_crawl_delay 0.03, ${THREADS})`);
    await sql.close();
    const audit = await startProcess(['audit', '--json', '--db', `${file}.sumi`]).ended;
    expect([audit.code, audit.stderr]).toEqual([0, '']);
    expect(JSON.parse(audit.stdout)).toMatchObject({ violations: 0 });
    const why = await startProcess(['why', web.url('/p7'), '--db', `${file}.sumi`]).ended;
    expect(why.stdout).toContain('Disallow');
  });
});
