// A run ends when nothing is left to ask, however long a host wants to be left alone.
import { afterEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { joinCrawl, startCrawl } from '../../src/crawl/start-crawl.ts';
import { configOfRun } from '../../src/project/config-of-run.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type Exchange, type Handler } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { fastClock, page, useBench } from './crawl-site.ts';
import { mapWeb } from './terrain-file.ts';

const bench = useBench();
const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const drop of drops.splice(0)) await drop();
});

const FACTOR = 300;
/** Longer than a test may take, at that pace. */
const RETRY_AFTER_S = 80_000;
const PATIENT = { maxRetryAfter: RETRY_AFTER_S };
const busy: Handler = misbehaviours.rateLimitedForSeconds(99, RETRY_AFTER_S);

it('a map does not wait for a host that is done with: its pages are RateLimited already', async () => {
  const clock = fastClock(FACTOR);
  const web = await bench.web({
    hosts: 2,
    pages: {
      '0:/': (at: Exchange) => answer(at, { body: page('Home', at.url('/a', 1), at.url('/b', 1)) }),
      '1:/a': busy,
      '/*': page('P'),
    },
  });
  const file = bench.file();
  const { summary } = await mapWeb(bench, file, web, {}, PATIENT, { clock });
  expect(summary).toMatchObject({ status: 'completed', waiting: 0 });
  expect(summary.by_state).toMatchObject({ RateLimited: 2 });
  expect(summary.duration_ms).toBeLessThan(RETRY_AFTER_S * 1000);
});

it('a map does not ask for the robots.txt of a host again that answers it with 429', async () => {
  const clock = fastClock(FACTOR);
  const web = await bench.web({
    hosts: 2,
    pages: {
      '0:/': (at: Exchange) => answer(at, { body: page('Home', at.url('/a', 1), at.url('/b', 1)) }),
      '1:/robots.txt': busy,
      '/*': page('P'),
    },
  });
  const file = bench.file();
  const { summary } = await mapWeb(bench, file, web, {}, PATIENT, { clock });
  expect(summary.by_state).toMatchObject({ RateLimited: 2 });
  expect(summary.duration_ms).toBeLessThan(RETRY_AFTER_S * 1000);
});

it('a map gives such a host back: with room for one host at a time, the others have their turn', async () => {
  const clock = fastClock(FACTOR);
  const web = await bench.web({
    hosts: 4,
    pages: {
      '0:/': (at: Exchange) =>
        answer(at, { body: page('Home', at.url('/a', 1), at.url('/a', 2), at.url('/a', 3)) }),
      '1:/robots.txt': busy,
      '2:/robots.txt': busy,
      '/*': page('P'),
    },
  });
  const file = bench.file();
  const { summary } = await mapWeb(bench, file, web, {}, { ...PATIENT, maxHosts: 1 }, { clock });
  expect(summary.by_state).toMatchObject({ RateLimited: 2, Processed: 2 });
});

it('a crawl does not wait for a guess at a sitemap when no page is left', async () => {
  const clock = fastClock(FACTOR);
  const web = await bench.web({ pages: { '/': page('home'), '/sitemap*': busy } });
  const file = bench.file();
  const options = { discover: ['sitemap', 'links'], delay: 0.5, perHost: 5, ...PATIENT };
  const { summary } = await bench.crawl(file, web.origin, options, { clock });
  expect(summary).toMatchObject({ status: 'completed', pages: 1 });
  expect(summary.duration_ms).toBeLessThan(RETRY_AFTER_S * 1000);
  // That nothing was found is not believed: nobody could say so.
  expect(file.rows('SELECT method FROM discovery_status')).toEqual([]);
});

it('a crawl waits for pages, and for a sitemap that robots.txt names', async () => {
  const clock = fastClock(FACTOR);
  const once = misbehaviours.rateLimitedForSeconds(1, 600);
  const web = await bench.web({
    robots: 'User-agent: *\nSitemap: /all.xml\n',
    pages: { '/': page('home', '/a'), '/a': once },
  });
  const file = bench.file();
  const { summary } = await bench.crawl(file, web.origin, { delay: 0.5 }, { clock });
  expect(summary).toMatchObject({ status: 'completed', pages: 2 });
  expect(summary.duration_ms).toBeGreaterThanOrEqual(600_000);
});

it('two workers do not wait for a host either that is done with', async () => {
  // By the database's time, which is the real one: ten minutes are longer than a test may take.
  const web = await bench.web({
    hosts: 2,
    pages: {
      '0:/': (at: Exchange) => answer(at, { body: page('Home', at.url('/a', 1), at.url('/b', 1)) }),
      '1:/a': misbehaviours.rateLimitedForSeconds(99, 600),
      '/*': page('P'),
    },
  });
  const server = await sharedPostgres();
  const store = await server.newDatabase();
  drops.push(() => server.dropDatabase(store));
  const options = {
    store,
    delay: 0,
    perHost: 1,
    on429: 'suspend' as const,
    allowedHosts: ['any'],
    discover: ['links'],
  };
  const config = await loadConfig({ env: {}, options });
  const first = await startCrawl({ config, startUrls: [web.url('/')] });
  const configOf = (run: { config: string }) => configOfRun(run, { env: process.env, options: { store } });
  const second = await joinCrawl({ runId: first.runId, worker: config, configOf });
  const [{ by_state }] = await Promise.all([first.finished, second?.finished]);
  expect(by_state).toMatchObject({ RateLimited: 2, Processed: 1 });
});
