/**
 * Keeps what `sumi sitemap` finds in the project of the host: the entries as known pages that no crawl has judged yet,
 * how the host was discovered, and the requests in the log of a run. It also knows what was kept not long ago, so that
 * it is not requested again. An unfinished run of the project stays unfinished, and finds its own sitemaps when it goes on.
 * Its own run nobody goes on with, however it ended.
 */

import { guessedPaths } from '../../config/guessed-paths.ts';
import { type Config, configHash } from '../../config/load-config.ts';
import {
  DiscoveryRecord,
  isFresh,
  isGuessed,
  isOfAnotherPort,
  isPageUrl,
  isSearched,
  placeOf,
} from '../../crawl/discover/discovery-record.ts';
import { FindingBatch } from '../../crawl/discover/finding-batch.ts';
import type { StartUrl } from '../../crawl/parts.ts';
import { projectOf, storedOptions } from '../../crawl/run/prepare-run.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { openReadSide } from '../../store/open-store.ts';
import type { DiscoveryRow, ReadSide, SitemapEntryRow, StoredRun } from '../../store/read-side.ts';
import type { HostDiscovery } from '../../store/sitemap-port.ts';
import type { RunStore, Store } from '../../store/store-port.ts';
import { isUnfinished, LOOKUP_NOTES } from '../../store/unfinished-run.ts';
import type { Normalizer } from '../../url/normalize.ts';
import { type ListedEntry, listedEntry } from '../entry-words.ts';
import type { FoundEntry, SitemapReport, Trouble } from '../find-entries.ts';
import { siteOf } from '../foreign-hosts.ts';

const ENTRIES_AT_ONCE = 576;
const REASON = 'sitemap: listed, not crawled yet';

export interface StoredListing {
  checkedAt: number;
  /** What kept some sitemaps from being read whole then. */
  trouble: Trouble | null;
  /** Null: none was found then. */
  entries: AsyncIterable<ListedEntry[]> | null;
}

export interface EntryKeeper {
  /** What was found not long ago, of this address or of its site; null when it has to be searched for. */
  stored(of: 'address' | 'site'): Promise<StoredListing | null>;
  /** The run that the requests and entries belong to. */
  begin(): Promise<RunStore>;
  note(report: SitemapReport): void;
  keep(batch: readonly FoundEntry[]): Promise<void>;
  end(how: SearchEnd): Promise<void>;
}

/** whole: to its end. enough: no more was wanted. */
export type SearchEnd = 'whole' | 'enough' | 'interrupted';

export interface KeeperParts {
  store: Store;
  owner: string;
  normalizer: Normalizer;
}

export async function openKeeper(
  config: Config,
  { store, owner, normalizer }: KeeperParts,
  given: StartUrl,
): Promise<EntryKeeper> {
  const { clock } = store;
  const project = projectOf(config, [given], clock.now());
  const side = await openReadSide(config.storeAddress);
  const now = clock.now();
  const cacheMs = config.sitemapCacheHours * 3_600_000;
  const batch = new FindingBatch(ENTRIES_AT_ONCE);
  /** From `begin` on. */
  let session: RunStore | null = null;
  let record: DiscoveryRecord | null = null;
  let isGivenOne = false;
  let unfinished: StoredRun | null = null;

  function add(found: FoundEntry): void {
    const page = normalizer.normalize(found.entry.url);
    if (page === null) return;
    const { url, fetchUrl, host } = page;
    batch.add(found, url, () => ({
      url,
      fetchUrl,
      host,
      depth: 1,
      priority: 1,
      state: PAGE_STATES.Discovered,
      reason: REASON,
      onlyNofollow: false,
    }));
  }

  async function flush(): Promise<void> {
    const findings = batch.take();
    if (findings.length > 0) record!.count(await session!.sitemaps.saveEntries(findings, now));
  }

  async function remember(): Promise<void> {
    if (unfinished !== null) return;
    if (!isGivenOne) {
      record!.searched.add(placeOf(given.fetchUrl));
      record!.guessed = guessedPaths(config.sitemapPaths);
    }
    const search = { isSearched: !isGivenOne, isSite: !isPageUrl(given) };
    const found = record!.toRemember(search, 'not_found');
    if (found !== null) await session!.sitemaps.saveDiscovery(given.host, found);
  }

  /**
   * What one sitemap of many named, where it was read whole not long ago and all of its pages are still told by it: one that
   * another sitemap names, too, may be told by that. What an index led to nobody knows any more.
   */
  async function storedAlone({ looks }: DiscoveryRow): Promise<StoredListing | null> {
    const { fetchUrl: sitemap } = given;
    const look = (JSON.parse(looks ?? '{}') as NonNullable<HostDiscovery['looks']>)[sitemap];
    if (look === undefined || !isFresh({ checkedAt: look.at, trouble: null }, now, cacheMs)) return null;
    const isWanted = isOfOne(sitemap, look.at);
    let count = 0;
    for await (const batch of storedEntries(side, project, isWanted)) count += batch.length;
    if (count !== look.entries) return null;
    return { checkedAt: look.at, trouble: null, entries: storedEntries(side, project, isWanted) };
  }

  return {
    async stored(of) {
      const discoveries = await side.discoveries({ project });
      const found = discoveries.find(({ host }) => host === given.host);
      if (found === undefined) return null;
      const { trouble } = found;
      const checkedAt = Date.parse(found.checked_at);
      const isHome = new URL('/', given.fetchUrl).href === given.fetchUrl;
      const isThisOne = found.sitemaps === JSON.stringify([given.fetchUrl]);
      if (of === 'address' && !isHome && !isThisOne) return storedAlone(found);
      if (!isFresh({ checkedAt, trouble }, now, cacheMs)) return null;
      const searched = found.searched === null ? null : (JSON.parse(found.searched) as string[]);
      if (!isThisOne && !isSearched({ searched }, given.fetchUrl)) return null;
      const guessed = found.guessed === null ? null : (JSON.parse(found.guessed) as string[]);
      if (!isGuessed({ method: found.method, guessed }, guessedPaths(config.sitemapPaths))) return null;
      const entries =
        found.method === 'sitemap' ? storedEntries(side, project, isOfLook(found, discoveries, given)) : null;
      return { checkedAt, trouble, entries };
    },

    async begin() {
      const last = await lastRun(side, project);
      unfinished = last !== null && isUnfinished(last) ? last : null;
      // As the last one was, so that the next crawl does not take this for other options than its own.
      session = await store.begin({
        project,
        owner,
        configHash: last?.config_hash ?? configHash(config),
        config: last?.config ?? JSON.stringify(storedOptions(config, [given], now)),
        fresh: false,
        metadata: unfinished === null ? LOOKUP_NOTES : null,
        now,
      });
      record = new DiscoveryRecord(now, await session.sitemaps.discovery(given.host));
      return session;
    },

    note(report) {
      record!.note(report);
      if (report.foundBy === 'given' && report.kind !== null) isGivenOne = true;
    },

    async keep(found) {
      for (const one of found) {
        if (batch.isFull || !batch.isOf(one.sitemap)) await flush();
        add(one);
      }
    },

    async end(how) {
      try {
        if (record === null || session === null) return;
        await flush();
        if (how === 'whole') await remember();
        const isCutOff = unfinished !== null || how === 'interrupted';
        await session.run.finish(isCutOff ? 'interrupted' : 'completed', clock.now(), null);
        await session.leave();
      } finally {
        await side.close();
      }
    },
  };
}

async function lastRun(side: ReadSide, name: string): Promise<StoredRun | null> {
  const found = (await side.projects()).find(({ project }) => project === name);
  return found === undefined ? null : side.lastRun(found.id);
}

/** Named by one sitemap when it was read at that moment, and by no other since. */
function isOfOne(sitemap: string, at: number): (row: SitemapEntryRow) => boolean {
  // Stores cut times to milliseconds in their own way.
  return (row) => row.sitemap === sitemap && Math.abs(Date.parse(row.last_seen) - at) <= 1;
}

async function* storedEntries(
  side: ReadSide,
  project: string,
  isWanted: (row: SitemapEntryRow) => boolean,
): AsyncGenerator<ListedEntry[]> {
  for await (const rows of side.sitemapEntries({ project })) {
    const entries: ListedEntry[] = [];
    for (const row of rows) if (isWanted(row)) entries.push(listedEntry(row));
    if (entries.length > 0) yield entries;
  }
}

/**
 * What the site's sitemaps named when they were read last: neither what they named before nor what those of others do. An
 * index, or a redirect, may lead to sitemaps of any host: those that were read in the very search count, unless another search of
 * the same moment may have read them.
 */
function isOfLook(
  look: DiscoveryRow,
  all: readonly DiscoveryRow[],
  given: StartUrl,
): (row: SitemapEntryRow) => boolean {
  const own = sitesOf(look);
  const others = new Set<string>();
  for (const other of all)
    if (other.host !== look.host && other.checked_at === look.checked_at)
      for (const site of sitesOf(other)) others.add(site);
  const isOf = (sites: ReadonlySet<string>, { url, sitemap }: SitemapEntryRow) =>
    sites.has(siteOf(url)) || sites.has(siteOf(sitemap));
  return (row) => {
    if (row.last_seen < look.checked_at || isOfAnotherPort(row.sitemap, given.fetchUrl)) return false;
    return isOf(own, row) || (row.last_seen === look.checked_at && !isOf(others, row));
  };
}

function sitesOf({ host, sitemaps }: DiscoveryRow): Set<string> {
  return new Set([host.replace(/^www\./, ''), ...(JSON.parse(sitemaps) as string[]).map(siteOf)]);
}
