// Stores attached to a real DuckDB in the test's own thread, and a little web whose crawl puts something into every view.
import { MessageChannel, type Worker } from 'node:worker_threads';
import { type DuckDBConnection, DuckDBInstance, DuckDBTimestampValue } from '@duckdb/node-api';
import { afterAll, afterEach } from 'vitest';
import { startThread } from '../../src/primitives/start-thread.ts';
import {
  attachSite,
  closeSites,
  registerSiteFunctions,
  settleSites,
} from '../../src/sql/attached/attach-site.ts';
import type { MainThread } from '../../src/sql/thread/feed.ts';
import { SIGNAL } from '../../src/sql/thread/messages.ts';
import { createMainThread } from '../../src/sql/thread/wait-for-main.ts';
import { crawlInto, type StorePlace } from '../crawls/each-store.ts';
import { createChangingPages } from '../web/changing-pages.ts';
import { answer, type FakeWebOptions } from '../web/fake-web.ts';
import { sitemapsInTurn } from '../web/sitemap-pages.ts';

type Row = Record<string, unknown>;

export interface TestDuckDb {
  connection: DuckDBConnection;
  main: MainThread;
  attach(name: string, address: string, project?: string | null): Promise<void>;
  settle(): Promise<void>;
  /** A second connection. */
  connect(): Promise<DuckDBConnection>;
  /** Rows as the store's own views have them: ISO times, 0 and 1, numbers. */
  rows(sql: string): Promise<Row[]>;
  /** As text, column by column. */
  texts(sql: string): Promise<unknown[][]>;
  run(sql: string): Promise<void>;
}

export interface SiteBench {
  /** `withMain`: a thread that answers for PostgreSQL. */
  duckDb(withMain?: boolean): Promise<TestDuckDb>;
}

const NOBODY: MainThread = {
  open() {
    throw new Error('a file is read without the main thread');
  },
};

function toStoreValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof DuckDBTimestampValue) return new Date(Number(value.micros / 1000n)).toISOString();
  return value;
}

/** Call once a test file: what it opens is closed after each test. */
export function useSiteBench(): SiteBench {
  const ends: (() => void)[] = [];
  let helper: { worker: Worker; main: MainThread } | null = null;
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });
  afterAll(async () => {
    await helper?.worker.terminate();
  });
  function mainThread(): MainThread {
    if (helper !== null) return helper.main;
    const signal = new SharedArrayBuffer(4 * SIGNAL.length);
    const { port1, port2 } = new MessageChannel();
    const file = { from: import.meta.url, source: './serve-site-feeds.ts', built: '' };
    const worker = startThread(file, { signal, port: port2 }, { transferList: [port2] });
    port1.unref();
    const seen = new Int32Array(signal);
    Atomics.store(seen, SIGNAL.statement, 1);
    helper = { worker, main: createMainThread({ signal: seen, feeds: port1, serveRows: () => false }) };
    return helper.main;
  }
  return {
    async duckDb(withMain = false) {
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      const main = withMain ? mainThread() : { ...NOBODY };
      registerSiteFunctions(connection, main);
      ends.push(() => {
        closeSites(main);
        connection.closeSync();
        instance.closeSync();
      });
      return {
        connection,
        main,
        attach: (name, address, project = null) => attachSite(connection, { main, name, address, project }),
        connect: () => instance.connect(),
        settle: () => settleSites(connection, main),
        async rows(sql) {
          const found = (await connection.runAndReadAll(sql)).getRowObjects();
          return found.map((row) =>
            Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toStoreValue(value)])),
          );
        },
        texts: async (sql) => (await connection.runAndReadAll(sql)).getRowsJson(),
        run: async (sql) => void (await connection.run(sql)),
      };
    },
  };
}

/** Pages that lead everywhere and nowhere, change and go away, and a sitemap that knows one that nobody links to. */
export function littleWeb() {
  const site = createChangingPages({
    '/': {
      validators: 'both',
      links: (version) => ['/hub', '/a', '/b', '/old', '/dead', ...(version > 1 ? ['/later'] : [])],
    },
    '/hub': {
      links: ['/a', '/b', '/c', '/a?x=1', 'https://elsewhere.test/'],
    },
    '/a': { links: ['/b', '/'], head: () => '<meta name="description" content="About a">' },
    '/b': { links: ['/a', '/dead', '/loop'], head: () => '<meta name="robots" content="noindex">' },
    '/c': {
      links: ['/'],
      text: (version) => (version === 1 ? 'Words of the first version' : 'Quite other ones in place of them'),
    },
    '/gone': {},
    '/later': { links: ['/'] },
    '/new': { links: ['/'], head: () => '<meta name="robots" content="nofollow">' },
    '/alone': { text: () => 'Nobody leads here' },
  });
  const to = (location: string, status = 301) => ({ status, headers: { location } });
  const pages: FakeWebOptions['pages'] = {
    ...site.pages,
    '/old': to('/mid'),
    '/mid': to('/new', 302),
    '/loop': to('/loop'),
    '/broken': (exchange) => answer(exchange, { status: 500 }),
    '/sitemap.xml': sitemapsInTurn(
      [{ path: '/', lastmod: '2026-01-05', changefreq: 'daily', priority: '0.8' }, '/alone', '/gone'],
      ['/', '/alone', '/gone', '/broken'],
    ),
  };
  return {
    pages,
    change() {
      site.change('/', '/c');
      site.vanish('/gone', 410);
    },
  };
}

const OPTIONS = {
  discover: ['sitemap', 'links'],
  sitemapCacheHours: 0,
  anchorText: true,
  retries: 0,
  meta: ['for=tests'],
} as const;

/** Two runs, between which the web changes. */
export async function crawlLittleWeb(place: StorePlace, origin: string, change: () => void): Promise<void> {
  await (await crawlInto(place, origin, OPTIONS as never)).handle.finished;
  change();
  await (await crawlInto(place, origin, OPTIONS as never)).handle.finished;
}
