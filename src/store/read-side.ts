/**
 * The store's second face: questions, no changes. Allowed at any time, also while a crawler writes.
 *
 * Promises every adapter keeps:
 *  - Lists are streamed in a stable order (by id, which is the order of discovery) in bounded batches, by keyset and
 *    never by OFFSET: a million rows pass in flat memory, and no batch keeps a writer's log from being folded.
 *  - A row has the columns that `docs/tables.md` names; times are ISO 8601 in UTC, hashes lower-case hex.
 *  - Nothing here decides: identity comes in normalized, states and reasons go out as stored.
 */
import type { ChangeFigures } from './change-figures.ts';
import type { ColumnBatch, ColumnQuestion } from './column-port.ts';
import type { StoredRobots } from './host-port.ts';
import type { MapErrors } from './map-errors.ts';
import type { FacetReader } from './read-facets.ts';
import type { ListReader } from './read-lists.ts';
import type {
  ChangeFilter,
  ChangeRow,
  DiscoveryRow,
  GraphFilter,
  GraphLinks,
  GraphPage,
  HostRow,
  LinkBetween,
  LinkFilter,
  LinkRow,
  LoggedRequest,
  PageFilter,
  PageRow,
  ProjectRow,
  RequestRow,
  RevisitPage,
  RunRow,
  SitemapEntryRow,
  StoredRun,
  StoreTotals,
  VisitRow,
  VisitRowBrief,
  WorkerRow,
} from './read-rows.ts';
import type { ReaderLook } from './reader-look.ts';
import type { LedgerRow } from './run-port.ts';
import type { RunReport } from './run-report.ts';

export type {
  ChangeFilter,
  ChangeRow,
  DiscoveryRow,
  GraphFilter,
  GraphLinks,
  GraphPage,
  HostRow,
  LinkBetween,
  LinkFilter,
  LinkRow,
  LoggedRequest,
  PageFilter,
  PageRow,
  ProjectRow,
  RequestRow,
  RevisitPage,
  RunRow,
  SitemapEntryRow,
  StoredRun,
  StoreTotals,
  VisitRow,
  VisitRowBrief,
  WorkerRow,
} from './read-rows.ts';

export interface ReadSide extends ListReader, FacetReader {
  /** Deleted ones too, until they are purged. */
  projects(): Promise<ProjectRow[]>;
  projectByUid(uid: string): Promise<ProjectRow | null>;
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
  /** Any of the tables of column-port.ts, in columns. */
  columns(question: ColumnQuestion): AsyncIterable<ColumnBatch>;
  /** Identities that stand more than once in their project; there must be none. */
  repeatedUrls(): AsyncIterable<{ project: string; url: string; count: number }>;
  /** The same questions, given up when the signal says so: whoever asked hears its reason. */
  until(signal: AbortSignal): ReadSide;
  close(): Promise<void>;
}
