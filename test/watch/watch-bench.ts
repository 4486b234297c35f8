// Watches for tests: a database of its own, a clock that stands still, and what was told. The web's log is the judge of
// what was asked.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import type { SummaryEvent } from '../../src/events/events.ts';
import { openReadSide } from '../../src/store/open-store.ts';
import type { ReadSide } from '../../src/store/read-side.ts';
import type { ChangeEvent, TickEvent, WatchEvent } from '../../src/watch/watch-event.ts';
import { openWatch, type Watch } from '../../src/watch/watch-project.ts';
import { settingsOf } from '../../src/watch/watch-settings.ts';
import type { CrawlOptions } from '../crawls/crawl-site.ts';
import { FakeClock } from '../fake-clock.ts';
import { seededRandom } from '../seeded-random.ts';
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../web/fake-web.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export interface WatchBench {
  clock: FakeClock;
  web: FakeWeb;
  path: string;
  events: WatchEvent[];
  /** A watch of the site; each call is a new one, as after a restart. */
  open(options?: CrawlOptions): Promise<Watch>;
  /** A crawl by hand beside the watch; `seeHandle` may stop it. */
  crawl(options?: CrawlOptions, seeHandle?: (handle: CrawlHandle) => void): Promise<SummaryEvent>;
  /** Pages asked since the last call, by path, robots.txt and sitemaps left out. */
  asked(): string[];
  changes(): string[];
  ticks(): TickEvent[];
  read<T>(use: (side: ReadSide) => Promise<T>): Promise<T>;
}

/** Call once a test file; what it opens is closed after each test. */
export function useWatches(): (
  web: FakeWebOptions,
  options?: CrawlOptions,
  start?: string,
) => Promise<WatchBench> {
  const webs: FakeWeb[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const web of webs.splice(0)) await web.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return async (webOptions, common = {}, start = '/') => {
    // Midnight of this machine, so that hours of the day are what they seem.
    const clock = new FakeClock(new Date(2026, 2, 4).getTime());
    const web = await startFakeWeb({ ...webOptions, clock });
    const folder = mkdtempSync(join(tmpdir(), 'sumi-watch-'));
    webs.push(web);
    folders.push(folder);
    const path = join(folder, 'sumi.db');
    const events: WatchEvent[] = [];
    const configOf = (options: CrawlOptions) =>
      loadConfig({
        env: {},
        options: {
          db: path,
          delay: 0,
          retries: 0,
          adaptiveDelay: false,
          discover: ['links'],
          ...common,
          ...options,
        },
      });
    let seen = 0;
    return {
      ...{ clock, web, path, events },
      async open(options = {}) {
        const config = await configOf(options);
        return openWatch({
          config,
          startUrls: [web.url(start)],
          project: 'watched',
          settings: settingsOf(config),
          extensions: { clock },
          random: seededRandom(1).next,
          onEvent: (event) => void events.push(event),
        });
      },
      async crawl(options = {}, seeHandle = () => {}) {
        const config = await configOf({ project: 'watched', ...options });
        const handle = await startCrawl({ config, startUrls: [web.url(start)], extensions: { clock } });
        seeHandle(handle);
        return handle.finished;
      },
      asked() {
        const entries = web.log.slice(seen);
        seen = web.log.length;
        return entries
          .filter(({ path: asked }) => !/^\/(?:robots\.txt|.*sitemap.*|feed)$/.test(asked))
          .map(({ path: asked, host }) => (host === 0 ? asked : `${host}:${asked}`));
      },
      changes: () =>
        events
          .filter((event): event is ChangeEvent => event.type === 'change')
          .map(({ outcome, url }) => `${outcome} ${new URL(url).pathname}`),
      ticks: () => events.filter((event): event is TickEvent => event.type === 'tick'),
      async read(use) {
        const side = await openReadSide(path);
        try {
          return await use(side);
        } finally {
          await side.close();
        }
      },
    };
  };
}
