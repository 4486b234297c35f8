// Modes on a run that several workers share, on a real PostgreSQL: one decision for all of them, one line of history a page.
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { joinCrawl, startCrawl } from '../../src/crawl/start-crawl.ts';
import { configOfRun } from '../../src/project/config-of-run.ts';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { createChangingPages } from '../web/changing-pages.ts';
import { type CrawlOptions, useBench } from './crawl-site.ts';

const bench = useBench();
const PAGES = 60;
const HOSTS = 3;

const open: CrawlHandle[] = [];
const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const handle of open) handle.stop();
  await Promise.allSettled(open.splice(0).map(({ finished }) => finished));
  for (const drop of drops.splice(0)) await drop();
});

async function useStore() {
  const server = await sharedPostgres();
  const store = await server.newDatabase();
  const sql = connect(store, { max: 1, applicationName: 'test' });
  drops.push(async () => {
    await disconnect(sql);
    await server.dropDatabase(store);
  });
  const quick: CrawlOptions = { delay: 0, adaptiveDelay: false, discover: ['links'], spotCheck: 0, store };
  return {
    rows: async (text: string) => [...(await sql.unsafe(text))] as Record<string, unknown>[],
    async crawl(startUrls: string[], options: CrawlOptions, others = 0) {
      const config = await loadConfig({ env: {}, options: { ...quick, ...options } });
      const first = await startCrawl({ config, startUrls });
      open.push(first);
      for (let n = 0; n < others; n++) {
        const configOf = (run: { config: string }) =>
          configOfRun(run, { env: process.env, options: { store } });
        const joined = await joinCrawl({ runId: first.runId, worker: config, configOf });
        if (joined !== null) open.push(joined);
      }
      return Promise.all(open.splice(0).map(({ finished }) => finished));
    },
  };
}

describe('workers on one run', () => {
  it('visit known pages in one way, whoever of them decided it, and each page once', async () => {
    const paths = Array.from({ length: PAGES }, (_, n) => `/p${n}`);
    const site = createChangingPages({
      '/': { validators: 'etag', links: paths },
      ...Object.fromEntries(paths.map((path) => [path, { validators: 'etag' } as const])),
    });
    const web = await bench.web({ pages: site.pages, hosts: HOSTS });
    const starts = web.origins.map((origin) => `${origin}/`);
    const store = await useStore();
    await store.crawl(starts, {});
    site.change('/p3', '/p17');
    const from = web.log.length;
    const summaries = await store.crawl(starts, { mode: 'smart', perHost: 2, concurrency: 4 }, 1);
    const [{ mode_reason: reason }] = summaries;
    for (const summary of summaries)
      expect(summary).toMatchObject({ status: 'completed', mode: 'incremental', mode_reason: reason });
    expect(summaries[0]).toMatchObject({ changed: 2 * HOSTS, unchanged: (PAGES + 1 - 2) * HOSTS, new: 0 });
    const seen = web.log.slice(from).map(({ host, path }) => `${host}${path}`);
    expect(seen.length).toBe((PAGES + 1) * HOSTS);
    expect(new Set(seen).size).toBe(seen.length);
    expect(await store.rows('SELECT mode, mode_reason FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
      { mode: 'incremental', mode_reason: reason },
    ]);
    const visits = await store.rows(
      `SELECT outcome, known_by, count(*)::int AS n FROM visits WHERE run_id = (SELECT max(id) FROM runs)
       GROUP BY outcome, known_by ORDER BY outcome`,
    );
    expect(visits).toEqual([
      { outcome: 'changed', known_by: 'content', n: 2 * HOSTS },
      { outcome: 'unchanged', known_by: '304', n: (PAGES - 1) * HOSTS },
    ]);
  });
});
