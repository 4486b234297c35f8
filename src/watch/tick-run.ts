/** The runs of a watch: their configuration and notes, and what a tick reads from the store besides the plan. */
import type { Config } from '../config/load-config.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import type { PageRow, ReadSide, StoredRun, VisitRowBrief } from '../store/read-side.ts';
import { ALONE_NOTE, isUnfinished, PAUSING_NOTE, pausesAtLimit } from '../store/unfinished-run.ts';
import type { Visits } from './visit-budget.ts';
import type { TickEvent } from './watch-event.ts';

/** The note of a tick's run, for `sumi runs` and for a watch that begins again. */
const TICK_NOTE = 'watch=tick';

/** The options of the crawl, in mode incremental and with the room of the tick as `max-pages`. */
export function tickConfig(config: Config, room: number, readsSitemaps: boolean): Config {
  const discover = readsSitemaps ? config.discover : config.discover.filter((way) => way !== 'sitemap');
  const mode = 'incremental' as const;
  const limited = within(config, room, TICK_NOTE);
  const sources = { ...limited.sources, mode: { value: mode, from: 'watch' } };
  return Object.freeze({ ...limited, mode, discover, fresh: false, sources });
}

/** The options of the crawl, with the pages that it may have by now as `max-pages`. */
export function firstConfig(config: Config, maxPages: number, isFresh: boolean): Config {
  return Object.freeze({ ...within(config, maxPages, PAUSING_NOTE), fresh: isFresh });
}

function within(config: Config, maxPages: number, note: string): Config {
  const isShared = isSharedStore(config.storeAddress);
  const sources = {
    ...config.sources,
    // Workers that join read these from the store. On SQLite the limit must not change the hash of the configuration.
    ...(isShared && {
      'max-pages': { value: maxPages, from: 'watch' },
      'keep-history': { value: null, from: 'watch' },
    }),
  };
  // Workers know neither the tokens of a host nor the hours of the watch.
  const isAlone = isShared && (config.hostBudget !== null || config.hours !== null);
  const notes = isAlone ? [note, ALONE_NOTE] : [note];
  return { ...config, maxPages, meta: [...config.meta, ...notes], sources };
}

export const isTick = (run: Pick<StoredRun, 'metadata'>): boolean => watchNote(run) === 'tick';
/** The first crawl of a watch, or one by hand that it went on with. */
export const isFirstCrawl: (run: Pick<StoredRun, 'metadata'>) => boolean = pausesAtLimit;

function watchNote({ metadata }: Pick<StoredRun, 'metadata'>): unknown {
  return metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>).watch;
}

export interface FoundProject {
  id: number;
  /** Null: no page was ever visited. `sumi sitemap` made the project, or no host answered. */
  last: StoredRun | null;
}

export async function findProject(side: ReadSide, name: string): Promise<FoundProject | null> {
  const row = (await side.projects()).find(({ project }) => project === name);
  if (row === undefined) return null;
  const last = await side.lastRun(row.id);
  if (last === null || isUnfinished(last)) return { id: row.id, last };
  for await (const rows of side.revisitPages(row.id))
    if (rows.some(({ visitedAt }) => visitedAt !== null)) return { id: row.id, last };
  return { id: row.id, last: null };
}

/** No page of the project waits. */
export async function isReadToEnd(side: ReadSide, project: string): Promise<boolean> {
  for await (const _ of side.pages({ project, states: ['Queued', 'Fetching'] })) return false;
  return true;
}

/** Visits of a run that cost a request. */
export async function countAsked(
  side: ReadSide,
  projectId: number,
  run: number,
): Promise<Visits & { lastAt: number }> {
  const hosts: Record<string, number> = {};
  let [visits, lastAt] = [0, 0];
  for await (const visit of side.visitsAfter(projectId, run - 1)) {
    if (visit.run !== run || isFree(visit)) continue;
    visits++;
    lastAt = Math.max(lastAt, visit.visitedAt);
    hosts[visit.hostId] = (hosts[visit.hostId] ?? 0) + 1;
  }
  return { visits, hosts, lastAt };
}

/** The visit sent no request. The visit of an orphan has a status if a request was sent. */
function isFree({ knownBy, statusCode }: VisitRowBrief): boolean {
  return knownBy === 'freshness' || knownBy === 'lastmod' || (knownBy === 'orphan' && statusCode === null);
}

const LEFT_OVER = /^limit: (?:max-pages|host-budget)/;

/** `kept out`: it is no left-over. `no room`: its host has no tokens now. */
export type LeftOverTurn = 'now' | 'no room' | 'kept out';

/**
 * Pages that earlier ticks found and had no tokens for, at most `most`, and whether there are more. Pages that the first
 * crawl left out by `max-pages` stay out: the operator wanted that.
 */
export async function findLeftOvers(
  side: ReadSide,
  project: string,
  firstRun: number,
  most: number,
  turnOf: (row: PageRow) => Promise<LeftOverTurn>,
): Promise<{ leftOvers: number[]; hasMore: boolean }> {
  const leftOvers: number[] = [];
  let hasMore = false;
  for await (const row of side.pages({ project, states: ['Skipped'] })) {
    const isOurs = row.visited_at !== null || row.discovered_run >= firstRun;
    if (!isOurs || !LEFT_OVER.test(row.reason ?? '')) continue;
    const turn = await turnOf(row);
    if (turn === 'kept out') continue;
    if (turn === 'no room' || leftOvers.length >= most) hasMore = true;
    else leftOvers.push(row.id);
    if (hasMore && leftOvers.length >= most) break;
  }
  return { leftOvers, hasMore };
}

/**
 * Whether sitemaps and feeds are due: `sitemap-cache-hours` are over, or none were requested yet and this watch did not
 * try (`isFirst`). Those of hosts that asked for a pause (`blocked`) wait.
 */
export async function findDueSitemaps(
  side: ReadSide,
  project: string,
  config: Pick<Config, 'discover' | 'feed' | 'sitemapCacheHours'>,
  now: number,
  { isFirst, blocked }: { isFirst: boolean; blocked: ReadonlySet<number> },
): Promise<boolean> {
  if (!config.discover.includes('sitemap')) return false;
  const hasFeeds = config.feed.length > 0;
  const read = await side.discoveries({ project });
  if (read.length === 0) return isFirst;
  const cacheMs = config.sitemapCacheHours * 3_600_000;
  for (const { checked_at, host } of read) {
    const readAt = Date.parse(checked_at);
    if (readAt <= now && now < readAt + cacheMs) continue;
    const hostId = blocked.size === 0 || hasFeeds ? null : await side.hostId(host);
    if (hostId === null || !blocked.has(hostId)) return true;
  }
  return false;
}

/** When sitemaps of the project were last read; 0: never. */
export async function sitemapsReadAt(side: ReadSide, project: string, now: number): Promise<number> {
  const read = await side.discoveries({ project });
  return Math.max(0, ...read.map(({ checked_at }) => Math.min(Date.parse(checked_at), now)));
}

/** A page without an answer, for an error message. */
export interface Unanswered {
  page: string;
  url: string;
  reason: string;
}

/** The first of these pages without an answer. */
export async function findUnanswered(side: ReadSide, due: readonly number[]): Promise<Unanswered | null> {
  for (const id of due) {
    const row = await side.pageById(id);
    if (row?.state !== 'Unreachable') continue;
    return { page: 'page that was due', url: row.url, reason: row.error ?? row.reason ?? 'no answer' };
  }
  return null;
}

type Counts = Pick<TickEvent, 'new' | 'changed' | 'unchanged' | 'gone' | 'failed' | 'bytes_saved'>;

/** Counts the visits of a run by outcome. */
export async function countVisits(side: ReadSide, run: number): Promise<Counts> {
  const counts: Counts = { new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0, bytes_saved: 0 };
  for (const { outcome, visits, bytesSaved } of await side.ledger(run)) {
    counts[outcome] += visits;
    counts.bytes_saved += bytesSaved;
  }
  return counts;
}
