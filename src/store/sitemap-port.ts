/**
 * The sitemap port: which pages sitemaps name, and how the pages of each host were found.
 *
 * Guarantees:
 *  - Entries and the pages they offer commit together. Of the dates of one reading (the same `now`) the newest is kept.
 *  - An entry that a later reading does not name stays, until `lostTargets` of the history port calls it lost.
 */
import type { Candidate } from '../frontier/candidate.ts';

/** What was known of an entry when it was saved. */
export interface SavedEntry {
  pageId: number;
  /** It shows a date later than the stored one, or the first. */
  isNewer: boolean;
  /** What named the page last: the same sitemap, another one, or none that still does. */
  namedBy: 'none' | 'same' | 'another';
}

/** A sitemap's entry, judged as a candidate of the project. */
export interface SitemapFinding {
  candidate: Candidate;
  lastmod: number | null;
  changefreq: string | null;
  /** As written, 0 to 1. */
  priority: number | null;
  sitemap: string;
  /** The date in the sitemap's own words. */
  lastmodText: string | null;
  /** What else it says of the page, as JSON (`src/sitemap/entry-words.ts`). */
  details: string | null;
}

/** How the pages of a host were found when it was looked at last. */
export interface HostDiscovery {
  method: 'sitemap' | 'links' | 'not_found';
  checkedAt: number;
  /** Entries seen. */
  entries: number;
  /** Where they were read. */
  sitemaps: string[];
  /** What kept some of them from being read whole: it may pass, or it may last. Null when all were read. */
  trouble: 'passing' | 'lasting' | null;
  /** Of single sitemaps that were read whole, by their address: when, and how many entries they had. */
  looks?: Readonly<Record<string, { at: number; entries: number }>>;
  /** Names with ports (`a.test:8080`) whose sitemaps were looked for, and not only read as given. Null: an older version did not say. */
  searched: readonly string[] | null;
  /** Paths tried where nothing named a sitemap. Null as above. */
  guessed: readonly string[] | null;
}

export interface SitemapPort {
  /**
   * Offers the entries and keeps them: of dates the newest of those of one reading (the same `now`), of the rest the last.
   * Answers for each of them in turn. A page may stand there twice.
   */
  saveEntries(findings: readonly SitemapFinding[], now: number): Promise<SavedEntry[]>;
  /** Of the project's host. */
  discovery(host: string): Promise<HostDiscovery | null>;
  saveDiscovery(host: string, found: HostDiscovery): Promise<void>;
}
