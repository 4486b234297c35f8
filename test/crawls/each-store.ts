// The same crawl on both stores: a place to crawl into, and its rows as SQL gives them.

import Sqlite from 'better-sqlite3';
import { afterEach } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import type { Extensions } from '../../src/crawl/wire.ts';
import type { CrawlEvent } from '../../src/events/events.ts';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { Bench, CrawlOptions } from './crawl-site.ts';

const QUICK: CrawlOptions = { delay: 0, retryDelay: 0.02, adaptiveDelay: false, discover: ['links'] };

export interface StorePlace {
  options: CrawlOptions;
  rows(sql: string): Promise<Record<string, unknown>[]>;
  change(sql: string): Promise<void>;
}

/** Call once a test file: what it opens is closed after each test. */
export function eachStore(bench: Bench): Record<'SQLite' | 'PostgreSQL', () => Promise<StorePlace>> {
  const drops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const drop of drops.splice(0)) await drop();
  });
  return {
    SQLite: async () => {
      const file = bench.file();
      return {
        options: { db: file.path },
        rows: async (sql) => file.rows(sql),
        async change(sql) {
          const db = new Sqlite(file.path);
          db.exec(sql);
          db.close();
        },
      };
    },
    PostgreSQL: async () => {
      const server = await sharedPostgres();
      const store = await server.newDatabase();
      const sql = connect(store, { max: 1, applicationName: 'test' });
      drops.push(async () => {
        await disconnect(sql);
        await server.dropDatabase(store);
      });
      return {
        options: { store },
        rows: async (text) => [...(await sql.unsafe(text))],
        change: async (text) => void (await sql.unsafe(text)),
      };
    },
  };
}

export async function crawlInto(
  { options }: StorePlace,
  url: string,
  more: CrawlOptions = {},
  extensions: Extensions = {},
) {
  const config = await loadConfig({ env: {}, options: { ...QUICK, ...options, ...more } });
  const events: CrawlEvent[] = [];
  const listeners = [(event: CrawlEvent) => void events.push(event)];
  const handle = await startCrawl({ config, startUrls: [url], extensions, listeners });
  return { handle, events };
}
