/** The rows that the read side answers, with the columns that docs/tables.md names, and what its streams can be asked for. */
import type { ChangePart, PageChange, VisitRecord } from '../change/visit-record.ts';
import type { UrlCounts } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { FactRow } from './page-facts.ts';

export interface ProjectRow {
  id: number;
  project: string;
  /** The UUID by which programs know it. */
  uid: string;
  /** Null where none was given. */
  website_url: string | null;
  created_at: string;
  /** Of its name, website and settings; grows with every change. */
  updated_at: string;
  /** Not null: it is kept, and not to be crawled. */
  deleted_at: string | null;
}

export interface RunRow {
  run: number;
  project: string;
  status: string;
  started_at: string;
  finished_at: string | null;
  pages: number;
  requests: number;
  bytes: number;
  config_hash: string;
  error: string | null;
  /** What the operator noted with --meta, as a JSON object. */
  metadata: string | null;
  /** full or incremental, and why; null where nothing was decided. */
  mode: string | null;
  mode_reason: string | null;
  /** Known pages that the run ended without asking for: they stay as they were. */
  left_out: number;
}

/** A run with the options it was made with, as JSON by option name. */
export interface StoredRun extends RunRow {
  config: string;
}

/** A page, with what its last visits found (page-facts.ts). */
export interface PageRow extends FactRow {
  url: string;
  state: PageState;
  reason: string | null;
  depth: number | null;
  final_url: string | null;
  redirect_count: number;
  id: number;
  project: string;
  host: string;
  fetch_url: string;
  /** The outcome of the last visit. */
  change: VisitRecord['outcome'] | null;
  /** Changes a day, and changes seen. */
  change_frequency: number;
  changes_detected: number;
  priority: number;
  attempts: number;
  retry_at: string | null;
  discovered_at: string;
  discovered_run: number;
  visited_run: number | null;
  referrer_id: number | null;
  redirect_to: number | null;
  /** The last run that left the page out and kept what was known of it, and why; null where none did. */
  left_run: number | null;
  left_reason: string | null;
}

export interface PageFilter {
  project?: string;
  states?: readonly PageState[];
  statusCodes?: readonly number[];
  /** NAME is every port of a host, NAME:PORT that one. */
  hosts?: readonly string[];
  /** Outcomes of the last visit. */
  changes?: readonly VisitRecord['outcome'][];
  /** Only pages with more changes a day (`change_frequency`); the list then begins with those that change most. */
  changingMoreThan?: number;
  /** Read at some time, and not visited since this wall time; the list then begins with the oldest visit, unless said above. */
  notVisitedSince?: number;
  /** Without URLs that were skipped because their host is outside the scope. */
  withoutExternal?: boolean;
  limit?: number;
}

/** One visit of a page, as its history has it. */
export interface VisitRow {
  run: number;
  visited_at: string;
  outcome: VisitRecord['outcome'];
  known_by: VisitRecord['knownBy'];
  status_code: number | null;
  etag: string | null;
  last_modified: string | null;
  content_hash: string | null;
  text_hash: string | null;
  simhash_distance: number | null;
  bytes: number;
  bytes_saved: number;
  duration_ms: number | null;
}

/** A page's visit in a run, with what changed. */
export interface ChangeRow extends VisitRow {
  page_id: number;
  url: string;
  title: string | null;
  parts: ChangePart[];
  /** Null where nothing is kept: new, unchanged, gone, or cleared. */
  change: PageChange | null;
}

export interface ChangeFilter {
  /** Runs from this one on (itself included), up to and with `toRun`. */
  fromRun: number;
  toRun: number;
  projectId: number;
  pageId?: number;
  /** Of the run `fromRun` only pages after this one, by id. */
  afterPage?: number;
  /** Unless said: new, changed, gone. */
  outcomes?: readonly VisitRecord['outcome'][];
  limit?: number;
}

export interface SitemapEntryRow {
  url: string;
  /** The newest that any sitemap gave when they were read last. */
  lastmod: string | null;
  /** As it was read last, in the sitemap's own words. */
  lastmod_text: string | null;
  /** What else the sitemap says, as JSON; null where an older version kept the entry. */
  details: string | null;
  changefreq: string | null;
  priority: number | null;
  sitemap: string;
  first_seen: string;
  last_seen: string;
  page_id: number;
}

export interface DiscoveryRow {
  host: string;
  method: 'sitemap' | 'links' | 'not_found';
  checked_at: string;
  entries: number;
  /** A JSON array. */
  sitemaps: string;
  trouble: 'passing' | 'lasting' | null;
  /** JSON of `HostDiscovery.looks`. */
  looks: string | null;
  /** A JSON array; null where an older version looked. */
  searched: string | null;
  /** The same. */
  guessed: string | null;
}

/** What a plan of revisits needs of a page; times are wall milliseconds. */
export interface RevisitPage {
  pageId: number;
  hostId: number;
  url: string;
  depth: number | null;
  state: PageState;
  /** Some visit read it, or found it leading on. */
  wasRead: boolean;
  visitedAt: number | null;
  changeFrequency: number;
  sitemapDate: number | null;
  /** As `saveRevisits` kept it, like the numbers below; null (and 0) for a page that the plan has not learned of yet. */
  learnedAt: number | null;
  rateShape: number;
  rateDays: number;
  signals: number;
  signalsInAll: number;
  flags: number;
}

export interface VisitRowBrief {
  run: number;
  pageId: number;
  hostId: number;
  visitedAt: number;
  outcome: VisitRecord['outcome'];
  knownBy: VisitRecord['knownBy'];
  statusCode: number | null;
  lastModified: string | null;
}

export interface LinkRow {
  from_url: string;
  to_url: string;
  /** Seen from the page that was asked about; `out` where none was. */
  direction: 'out' | 'in';
  nofollow: number;
  /** Words of rel that were understood, separated by spaces. */
  rel: string;
  anchor: string | null;
  discovered_run: number;
}

/** A link with the ids of its pages. */
export interface LinkBetween extends LinkRow {
  from_id: number;
  to_id: number;
}

export interface LinkFilter {
  project?: string;
  limit?: number;
}

/**
 * A site: a host name, with the port where it is not the scheme's own. `known_urls` and the words after it count its URLs as
 * docs/words.md says.
 */
export interface HostRow extends UrlCounts {
  host: string;
  /** This and all below but robots.txt is the host name's: its ports share one clock, lease and limit. */
  requests: number;
  average_ms: number;
  adaptive_delay_ms: number;
  next_slot_at: string | null;
  blocked_until: string | null;
  consecutive_429: number;
  failures: number;
  robots_status: number | null;
  robots_fetched_at: string | null;
  closed: string | null;
}

export interface LoggedRequest {
  run: number;
  kind: string;
  sent_at: string;
  status_code: number;
  duration_ms: number;
  bytes: number;
  failure: string | null;
}

/** One worker and the run it is at work on. */
export interface WorkerRow {
  worker: string;
  /** Machine and process. */
  process: string;
  run: number;
  project: string;
  started_at: string;
  seen_at: string;
  /** late: it has not been heard of for longer than its heartbeat allows. */
  state: 'alive' | 'late' | 'ended';
  hosts: number;
  pages: number;
  pages_per_second: number;
}

/** One line of the request log, as the audit replays it. Times are wall milliseconds. */
export interface RequestRow {
  id: number;
  run: number;
  host: string;
  kind: string;
  slotAt: number;
  sentAt: number;
  endedAt: number;
  delayMs: number;
  perHost: number;
  statusCode: number;
  blockedUntil: number | null;
}

/** A page as a node of the link graph. */
export interface GraphPage {
  id: number;
  project_id: number;
  url: string;
  host: string;
  state: PageState;
  title: string | null;
  status_code: number | null;
  /** The least over all origins; null where no followed link leads to it. */
  depth: number | null;
  discovered_run: number;
  /** The page it redirects to, by id. */
  redirect_to: number | null;
}

/** The links of one page, each target once. */
export interface GraphLinks {
  from: number;
  targets: readonly number[];
  /** Beside the targets: LINK_FLAGS and UNFOLLOWED; null when no link has any. */
  flags: readonly number[] | null;
}

export interface GraphFilter {
  project?: string;
  /** Of pages only. */
  states?: readonly PageState[];
}

/** `known_urls` and the words after it count URLs as docs/words.md says. */
export interface StoreTotals extends UrlCounts {
  hosts: number;
  links: number;
  requests: number;
  bytes: number;
  by_state: Record<string, number>;
  by_status: Record<string, number>;
  by_content_type: Record<string, number>;
  by_reason: Record<string, number>;
  by_depth: Record<string, number>;
}
