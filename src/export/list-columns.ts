/** The columns of every list that programs read, in order; those of pages with their types in Parquet. */
import { COUNTING_WORD_NAMES } from '../frontier/counting-words.ts';
import type { BrokenLink } from '../graph/broken-links.ts';
import type { ListedRun } from '../project/list-rows.ts';
import type { SiteEntryRow } from '../project/list-site-entries.ts';
import type { FactKind } from '../store/page-facts.ts';
import { columnOrder, type OwnRowColumn } from '../store/page-views.ts';
import type { HostRow, LinkRow, PageRow, WorkerRow } from '../store/read-side.ts';
import type { RowColumn } from './parquet-pieces.ts';

type ParquetType = RowColumn<PageRow>['type'];

/** The columns of a page that are no facts, with their types in Parquet. */
const OWN: Record<OwnRowColumn, ParquetType> = {
  url: 'string',
  state: 'string',
  reason: 'string',
  depth: 'integer',
  final_url: 'string',
  redirect_count: 'integer',
  id: 'long',
  project: 'string',
  host: 'string',
  fetch_url: 'string',
  change: 'string',
  change_frequency: 'number',
  changes_detected: 'integer',
  priority: 'integer',
  attempts: 'integer',
  retry_at: 'string',
  discovered_at: 'string',
  discovered_run: 'long',
  visited_run: 'long',
  referrer_id: 'long',
  redirect_to: 'long',
  left_run: 'long',
  left_reason: 'string',
};

const TYPE_OF_KIND: Record<FactKind, ParquetType> = {
  whole: 'integer',
  long: 'long',
  duration: 'number',
  time: 'string',
  text: 'string',
  flag: 'boolean',
  hash: 'string',
  bits: 'string',
};

/** Every column of a page, in order, with its type in Parquet. */
export const PAGE_COLUMNS = columnOrder('row', Object.keys(OWN)).map(({ name, fact }) => ({
  name: name as keyof PageRow,
  type: fact === null ? OWN[name as OwnRowColumn] : TYPE_OF_KIND[fact.kind],
})) satisfies readonly RowColumn<PageRow>[];

export const PAGE_NAMES: readonly (keyof PageRow)[] = PAGE_COLUMNS.map(({ name }) => name);

export const LINK_NAMES: readonly (keyof LinkRow)[] = [
  'from_url',
  'to_url',
  'direction',
  'nofollow',
  'rel',
  'anchor',
  'discovered_run',
];

export const BROKEN_LINK_NAMES: readonly (keyof BrokenLink)[] = [
  'from_url',
  'to_url',
  'anchor',
  'broken_url',
  'state',
  'status_code',
  'reason',
  'nofollow',
  'rel',
  'discovered_run',
  'project',
];

export const HOST_NAMES: readonly (keyof HostRow)[] = [
  'host',
  'known_urls',
  ...COUNTING_WORD_NAMES,
  'requests',
  'average_ms',
  'adaptive_delay_ms',
  'next_slot_at',
  'blocked_until',
  'consecutive_429',
  'failures',
  'robots_status',
  'robots_fetched_at',
  'closed',
];

export const RUN_NAMES: readonly (keyof ListedRun)[] = [
  'run',
  'project',
  'status',
  'started_at',
  'finished_at',
  'pages',
  'requests',
  'bytes',
  'left_out',
  'config_hash',
  'error',
  'metadata',
];

export const WORKER_NAMES: readonly (keyof WorkerRow)[] = [
  'worker',
  'process',
  'run',
  'project',
  'started_at',
  'seen_at',
  'state',
  'hosts',
  'pages',
  'pages_per_second',
];

export const SITE_ENTRY_NAMES: readonly (keyof SiteEntryRow)[] = [
  'url',
  'lastmod',
  'changefreq',
  'priority',
  'sitemap',
  'kind',
  'lastmod_at',
  'images',
  'videos',
  'news',
  'alternates',
];
