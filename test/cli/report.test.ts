import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FullReport } from '../../src/project/report-on-run.ts';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, startSumi, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;
let isHanging = false;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });
const FLAGS = [
  '--delay',
  '0.01',
  '--project',
  'shop',
  '--allowed-hosts',
  '127.0.0.1,127.0.0.2',
  '--no-adaptive-delay',
];

/** Every number again, by plain SQL over the views (and the request log, which has no view for robots.txt). */
function recount(id: number): Record<string, unknown> {
  const db = new Sqlite(folder.file('sumi.db'), { readonly: true });
  const one = (sql: string) => db.prepare(sql).pluck().get() as number;
  const map = (sql: string) => Object.fromEntries(db.prepare(sql).raw().all() as [string, number][]);
  try {
    const latest = one('SELECT max(id) FROM runs');
    // A page belongs to the run that visited it last; what was never visited, to the one that found it. What waits
    // belongs to the latest.
    const mine =
      id === latest
        ? 'pages p LEFT JOIN crawled_url c ON c.id = p.id WHERE true'
        : `pages p LEFT JOIN crawled_url c ON c.id = p.id WHERE COALESCE(c.crawl_id, p.discovered_run) = ${id}
           AND p.id NOT IN (SELECT url_id FROM queue)`;
    const failed = `p.state IN ('DeadLink', 'Unreachable', 'RateLimited', 'Failed', 'Gone')`;
    return {
      pages: one(`SELECT pages FROM runs WHERE id = ${id}`),
      requests: one(`SELECT count(*) FROM request WHERE run_id = ${id} AND kind <> 3`),
      bytes: one(`SELECT sum(wire_bytes) FROM request WHERE run_id = ${id} AND kind <> 3`),
      pages_by_state: map(`SELECT p.state, count(*) FROM ${mine} GROUP BY 1`),
      status_codes: map(
        `SELECT status_code, count(*) FROM request WHERE run_id = ${id} AND kind = 0 AND page_id IS NOT NULL GROUP BY 1`,
      ),
      content_types: map(
        `SELECT replace(p.content_type, '; charset=utf-8', ''), count(*) FROM ${mine}
         AND c.crawl_id = ${id} AND p.content_type <> '' GROUP BY 1`,
      ),
      hosts_visited: one(`SELECT count(DISTINCT host_id) FROM request WHERE run_id = ${id} AND kind <> 3`),
      retries: one(
        `SELECT COALESCE(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM request
         WHERE run_id = ${id} AND kind = 0 AND page_id IS NOT NULL GROUP BY page_id)`,
      ),
      errors: one(`SELECT count(*) FROM ${mine} AND ${failed}`),
      errors_by_reason: map(`SELECT p.reason, count(*) FROM ${mine} AND ${failed} GROUP BY 1`),
      robots_denials: one(`SELECT count(*) FROM ${mine} AND p.reason LIKE 'robots: Disallow%'`),
      known_urls: one(`SELECT count(*) FROM ${mine}`),
      read: one(`SELECT count(*) FROM ${mine} AND p.state = 'Processed'`),
      broken: one(
        `SELECT count(*) FROM ${mine} AND p.state IN ('DeadLink', 'Gone', 'Failed', 'Unreachable')`,
      ),
      rate_limited: one(`SELECT count(*) FROM ${mine} AND p.state = 'RateLimited'`),
      skipped: one(`SELECT count(*) FROM ${mine} AND p.state IN ('Skipped', 'ContentMismatch')`),
      waiting: id === latest ? one('SELECT count(*) FROM queue') : 0,
      queued_by_priority: id === latest ? map('SELECT priority, count(*) FROM queue GROUP BY 1') : {},
      bodies_stored: one(`SELECT count(p.body_key) FROM ${mine} AND c.crawl_id = ${id}`),
      distinct_bodies: one(`SELECT count(DISTINCT p.body_key) FROM ${mine} AND c.crawl_id = ${id}`),
      deepest: one(`SELECT max(p.depth) FROM ${mine}`),
      hosts: map(
        `SELECT d.domain, count(*) FROM request q JOIN domains d ON d.id = q.host_id
         WHERE q.run_id = ${id} AND q.kind <> 3 GROUP BY 1`,
      ),
    };
  } finally {
    db.close();
  }
}

async function report(...args: string[]): Promise<FullReport> {
  const { stdout, stderr, code } = await run('report', ...args, '--json');
  expect([stderr, code]).toEqual(['', 0]);
  return JSON.parse(stdout);
}

/** The report in the shape of `recount`. */
function figuresOf({ pages, requests, bytes, statistics, deepest_pages, domains }: FullReport) {
  const { requests_by_kind, ...rest } = statistics;
  expect(Object.values(requests_by_kind).reduce((sum, n) => sum + n, 0)).toBe(requests);
  return {
    ...{ pages, requests, bytes },
    ...rest,
    deepest: deepest_pages[0].depth,
    hosts: Object.fromEntries(domains.map(({ host, requests }) => [host, requests])),
  };
}

beforeAll(async () => {
  const home = `<a href="/a">A</a> <a href="/same">S</a> <a href="/dead">D</a> <a href="/private/x">P</a>
    <a href="/old">O</a> <a href="/flaky">F</a> <a href="/data.bin">B</a> <a href="/slow">Z</a>`;
  web = await startFakeWeb({
    hosts: 2,
    robots: 'User-agent: *\nDisallow: /private/\nCrawl-delay: 0.02\n',
    pages: {
      '/': (exchange) => answer(exchange, { body: `${home}<a href="${exchange.url('/far', 1)}">far</a>` }),
      '/a': '<title>A</title><a href="/a/b">b</a>',
      '/a/b': '<title>B</title>',
      '/same': '<title>B</title>',
      '/far': '<title>Far</title>',
      '/old': { status: 301, headers: { location: '/a' } },
      '/flaky': (exchange) => answer(exchange, { status: exchange.nth === 1 ? 503 : 200, body: 'well' }),
      '/data.bin': { headers: { 'content-type': 'application/octet-stream' }, body: 'xx' },
      '/slow': (exchange) => {
        if (!isHanging) answer(exchange, { body: '<title>Slow</title>' });
      },
    },
  });
  const bodies = ['--bodies', 'files:bodies', '--retry-delay', '0.01'];
  const notes = ['--meta', 'ticket=42', '--meta', 'why=monthly check'];
  const first = await run('crawl', web.origin, ...FLAGS, ...bodies, ...notes, '-q');
  expect(first).toEqual({ code: 0, stdout: '', stderr: '' });
  // A second run is left in the middle, so that URLs wait in it.
  isHanging = true;
  const second = startSumi(['crawl', web.origin, ...FLAGS, '--concurrency', '1', '--timeout', '60'], {
    cwd: folder.path,
  });
  await web.asked('/slow', 2);
  second.child.kill('SIGINT');
  await second.said('finishing');
  second.child.kill('SIGINT');
  expect((await second.finished).code).toBe(3);
}, 60_000);

afterAll(async () => {
  await web.close();
  folder.remove();
});

describe('sumi report', () => {
  it('says of the last run what plain SQL says', async () => {
    const told = await report();
    expect(told).toMatchObject({ run: 2, project: 'shop', is_latest: true, metadata: null });
    expect(figuresOf(told)).toEqual(recount(2));
    expect(told.statistics.waiting).toBeGreaterThan(0);
  });

  it('says of an earlier run what is still its own', async () => {
    const told = await report('--run', '1');
    expect(told).toMatchObject({ run: 1, status: 'completed', is_latest: false });
    expect(figuresOf(told)).toEqual(recount(1));
    expect(told.statistics).toMatchObject({ retries: 1, hosts_visited: 2 });
    expect(told.statistics.status_codes).toMatchObject({ 200: 8, 301: 1, 404: 1, 503: 1 });
  });

  it('tells who the run was: notes, times and the options that matter', async () => {
    const told = await report('--run', '1');
    expect(told.metadata).toEqual({ ticket: '42', why: 'monthly check' });
    const seconds = (Date.parse(told.finished_at!) - Date.parse(told.started_at)) / 1000;
    expect(told.duration_seconds).toBeCloseTo(seconds, 3);
    expect(told.pages_per_second).toBeCloseTo(told.pages / seconds, 0);
    expect(told.configuration).toMatchObject({
      'start-urls': [`${web.origin}/`],
      delay: 0.01,
      'max-pages': null,
      bodies: 'files:bodies',
      'allowed-hosts': ['127.0.0.1', '127.0.0.2'],
    });
    expect(told.configuration).not.toHaveProperty('store');
    expect(told.configuration).not.toHaveProperty('timeout');
    const [row] = JSON.parse((await run('runs', '--format', 'json')).stdout);
    expect(row.metadata).toEqual(told.metadata);
    expect((await run('runs', '--format', 'csv')).stdout).toContain('"{""ticket"":""42""');
  });

  it('tells of each host its delay and what its robots.txt said', async () => {
    const { domains, top_hosts } = await report('--run', '1');
    expect(domains[0]).toMatchObject({
      host: '127.0.0.1',
      robots_status: 200,
      robots_delay: 0.02,
      delay: 0.02,
    });
    expect(top_hosts.map(({ host }) => host)).toEqual(['127.0.0.1', '127.0.0.2']);
    expect(top_hosts[1]).toMatchObject({ requests: 2, page_requests: 1, failed_requests: 0 });
  });

  it('names the errors with an example, and the deepest pages', async () => {
    const { top_errors, deepest_pages } = await report();
    expect(top_errors).toContainEqual({ reason: 'http: 404', pages: 1, example: `${web.origin}/dead` });
    expect(deepest_pages[0]).toMatchObject({ url: `${web.origin}/a/b`, depth: 2 });
  });

  it('counts violations as audit does', async () => {
    const of = async () => {
      const { politeness } = await report('--run', '1');
      const audit = JSON.parse((await run('audit', '1', '--json')).stdout);
      expect([politeness.violations, politeness.by_kind, politeness.requests]).toEqual([
        audit.violations,
        audit.by_kind,
        audit.requests,
      ]);
      return politeness.violations;
    };
    expect(await of()).toBe(0);
    const db = new Sqlite(folder.file('sumi.db'));
    const last = db.prepare('SELECT max(id) FROM request WHERE run_id = 1').pluck().get();
    const before = db.prepare('SELECT slot_at FROM request WHERE id = ?').pluck().get(last);
    db.prepare('UPDATE request SET slot_at = slot_at + 5000 WHERE id = ?').run(last);
    expect(await of()).toBe(1);
    db.prepare('UPDATE request SET slot_at = ? WHERE id = ?').run(before, last);
    db.close();
  });

  it('prints the same for people', async () => {
    const { stdout, code } = await run('report', '--run', '1');
    expect(code).toBe(0);
    for (const text of ['Run 1 of shop: completed', 'monthly check', '0 violations', '127.0.0.2'])
      expect(stdout).toContain(text);
    expect(stdout).toMatch(/retries +1\n/);
    expect(stdout).toContain('A later run has visited pages again');
  });

  it('refuses a run or project that does not exist', async () => {
    for (const args of [
      ['--run', '7'],
      ['--run', 'first'],
      ['--project', 'none'],
    ]) {
      const { code, stdout, stderr } = await run('report', ...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/code: (unknown-run|bad-flag|unknown-project)/);
    }
  });
});

describe('sumi workers', () => {
  it('lists nobody where nobody is at work', async () => {
    expect(JSON.parse((await run('workers', '--all', '--format', 'json')).stdout)).toEqual([]);
  });

  it('lists the process that crawls into the file', async () => {
    const crawling = startSumi(['crawl', web.origin, ...FLAGS, '--project', 'other', '--timeout', '60'], {
      cwd: folder.path,
    });
    await web.asked('/slow', 3);
    const rows = JSON.parse((await run('workers', '--format', 'json')).stdout);
    expect(rows).toEqual([
      expect.objectContaining({
        process: expect.stringMatching(new RegExp(`:${crawling.child.pid}$`)),
        state: 'alive',
        project: 'other',
        run: 3,
      }),
    ]);
    crawling.child.kill('SIGKILL');
    await crawling.finished;
    expect(JSON.parse((await run('workers', '--format', 'json')).stdout)).toEqual([]);
  });
});
