// Questions in SQL as strangers ask them, and a small site to ask about.
import { afterEach } from 'vitest';
import type { SqlAnswer, SqlQueries, SqlQuestion } from '../../src/answers/sql-queries.ts';
import type { SumiError } from '../../src/errors.ts';
import { openQueries } from '../../src/sql/open-queries.ts';
import { type Bench, page } from '../crawls/crawl-site.ts';
import { crawlInto, type StorePlace } from '../crawls/each-store.ts';

export type Ask = (sql: string, more?: Partial<SqlQuestion>) => Promise<SqlAnswer>;

/** Call once a test file: what it opens is closed after each test. */
export function useAsking(): (address: string, project?: string) => Ask {
  const open: SqlQueries[] = [];
  afterEach(async () => {
    for (const queries of open.splice(0)) await queries.close();
  });
  return (address, project = 'one') => {
    const queries = openQueries({ storeAddress: address });
    open.push(queries);
    return (sql, more) => queries.ask({ project, sql, limit: 1000, timeoutMs: 60_000, ...more });
  };
}

export const addressOf = ({ options }: StorePlace) => String(options.db ?? options.store);

export const errorOf = (asked: Promise<unknown>): Promise<SumiError> =>
  asked.then(
    (found) => {
      throw new Error(`answered: ${JSON.stringify(found).slice(0, 500)}`);
    },
    (error) => error as SumiError,
  );

export const SMALL_SITE: Record<string, string> = {
  '/': page('Home', '/a', '/b'),
  '/a': page('A'),
  '/b': page('B'),
};

export async function crawlSmallSite(
  bench: Bench,
  place: StorePlace,
  project = 'one',
  pages = SMALL_SITE,
): Promise<string> {
  const web = await bench.web({ pages });
  const { handle } = await crawlInto(place, web.origin, { project });
  await handle.finished;
  return web.origin;
}
