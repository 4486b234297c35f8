// `sumi worker` from outside: real processes on a real PostgreSQL, the fake web's log as judge.
import { afterEach, describe, expect, it } from 'vitest';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import { seenAs } from '../crawls/crawl-site.ts';
import { stopAtRest } from '../faults/stop-at-rest.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../web/fake-web.ts';
import { type Running, startSumi, sumi } from './run-sumi.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function useStore() {
  const server = await sharedPostgres();
  const url = await server.newDatabase();
  ends.push(() => server.dropDatabase(url));
  const sql = connect(url, { max: 1, applicationName: 'test' });
  ends.push(() => disconnect(sql));
  return { url, rows: async (text: string) => [...(await sql.unsafe(text))] as Record<string, unknown>[] };
}

async function useWeb(options: FakeWebOptions): Promise<FakeWeb> {
  const web = await startFakeWeb(options);
  ends.push(() => web.close());
  return web;
}

/** A process that a failed test must not leave behind. */
function start(...args: string[]): Running {
  const running = startSumi(args);
  ends.push(async () => {
    running.child.kill('SIGKILL');
    await running.finished;
  });
  return running;
}

const pagesAsked = (web: FakeWeb) => web.log.filter(({ path }) => path !== '/robots.txt');
const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
};

describe('sumi worker', () => {
  it('needs a store that can be shared', async () => {
    const { code, stderr } = await sumi(['worker']);
    expect(code).toBe(2);
    expect(stderr).toContain('--store postgres://');
  });

  it('told to work once ends with 0 when no run is under way', async () => {
    const { url } = await useStore();
    const { code, stderr, stdout } = await sumi(['worker', '--store', url, '--once']);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^at work on postgres:/);
  });

  it('waits for a run, works on it, serves metrics, and drains on SIGTERM with 0', async () => {
    const web = await useWeb({ graph: { seed: 21, pages: 120, hosts: 6 } });
    const { url, rows } = await useStore();
    const worker = start('worker', '--store', url, '--metrics-port', '0', '--json');
    await worker.said('no run is under way');
    const starts = web.origins.map((origin) => `${origin}/`);
    const crawl = start(
      'crawl',
      ...starts,
      '--store',
      url,
      '--delay',
      '0.03',
      '--concurrency',
      '3',
      '--quiet',
    );
    await worker.said('joined run 1');
    let stderr = '';
    worker.child.stderr!.on('data', (text: string) => {
      stderr += text;
    });
    await until(async () => {
      const [{ n }] = await rows(
        'SELECT COALESCE(max(pages), 0)::int AS n FROM worker w WHERE id <> (SELECT min(id) FROM worker)',
      );
      return (n as number) > 0;
    });
    worker.child.kill('SIGTERM');
    const { code, stdout } = await worker.finished;
    expect(code).toBe(0);
    expect(stderr).toContain('draining');
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toEqual({ type: 'worker', what: 'idle', run: null });
    expect(events.filter(({ type }) => type === 'page').every(({ run }) => run === 1)).toBe(true);
    expect((await crawl.finished).code).toBe(0);
    const seen = pagesAsked(web).map(({ host, path }) => `${host}${path}`);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(120);
    expect(await rows('SELECT status, pages FROM runs')).toEqual([{ status: 'completed', pages: 120 }]);
  });

  it('stopped for longer than its lease sends nothing under it when it goes on', async () => {
    const web = await useWeb({ graph: { seed: 22, pages: 60, hosts: 3 } });
    const { url, rows } = await useStore();
    const starts = web.origins.map((origin) => `${origin}/`);
    const lease = ['--store', url, '--lease-seconds', '3'];
    const first = start('crawl', ...starts, ...lease, '--delay', '0.2', '--concurrency', '4', '--quiet');
    await until(() => pagesAsked(web).length > 6);
    await stopAtRest(first.child);
    const before = web.log.length;
    const second = start('worker', ...lease, '--once');
    // Whoever was stopped still has the leases; only when they end can the other go on.
    await until(() => web.log.length > before + 6);
    first.child.kill('SIGCONT');
    expect((await second.finished).code).toBe(0);
    expect((await first.finished).code).toBe(0);
    const hosts = new Set(web.log.map(({ host }) => host));
    for (const host of hosts)
      for (const gap of web.gapsMs(host)) expect(gap).toBeGreaterThanOrEqual(seenAs(200));
    // What was in flight or not yet committed when it stopped is fetched again, nothing else.
    const seen = pagesAsked(web).map(({ host, path }) => `${host}${path}`);
    expect(new Set(seen).size).toBe(60);
    expect(await rows('SELECT status, pages FROM runs')).toEqual([{ status: 'completed', pages: 60 }]);
  });
});
