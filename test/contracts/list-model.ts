/** What lists have to answer, worked out in plain JavaScript from the streams of the read side. */
import { CRAWLED_PAGES_STATUS } from '../../src/frontier/counting-words.ts';
import type { PageListFilter, RequestListFilter, VisitListFilter } from '../../src/store/list-queries.ts';
import type { PageRow, VisitRow } from '../../src/store/read-side.ts';

const pathOf = (page: PageRow) => {
  const rest = page.url.slice(page.url.indexOf('//') + 2);
  const from = rest.indexOf('/');
  return from < 0 ? '' : rest.slice(from);
};

function isInSection(path: string, section: string): boolean {
  const wanted = section.split('/').filter((part) => part !== '');
  const own = path.split('?')[0].split('/').slice(1);
  return wanted.every((part, i) => own[i] === part);
}

/** A page's status, as the view `crawled_pages` has it. */
export function statusOf({ state, reason }: PageRow): 'success' | 'failed' | 'skipped' | null {
  const status = CRAWLED_PAGES_STATUS[state];
  return status === 'failed' && reason?.startsWith('robots:') ? 'skipped' : status;
}

export function fitsPage(page: PageRow, filter: PageListFilter): boolean {
  const smaller = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const site = new URL(page.url).host;
  const type = page.content_type?.split(';')[0].trim().toLowerCase();
  const checks = [
    filter.project === undefined || page.project === filter.project,
    filter.urlPart === undefined || smaller(page.url).includes(smaller(filter.urlPart)),
    filter.statusCodes === undefined || filter.statusCodes.includes(page.status_code as number),
    filter.statusClasses === undefined ||
      filter.statusClasses.some((first) => Math.floor((page.status_code ?? 0) / 100) === first),
    filter.contentTypes === undefined || (type !== undefined && filter.contentTypes.includes(type)),
    filter.minDepth === undefined || (page.depth !== null && page.depth >= filter.minDepth),
    filter.maxDepth === undefined || (page.depth !== null && page.depth <= filter.maxDepth),
    filter.section === undefined || isInSection(pathOf(page), filter.section),
    filter.hosts === undefined || filter.hosts.some((host) => host === page.host || host === site),
    filter.states === undefined || filter.states.includes(page.state),
    filter.statuses === undefined || filter.statuses.some((status) => status === statusOf(page)),
    filter.statusIn === undefined ||
      filter.statusIn.codes.includes(page.status_code as number) ||
      filter.statusIn.classes.some((first) => Math.floor((page.status_code ?? 0) / 100) === first),
    filter.search === undefined || smaller(page.url).includes(smaller(filter.search)),
    filter.reason === undefined || page.reason?.startsWith(filter.reason) === true,
    filter.changes === undefined || (page.change !== null && filter.changes.includes(page.change)),
    filter.noindex === undefined || page.noindex === (filter.noindex ? 1 : 0),
    filter.visitedRun === undefined || page.visited_run === filter.visitedRun,
    filter.discoveredRun === undefined || page.discovered_run === filter.discoveredRun,
  ];
  return checks.every(Boolean);
}

export type ModelVisit = VisitRow & { page_id: number; url: string; project: string };

export function fitsVisit(visit: ModelVisit, filter: VisitListFilter): boolean {
  return (
    (filter.project === undefined || visit.project === filter.project) &&
    (filter.pageId === undefined || visit.page_id === filter.pageId) &&
    (filter.fromRun === undefined || visit.run >= filter.fromRun) &&
    (filter.toRun === undefined || visit.run <= filter.toRun) &&
    (filter.outcomes === undefined || filter.outcomes.includes(visit.outcome))
  );
}

export interface ModelRequest {
  id: number;
  run: number;
  host: string;
  kind: string;
  statusCode: number;
  project: string;
  pageId: number | null;
}

export function fitsRequest(request: ModelRequest, filter: RequestListFilter): boolean {
  return (
    (filter.project === undefined || request.project === filter.project) &&
    (filter.pageId === undefined || request.pageId === filter.pageId) &&
    (filter.run === undefined || request.run === filter.run) &&
    (filter.host === undefined || request.host === filter.host) &&
    (filter.kinds === undefined || (filter.kinds as readonly string[]).includes(request.kind)) &&
    (filter.hasFailed === undefined || filter.hasFailed === (request.statusCode === 0))
  );
}

/** By one value, then another, as the list has it. */
export function sortedBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => number[],
  order: 'asc' | 'desc',
): Row[] {
  const sign = order === 'asc' ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)];
    const at = one.findIndex((value, i) => value !== other[i]);
    return at < 0 ? 0 : sign * (one[at] - other[at]);
  });
}
