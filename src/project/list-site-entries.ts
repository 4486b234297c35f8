/** What the sitemaps of a site name, as rows, some at a time. */
import type { Config } from '../config/load-config.ts';
import type { ListedEntry } from '../sitemap/entry-words.ts';
import { type ListRequest, listSitemap, type SitemapListener } from '../sitemap/list/list-sitemap.ts';
import type { Store } from '../store/store-port.ts';

export type { SitemapListener } from '../sitemap/list/list-sitemap.ts';
export type SitemapReport = Parameters<SitemapListener['onSitemap']>[0];
export type StoredListing = Parameters<SitemapListener['onStored']>[0];

export interface SiteEntryRow
  extends Pick<ListedEntry['entry'], 'images' | 'videos' | 'news' | 'alternates'> {
  url: string;
  lastmod: string | null;
  changefreq: string | null;
  priority: number | null;
  sitemap: string;
  /** This, images, videos, news and alternates are null where an older version kept the entry. */
  kind: string | null;
  /** The lastmod as a moment; null where it is no date. */
  lastmod_at: string | null;
}

export interface SiteEntries {
  rows: AsyncIterable<SiteEntryRow[]>;
  /** There were more than were wanted; known once the rows have been read. */
  readonly isCut: boolean;
}

export interface SiteEntryRequest {
  listener: SitemapListener;
  /** Aborted, the list ends early, in good order. */
  signal: AbortSignal;
  limit: number | undefined;
  /** In place of the store that the configuration names: it stays open, and no entry is kept in it. */
  store?: Store;
  egress?: ListRequest['egress'];
}

/** `url`: a host, a page or a sitemap. */
export function listSiteEntries(
  config: Config,
  url: string,
  { listener, signal, limit, store, egress }: SiteEntryRequest,
): SiteEntries {
  let isCut = false;
  async function* rows(): AsyncGenerator<SiteEntryRow[]> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    for await (const batch of listSitemap(config, url, { listener, signal, store, egress })) {
      isCut = batch.length > left;
      yield (isCut ? batch.slice(0, left) : batch).map(rowOf);
      if (isCut) return;
      left -= batch.length;
    }
  }
  return {
    rows: rows(),
    get isCut() {
      return isCut;
    },
  };
}

const isoTimes = new Map<number, string>();
const MOST_TIMES = 1024;

/** Many entries have the same. */
function isoOf(at: number): string {
  let text = isoTimes.get(at);
  if (text === undefined) {
    text = new Date(at).toISOString();
    if (isoTimes.size < MOST_TIMES) isoTimes.set(at, text);
  }
  return text;
}

function rowOf({ entry, sitemap, kind }: ListedEntry): SiteEntryRow {
  return {
    url: entry.url,
    lastmod: entry.lastmod,
    changefreq: entry.changefreq,
    priority: entry.priority,
    sitemap,
    kind,
    lastmod_at: entry.lastmodAt === null ? null : isoOf(entry.lastmodAt),
    images: entry.images,
    videos: entry.videos,
    news: entry.news,
    alternates: entry.alternates,
  };
}
