/**
 * The store's second face: questions, no changes. Allowed at any time, also while a crawler writes.
 *
 * Promises every adapter keeps:
 *  - Lists are streamed in a stable order (by id, which is the order of discovery) in bounded batches, by keyset and
 *    never by OFFSET: a million rows pass in flat memory, and no batch keeps a writer's log from being folded.
 *  - A row has the columns that `docs/tables.md` names; times are ISO 8601 in UTC, hashes lower-case hex.
 *  - Nothing here decides: identity comes in normalized, states and reasons go out as stored.
 */
import type { ChangePart, PageChange, VisitRecord } from '../change/visit-record.ts';
import type { UrlCounts } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { ChangeFigures } from './change-figures.ts';
import type { StoredRobots } from './host-port.ts';
import type { MapErrors } from './map-errors.ts';
import type { FactRow } from './page-facts.ts';
import type { ListReader } from './read-lists.ts';
import type { ReaderLook } from './reader-look.ts';
import type { LedgerRow } from './run-port.ts';
import type { RunReport } from './run-report.ts';

export interface ProjectRow {
  id: number;
  project: string;
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
  /** Changes a day by specification 003's change_frequency; the list then begins with those that change most. */
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

export interface ReadSide extends ListReader {
  projects(): Promise<ProjectRow[]>;
  runs(filter: { project?: string; limit?: number }): AsyncIterable<RunRow>;
  run(id: number): Promise<StoredRun | null>;
  /** The project's last run. */
  lastRun(projectId: number): Promise<StoredRun | null>;
  pages(filter: PageFilter): AsyncIterable<PageRow>;
  /** By identity. */
  page(projectId: number, url: string): Promise<PageRow | null>;
  pageById(id: number): Promise<PageRow | null>;
  /** The stored main text, in lines; null where none is kept. */
  pageText(id: number): Promise<string | null>;
  links(filter: LinkFilter): AsyncIterable<LinkRow>;
  /** The links from a page, then the links to it. */
  linksOf(pageId: number, filter: LinkFilter): AsyncIterable<LinkRow>;
  /** Every link to one of these pages, by the page it stands on. */
  linksTo(targets: { has(id: number): boolean }, filter: LinkFilter): AsyncIterable<LinkBetween>;
  /** How many URLs `withoutExternal` leaves out. */
  countExternal(project: string | undefined): Promise<number>;
  /** Every known page in batches, by id; a batch is never empty. */
  graphPages(filter: GraphFilter): AsyncIterable<readonly GraphPage[]>;
  /** The links of every page that has some, by page id. */
  graphLinks(filter: GraphFilter): AsyncIterable<GraphLinks>;
  hosts(filter: { project?: string; limit?: number }): AsyncIterable<HostRow>;
  /** Null for a name that no page has. */
  hostId(name: string): Promise<number | null>;
  /** Ids of hosts that are blocked at this moment (wall milliseconds), by an answer of theirs or for want of any. */
  blockedHosts(at: number): Promise<number[]>;
  requests(pageId: number): Promise<LoggedRequest[]>;
  /** Newest last. */
  visits(pageId: number): Promise<VisitRow[]>;
  /** By run, then by page. */
  changes(filter: ChangeFilter): AsyncIterable<ChangeRow>;
  /** What `saveLook` kept for this reader; null before the first. */
  readerLook(projectId: number, reader: string): Promise<ReaderLook | null>;
  ledger(runId: number): Promise<LedgerRow[]>;
  /** Some at a time, never none. */
  sitemapEntries(filter: {
    project?: string;
    host?: string;
    limit?: number;
  }): AsyncIterable<SitemapEntryRow[]>;
  discoveries(filter: { project?: string }): Promise<DiscoveryRow[]>;
  /** Pages that were visited, wait to be for the first time, or were given up before that with their host, in batches by id. */
  revisitPages(projectId: number, pageId?: number): AsyncIterable<readonly RevisitPage[]>;
  /** What `saveRevisits` kept: the plan as JSON, and the last run it learned from; null and 0 before the first. */
  revisitPlan(projectId: number): Promise<{ plan: string | null; learnedRun: number }>;
  /** Visits of runs after this one, by run, then in the order of time, then by page. */
  visitsAfter(projectId: number, runId: number): AsyncIterable<VisitRowBrief>;
  /** Ids of pages to which pages read before got a link in runs after this one, in batches; one may come several times. */
  newlyLinked(projectId: number, runId: number): AsyncIterable<readonly number[]>;
  /** Ids of the pages that these link to, in batches as above. */
  linkedFrom(pageIds: readonly number[]): AsyncIterable<readonly number[]>;
  /** How the project is to be crawled, as a JSON object; null when nothing is kept, or there is no such project. */
  projectSettings(project: string): Promise<string | null>;
  robots(origin: string): Promise<StoredRobots | null>;
  /** Who works, or worked, on which run; by start. */
  workers(): AsyncIterable<WorkerRow>;
  totals(project: string | undefined): Promise<StoreTotals>;
  /** The figures of one run; null when there is no such run. */
  report(runId: number): Promise<RunReport | null>;
  /** What the pictures of the project show: of its whole history, or of one run and what led to it. */
  changeFigures(projectId: number, runId: number | null): Promise<ChangeFigures>;
  /** What went wrong on the project's map; of requests those of the run count. */
  mapErrors(projectId: number, runId: number): Promise<MapErrors>;
  /** By host, then in the order in which requests were sent. */
  requestLog(): AsyncIterable<RequestRow>;
  /** Identities that stand more than once in their project; there must be none. */
  repeatedUrls(): AsyncIterable<{ project: string; url: string; count: number }>;
  /** The same questions, given up when the signal says so: whoever asked hears its reason. */
  until(signal: AbortSignal): ReadSide;
  close(): Promise<void>;
}
