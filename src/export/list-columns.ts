/** The columns of every list that programs read, in order; those of pages with their types in Parquet. */
import { COUNTING_WORD_NAMES } from '../frontier/counting-words.ts';
import type { BrokenLink } from '../graph/broken-links.ts';
import type { ListedRun } from '../project/list-rows.ts';
import type { SiteEntryRow } from '../project/list-site-entries.ts';
import type { HostRow, LinkRow, PageRow, WorkerRow } from '../store/read-side.ts';
import type { RowColumn } from './parquet-pieces.ts';

/** Every column of a page, in order, with its type in Parquet. */
export const PAGE_COLUMNS = [
  { name: 'url', type: 'string' },
  { name: 'state', type: 'string' },
  { name: 'reason', type: 'string' },
  { name: 'status_code', type: 'integer' },
  { name: 'title', type: 'string' },
  { name: 'h1', type: 'string' },
  { name: 'depth', type: 'integer' },
  { name: 'content_type', type: 'string' },
  { name: 'word_count', type: 'integer' },
  { name: 'content_hash', type: 'string' },
  { name: 'final_url', type: 'string' },
  { name: 'redirect_count', type: 'integer' },
  { name: 'etag', type: 'string' },
  { name: 'last_modified', type: 'string' },
  { name: 'visited_at', type: 'string' },
  { name: 'error', type: 'string' },
  { name: 'id', type: 'long' },
  { name: 'project', type: 'string' },
  { name: 'host', type: 'string' },
  { name: 'fetch_url', type: 'string' },
  { name: 'meta_description', type: 'string' },
  { name: 'lang', type: 'string' },
  { name: 'charset', type: 'string' },
  { name: 'canonical', type: 'string' },
  { name: 'noindex', type: 'boolean' },
  { name: 'nofollow', type: 'boolean' },
  { name: 'content_length', type: 'long' },
  { name: 'simhash', type: 'string' },
  { name: 'cache_control', type: 'string' },
  { name: 'response_ms', type: 'number' },
  { name: 'change', type: 'string' },
  { name: 'change_frequency', type: 'number' },
  { name: 'changes_detected', type: 'integer' },
  { name: 'priority', type: 'integer' },
  { name: 'attempts', type: 'integer' },
  { name: 'retry_at', type: 'string' },
  { name: 'discovered_at', type: 'string' },
  { name: 'discovered_run', type: 'long' },
  { name: 'visited_run', type: 'long' },
  { name: 'referrer_id', type: 'long' },
  { name: 'redirect_to', type: 'long' },
  { name: 'body_key', type: 'string' },
  { name: 'left_run', type: 'long' },
  { name: 'left_reason', type: 'string' },
] as const satisfies readonly RowColumn<PageRow>[];

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
