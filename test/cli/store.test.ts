import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FullReport } from '../../src/project/report-on-run.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, startSumi, sumi } from './run-sumi.ts';

const folder = makeFolder();
const PASSWORD = 's3cret';
let web: FakeWeb;
let store: string;
let label: string;
let isHanging = false;

type Row = Record<string, unknown>;
const run = (args: string[], env: Record<string, string> = {}) => sumi(args, { cwd: folder.path, env });
/** One request at a time, so that both crawls discover in the same order. */
const CRAWL = ['--delay', '0', '--retry-delay', '0.01', '--concurrency', '1', '--bodies', 'files:bodies'];

beforeAll(async () => {
  web = await startFakeWeb({
    robots: 'User-agent: *\nDisallow: /private/\n',
    graph: { seed: 11, pages: 40 },
    pages: {
      '/old': { status: 301, headers: { location: '/' } },
      '/start': `<title>Start</title><a href="/">home</a><a href="/old">old</a><a href="/dead" rel="nofollow">d</a>
        <a href="/gone">g</a><a href="/private/x">p</a><a href="/flaky">f</a><a href="/slow">s</a>`,
      '/gone': { status: 410 },
      '/flaky': (exchange) => answer(exchange, { status: exchange.nth % 2 === 1 ? 503 : 200, body: 'well' }),
      '/slow': (exchange) => {
        if (!isHanging) answer(exchange, { body: '<title>Slow</title>' });
      },
    },
  });
  const server = await sharedPostgres();
  const bare = new URL(await server.newDatabase());
  bare.password = PASSWORD;
  store = bare.href;
  bare.password = '';
  label = bare.href;
  for (const at of [
    ['--db', 'sumi.db'],
    ['--store', store],
  ]) {
    const finished = await run(['crawl', web.url('/start'), ...CRAWL, ...at, '--meta', 'ticket=42', '-q']);
    expect(finished).toEqual({ code: 0, stdout: '', stderr: '' });
  }
});

afterAll(async () => {
  await web.close();
  await (await sharedPostgres()).dropDatabase(label);
  folder.remove();
});

async function both(...args: string[]): Promise<[Row[], Row[]]> {
  const file = await run([...args, '--format', 'json']);
  const shared = await run([...args, '--format', 'json', '--store', store]);
  expect([file.stderr, file.code, shared.stderr, shared.code]).toEqual(['', 0, '', 0]);
  return [JSON.parse(file.stdout), JSON.parse(shared.stdout)];
}

/** What a clock or the store itself decides may differ, and nothing else. */
function without(rows: Row[], ...names: string[]): Row[] {
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name))));
}

describe('the same crawl into a file and into --store', () => {
  it('gives the same rows of pages', async () => {
    const own = ['visited_at', 'discovered_at', 'response_ms', 'id', 'referrer_id', 'redirect_to'];
    const [file, shared] = await both('pages');
    const byUrl = (a: Row, b: Row) => (String(a.url) < String(b.url) ? -1 : 1);
    expect(file.length).toBeGreaterThan(40);
    expect(without(shared, ...own).sort(byUrl)).toEqual(without(file, ...own).sort(byUrl));
  });

  it('gives the same links, hosts and totals', async () => {
    const [fileLinks, sharedLinks] = await both('links');
    const asText = (rows: Row[]) => rows.map((row) => JSON.stringify(row)).sort();
    expect(fileLinks.length).toBeGreaterThan(40);
    expect(asText(sharedLinks)).toEqual(asText(fileLinks));
    const own = ['average_ms', 'adaptive_delay_ms', 'next_slot_at', 'robots_fetched_at'];
    const [fileHosts, sharedHosts] = await both('hosts');
    expect(without(sharedHosts, ...own)).toEqual(without(fileHosts, ...own));
    const [file, shared] = (await both('stats')) as unknown as [Row, Row];
    expect(shared).toEqual({
      ...file,
      file: label,
      last_run: expect.objectContaining({ status: 'completed' }),
    });
  });

  it('gives the same report', async () => {
    const reports = await Promise.all(
      [[], ['--store', store]].map(async (at) => JSON.parse((await run(['report', '--json', ...at])).stdout)),
    );
    const [file, shared] = (reports as FullReport[]).map((report) => ({
      ...report,
      ...{ started_at: null, finished_at: null, duration_seconds: 0, pages_per_second: 0 },
    }));
    expect(file.statistics.retries).toBe(1);
    expect(shared).toEqual(file);
    expect(shared.metadata).toEqual({ ticket: '42' });
    expect(JSON.stringify(reports)).not.toContain(PASSWORD);
  });

  it('explains, replays and prints pages alike', async () => {
    const why = await run(['why', web.url('/private/x'), '--store', store]);
    expect(why.stdout).toContain('robots: Disallow /private/');
    const raw = await run(['cat', web.url('/flaky'), '--store', store]);
    expect(raw).toEqual({ code: 0, stdout: 'well', stderr: '' });
    const audit = await run(['audit', '--json', '--store', store]);
    expect([audit.code, JSON.parse(audit.stdout).violations]).toEqual([0, 0]);
    const unknown = await run(['why', 'https://example.com/', '--store', store]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining(`known in ${label}`)]);
  });
});

describe('a store that is named', () => {
  it('by SUMI_STORE needs no flag, and a flag --db wins over it', async () => {
    const env = { SUMI_STORE: store };
    const shared = JSON.parse((await run(['runs', '--format', 'json'], env)).stdout);
    expect(shared).toHaveLength(1);
    const other = await run(['runs', '--db', 'none.db'], env);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('db-missing')]);
  });

  it('shows no password: not in hints, not in what is stored, not in errors', async () => {
    const again = ['crawl', web.url('/start'), ...CRAWL, '--store', store, '--max-pages', '3'];
    const told = await run(again);
    expect(told.code).toBe(0);
    expect(told.stdout).toContain(`sumi pages --store ${label}`);
    expect(told.stderr).toContain('SUMI_STORE');
    const quiet = await run(again.slice(0, -4).concat('--max-pages', '3'), { SUMI_STORE: store });
    expect(quiet.stdout).toMatch(/^ {2}sumi pages {2,}/m);
    const gone = await run(['pages', '--store', store.replace(/\/[^/]*$/, '/no-such-database')]);
    expect([gone.code, gone.stderr]).toEqual([4, expect.stringContaining('no-such-database')]);
    expect(JSON.stringify([told, quiet, gone])).not.toContain(PASSWORD);
    const { default: postgres } = await import('postgres');
    const sql = postgres(label);
    const rows = await sql`SELECT config, metadata, error FROM run`;
    await sql.end();
    expect(rows.length).toBeGreaterThan(1);
    expect(JSON.stringify(rows)).not.toContain(PASSWORD);
  });

  it('is listed with its workers while they work, and goes on by `sumi resume`', async () => {
    isHanging = true;
    const crawling = startSumi(
      ['crawl', web.url('/start'), ...CRAWL, '--store', store, '--project', 'p', '--timeout', '60'],
      { cwd: folder.path },
    );
    const before = web.requestsTo('/slow').length;
    await web.asked('/slow', before + 1);
    const workers = JSON.parse((await run(['workers', '--store', store, '--format', 'json'])).stdout);
    expect(workers).toEqual([
      expect.objectContaining({
        process: expect.stringContaining(String(crawling.child.pid)),
        state: 'alive',
        project: 'p',
      }),
    ]);
    crawling.child.kill('SIGINT');
    await crawling.said('finishing');
    isHanging = false;
    crawling.child.kill('SIGINT');
    const left = await crawling.finished;
    expect(left.code).toBe(3);
    expect(left.stderr + left.stdout).not.toContain(PASSWORD);
    const log = web.log.length;
    const resume = ['resume', '--project', 'p', '--store', store];
    // A store that others write to cannot say where on this machine bodies go.
    const bare = await run(resume);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('--bodies "files:bodies"')]);
    expect([bare.stderr, web.log.length]).toEqual([expect.stringContaining('operator-options-missing'), log]);
    const resumed = await run([...resume, '--bodies', 'files:bodies', '--json']);
    expect(resumed.code).toBe(0);
    const events = resumed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    expect(events[0]).toMatchObject({ type: 'run', project: 'p', resumed: true });
    expect(events.at(-1)).toMatchObject({ type: 'summary', status: 'completed' });
    expect(JSON.parse((await run(['workers', '--store', store, '--format', 'json'])).stdout)).toEqual([]);
  });

  it('leaves no file behind', () => {
    const names = readdirSync(folder.path).filter((name) => !/^sumi\.db-(wal|shm)$/.test(name));
    expect(names.sort()).toEqual(['bodies', 'sumi.db']);
  });
});
