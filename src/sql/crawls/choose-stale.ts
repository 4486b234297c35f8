/**
 * Rows that may be out of date by what sitemaps say: a lastmod after the row was written, or a changefreq whose time has
 * passed since.
 */
import type { ReadSide } from '../../store/read-side.ts';
import type { Where } from './judge-where.ts';
import { KnownRows } from './known-rows.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const CHANGE_MS: Readonly<Record<string, number>> = {
  always: 0,
  hourly: HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
  monthly: 30 * DAY_MS,
  yearly: 365 * DAY_MS,
  never: Number.POSITIVE_INFINITY,
};

export interface StaleRequest {
  side: ReadSide;
  project: string;
  known: KnownRows;
  /** Written by this statement. */
  renewed: KnownRows;
  /** Of the statement's input. */
  hosts: ReadonlySet<string>;
  where: Where;
  now: number;
}

export function isStale(
  entry: { lastmod: string | null; changefreq: string | null },
  crawledAt: number,
  now: number,
): boolean {
  if (entry.lastmod !== null && Date.parse(entry.lastmod) > crawledAt) return true;
  const changesIn = CHANGE_MS[entry.changefreq?.toLowerCase() ?? ''];
  return changesIn !== undefined && crawledAt + changesIn <= now;
}

/** The URLs, as a table that answers `known` for them. */
export async function findStale(request: StaleRequest): Promise<KnownRows> {
  const { side, project, known, renewed, hosts, where, now } = request;
  const stale = new KnownRows();
  for await (const entries of side.sitemapEntries({ project })) {
    const urls = entries.flatMap((entry) => {
      const crawledAt = known.crawledAt(entry.url);
      const isOld =
        crawledAt !== null && renewed.standing(entry.url) === 'new' && isStale(entry, crawledAt, now);
      return isOld && hosts.has(new URL(entry.url).host) ? [entry.url] : [];
    });
    const isWanted = await where.judge(urls);
    for (const [at, url] of urls.entries()) if (isWanted[at]) stale.set(url, false, 0);
  }
  return stale;
}
