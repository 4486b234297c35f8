/**
 * The columns of the views with a row for each page, and of the read side's PageRow: the facts of the table
 * (page-facts.ts), each after the column that its entry names, among the columns that are no facts. Both stores take their
 * SELECT lists from here; `u` is the page's row of `url`, `f` of `fetched`, `h` of `host`, `t` of `page_text`.
 */
import { PAGE_STATES } from '../frontier/page-state.ts';
import { INDEXABLE } from './indexable.ts';
import { FACTS, type FactKind, type FactRow, type FactView, type PageFact } from './page-facts.ts';
import type { PageRow } from './read-rows.ts';
import { NO_DEPTH } from './settlement.ts';

const code = PAGE_STATES;

/** The state of the row `u` by name. */
export const STATE_NAME = `CASE u.state ${Object.entries(PAGE_STATES)
  .map(([name, state]) => `WHEN ${state} THEN '${name}'`)
  .join(' ')} END`;

const SKIPPED = `(${[code.DeadLink, code.Gone, code.Skipped, code.Blacklisted, code.Stubbed, code.DepthExceeded, code.RequestLimitHit].join(', ')})`;

/** SQL for a column by its kind; what is missing is shown as it is stored. */
export type ShownAs = Partial<Record<FactKind, (column: string) => string>>;

/** What the databases say differently. */
export interface Dialect {
  /** Wall milliseconds as ISO 8601. */
  time(column: string): string;
  /** Bytes as lower-case hex; NULL for none. */
  hash(column: string): string;
  /** The URLs that the page `u` links to, as a JSON array. */
  linksFound: string;
}

export type OwnRowColumn = Exclude<keyof PageRow, keyof FactRow>;

/** The columns of a view that are no facts, by name, in order. */
type OwnColumns = Readonly<Record<string, string>>;

const FETCH_URL = 'COALESCE(u.fetch_url, u.url)';

const pagesOwn = ({ time }: Pick<Dialect, 'time'>): OwnColumns => ({
  id: 'u.id',
  url: 'u.url',
  fetch_url: FETCH_URL,
  domain: 'h.name',
  host: 'h.name',
  state: STATE_NAME,
  reason: 'u.reason',
  depth: `NULLIF(u.depth, ${NO_DEPTH})`,
  priority: 'u.priority',
  final_url: 'f.final_url',
  redirect_count: 'COALESCE(f.redirect_count, 0)',
  change: 'f.change',
  change_frequency: 'COALESCE(f.change_frequency, 0)',
  changes_detected: 'COALESCE(f.changes_detected, 0)',
  discovered_at: time('u.discovered_at'),
  discovered_run: 'u.discovered_run',
  referrer_id: 'u.referrer_id',
  error_message: 'COALESCE(f.error, u.reason)',
  retry_count: 'u.attempts',
  project_id: 'u.project_id',
});

const urlsOwn = ({ time }: Dialect): OwnColumns => ({
  id: 'u.id',
  url: FETCH_URL,
  normalized_url: 'u.url',
  domain: 'h.name',
  status: STATE_NAME,
  fetch_attempts: 'u.attempts',
  discovered_at: time('u.discovered_at'),
  run_id: 'u.discovered_run',
});

const crawledPagesOwn = ({ linksFound }: Dialect): OwnColumns => ({
  id: 'u.id',
  project_id: 'u.project_id',
  url: FETCH_URL,
  normalized_url: 'u.url',
  content_text: 't.text',
  links_found: linksFound,
  status: `CASE WHEN u.state = ${code.Processed} THEN 'success' WHEN u.state IN ${SKIPPED} OR u.reason LIKE 'robots:%' THEN 'skipped'
      ELSE 'failed' END`,
  error_message: 'COALESCE(f.error, u.reason)',
});

const CRAWLED_URL_OWN: OwnColumns = {
  id: 'u.id',
  crawl_id: 'f.run_id',
  url: FETCH_URL,
  indexable: INDEXABLE,
  error: "COALESCE(f.error, u.reason, '')",
  change_frequency: 'f.change_frequency',
  changes_detected: 'f.changes_detected',
  created_at: 'u.discovered_at / 1000',
  project_id: 'u.project_id',
};

/** No NULL, and times in seconds. */
const inCrawledUrl = ({ hash }: Dialect): ShownAs => ({
  text: (column) => `COALESCE(${column}, '')`,
  whole: (column) => `COALESCE(${column}, 0)`,
  hash: (column) => `COALESCE(${hash(column)}, '')`,
  time: (column) => `${column} / 1000`,
});

/** The SELECT lists of the views. */
export function pageViews(dialect: Dialect): Record<Exclude<FactView, 'row'>, string> {
  const shown: ShownAs = { time: dialect.time, hash: dialect.hash };
  return {
    pages: selectList('pages', pagesOwn(dialect), shown),
    crawled_pages: selectList('crawled_pages', crawledPagesOwn(dialect), shown),
    crawled_url: selectList('crawled_url', CRAWLED_URL_OWN, inCrawledUrl(dialect)),
    urls: selectList('urls', urlsOwn(dialect), shown),
  };
}

/** What the databases say differently of a row of the read side. */
export interface RowDialect extends Pick<Dialect, 'time' | 'hash'> {
  /** 64 bits as 16 digits of hex. */
  bits(column: string): string;
  /** `change_frequency` of the row `f`. */
  frequency: string;
}

const rowOwn = ({ time, frequency }: RowDialect): Record<OwnRowColumn, string> => ({
  url: 'u.url',
  state: 'u.state',
  reason: 'u.reason',
  depth: `NULLIF(u.depth, ${NO_DEPTH})`,
  final_url: 'f.final_url',
  redirect_count: 'COALESCE(f.redirect_count, 0)',
  id: 'u.id',
  project: 'p.name',
  host: 'h.name',
  fetch_url: FETCH_URL,
  change: 'f.change',
  change_frequency: `COALESCE(${frequency}, 0)`,
  changes_detected: 'COALESCE(f.changes_detected, 0)',
  priority: 'u.priority',
  attempts: 'u.attempts',
  retry_at: time('u.retry_at'),
  discovered_at: time('u.discovered_at'),
  discovered_run: 'u.discovered_run',
  visited_run: 'f.run_id',
  referrer_id: 'u.referrer_id',
  redirect_to: 'f.redirect_to',
  left_run: 'u.left_run',
  left_reason: 'u.left_reason',
});

/** The SELECT list of PageRow; `state` is a number in it. */
export function pageRowList(dialect: RowDialect): string {
  const { time, hash, bits } = dialect;
  return selectList('row', rowOwn(dialect), { time, hash, bits });
}

/** The columns of a view in order: each of its own, and behind it the facts whose entries lead back to it. */
export function columnOrder(
  view: FactView,
  own: readonly string[],
): { name: string; fact: PageFact | null }[] {
  const followers = new Map<string, PageFact>();
  for (const fact of FACTS) {
    const after = fact.shown?.[view]?.after;
    if (after === undefined) continue;
    if (followers.has(after)) throw new Error(`two facts stand after ${after} in ${view}`);
    followers.set(after, fact);
  }
  const order: { name: string; fact: PageFact | null }[] = [];
  for (const first of own) {
    let name = first;
    let fact: PageFact | null = null;
    for (;;) {
      order.push({ name, fact });
      const next = followers.get(name);
      if (next === undefined) break;
      followers.delete(name);
      fact = next;
      name = next.shown?.[view]?.as ?? next.column;
    }
  }
  if (followers.size > 0) throw new Error(`${view} has no column ${[...followers.keys()].join(', ')}`);
  return order;
}

/** What each column of a view is, in order, as SQL: `fact` where it is one. */
function columnsOf(
  view: FactView,
  own: OwnColumns,
  shownAs: ShownAs,
): { name: string; sql: string; fact: PageFact | null }[] {
  return columnOrder(view, Object.keys(own)).map(({ name, fact }) => {
    if (fact === null) return { name, sql: own[name], fact };
    const column = `f.${fact.column}`;
    return { name, sql: shownAs[fact.kind]?.(column) ?? column, fact };
  });
}

function selectList(view: FactView, own: OwnColumns, shownAs: ShownAs): string {
  const list = columnsOf(view, own, shownAs).map(({ name, sql }) =>
    sql.endsWith(`.${name}`) ? sql : `${sql} AS ${name}`,
  );
  return list.join(',\n    ');
}

/** The columns of the view `pages`, each by itself; `bits` in the form that a number of code cannot hold. */
export function pageColumns(
  dialect: Pick<Dialect, 'time' | 'hash'> & { bits(column: string): string },
): Record<string, string> {
  const { time, hash, bits } = dialect;
  const columns = columnsOf('pages', pagesOwn(dialect), { time, hash, bits });
  return Object.fromEntries(columns.map(({ name, sql }) => [name, sql]));
}
