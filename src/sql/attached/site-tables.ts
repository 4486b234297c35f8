/**
 * What an attached store shows: its views with their columns, types and SQL, and the tables of rows that stand behind them
 * (`sumi_site(number, table)`). Names and values are those of docs/tables.md; times are TIMESTAMP in UTC, yes and no is
 * BOOLEAN, JSON is JSON.
 */
import { COUNTING_WORD_NAMES } from '../../frontier/counting-words.ts';
import type { ColumnTable } from '../../store/column-port.ts';
import type { FactKind } from '../../store/page-facts.ts';
import { columnOrder } from '../../store/page-views.ts';
import { UNFOLLOWED } from '../../store/settlement.ts';
import { URL_COLUMNS } from './url-columns.ts';

/** How a value comes from the store. A number that is written as DOUBLE costs DuckDB nothing to cast. */
export type Carried = 'DOUBLE' | 'VARCHAR';

interface Shown {
  carried: Carried;
  sql(column: string): string;
}

const cast = (carried: Carried, type: string): Shown => ({
  carried,
  sql: (column) => `${column}::${type}`,
});
const NUMBER = cast('DOUBLE', 'BIGINT');
const SMALL = cast('DOUBLE', 'INTEGER');
const REAL: Shown = { carried: 'DOUBLE', sql: (column) => column };
const TEXT: Shown = { carried: 'VARCHAR', sql: (column) => column };
const FLAG = cast('DOUBLE', 'BOOLEAN');
const TIME: Shown = { carried: 'DOUBLE', sql: (column) => `make_timestamp((${column} * 1000)::BIGINT)` };
/** ISO 8601. */
const WRITTEN_TIME = cast('VARCHAR', 'TIMESTAMP');
const BITS = cast('VARCHAR', 'BIGINT');
/** What users wrote may be no JSON at all. */
const JSON_TEXT: Shown = { carried: 'VARCHAR', sql: (column) => `TRY_CAST(${column} AS JSON)` };

const BY_KIND: Record<FactKind, Shown> = {
  whole: SMALL,
  long: NUMBER,
  duration: REAL,
  time: TIME,
  text: TEXT,
  flag: FLAG,
  hash: TEXT,
  bits: BITS,
};

/** A view that shows the columns of one table as they are. */
type PlainColumns = Readonly<Record<string, Shown>>;

const OWN_OF_PAGES: PlainColumns = {
  id: NUMBER,
  url: TEXT,
  fetch_url: TEXT,
  domain: TEXT,
  host: TEXT,
  state: TEXT,
  reason: TEXT,
  depth: SMALL,
  priority: SMALL,
  final_url: TEXT,
  redirect_count: SMALL,
  redirect_to: NUMBER,
  change: TEXT,
  change_frequency: REAL,
  changes_detected: SMALL,
  discovered_at: TIME,
  discovered_run: NUMBER,
  referrer_id: NUMBER,
  error_message: TEXT,
  retry_count: SMALL,
  project_id: NUMBER,
};

const PAGES: PlainColumns = Object.fromEntries(
  columnOrder('pages', Object.keys(OWN_OF_PAGES)).map(({ name, fact }) => [
    name,
    fact === null ? OWN_OF_PAGES[name] : BY_KIND[fact.kind],
  ]),
);

const VISITS: PlainColumns = {
  page_id: NUMBER,
  run_id: NUMBER,
  visited_at: TIME,
  outcome: TEXT,
  known_by: TEXT,
  status_code: SMALL,
  etag: TEXT,
  last_modified: TEXT,
  content_hash: TEXT,
  text_hash: TEXT,
  simhash_distance: SMALL,
  wire_bytes: NUMBER,
  bytes_saved: NUMBER,
  duration_ms: NUMBER,
  failure: TEXT,
};

const PAGE_CHANGES: PlainColumns = {
  page_id: NUMBER,
  run_id: NUMBER,
  url: TEXT,
  visited_at: TIME,
  parts: TEXT,
  detail: JSON_TEXT,
};

const SITEMAP_ENTRIES: PlainColumns = {
  page_id: NUMBER,
  url: TEXT,
  lastmod: TIME,
  changefreq: TEXT,
  priority: REAL,
  sitemap: TEXT,
  first_seen: TIME,
  last_seen: TIME,
  project_id: NUMBER,
  lastmod_text: TEXT,
  details: JSON_TEXT,
};

const RUNS: PlainColumns = {
  id: NUMBER,
  project: TEXT,
  started_at: TIME,
  finished_at: TIME,
  config_hash: TEXT,
  status: TEXT,
  pages: NUMBER,
  bytes: NUMBER,
  requests: NUMBER,
  left_out: NUMBER,
  error: TEXT,
  metadata: JSON_TEXT,
  mode: TEXT,
  mode_reason: TEXT,
  new: NUMBER,
  changed: NUMBER,
  unchanged: NUMBER,
  gone: NUMBER,
  failed: NUMBER,
  bytes_saved: NUMBER,
};

const HOSTS: PlainColumns = {
  host: TEXT,
  known_urls: NUMBER,
  ...Object.fromEntries(COUNTING_WORD_NAMES.map((word) => [word, NUMBER])),
  requests: NUMBER,
  average_ms: REAL,
  adaptive_delay_ms: REAL,
  next_slot_at: WRITTEN_TIME,
  blocked_until: WRITTEN_TIME,
  consecutive_429: SMALL,
  failures: SMALL,
  robots_status: SMALL,
  robots_fetched_at: WRITTEN_TIME,
  closed: TEXT,
};

/** Behind the view `links`: the links of a page, packed. */
const LINK_SETS: Readonly<Record<string, Carried>> = {
  page_id: 'DOUBLE',
  run_id: 'DOUBLE',
  targets: 'VARCHAR',
  flags: 'VARCHAR',
  anchors: 'VARCHAR',
  runs: 'VARCHAR',
};

const INDEXED: Readonly<Record<string, Carried>> = {
  fetch_url: 'VARCHAR',
  status_code: 'DOUBLE',
  visited_at: 'DOUBLE',
  content_hash: 'VARCHAR',
  content_type: 'VARCHAR',
  charset: 'VARCHAR',
  lang: 'VARCHAR',
  final_url: 'VARCHAR',
  visited_run: 'DOUBLE',
  ...Object.fromEntries(
    Object.keys(URL_COLUMNS).map((name) => [name, name === 'url_port' ? 'DOUBLE' : 'VARCHAR'] as const),
  ),
};

export interface SiteTable {
  /** Of the store. */
  reads: ColumnTable;
  columns: Readonly<Record<string, Carried>>;
}

const carriedOf = (columns: PlainColumns, more: Readonly<Record<string, Carried>> = {}) => ({
  ...Object.fromEntries(Object.entries(columns).map(([name, { carried }]) => [name, carried])),
  ...more,
});

/** The tables of `sumi_site`. */
export const SITE_TABLES: Readonly<Record<string, SiteTable>> = {
  pages: { reads: 'pages', columns: carriedOf(PAGES) },
  link_sets: { reads: 'link_sets', columns: LINK_SETS },
  visits: { reads: 'visits', columns: carriedOf(VISITS, { known_by_number: 'DOUBLE' }) },
  page_changes: { reads: 'page_changes', columns: carriedOf(PAGE_CHANGES) },
  sitemap_entries: { reads: 'sitemap_entries', columns: carriedOf(SITEMAP_ENTRIES) },
  runs: { reads: 'runs', columns: carriedOf(RUNS) },
  hosts: { reads: 'hosts', columns: carriedOf(HOSTS) },
  cc_index: { reads: 'pages', columns: INDEXED },
};

const selected = (columns: PlainColumns) =>
  Object.entries(columns)
    .map(([name, { sql }]) => `${sql(`"${name}"`)} AS "${name}"`)
    .join(', ');

/** A page that the last visit found there: no redirect, no error. 304 says that it is as it was. */
const IS_LIVE = `state = 'Processed' AND (status_code BETWEEN 200 AND 299 OR status_code = 304)
  AND redirect_to IS NULL`;

/** One list of a page beside the other: DuckDB unpacks them, and reads only the ones that are asked for. */
function linksSql(from: string): string {
  const list = (column: string, type: string) => `from_json("${column}", '["${type}"]')`;
  const flags = 'COALESCE(flags[k], 0)';
  return `SELECT page_id::BIGINT * 1000000 + k - 1 AS id, page_id::BIGINT AS from_page_id, target AS to_page_id,
    COALESCE(runs[k], run_id::BIGINT) AS discovered_run, ${flags} & ~${UNFOLLOWED} AS flags,
    (${flags} & 1)::BOOLEAN AS nofollow, anchors[k] AS anchor
  FROM (SELECT page_id, run_id, ${list('flags', 'INTEGER')} AS flags, ${list('anchors', 'VARCHAR')} AS anchors,
      ${list('runs', 'BIGINT')} AS runs, unnest(targets) AS target, unnest(range(1, len(targets) + 1)) AS k
    FROM (SELECT * REPLACE (${list('targets', 'BIGINT')} AS targets) FROM ${from}))`;
}

/** https://commoncrawl.org/columnar-index; what a crawl here does not know is NULL. */
function ccIndexSql(from: string): string {
  const known: Record<string, string> = {
    url: 'fetch_url',
    ...Object.fromEntries(Object.keys(URL_COLUMNS).map((name) => [name, `"${name}"`])),
    url_port: 'url_port::INTEGER',
    fetch_time: TIME.sql('visited_at'),
    fetch_status: 'status_code::SMALLINT',
    fetch_redirect: 'CASE WHEN status_code BETWEEN 300 AND 399 THEN final_url END',
    content_digest: 'content_hash',
    content_mime_type: "NULLIF(lower(trim(split_part(content_type, ';', 1))), '')",
    content_charset: 'upper(charset)',
    content_languages: 'lang',
    crawl: 'visited_run::BIGINT::VARCHAR',
    subset: "CASE WHEN status_code BETWEEN 200 AND 299 THEN 'warc' ELSE 'crawldiagnostics' END",
  };
  const columns = CC_INDEX.map(([name, type]) => `${known[name] ?? `NULL::${type}`} AS ${name}`);
  return `SELECT ${columns.join(', ')} FROM ${from} WHERE status_code IS NOT NULL`;
}

const CC_INDEX: readonly (readonly [name: string, type: string])[] = [
  ['url_surtkey', 'VARCHAR'],
  ['url', 'VARCHAR'],
  ['url_host_name', 'VARCHAR'],
  ['url_host_tld', 'VARCHAR'],
  ['url_host_2nd_last_part', 'VARCHAR'],
  ['url_host_3rd_last_part', 'VARCHAR'],
  ['url_host_4th_last_part', 'VARCHAR'],
  ['url_host_5th_last_part', 'VARCHAR'],
  ['url_host_registry_suffix', 'VARCHAR'],
  ['url_host_registered_domain', 'VARCHAR'],
  ['url_host_private_suffix', 'VARCHAR'],
  ['url_host_private_domain', 'VARCHAR'],
  ['url_host_name_reversed', 'VARCHAR'],
  ['url_protocol', 'VARCHAR'],
  ['url_port', 'INTEGER'],
  ['url_path', 'VARCHAR'],
  ['url_query', 'VARCHAR'],
  ['fetch_time', 'TIMESTAMP'],
  ['fetch_status', 'SMALLINT'],
  ['fetch_redirect', 'VARCHAR'],
  ['content_digest', 'VARCHAR'],
  ['content_mime_type', 'VARCHAR'],
  ['content_mime_detected', 'VARCHAR'],
  ['content_charset', 'VARCHAR'],
  ['content_languages', 'VARCHAR'],
  ['content_truncated', 'VARCHAR'],
  ['warc_filename', 'VARCHAR'],
  ['warc_record_offset', 'INTEGER'],
  ['warc_record_length', 'INTEGER'],
  ['warc_segment', 'VARCHAR'],
  ['crawl', 'VARCHAR'],
  ['subset', 'VARCHAR'],
];

/** Ids of visits and changes are made of their keys, in whole numbers that a DOUBLE could not hold. */
const CHANGE_ID = 'page_id::BIGINT * 1000000 + run_id::BIGINT';

/** The views of an attached store, by name. `site` is its number. */
export function siteViews(site: number): Record<string, string> {
  const from = (table: string) => `sumi_site(${site}, '${table}')`;
  const plain = (table: string, columns: PlainColumns, id = '') =>
    `SELECT ${id}${selected(columns)} FROM ${from(table)}`;
  return {
    pages: plain('pages', PAGES),
    live: `${plain('pages', PAGES)} WHERE ${IS_LIVE}`,
    links: linksSql(from('link_sets')),
    visits: plain('visits', VISITS, `(${CHANGE_ID}) * 10 + known_by_number::BIGINT AS id, `),
    hosts: plain('hosts', HOSTS),
    page_changes: plain('page_changes', PAGE_CHANGES, `${CHANGE_ID} AS id, `),
    runs: plain('runs', RUNS),
    sitemap_entries: plain('sitemap_entries', SITEMAP_ENTRIES, 'page_id::BIGINT AS id, '),
    cc_index: ccIndexSql(from('cc_index')),
  };
}
