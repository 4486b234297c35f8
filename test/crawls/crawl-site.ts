// Whole crawls from outside: starts the crawler in this process on a database of its own, and gives what the world can
// see of it: the summary, the events, and the rows that any SQLite tool would read through the views. Never looks
// inside the engine; what was asked and when is the fake web's log to say.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach } from 'vitest';
import { type ConfigSources, loadConfig } from '../../src/config/load-config.ts';
import type { StartMeaning } from '../../src/crawl/parts.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import type { Extensions } from '../../src/crawl/wire.ts';
import type { CrawlEvent, SummaryEvent } from '../../src/events/events.ts';
import { type Clock, systemClock } from '../../src/primitives/clock.ts';
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../web/fake-web.ts';

export type CrawlOptions = NonNullable<ConfigSources['options']>;

export interface PageRow {
  url: string;
  fetch_url: string;
  host: string;
  state: string;
  reason: string | null;
  status_code: number | null;
  title: string | null;
  h1: string | null;
  meta_description: string | null;
  depth: number;
  priority: number;
  content_type: string | null;
  content_length: number | null;
  word_count: number | null;
  content_hash: string | null;
  lang: string | null;
  charset: string | null;
  canonical: string | null;
  noindex: number | null;
  nofollow: number | null;
  final_url: string | null;
  redirect_count: number;
  etag: string | null;
  last_modified: string | null;
  cache_control: string | null;
  visited_at: string | null;
  change: string | null;
  body_key: string | null;
  error: string | null;
  retry_count: number;
}

export interface Crawled {
  summary: SummaryEvent;
  events: CrawlEvent[];
}

/** A database file, seen through its views. */
export interface CrawlFile {
  path: string;
  folder: string;
  rows<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** The row of a page, by the path it was asked under, or by its whole URL. */
  page(pathOrUrl: string): PageRow;
  pages(): PageRow[];
  /** State by path (by URL for other hosts than the first). */
  states(): Record<string, string>;
  /** Texts of pages by path. */
  text(path: string): string | null;
  /** Links as `from → to`, sorted, by path. */
  links(): string[];
}

/** Fast and steady unless the test says otherwise: no delay, quick retries, no adapting, no sitemaps looked for. */
const QUICK: CrawlOptions = { delay: 0, retryDelay: 0.02, adaptiveDelay: false, discover: ['links'] };

/** Extensions of the crawl, and listeners beside the bench's own. */
export type More = Extensions & {
  listeners?: ((event: CrawlEvent) => void)[];
  meanings?: ReadonlyMap<string, StartMeaning>;
};

export interface Bench {
  web(options?: FakeWebOptions): Promise<FakeWeb>;
  file(): CrawlFile;
  begin(file: CrawlFile, urls: string | string[], options?: CrawlOptions, more?: More): Promise<Begun>;
  crawl(file: CrawlFile, urls: string | string[], options?: CrawlOptions, more?: More): Promise<Crawled>;
}

export interface Begun extends CrawlHandle {
  events: CrawlEvent[];
}

/** Call once a test file: what it opens is closed after each test. */
export function useBench(): Bench {
  const webs: FakeWeb[] = [];
  const folders: string[] = [];
  const running = new Set<CrawlHandle>();
  afterEach(async () => {
    // A test that failed in the middle must not leave a crawl behind that writes into a removed folder.
    for (const handle of running) handle.stop();
    for (const web of webs.splice(0)) await web.close();
    await Promise.allSettled([...running].map(({ finished }) => finished));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  const bench: Bench = {
    async web(options) {
      const web = await startFakeWeb(options);
      webs.push(web);
      return web;
    },
    file() {
      const folder = mkdtempSync(join(tmpdir(), 'sumi-crawl-'));
      folders.push(folder);
      return openFile(folder);
    },
    async begin(file, urls, options = {}, { listeners = [], meanings, ...extensions } = {}) {
      const config = await loadConfig({ env: {}, options: { ...QUICK, db: file.path, ...options } });
      const events: CrawlEvent[] = [];
      const startUrls = typeof urls === 'string' ? [urls] : urls;
      const handle = await startCrawl({
        config,
        startUrls,
        meanings,
        extensions,
        listeners: [...listeners, (event) => void events.push(event)],
      });
      running.add(handle);
      handle.finished.then(
        () => running.delete(handle),
        () => running.delete(handle),
      );
      return Object.assign(handle, { events });
    },
    async crawl(file, urls, options, more) {
      const handle = await bench.begin(file, urls, options, more);
      return { summary: await handle.finished, events: handle.events };
    },
  };
  return bench;
}

function openFile(folder: string): CrawlFile {
  const path = join(folder, 'sumi.db');
  const rows = <Row>(sql: string, ...values: unknown[]): Row[] => {
    const db = new Sqlite(path, { readonly: true, timeout: 5000 });
    try {
      return db.prepare(sql).all(...values) as Row[];
    } finally {
      db.close();
    }
  };
  const pages = () => rows<PageRow>('SELECT * FROM pages ORDER BY id');
  return {
    path,
    folder,
    rows,
    pages,
    page(pathOrUrl) {
      const isPath = pathOrUrl.startsWith('/');
      const all = pages();
      const found = all.filter(({ fetch_url: url }) => (isPath ? pathOf(url) : url) === pathOrUrl);
      if (found.length !== 1)
        throw new Error(`${found.length} rows for ${pathOrUrl} among ${all.map(({ url }) => url).join(' ')}`);
      return found[0];
    },
    states: () => Object.fromEntries(pages().map(({ fetch_url: url, state }) => [nameOf(url), state])),
    text: (page) =>
      rows<{ url: string; content_text: string | null }>('SELECT url, content_text FROM crawled_pages').find(
        ({ url }) => pathOf(url) === page,
      )?.content_text ?? null,
    links: () =>
      rows<{ a: string; b: string }>(
        `SELECT a.fetch_url AS a, b.fetch_url AS b FROM links l JOIN pages a ON a.id = l.from_page_id
         JOIN pages b ON b.id = l.to_page_id`,
      )
        .map(({ a, b }) => `${nameOf(a)} → ${nameOf(b)}`)
        .sort(),
  };
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** The path on the first host, the whole URL elsewhere. */
function nameOf(url: string): string {
  return new URL(url).hostname === '127.0.0.1' ? pathOf(url) : url;
}

/** A clock that runs `factor` times as fast as the real one: long pauses are really waited for, in less time. */
export function fastClock(factor: number): Clock {
  const from = systemClock.now();
  const started = systemClock.monotonic();
  const passed = () => (systemClock.monotonic() - started) * factor;
  return {
    now: () => from + passed(),
    monotonic: passed,
    after: (delayMs, callback) => systemClock.after(delayMs / factor, callback),
  };
}

/** A page with a title and links. */
export function page(title: string, ...hrefs: string[]): string {
  const links = hrefs.map((href) => `<a href="${href}">${href}</a>`).join(' ');
  return `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1>${links}</body></html>`;
}

/** The paths that were asked, in order, robots.txt left out. */
export function asked(web: FakeWeb, host?: number): string[] {
  return web.log
    .filter((entry) => entry.path !== '/robots.txt' && (host === undefined || entry.host === host))
    .map((entry) => entry.path);
}

/**
 * The least that a pause may look like to the server. It lives in the crawler's own process: a request is seen late when
 * the process is busy, and the pause after it then looks shorter. Without any pause requests come in a few milliseconds.
 */
export const seenAs = (pauseMs: number): number => pauseMs * 0.5;
