/**
 * The port through which projects move between stores: each side reads a project as neutral rows, table by table, and
 * writes such rows as its own.
 *
 * Promises every side keeps:
 *  - A neutral row names no id of its store: pages and runs by their number in the project, counted from 1 in the order
 *    of ids (which is the order of discovery), hosts by name. Read from two stores, equal projects give equal rows.
 *  - Rows come in bounded batches in a stable order; what is written of a batch and how far the copy has got commit
 *    together, so that a copy killed anywhere goes on without a gap or a repeat.
 *  - A copied project has its own name only when it is whole and compared.
 *  - A copied project keeps its UUID, unless the target has a project with it: then it gets one of its own.
 *  - Looks of readers stay where they are: in the copy everybody looks for the first time.
 *  - Leases, workers and bodies stay where they are: pages in flight are read as queued, a run under way as interrupted.
 *  - What a plan of revisits knows of pages is copied. What it knows of hosts is kept by the store's own numbers and is
 *    learned anew: the copy has no plan (null, learned_run 0).
 */

import { sumiError } from '../errors.ts';
import { PAGE_STATES } from '../frontier/page-state.ts';
import { FACT_KINDS, FACTS } from './page-facts.ts';
import type { PageNumbers } from './page-numbers.ts';

/**
 * What a column holds. As SQL gives it to `createRowReader`: `bytes` in hex, `wide` as decimal text (64 bits do not fit
 * a number), `pages`, `flags` and `texts` as JSON.
 */
export type ColumnKind =
  | 'page'
  | 'run'
  | 'host'
  | 'integer'
  | 'real'
  | 'text'
  | 'bytes'
  | 'wide'
  | 'state'
  | 'status'
  | 'pages'
  | 'flags'
  | 'texts';

export type CopyValue = string | number | null | number[] | (string | null)[];
export type CopyRow = CopyValue[];

const FACT_COLUMNS: Record<string, ColumnKind> = Object.fromEntries(
  FACTS.map(({ column, kind }) => [column, FACT_KINDS[kind].copied]),
);

/** In the order in which they are copied: what is referred to comes first. */
export const COPY_TABLES = {
  run: {
    id: 'run',
    started_at: 'integer',
    finished_at: 'integer',
    status: 'status',
    config_hash: 'text',
    config: 'text',
    metadata: 'text',
    pages: 'integer',
    bytes: 'integer',
    requests: 'integer',
    error: 'text',
    mode: 'text',
    mode_reason: 'text',
    left_out: 'integer',
  },
  host: {
    name: 'text',
    not_before: 'integer',
    blocked_until: 'integer',
    consecutive_429: 'integer',
    adaptive_ms: 'real',
    average_ms: 'real',
    samples: 'integer',
    failures: 'integer',
    probes: 'integer',
    taken_over: 'integer',
    distrusted_until: 'integer',
    announced: 'integer',
    unannounced: 'integer',
    head_checks: 'integer',
  },
  robots_txt: {
    origin: 'text',
    host_id: 'host',
    status: 'integer',
    body: 'bytes',
    fetched_at: 'integer',
    expires_at: 'integer',
    delay_seconds: 'real',
  },
  host_queue: { host_id: 'host', requests: 'integer', closed_state: 'integer', closed_reason: 'text' },
  url: {
    id: 'page',
    host_id: 'host',
    state: 'state',
    priority: 'integer',
    depth: 'integer',
    attempts: 'integer',
    hops: 'integer',
    retry_at: 'integer',
    discovered_run: 'run',
    discovered_at: 'integer',
    referrer_id: 'page',
    url: 'text',
    fetch_url: 'text',
    reason: 'text',
    known_state: 'integer',
    known_reason: 'text',
    left_run: 'run',
    left_reason: 'text',
  },
  fetched: {
    page_id: 'page',
    host_id: 'host',
    run_id: 'run',
    ...FACT_COLUMNS,
    change: 'text',
    redirect_to: 'page',
    redirect_host: 'host',
    final_url: 'text',
    redirect_count: 'integer',
    change_frequency: 'real',
    changes_detected: 'integer',
  },
  page_text: { page_id: 'page', host_id: 'host', text: 'text' },
  link_set: {
    page_id: 'page',
    host_id: 'host',
    run_id: 'run',
    targets: 'pages',
    flags: 'flags',
    anchors: 'texts',
  },
  link_change: { page_id: 'page', host_id: 'host', run_id: 'run', added: 'pages', removed: 'pages' },
  redirect_wait: {
    target_id: 'page',
    source_id: 'page',
    target_host: 'host',
    source_host: 'host',
    hops: 'integer',
  },
  lowering: { page_id: 'page', host_id: 'host' },
  origin: { number: 'integer', name: 'text' },
  page_depth: { page_id: 'page', host_id: 'host', origin: 'integer', depth: 'integer' },
  visit: {
    run_id: 'run',
    page_id: 'page',
    host_id: 'host',
    visited_at: 'integer',
    outcome: 'integer',
    known_by: 'integer',
    status_code: 'integer',
    etag: 'text',
    last_modified: 'text',
    content_hash: 'bytes',
    text_hash: 'bytes',
    simhash_distance: 'integer',
    wire_bytes: 'integer',
    bytes_saved: 'integer',
    duration_ms: 'real',
  },
  page_change: {
    run_id: 'run',
    page_id: 'page',
    host_id: 'host',
    visited_at: 'integer',
    parts: 'integer',
    detail: 'text',
  },
  sitemap_entry: {
    page_id: 'page',
    host_id: 'host',
    lastmod: 'integer',
    changefreq: 'text',
    priority: 'real',
    sitemap: 'text',
    first_seen: 'integer',
    last_seen: 'integer',
    lost_run: 'run',
    lastmod_text: 'text',
    details: 'text',
  },
  discovery: {
    host_id: 'host',
    method: 'text',
    checked_at: 'integer',
    entries: 'integer',
    sitemaps: 'text',
    trouble: 'text',
    looks: 'text',
    searched: 'text',
    guessed: 'text',
  },
  revisit: {
    page_id: 'page',
    host_id: 'host',
    learned_at: 'integer',
    rate_shape: 'real',
    rate_days: 'real',
    signals: 'integer',
    signals_in_all: 'integer',
    flags: 'integer',
  },
  orphan: { page_id: 'page', host_id: 'host', run_id: 'run' },
  request: {
    run_id: 'run',
    host_id: 'host',
    page_id: 'page',
    kind: 'integer',
    slot_at: 'integer',
    sent_at: 'real',
    ended_at: 'real',
    delay_ms: 'real',
    per_host: 'integer',
    status_code: 'integer',
    wire_bytes: 'integer',
    content_hash: 'bytes',
    blocked_until: 'integer',
    failure: 'text',
  },
} as const satisfies Record<string, Record<string, ColumnKind>>;

export type CopyTable = keyof typeof COPY_TABLES;
export const COPY_ORDER = Object.keys(COPY_TABLES) as CopyTable[];

/** Rows that all projects of a store share. The first column is the key; what the other side knows better stays. */
export const SHARED_TABLES = ['host', 'robots_txt'] as const;
export type SharedTable = (typeof SHARED_TABLES)[number];

/** How many pages, or rows, make a batch: few where a row may be large. */
export const BATCH_ROWS: Record<CopyTable, number> = {
  run: 500,
  host: 5000,
  robots_txt: 500,
  host_queue: 5000,
  url: 5000,
  fetched: 4000,
  page_text: 1000,
  link_set: 2000,
  link_change: 2000,
  redirect_wait: 20_000,
  lowering: 20_000,
  origin: 5000,
  // A page has one for each origin.
  page_depth: 1000,
  // A page has one for each time that it was visited.
  visit: 500,
  page_change: 500,
  sitemap_entry: 5000,
  discovery: 5000,
  revisit: 5000,
  orphan: 5000,
  request: 8000,
};

export function columnsOf(table: CopyTable): [name: string, kind: ColumnKind][] {
  return Object.entries(COPY_TABLES[table]);
}

export function isShared(table: CopyTable): table is SharedTable {
  return (SHARED_TABLES as readonly string[]).includes(table);
}

/** The project as a whole, beside its rows. */
export interface CopiedProject {
  name: string;
  createdAt: number;
  /** Pages of a run that was begun and whose known pages are still to be judged; `run` is the run's number. */
  unprepared: { run: number; isNew: boolean; previousHash: string | null } | null;
  /** `project.settings`. */
  settings: string | null;
  uid: string | null;
  websiteUrl: string | null;
  updatedAt: number;
  deletedAt: number | null;
}

/** Of the row of a project. */
export const COPIED_COLUMNS = `name, settings, uid, website_url AS "websiteUrl", updated_at AS "updatedAt",
  deleted_at AS "deletedAt"`;

/** Where a program has given it a website, or deleted it: a copy of before is older. To be followed by the project. */
export const MARKED = `SELECT website_url, deleted_at FROM project
WHERE (website_url IS NOT NULL OR deleted_at IS NOT NULL) AND id`;

export interface CopyBatch {
  rows: CopyRow[];
  /** Where the next batch begins: meaningful to this side only. */
  after: number;
}

/** One project of a side, as it was when the reader was made. */
export interface CopyReader {
  readonly project: CopiedProject;
  /** Known URLs. */
  readonly pages: number;
  /** Changes when anything was crawled since. */
  readonly mark: string;
  batches(table: CopyTable, after: number): AsyncIterable<CopyBatch>;
  end(): Promise<void>;
}

export interface CopyRequest {
  /** The name the project is to have. */
  name: string;
  /** The `identity` of the side it comes from, and its name there. */
  source: string;
  sourceProject: string;
  reader: Pick<CopyReader, 'project' | 'pages' | 'mark'>;
  /** Drops what an interrupted copy left, whatever it was of. */
  restart: boolean;
}

export interface FoundRow {
  row: CopyRow;
  /** The target's own crawls use it, so that its times are theirs to keep. */
  isInUse: boolean;
}

export interface CopyWriter {
  readonly projectId: number;
  /** Where an interrupted copy goes on; null when this one has just begun. */
  readonly resumed: { table: CopyTable; after: number } | null;
  /** Writes the batch, and that the copy has got so far, in one transaction. */
  write(table: CopyTable, batch: CopyBatch): Promise<void>;
  /** The rows as they are stored under these keys. */
  find(table: SharedTable, keys: string[]): Promise<FoundRow[]>;
  /** The queue is built and the project gets its name. */
  finish(): Promise<void>;
}

/** A side that is read is never made when it is missing. */
export type CopyRole = 'from' | 'to';

export interface CopySide {
  /** The store's address without anything secret. */
  readonly label: string;
  /** Tells one database from another without telling its secret. */
  identity(): Promise<string>;
  projects(): Promise<{ id: number; name: string }[]>;
  /** Refuses a project that somebody is crawling. */
  refuseBusy(projectId: number): Promise<void>;
  read(projectId: number): Promise<CopyReader>;
  /** Null when the project is there already, copied from this source as it is now. */
  write(request: CopyRequest): Promise<CopyWriter | null>;
  close(): Promise<void>;
}

/** Kept in the target's `meta` under `copyKey` while a copy is under way. */
export interface CopyProgress {
  source: string;
  sourceProject: string;
  /** The source's `mark` when the copy began. */
  mark: string;
  projectId: number;
  /** The ids reserved for the pages, as [first, count]. */
  ids: [number, number][];
  table: CopyTable;
  after: number;
}

export function copyKey(name: string): string {
  return `copy:${name}`;
}

/** Stays in `meta` under `copiedKey`, so that a command that copies many projects and is repeated finds what it did. */
export type CopyOrigin = Pick<CopyProgress, 'source' | 'sourceProject' | 'mark'>;

export function copiedKey(name: string): string {
  return `copied:${name}`;
}

export function originOf({ source, sourceProject, reader }: CopyRequest): CopyOrigin {
  return { source, sourceProject, mark: reader.mark };
}

export function isSameOrigin(a: CopyOrigin, b: CopyOrigin): boolean {
  return a.source === b.source && a.sourceProject === b.sourceProject && a.mark === b.mark;
}

/** The name a project has until it is whole: no crawl can take it for a finished one. */
export function nameWhileCopied(name: string): string {
  return `${name} (copy under way)`;
}

/** Null when the copy begins anew; an interrupted copy of something else is refused. */
export function progressToResume(
  found: CopyProgress | null,
  request: CopyRequest,
  label: string,
): CopyProgress | null {
  if (found === null || request.restart) return null;
  const { source, sourceProject, mark } = found;
  if (source !== request.source || sourceProject !== request.sourceProject)
    throw sumiError('copy-other', { project: request.name, store: label });
  return mark === request.reader.mark ? found : null;
}

/** How a side's ids and the neutral numbers translate. */
export interface Numbering {
  pages: PageNumbers;
  /** Run ids in order. */
  runs: readonly number[];
}

type Convert = (value: never) => CopyValue;

/** Makes neutral rows of what SQL gives (see ColumnKind), column by column. */
export function createRowReader(
  table: CopyTable,
  { pages, runs }: Numbering,
  label: string,
): (raw: readonly unknown[]) => CopyRow {
  const runNumbers = new Map(runs.map((id, i) => [id, i + 1]));
  const missing = (what: string, id: number) =>
    sumiError('store-failed', {
      file: label,
      reason: `${what} ${id} is referred to in ${table} but has no row`,
    });
  const pageOf = (id: number) => {
    const number = pages.numberOf(id);
    if (number === 0) throw missing('page', id);
    return number;
  };
  const converts: Record<ColumnKind, Convert> = {
    page: pageOf,
    run(id: number) {
      const number = runNumbers.get(id);
      if (number === undefined) throw missing('run', id);
      return number;
    },
    host: (name: string) => name,
    integer: (value: number | string) => Math.round(Number(value)),
    real: (value: number | string) => Number(value),
    text: storableText,
    bytes: (hex: string) => hex,
    wide: (decimal: string) => decimal,
    state: (state: number) => (state === PAGE_STATES.Fetching ? PAGE_STATES.Queued : state),
    status: (status: string) => (status === 'running' ? 'interrupted' : status),
    pages: (json: string) => (JSON.parse(json) as number[]).map(pageOf),
    flags(json: string) {
      const flags = JSON.parse(json) as number[];
      return flags.some((flag) => flag !== 0) ? flags : null;
    },
    texts: (json: string) => (JSON.parse(json) as (string | null)[]).map(storableJsonText),
  };
  const byColumn = columnsOf(table).map(([, kind]) => converts[kind]);
  return (raw) =>
    byColumn.map((convert, i) => {
      const value = raw[i];
      return value === null || value === undefined ? null : convert(value as never);
    });
}

/** PostgreSQL takes no NUL, so that no neutral text has one. */
function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** Only JSON can spell half a surrogate pair; UTF-8 has none. */
function storableJsonText(text: string | null): string | null {
  return text === null ? null : storableText(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}
