/**
 * What a sitemap says of a page in its own words, to store it and to show it again: the date as written, and as JSON
 * everything without a column: the URL if the page's identity differs, the kind of sitemap unless it is a urlset,
 * images, videos, news, alternates. Nearly all entries have nothing of that kind.
 */

import { parseLastmod } from './parse-lastmod.ts';
import { CHANGE_FREQUENCIES, type SitemapEntry, type SitemapKind } from './sitemap-outcome.ts';

export interface EntryWords {
  lastmodText: string | null;
  /** Null: it was not kept. */
  details: string | null;
}

/** What was not kept is null. */
export interface ListedEntry {
  entry: { [Name in keyof SitemapEntry]: SitemapEntry[Name] | (Name extends Unkept ? null : never) };
  sitemap: string;
  kind: SitemapKind | null;
}
type Unkept = 'images' | 'videos' | 'news' | 'alternates';

export interface KeptEntry {
  /** Of the page: its identity. */
  url: string;
  /** The newest date that any sitemap gave, in UTC. */
  lastmod: string | null;
  lastmod_text: string | null;
  changefreq: string | null;
  priority: number | null;
  sitemap: string;
  details: string | null;
}

interface Details extends Partial<Pick<SitemapEntry, 'url' | Unkept>> {
  kind?: SitemapKind;
}

const PLAIN = '{}';
const NO_DETAILS: Details = {};
const NONE: readonly never[] = [];

/** `identity`: the URL of its page. */
export function wordsOf(entry: SitemapEntry, kind: SitemapKind, identity: string): EntryWords {
  const { url, lastmod: lastmodText, images, videos, news, alternates } = entry;
  const isPlain = url === identity && kind === 'urlset' && news === null;
  if (isPlain && images.length + videos.length + alternates.length === 0)
    return { lastmodText, details: PLAIN };
  const details: Details = {};
  if (url !== identity) details.url = url;
  if (kind !== 'urlset') details.kind = kind;
  if (images.length > 0) details.images = images;
  if (videos.length > 0) details.videos = videos;
  if (news !== null) details.news = news;
  if (alternates.length > 0) details.alternates = alternates;
  return { lastmodText, details: JSON.stringify(details) };
}

/** A page that is named twice gets the newer of its dates, as written. */
export function keepNewerDate(
  kept: { lastmod: number | null; lastmodText: string | null },
  { lastmod, lastmodAt }: SitemapEntry,
): void {
  if (lastmodAt === null || (kept.lastmod !== null && kept.lastmod >= lastmodAt)) return;
  kept.lastmod = lastmodAt;
  kept.lastmodText = lastmod;
}

export function listedEntry(row: KeptEntry): ListedEntry {
  const { details, sitemap, priority, changefreq } = row;
  const known: Details = details === null || details === PLAIN ? NO_DETAILS : JSON.parse(details);
  // A date that an older version stored is shown as its day, or its moment in UTC.
  const lastmod = row.lastmod_text ?? (details === null ? shownDate(row.lastmod) : null);
  const frequency = changefreq === null ? undefined : CHANGE_FREQUENCIES.find((one) => one === changefreq);
  const none = details === null ? null : NONE;
  return {
    sitemap,
    kind: details === null ? null : (known.kind ?? 'urlset'),
    entry: {
      url: known.url ?? row.url,
      lastmod,
      lastmodAt: lastmod === null ? null : parseLastmod(lastmod),
      changefreq: frequency ?? null,
      priority,
      images: known.images ?? none,
      videos: known.videos ?? none,
      news: known.news ?? null,
      alternates: known.alternates ?? none,
    },
  };
}

function shownDate(moment: string | null): string | null {
  return moment?.replace(/T00:00:00\.000Z$/, '') ?? null;
}
