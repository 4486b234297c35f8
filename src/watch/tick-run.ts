/** What makes a run of a project a tick of its watch: how it is configured, and what it has to look at besides the plan. */
import type { Config } from '../config/load-config.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';

/** The note by which `sumi runs` and a watch that begins again tell a tick from a crawl. */
const TICK_NOTE = 'watch=tick';

/** The crawl's own options, but that only what may have changed is read, and no more pages than there is room for. */
export function tickConfig(config: Config, room: number | null, looks = true): Config {
  const maxPages = room ?? config.maxPages;
  const discover = looks ? config.discover : config.discover.filter((way) => way !== 'sitemap');
  const from = 'watch';
  const sources = {
    ...config.sources,
    mode: { value: 'incremental' as const, from },
    // Workers that join read these from the store; alone, the limit must not look like another configuration each time.
    ...(isSharedStore(config.storeAddress) && {
      'max-pages': { value: maxPages, from },
      'keep-history': { value: null, from },
    }),
  };
  const meta = [...config.meta, TICK_NOTE];
  const mode = 'incremental' as const;
  return Object.freeze({ ...config, mode, maxPages, discover, fresh: false, meta, sources });
}

export function isTick(run: StoredRun): boolean {
  const notes = run.metadata === null ? {} : (JSON.parse(run.metadata) as Record<string, unknown>);
  return notes.watch === 'tick';
}

const LEFT_OVER = 'limit: max-pages';

/**
 * Pages that earlier ticks found and had no room for, at most so many. What the first crawl left out by its own limit
 * stays out: the operator said so.
 */
export async function findLeftOvers(
  side: ReadSide,
  project: string,
  firstRun: number,
  most: number,
  isPlanned: (pageId: number) => boolean,
): Promise<number[]> {
  const found: number[] = [];
  if (most < 1) return found;
  for await (const row of side.pages({ project, states: ['Skipped'] })) {
    const isOurs = row.visited_at !== null || row.discovered_run >= firstRun;
    if (!isOurs || row.reason?.startsWith(LEFT_OVER) !== true || isPlanned(row.id)) continue;
    found.push(row.id);
    if (found.length >= most) break;
  }
  return found;
}

/** Whether sitemaps and feeds have not been read for as long as what they said is kept. `isFirst`: nor tried. */
export async function isLookDue(
  side: ReadSide,
  project: string,
  config: Config,
  now: number,
  isFirst: boolean,
): Promise<boolean> {
  if (!config.discover.includes('sitemap')) return false;
  const looks = await side.discoveries({ project });
  if (looks.length === 0) return isFirst;
  const cacheMs = config.sitemapCacheHours * 3_600_000;
  const isFresh = (readAt: number) => readAt <= now && now < readAt + cacheMs;
  return looks.some(({ checked_at }) => !isFresh(Date.parse(checked_at)));
}
