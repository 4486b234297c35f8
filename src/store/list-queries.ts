/**
 * Lists that are read a page of results at a time: what can be asked for, how it can be filtered, and what it can be
 * sorted by. `read-lists.ts` answers, the same on every store; docs/tables.md explains it to users.
 */
import type { VisitRecord } from '../change/visit-record.ts';
import type { CrawledPagesStatus, UrlCounts } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { RequestKind } from './host-port.ts';
import type {
  ChangeRow,
  HostRow,
  LinkBetween,
  LoggedRequest,
  PageRow,
  ProjectRow,
  RunRow,
  VisitRow,
} from './read-rows.ts';

/** 2 stands for 200 to 299. */
export type StatusClass = 1 | 2 | 3 | 4 | 5;

export interface PageListFilter {
  project?: string;
  /** A part of the URL; small and capital letters of ASCII are equal. */
  urlPart?: string;
  /** All of these words stand in the title or the main text; `sumi index full-text` makes it possible. */
  words?: string;
  /** A part of the URL, or all of these words in the title or the main text where the project's words are indexed. */
  search?: string;
  statusCodes?: readonly number[];
  statusClasses?: readonly StatusClass[];
  /** Any of the codes, or of the classes. */
  statusIn?: { readonly codes: readonly number[]; readonly classes: readonly StatusClass[] };
  /** Media types without their parameters, as text/html. */
  contentTypes?: readonly string[];
  /** Bounds of the depth, both included. A page that no followed link leads to has no depth and never fits. */
  minDepth?: number;
  maxDepth?: number;
  /** The first segments of the path: /docs is /docs itself, what is below it, and either with a query. */
  section?: string;
  /** NAME is every port of a host, NAME:PORT that one. */
  hosts?: readonly string[];
  states?: readonly PageState[];
  /** As the view `crawled_pages` has it; pages that wait have none. */
  statuses?: readonly CrawledPagesStatus[];
  /** How the reason begins: `robots`, or `robots: Disallow /private/`. */
  reason?: string;
  /** Outcomes of the last visit. */
  changes?: readonly VisitRecord['outcome'][];
  noindex?: boolean;
  /** The run that visited the page last. */
  visitedRun?: number;
  discoveredRun?: number;
}

export interface VisitListFilter {
  project?: string;
  pageId?: number;
  /** Runs from this one on, up to and with `toRun`. */
  fromRun?: number;
  toRun?: number;
  outcomes?: readonly VisitRecord['outcome'][];
}

export interface LinkListFilter {
  project?: string;
  /** Links from this page. */
  fromId?: number;
  /** Links to this page. */
  toId?: number;
  /** State of the target. */
  toStates?: readonly PageState[];
  /** Class of the target's status code. */
  toStatusClasses?: readonly StatusClass[];
}

export interface HostListFilter {
  /** Hosts that the project has asked, or has pages waiting on. */
  project?: string;
}

export interface RunListFilter {
  project?: string;
  statuses?: readonly string[];
}

export interface ProjectListFilter {
  /** A part of the name or of the website's URL; small and capital letters of ASCII are equal. */
  q?: string;
  /** Unless said: active ones. */
  state?: 'active' | 'deleted' | 'all';
  /** Only these projects. */
  uids?: readonly string[];
}

export interface RequestListFilter {
  project?: string;
  pageId?: number;
  run?: number;
  host?: string;
  kinds?: readonly RequestKind[];
  /** Requests that got no answer, or only those that did. */
  hasFailed?: boolean;
}

export interface ListedVisit extends VisitRow {
  page_id: number;
  url: string;
}

/** A link with the state and the status of its target. */
export interface ListedLink extends LinkBetween {
  to_state: PageState;
  to_status: number | null;
}

/** A host name with all its ports. */
export interface ListedHost extends Omit<HostRow, keyof UrlCounts | 'closed'> {
  id: number;
  /** As docs/words.md counts them; null where more than `MOST_LOOKED_AT` rows would have to be looked at. */
  urls: UrlCounts | null;
}

export interface ListedRequest extends LoggedRequest {
  id: number;
  host: string;
  page_id: number | null;
}

interface ListShapes {
  pages: { filter: PageListFilter; row: PageRow };
  visits: { filter: VisitListFilter; row: ListedVisit };
  changes: { filter: VisitListFilter; row: ChangeRow };
  links: { filter: LinkListFilter; row: ListedLink };
  hosts: { filter: HostListFilter; row: ListedHost };
  runs: { filter: RunListFilter; row: RunRow };
  projects: { filter: ProjectListFilter; row: ProjectRow };
  requests: { filter: RequestListFilter; row: ListedRequest };
}

export type ListName = keyof ListShapes;
export type ListFilter<Name extends ListName> = ListShapes[Name]['filter'];
export type ListRow<Name extends ListName> = ListShapes[Name]['row'];
export type SortOrder = 'asc' | 'desc';

export interface ListQuery<Name extends ListName> {
  filter?: ListFilter<Name>;
  /** Unless said: the first of the list's sorts. */
  sort?: string;
  /** Unless said: as the table below has it. */
  order?: SortOrder;
  /** Rows of one answer, 1 to 1000. */
  limit?: number;
  /** `next` or `previous` of an answer to the same filter, sort and order. */
  cursor?: string;
}

/** One page of results. `next` and `previous` are null where nothing follows or precedes. */
export interface Results<Row> {
  /** In the order asked for. Fewer than `limit`, even none, where `MOST_LOOKED_AT` rows did not hold enough that fit. */
  rows: Row[];
  next: string | null;
  previous: string | null;
}

export interface Count {
  count: number;
  /** False: there are at least so many. */
  isExact: boolean;
}

/** What each list can be filtered by. */
export const LIST_FILTERS: {
  readonly [Name in ListName]: { readonly [Field in keyof Required<ListFilter<Name>>]: true };
} = {
  pages: {
    ...{ project: true, urlPart: true, words: true, statusCodes: true, statusClasses: true },
    ...{ contentTypes: true, minDepth: true, maxDepth: true, section: true, hosts: true, states: true },
    ...{ reason: true, changes: true, noindex: true, visitedRun: true, discoveredRun: true },
    ...{ statuses: true, statusIn: true, search: true },
  },
  visits: { project: true, pageId: true, fromRun: true, toRun: true, outcomes: true },
  changes: { project: true, pageId: true, fromRun: true, toRun: true, outcomes: true },
  links: { project: true, fromId: true, toId: true, toStates: true, toStatusClasses: true },
  hosts: { project: true },
  runs: { project: true, statuses: true },
  projects: { q: true, state: true, uids: true },
  requests: { project: true, pageId: true, run: true, host: true, kinds: true, hasFailed: true },
};

export const DEFAULT_LIMIT = 100;
export const MOST_ROWS = 1000;
/** One call looks at no more rows than this, whether they fit the filter or not. */
export const MOST_LOOKED_AT = 20_000;

interface Sort {
  /** The key of the rows' order: the sort column first, what makes it unique after it. */
  index: string;
  order: SortOrder;
  /** The table with the column, whose index is made by `sumi index sorts`; none where the list's own key serves. */
  table?: 'url' | 'fetched';
}

const sortOf = (table: 'url' | 'fetched', column: string, order: SortOrder): Sort => ({
  index: `${table}_of_${column}`,
  order,
  table,
});

/** What each list can be sorted by, the index that serves it, and the order unless another is asked for. */
export const LIST_SORTS: Record<ListName, Record<string, Sort>> = {
  pages: {
    id: { index: 'the primary key of url', order: 'asc' },
    visited_at: sortOf('fetched', 'visited_at', 'desc'),
    status_code: sortOf('fetched', 'status_code', 'asc'),
    depth: sortOf('url', 'depth', 'asc'),
    content_length: sortOf('fetched', 'content_length', 'desc'),
    word_count: sortOf('fetched', 'word_count', 'asc'),
    response_ms: sortOf('fetched', 'response_ms', 'desc'),
    change_frequency: sortOf('fetched', 'change_frequency', 'desc'),
  },
  visits: { run: { index: 'the primary key of visit', order: 'desc' } },
  changes: { run: { index: 'the primary key of visit', order: 'desc' } },
  links: { from_id: { index: 'the primary key of link_set', order: 'asc' } },
  hosts: { id: { index: 'the primary key of host', order: 'asc' } },
  runs: { run: { index: 'the primary key of run', order: 'desc' } },
  projects: {
    name: { index: 'an index of project', order: 'asc' },
    created_at: { index: 'project_created', order: 'desc' },
    updated_at: { index: 'project_updated', order: 'desc' },
  },
  requests: { id: { index: 'the primary key of request', order: 'desc' } },
};

interface PageIndex {
  name: string;
  table: 'url' | 'fetched';
  /** Between the project and the page's id; null: the pages of a project in the order of their ids. */
  column: string | null;
  /** Only rows for which this holds. */
  where?: string;
}

const pageIndex = (table: 'url' | 'fetched', column: string): PageIndex => ({
  name: `${table}_of_${column}`,
  table,
  column,
});

/**
 * Indexes by project for the list of pages: they serve its sorts, and find the pages that few others are like. `sumi index
 * sorts` makes them, and the database keeps them up to date; without them nothing is written for them.
 */
export const PAGE_INDEXES: readonly PageIndex[] = [
  { name: 'url_of_project', table: 'url', column: null },
  ...['state', 'depth', 'host_id'].map((column) => pageIndex('url', column)),
  ...Object.values(LIST_SORTS.pages).flatMap(({ index, table }) =>
    table === 'fetched' ? [pageIndex(table, index.slice('fetched_of_'.length))] : [],
  ),
  pageIndex('fetched', 'change'),
  { ...pageIndex('fetched', 'noindex'), where: 'noindex = 1' },
];
