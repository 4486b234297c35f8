/**
 * Chooses the pages of a tick, within the budget of all pages and of each host: first pages that earlier ticks found and
 * had no tokens for (left-overs), then pages of the plan.
 */
import type { PageRow, ReadSide } from '../store/read-side.ts';
import type { PlanBook } from './plan-book.ts';
import { findDueSitemaps, findLeftOvers, type LeftOverTurn } from './tick-run.ts';
import type { VisitBudget } from './visit-budget.ts';
import type { WatchSettings } from './watch-settings.ts';
import type { ChoiceConfig, WatchState } from './watch-state.ts';

export interface Choice {
  /** Pages of the plan by the plan's numbers, left-overs by page id. */
  pages: number[];
  leftOvers: number[];
  /** More left-overs wait than the tick has tokens for. */
  hasMoreLeftOvers: boolean;
  /** The most pages that the run may visit. */
  room: number;
  /** The run may read sitemaps. */
  readsSitemaps: boolean;
  /** The plan may have further pages for tokens that the run does not use. */
  mayHaveMore: boolean;
  /** No run is needed: nothing is due, or no token is left. */
  isIdle: boolean;
}

export interface Chooser {
  side: ReadSide;
  project: string;
  config: ChoiceConfig;
  settings: WatchSettings;
  book: PlanBook;
  budget: VisitBudget;
  state: Pick<WatchState, 'hasLeftOvers' | 'firstRun'>;
  now: number;
  /** The first tick of the project: pages may have been visited a moment ago. */
  isFirst: boolean;
  /** A run of this watch was allowed to read sitemaps. */
  hasReadSitemaps: boolean;
  /** From 0 up to 1. */
  random: () => number;
}

const DAY_MS = 86_400_000;

/** A page rests for half of this time after a visit, or for half of the time between two ticks if that is less. */
const LEAST_DAYS = 1 / 96;

/** The part of a tick that is kept for pages which sitemaps and feeds name, in ticks that read them. */
const FINDS_SHARE = 0.1;

/** The part of a tick for silent hosts while pages of other hosts wait; at least one visit of two or more. */
const SILENT_SHARE = 0.1;

export async function choosePages(chooser: Chooser): Promise<Choice> {
  const { side, project, config, settings, book, budget, state, now } = chooser;
  const blocked = new Set(await side.blockedHosts(now));
  const hosts = countHosts(chooser, blocked);
  const isHostLeft = state.hasLeftOvers || book.hostIds.some((id) => budget.hostVisits(id) > 0);
  const room = isHostLeft ? Math.min(budget.visits, config.maxPages ?? Number.POSITIVE_INFINITY) : 0;
  if (room < 1) return { ...NOTHING, hasMoreLeftOvers: state.hasLeftOvers, room };
  const { leftOvers, hasMore } = state.hasLeftOvers
    ? await findLeftOvers(side, project, state.firstRun ?? 0, room, hosts.turnOf)
    : NO_LEFT_OVERS;
  const free = room - leftOvers.length;
  const areSitemapsDue = await findDueSitemaps(side, project, config, now, {
    isFirst: !chooser.hasReadSitemaps,
    blocked,
  });
  const kept = areSitemapsDue ? Math.max(1, Math.ceil(room * FINDS_SHARE)) : 0;
  const wanted = free - Math.min(free, kept);
  const pages = nextPages(chooser, wanted, hosts.left, chooser.isFirst ? 0 : leastDaysOf(settings));
  // While left-overs take all tokens, sitemaps would only name more of them.
  const readsSitemaps = !areSitemapsDue || free > 0;
  const isIdle = pages.length + leftOvers.length === 0 && !areSitemapsDue;
  const mayHaveMore = pages.length === wanted;
  return { pages, leftOvers, hasMoreLeftOvers: hasMore, room, readsSitemaps, mayHaveMore, isIdle };
}

export interface FurtherChooser extends Pick<Chooser, 'side' | 'settings' | 'book' | 'now'> {
  most: number;
  /** How many pages the run may still request from a host. */
  left: (hostId: number) => number;
}

/** Pages for tokens that are left when the run has visited all that was chosen and found. Silent hosts get none of them. */
export async function chooseFurther(chooser: FurtherChooser): Promise<number[]> {
  const { side, settings, book, now, most, left } = chooser;
  const blocked = new Set(await side.blockedHosts(now));
  const hostVisits = (host: number) => {
    const id = book.hostIdOf(host);
    return blocked.has(id) || book.silent.has(id) ? 0 : left(id);
  };
  return book.plan.next(now, most, hostVisits, leastDaysOf(settings));
}

const leastDaysOf = ({ everyMs }: WatchSettings) => Math.min(everyMs / DAY_MS, LEAST_DAYS) / 2;

/** A silent host gets one page. Silent hosts together get their part, and what other hosts leave. */
function nextPages(
  { book, now, random }: Chooser,
  most: number,
  leftOf: (hostId: number) => number,
  leastDays: number,
): number[] {
  const { plan, silent } = book;
  const choose = (count: number, isMeant: (hostId: number) => boolean) => {
    const hostVisits = (host: number) => {
      const id = book.hostIdOf(host);
      return isMeant(id) ? leftOf(id) : 0;
    };
    return plan.next(now, count, hostVisits, leastDays);
  };
  if (silent.count === 0) return choose(most, () => true);
  // Of a single visit the part is a chance.
  const share = most < 2 ? Math.floor(most * SILENT_SHARE + random()) : Math.max(1, most * SILENT_SHARE);
  const first = choose(Math.floor(share), (id) => silent.has(id));
  const others = choose(most - first.length, (id) => !silent.has(id));
  const asked = new Set(first.map((page) => book.hostIdOf(plan.hostOf(page))));
  const room = most - first.length - others.length;
  return [...first, ...others, ...choose(room, (id) => silent.has(id) && !asked.has(id))];
}

const NOTHING = { pages: [], leftOvers: [], readsSitemaps: true, mayHaveMore: false, isIdle: true };
const NO_LEFT_OVERS = { leftOvers: [], hasMore: false };

/** Tokens of each host, less the left-overs that were chosen. */
function countHosts({ side, settings, book, budget }: Chooser, blocked: ReadonlySet<number>) {
  const counted = new Map<number, number>();
  const left = (id: number) => {
    // The run would wait for the pause of the host.
    if (blocked.has(id)) return 0;
    const visits = budget.hostVisits(id) - (counted.get(id) ?? 0);
    if (!book.silent.has(id)) return visits;
    return Math.min(visits, 1 - (counted.get(id) ?? 0));
  };
  return {
    left,
    async turnOf({ id, host }: PageRow): Promise<LeftOverTurn> {
      if (book.pageOf(id) !== -1) return 'kept out';
      const isLimited = settings.host !== null || book.silent.count + blocked.size > 0;
      const hostId = isLimited ? await side.hostId(host) : null;
      if (hostId === null) return 'now';
      if (left(hostId) < 1) return 'no room';
      counted.set(hostId, (counted.get(hostId) ?? 0) + 1);
      return 'now';
    },
  };
}
