/**
 * Keeps what `sumi sitemap` finds in the project of the host: the entries as known pages that no crawl has judged yet,
 * how the host was discovered, and the requests in the log of a run. It also knows what was kept not long ago, so that
 * nobody asks for it again. An unfinished run of the project stays unfinished, and finds its own sitemaps when it goes on.
 */
import { type Config, configHash } from '../../config/load-config.ts';
import { withKnown } from '../../crawl/discovery-record.ts';
import type { CrawlParts, StartUrl } from '../../crawl/parts.ts';
import { projectOf, storedOptions } from '../../crawl/prepare-run.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { openReadSide } from '../../store/open-store.ts';
import type { SitemapFinding } from '../../store/port.ts';
import type { DiscoveryRow, ReadSide, SitemapEntryRow, StoredRun } from '../../store/read-side.ts';
import { type FoundEntry, looksLikeSitemap, type SitemapReport } from '../find-entries.ts';
import { siteOf } from '../foreign-hosts.ts';
import { CHANGE_FREQUENCIES } from '../sitemap-outcome.ts';

const ENTRIES_AT_ONCE = 256;
const REASON = 'sitemap: listed, not crawled yet';

/** An entry of the store does not tell what kind of sitemap it came from. */
export type ListedEntry = Omit<FoundEntry, 'kind'> & { kind: FoundEntry['kind'] | null };

export interface StoredListing {
  checkedAt: number;
  entries: AsyncIterable<ListedEntry[]>;
}

export interface EntryKeeper {
  /** What was found not long ago; null when it has to be looked for. */
  stored(start: StartUrl): Promise<StoredListing | null>;
  begin(): Promise<void>;
  note(report: SitemapReport): void;
  keep(batch: readonly FoundEntry[]): Promise<void>;
  /** `isWhole`: everything was read. */
  end(isWhole: boolean): Promise<void>;
}

export async function openKeeper(config: Config, parts: CrawlParts, given: StartUrl): Promise<EntryKeeper> {
  const { store, clock, owner, normalizer } = parts;
  const project = projectOf(config, [given], clock.now());
  const side = await openReadSide(config.storeAddress);
  const now = clock.now();
  let batch = new Map<string, SitemapFinding>();
  let entries = 0;
  let isWhole = true;
  const named: string[] = [];
  let unfinished: StoredRun | null = null;
  let isBegun = false;

  function add({ entry, sitemap }: FoundEntry): void {
    const found = normalizer.normalize(entry.url);
    if (found === null || batch.has(found.url)) return;
    entries++;
    const { lastmodAt: lastmod, changefreq, priority } = entry;
    const { url, fetchUrl, host } = found;
    const state = PAGE_STATES.Discovered;
    const candidate = {
      url,
      fetchUrl,
      host,
      depth: 1,
      priority: 1,
      state,
      reason: REASON,
      onlyNofollow: false,
    };
    batch.set(url, { candidate, lastmod, changefreq, priority, sitemap });
  }

  async function flush(): Promise<void> {
    if (batch.size > 0) await store.saveEntries([...batch.values()], now);
    batch = new Map();
  }

  async function remember(): Promise<void> {
    if (!isWhole || named.length === 0 || unfinished !== null) return;
    const found = { method: 'sitemap' as const, checkedAt: now, entries, sitemaps: named.slice(0, 100) };
    const isSearched = !looksLikeSitemap(given.fetchUrl) || !named.includes(given.fetchUrl);
    const known = isSearched ? null : await store.discovery(given.host);
    await store.saveDiscovery(given.host, withKnown(known, found));
  }

  return {
    async stored(start) {
      const found = (await side.discoveries({ project })).find(({ host }) => host === start.host);
      if (found === undefined || found.method !== 'sitemap') return null;
      const checkedAt = Date.parse(found.checked_at);
      if (checkedAt + config.sitemapCacheHours * 3_600_000 <= now) return null;
      // Which entries came from one sitemap of many, its index included, nobody knows any more.
      if (looksLikeSitemap(start.fetchUrl) && found.sitemaps !== JSON.stringify([start.fetchUrl]))
        return null;
      return { checkedAt, entries: storedEntries(side, project, found) };
    },

    async begin() {
      const last = await lastRun(side, project);
      unfinished =
        last !== null && (last.status === 'running' || last.status === 'interrupted') ? last : null;
      isBegun = true;
      // As the last one was, so that the next crawl does not take this for other options than its own.
      await store.begin({
        project,
        owner,
        configHash: last?.config_hash ?? configHash(config),
        config: last?.config ?? JSON.stringify(storedOptions(config, [given], now)),
        fresh: false,
        metadata: unfinished === null ? JSON.stringify({ command: 'sitemap' }) : null,
        now,
      });
    },

    note({ url, foundBy, kind, mayPass }) {
      if (mayPass) isWhole = false;
      if (kind !== null && foundBy !== 'index') named.push(url);
    },

    async keep(found) {
      for (const one of found) add(one);
      if (batch.size >= ENTRIES_AT_ONCE) await flush();
    },

    async end(isDone) {
      try {
        if (!isBegun) return;
        await flush();
        if (isDone) await remember();
        await store.finish(unfinished === null ? 'completed' : 'interrupted', clock.now(), null);
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

/** What the host's sitemaps named when they were read last: neither what they named before nor what those of others do. */
async function* storedEntries(
  side: ReadSide,
  project: string,
  { host, checked_at, sitemaps }: DiscoveryRow,
): AsyncGenerator<ListedEntry[]> {
  const sites = new Set([host.replace(/^www\./, ''), ...(JSON.parse(sitemaps) as string[]).map(siteOf)]);
  for await (const row of side.sitemapEntries({ project }))
    if (row.last_seen >= checked_at && (sites.has(siteOf(row.url)) || sites.has(siteOf(row.sitemap))))
      yield [listedEntry(row)];
}

function listedEntry({ url, lastmod, changefreq, priority, sitemap }: SitemapEntryRow): ListedEntry {
  const frequency = CHANGE_FREQUENCIES.find((known) => known === changefreq) ?? null;
  return {
    sitemap,
    kind: null,
    entry: {
      url,
      // Most sitemaps give a day: told as they told it.
      lastmod: lastmod?.replace(/T00:00:00\.000Z$/, '') ?? null,
      lastmodAt: lastmod === null ? null : Date.parse(lastmod),
      changefreq: frequency,
      priority,
      images: [],
      videos: [],
      news: null,
      alternates: [],
    },
  };
}
