/** The filters of the list of pages as SQL that both stores take: of `u`, `h`, `f` (a page, its host, its last visit). */
import { CRAWLED_PAGES_STATUS, type CrawledPagesStatus, stateList } from '../frontier/counting-words.ts';
import { PAGE_STATES, type PageState } from '../frontier/page-state.ts';
import { readHosts } from './host-filter.ts';
import type { ListDialect } from './list-database.ts';
import type { PageListFilter } from './list-queries.ts';
import { NO_DEPTH } from './settlement.ts';
import { type Condition, condition } from './table-track.ts';

export interface PageConditions {
  fits: Condition[];
  /** What the conditions need besides the page's own row. */
  needsFetched: boolean;
  needsHost: boolean;
}

export const oneOf = (column: string, wanted: readonly unknown[]) =>
  wanted.length === 0
    ? condition('1 = 0')
    : condition(`${column} IN (${wanted.map(() => '?').join(', ')})`, ...wanted);

export const startsWith = (column: string, start: string) =>
  condition(`substr(${column}, 1, ${[...start].length}) = ?`, start);

export const ofClasses = (column: string, classes: readonly number[]) =>
  classes.length === 0
    ? condition('1 = 0')
    : condition(
        classes.map((first) => `${column} BETWEEN ${first * 100} AND ${first * 100 + 99}`).join(' OR '),
      );

export const statesOf = (states: readonly (keyof typeof PAGE_STATES)[]) =>
  states.map((state) => PAGE_STATES[state]);

export function pageConditions(
  filter: PageListFilter,
  dialect: ListDialect,
  projectId: number | null,
): PageConditions {
  const ofPage = conditionsOfPage(filter, dialect);
  if (projectId !== null) ofPage.push(condition('u.project_id = ?', projectId));
  const ofFetched = conditionsOfFetched(filter, dialect);
  const fits = [...ofPage, ...ofFetched];
  if (filter.hosts !== undefined) {
    const { names, sites } = readHosts(filter.hosts);
    const [named, sited] = [oneOf('h.name', names), oneOf(dialect.site, sites)];
    fits.push(condition(`${named.sql} OR ${sited.sql}`, ...named.values, ...sited.values));
  }
  return { fits, needsFetched: ofFetched.length > 0, needsHost: filter.hosts !== undefined };
}

function conditionsOfPage(filter: PageListFilter, dialect: ListDialect): Condition[] {
  const { urlPart, minDepth, maxDepth, section, states, statuses, reason, discoveredRun } = filter;
  const fits: Condition[] = [];
  if (urlPart !== undefined) fits.push(hasInUrl(urlPart, dialect));
  if (minDepth !== undefined || maxDepth !== undefined)
    fits.push(
      condition(`u.depth < ${NO_DEPTH} AND u.depth BETWEEN ? AND ?`, minDepth ?? 0, maxDepth ?? NO_DEPTH),
    );
  if (section !== undefined) fits.push(...inSection(section, dialect));
  if (states !== undefined) fits.push(oneOf('u.state', statesOf(states)));
  if (statuses !== undefined) fits.push(ofStatuses(statuses));
  if (reason !== undefined) fits.push(startsWith('u.reason', reason));
  if (discoveredRun !== undefined) fits.push(condition('u.discovered_run = ?', discoveredRun));
  return fits;
}

export function hasInUrl(part: string, dialect: ListDialect): Condition {
  const small = part.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return condition(`${dialect.place(dialect.lower('u.url'), '?')} > 0`, small);
}

/** robots.txt's word counts as skipped, whatever the state that it gave. */
const IS_DENIED = "substr(COALESCE(u.reason, ''), 1, 7) = 'robots:'";
const WITH_STATUS = (status: CrawledPagesStatus) =>
  stateList(
    (Object.keys(CRAWLED_PAGES_STATUS) as PageState[]).filter(
      (state) => CRAWLED_PAGES_STATUS[state] === status,
    ),
  );
export const OF_STATUS: Record<CrawledPagesStatus, string> = {
  success: `u.state IN (${WITH_STATUS('success')})`,
  skipped: `u.state IN (${WITH_STATUS('skipped')}) OR (u.state IN (${WITH_STATUS('failed')}) AND ${IS_DENIED})`,
  failed: `u.state IN (${WITH_STATUS('failed')}) AND NOT ${IS_DENIED}`,
};

const ofStatuses = (statuses: readonly CrawledPagesStatus[]) =>
  statuses.length === 0
    ? condition('1 = 0')
    : condition(statuses.map((status) => `(${OF_STATUS[status]})`).join(' OR '));

/** The path of the page, with the query. */
function pathSql({ place }: ListDialect): string {
  const rest = `substr(u.url, ${place('u.url', "'//'")} + 2)`;
  return `substr(${rest}, ${place(`${rest} || '/'`, "'/'")})`;
}

/** The media type of the page without parameters, small. */
export function mediaTypeSql({ place, lower }: ListDialect): string {
  const end = place("f.content_type || ';'", "';'");
  return lower(`trim(substr(f.content_type, 1, ${end} - 1))`);
}

function inSection(section: string, dialect: ListDialect): Condition[] {
  const path = `/${section.replace(/^\/+|\/+$/g, '')}`;
  if (path === '/') return [];
  const ownPath = pathSql(dialect);
  const next = condition(`substr(${ownPath} || '/', ${[...path].length + 1}, 1) IN (?, ?)`, '/', '?');
  // Most pages of others are told apart by the first, which is cheap.
  return [condition(`${dialect.place('u.url', '?')} > 0`, path), startsWith(ownPath, path), next];
}

function conditionsOfFetched(filter: PageListFilter, dialect: ListDialect): Condition[] {
  const { statusCodes, statusClasses, statusIn, contentTypes, changes, noindex, visitedRun } = filter;
  const fits: Condition[] = [];
  if (statusCodes !== undefined) fits.push(oneOf('f.status_code', statusCodes));
  if (statusClasses !== undefined) fits.push(ofClasses('f.status_code', statusClasses));
  if (statusIn !== undefined) {
    const { codes, classes } = statusIn;
    const [coded, classed] = [oneOf('f.status_code', codes), ofClasses('f.status_code', classes)];
    fits.push(condition(`(${coded.sql}) OR (${classed.sql})`, ...coded.values, ...classed.values));
  }
  if (contentTypes !== undefined) {
    fits.push(
      oneOf(
        mediaTypeSql(dialect),
        contentTypes.map((wanted) => wanted.toLowerCase()),
      ),
    );
  }
  if (changes !== undefined) fits.push(oneOf('f.change', changes));
  if (noindex !== undefined) fits.push(condition('f.noindex = ?', noindex ? 1 : 0));
  if (visitedRun !== undefined) fits.push(condition('f.run_id = ?', visitedRun));
  return fits;
}
