/** What a look is about to visit: what earlier ones had no room for, then what the plan chooses, within the budgets of all and of each host. */
import type { Config } from '../config/load-config.ts';
import type { PageRow, ReadSide } from '../store/read-side.ts';
import type { PlanBook } from './plan-book.ts';
import { findDueSitemaps, findLeftOvers, type LeftOverTurn } from './tick-run.ts';
import type { VisitBudget } from './visit-budget.ts';
import type { WatchSettings } from './watch-settings.ts';
import type { WatchState } from './watch-state.ts';

export interface Choice {
  /** Pages of the plan, by its numbers, and pages that earlier ticks had no room for, by the store's. */
  pages: number[];
  leftOvers: number[];
  /** Others of these have to wait on. */
  hasMoreLeftOvers: boolean;
  room: number;
  /** Sitemaps may be read. */
  readsSitemaps: boolean;
  /** There may be further pages to visit when these are. */
  mayHaveMore: boolean;
  /** There is nothing to do, or no room for it. */
  isIdle: boolean;
}

/** What of the options decides which pages a look visits, beside the settings of the watch. */
export type LookConfig = Pick<Config, 'maxPages' | 'discover' | 'feed' | 'sitemapCacheHours'>;

export interface Chooser {
  side: ReadSide;
  project: string;
  config: LookConfig;
  settings: WatchSettings;
  book: PlanBook;
  budget: VisitBudget;
  state: Pick<WatchState, 'hasLeftOvers' | 'firstRun'>;
  now: number;
  /** No look was made before: pages are visited however lately they were read. */
  isFirst: boolean;
  /** Sitemaps had their chance to be read. */
  hasReadSitemaps: boolean;
  /** From 0 up to 1. */
  random: () => number;
}

const DAY_MS = 86_400_000;

/** A page read less than half of this ago is left alone, or half of the time between looks where that is less. */
const LEAST_DAYS = 1 / 96;

/** Of a tick's visits, for what is found when sitemaps and feeds are read again. */
const FINDS_SHARE = 0.1;

/** Of a look's visits, for hosts that were silent, while others wait; one at least, where that is not all there is. */
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
  // What sitemaps name needs tokens: while earlier finds wait for theirs, no more are looked for.
  const readsSitemaps = !areSitemapsDue || free > 0;
  const isIdle = pages.length + leftOvers.length === 0 && !areSitemapsDue;
  const mayHaveMore = pages.length === wanted;
  return { pages, leftOvers, hasMoreLeftOvers: hasMore, room, readsSitemaps, mayHaveMore, isIdle };
}

export interface FurtherChooser extends Pick<Chooser, 'side' | 'settings' | 'book' | 'now'> {
  most: number;
  /** How many pages may still be asked of a host, by the store's id. */
  left: (hostId: number) => number;
}

/** Pages for the tokens that a tick has left when all that it chose and found is visited. No silent host is asked again. */
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

/** Of hosts that were silent one page each, and these do not take the visits of the others. */
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
  // Chance makes whole visits of a share that is less than one.
  const share = most < 2 ? Math.floor(most * SILENT_SHARE + random()) : Math.max(1, most * SILENT_SHARE);
  const first = choose(Math.floor(share), (id) => silent.has(id));
  const others = choose(most - first.length, (id) => !silent.has(id));
  const asked = new Set(first.map((page) => book.hostIdOf(plan.hostOf(page))));
  const room = most - first.length - others.length;
  return [...first, ...others, ...choose(room, (id) => silent.has(id) && !asked.has(id))];
}

const NOTHING = { pages: [], leftOvers: [], readsSitemaps: true, mayHaveMore: false, isIdle: true };
const NO_LEFT_OVERS = { leftOvers: [], hasMore: false };

/** What each host has in hand beside the leftovers that were chosen of it. */
function countHosts({ side, settings, book, budget }: Chooser, blocked: ReadonlySet<number>) {
  const counted = new Map<number, number>();
  const left = (id: number) => {
    // The pause that it asked for, or that its silence brought, would hold up the look.
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
