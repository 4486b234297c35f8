/**
 * The result of reading a sitemap: entries while it is read, and an outcome at the end. What a site sends is never an
 * error.
 */

export const CHANGE_FREQUENCIES = [
  'always',
  'hourly',
  'daily',
  'weekly',
  'monthly',
  'yearly',
  'never',
] as const;
export type ChangeFrequency = (typeof CHANGE_FREQUENCIES)[number];

/** The five forms of https://www.sitemaps.org/protocol.html; an index names other sitemaps. */
export type SitemapKind = 'urlset' | 'index' | 'text' | 'rss' | 'atom';

/** The page in another language or for another region. */
export interface Alternate {
  hreflang: string;
  url: string;
}

export interface SitemapVideo {
  title: string | null;
  /** The video file, or the player that shows it. */
  url: string | null;
  thumbnail: string | null;
}

export interface SitemapNews {
  publication: string | null;
  language: string | null;
  title: string | null;
  /** As written. */
  published: string | null;
}

export interface SitemapEntry {
  /** Absolute, as WHATWG serialises it, without fragment. In an index: the address of a sitemap. */
  url: string;
  /** As written; null when absent or empty. */
  lastmod: string | null;
  /** The same as wall time; null if it is no date. */
  lastmodAt: number | null;
  changefreq: ChangeFrequency | null;
  /** From 0 to 1; null if absent or not a number. */
  priority: number | null;
  images: readonly string[];
  videos: readonly SitemapVideo[];
  news: SitemapNews | null;
  alternates: readonly Alternate[];
}

/** The problem. With a kind beside it, the entries before the problem were passed on and count. */
export type SitemapTrouble =
  | 'empty'
  | 'html'
  | 'not-sitemap'
  | 'binary'
  | 'cut'
  | 'broken'
  | 'gzip'
  | 'too-large'
  | 'too-deep'
  | 'charset';

export interface SitemapProblem {
  trouble: SitemapTrouble;
  /** For people: what was found, with the value. */
  detail: string;
}

export interface SitemapOutcome {
  /** Null: it is no sitemap, and the problem says what it is instead. */
  kind: SitemapKind | null;
  problem: SitemapProblem | null;
  /** Number of entries; those of an index name sitemaps. */
  entries: number;
  /** Entries without a readable URL. */
  dropped: number;
  /** Bytes after unpacking. */
  bytes: number;
}
