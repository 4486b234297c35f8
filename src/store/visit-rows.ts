/**
 * History between its tables and its types, the same for every adapter: words are numbers in the tables (their places
 * in the lists of change/visit-record.ts), times are milliseconds, hashes are bytes. Views and the read side show words,
 * ISO times and hex. Nothing here asks a database.
 */
import { inOrder, noChange } from '../change/compare-pages.ts';
import {
  KNOWN_BY,
  type KnownBy,
  type PageChange,
  VISIT_OUTCOMES,
  type VisitOutcome,
} from '../change/visit-record.ts';
import { isGoneAs, type LastVisit } from '../frontier/candidate.ts';
import { PAGE_STATES } from '../frontier/page-state.ts';
import { type PackedChange, packedChange, partsOf } from './change-parts.ts';
import type { ChangeRow, VisitRow, VisitRowBrief } from './read-rows.ts';
import type { LedgerRow } from './run-port.ts';
import type { Settlement } from './settlement.ts';
import type { HostDiscovery } from './sitemap-port.ts';

export function outcomeNumber(outcome: VisitOutcome): number {
  return VISIT_OUTCOMES.indexOf(outcome);
}

export function knownByNumber(knownBy: KnownBy): number {
  return KNOWN_BY.indexOf(knownBy);
}

/** What stands beside a page: what its last visit found, but gone as long as it is. Null leaves the word as it is. */
export function changeWord({ claim, state, visit }: Settlement): VisitOutcome | null {
  if (visit === null || (visit.outcome === 'failed' && claim.last?.isGone)) return null;
  return state === PAGE_STATES.Gone && visit.outcome === 'unchanged' ? 'gone' : visit.outcome;
}

/** A column of places in a list of words as the words themselves: SQL that both stores take. */
export function wordSql(column: string, words: readonly string[]): string {
  return `CASE ${column} ${words.map((word, at) => `WHEN ${at} THEN '${word}'`).join(' ')} END`;
}

/** A row of `visit`, numbers as numbers. */
export interface StoredVisit {
  run_id: number;
  visited_at: number;
  outcome: number;
  known_by: number;
  status_code: number | null;
  etag: string | null;
  last_modified: string | null;
  content_hash: Uint8Array | null;
  text_hash: Uint8Array | null;
  simhash_distance: number | null;
  wire_bytes: number;
  bytes_saved: number;
  duration_ms: number | null;
}

export function visitRowOf(row: StoredVisit): VisitRow {
  return {
    run: row.run_id,
    visited_at: new Date(row.visited_at).toISOString(),
    outcome: VISIT_OUTCOMES[row.outcome],
    known_by: KNOWN_BY[row.known_by],
    status_code: row.status_code,
    etag: row.etag,
    last_modified: row.last_modified,
    content_hash: hexOf(row.content_hash),
    text_hash: hexOf(row.text_hash),
    simhash_distance: row.simhash_distance,
    bytes: row.wire_bytes,
    bytes_saved: row.bytes_saved,
    duration_ms: row.duration_ms,
  };
}

/** A visit beside its page and, where there is one, its row of `page_change`. */
export interface StoredChange extends StoredVisit {
  page_id: number;
  url: string;
  title: string | null;
  parts: number | null;
  detail: string | null;
}

export function changeRowOf(row: StoredChange): ChangeRow {
  return {
    ...visitRowOf(row),
    page_id: row.page_id,
    url: row.url,
    title: row.title,
    parts: partsOf(row.parts ?? 0),
    change: row.detail === null ? null : (JSON.parse(row.detail) as PageChange),
  };
}

/** Unless said, visits that found everything as it was, or nothing, are left out. */
export const TOLD_OUTCOMES: readonly VisitOutcome[] = ['new', 'changed', 'gone'];

export interface StoredBrief {
  run_id: number;
  page_id: number;
  host_id: number;
  visited_at: number;
  outcome: number;
  known_by: number;
  status_code: number | null;
  last_modified: string | null;
}

export function briefOf(row: StoredBrief): VisitRowBrief {
  return {
    run: row.run_id,
    pageId: row.page_id,
    hostId: row.host_id,
    visitedAt: row.visited_at,
    outcome: VISIT_OUTCOMES[row.outcome],
    knownBy: KNOWN_BY[row.known_by],
    statusCode: row.status_code,
    lastModified: row.last_modified,
  };
}

/** Of `visit`, grouped by outcome and known_by. */
export interface StoredLedgerRow {
  outcome: number;
  known_by: number;
  visits: number;
  bytes_saved: number;
}

/** In the order of the words. */
export function ledgerOf(rows: readonly StoredLedgerRow[]): LedgerRow[] {
  return [...rows]
    .sort((a, b) => a.outcome - b.outcome || a.known_by - b.known_by)
    .map((row) => ({
      outcome: VISIT_OUTCOMES[row.outcome],
      knownBy: KNOWN_BY[row.known_by],
      visits: row.visits,
      bytesSaved: row.bytes_saved,
    }));
}

/** What stands beside a waiting page of its last visit: from `fetched`, and the date from `sitemap_entry`. */
export interface StoredLastVisit {
  /** Null for a page that was never visited: the others say nothing then. */
  visited_at: number | null;
  status_code: number | null;
  content_hash: Uint8Array | null;
  text_hash: Uint8Array | null;
  facet_hash: Uint8Array | null;
  /** Decimal: 64 bits do not fit a number. */
  simhash: string | null;
  etag: string | null;
  last_modified: string | null;
  cache_control: string | null;
  x_robots_tag: string | null;
  content_type: string | null;
  wire_bytes: number;
  sitemap_date: number | null;
  sitemap_seen_at: number | null;
  change_frequency: number;
  changes_detected: number;
  change: string | null;
}

export function lastVisitOf(row: StoredLastVisit): LastVisit | null {
  if (row.visited_at === null) return null;
  return {
    statusCode: row.status_code,
    isGone: isGoneAs(row.change, row.status_code),
    visitedAt: row.visited_at,
    hasBody: row.content_hash !== null,
    contentHash: row.content_hash,
    textHash: row.text_hash,
    facetHash: row.facet_hash,
    simhash: row.simhash === null ? null : BigInt(row.simhash),
    etag: row.etag,
    lastModified: row.last_modified,
    cacheControl: row.cache_control,
    xRobotsTag: row.x_robots_tag,
    contentType: row.content_type,
    wireBytes: row.wire_bytes,
    sitemapDate: row.sitemap_date,
    sitemapSeenAt: row.sitemap_seen_at,
    changeFrequency: row.change_frequency,
    changesDetected: row.changes_detected,
  };
}

/** Of a date as written: `2024` and `2024-05` may mean any later day of that time, and say nothing of a visit within it. */
export const LEAST_DAY_LETTERS = 8;
/** The row of `sitemap_entry e` gives a date, to the day at least. */
export const IS_DAY = `e.lastmod IS NOT NULL AND length(e.lastmod_text) >= ${LEAST_DAY_LETTERS}`;

/** A row of `discovery`. */
export interface StoredDiscovery {
  method: HostDiscovery['method'];
  checked_at: number;
  entries: number;
  /** A JSON array. */
  sitemaps: string;
  trouble: HostDiscovery['trouble'];
  /** A JSON object. */
  looks: string | null;
  /** A JSON array, or null. */
  searched: string | null;
  /** The same. */
  guessed: string | null;
}

export function discoveryOf(row: StoredDiscovery): HostDiscovery {
  return {
    method: row.method,
    checkedAt: row.checked_at,
    entries: row.entries,
    sitemaps: JSON.parse(row.sitemaps) as string[],
    trouble: row.trouble,
    ...(row.looks === null ? null : { looks: JSON.parse(row.looks) as HostDiscovery['looks'] }),
    searched: row.searched === null ? null : (JSON.parse(row.searched) as string[]),
    guessed: row.guessed === null ? null : (JSON.parse(row.guessed) as string[]),
  };
}

/** The identity that a page redirected to before a visit found otherwise; null when that is not what changed. */
export function redirectBefore(detail: string): string | null {
  const { fields } = JSON.parse(detail) as PageChange;
  return fields.find(({ name }) => name === 'redirect')?.before ?? null;
}

/**
 * What is told of an orphan that something leads to again, beside what else its visit found changed: it is back, as a
 * page that was not found is, by its status.
 */
export function returnedChange(detail: string | null, statusCode: number | null): PackedChange {
  const change = detail === null ? noChange() : (JSON.parse(detail) as PageChange);
  if (!change.parts.includes('status')) {
    change.parts = inOrder(['status', ...change.parts]);
    change.fields.unshift({ name: 'status', before: 'orphan', after: statusCode?.toString() ?? null });
  }
  return packedChange(change);
}

function hexOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex');
}
