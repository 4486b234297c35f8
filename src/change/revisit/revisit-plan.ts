/**
 * What a plan of revisits promises, whichever rule it follows: it takes what visits and sitemaps found, says which
 * pages to visit next within a budget, and can explain each of them. Pages and hosts are numbers: pages count up from
 * 0 in the order they are loaded, hosts are the caller's and should be small. Times are milliseconds since 1970.
 * It never fetches, never reads a clock and never stores: its state goes in and out in bulk.
 */
import type { VisitOutcome } from '../visit-record.ts';
import type { ScoreParts } from './change-frequency.ts';

/**
 * What a plan hears of a visit. Of pages that are gone it tells apart those removed for good (410), and orphans, to which
 * nothing leads any more.
 */
export type Finding = VisitOutcome | 'removed' | 'orphaned';

/** value: by crawl value. score: by specification 003's priority. bands: by the intervals of its appendix B. */
export type RevisitKind = 'value' | 'score' | 'bands';

/** Pages by column, in equal order; what a store keeps of a page is one value of each. Columns left out start empty. */
export interface PageStates {
  host: ArrayLike<number>;
  /** Importance against other pages; only the proportions count. */
  weight: ArrayLike<number>;
  depth: ArrayLike<number>;
  /** NaN: never visited. */
  lastVisit: ArrayLike<number>;
  /** NaN: to be worked out. */
  nextVisit?: ArrayLike<number>;
  /** What the page's own visits add to its host's prior: changes, and days without one. */
  rateShape?: ArrayLike<number>;
  rateDays?: ArrayLike<number>;
  /** Specification 003's change_frequency, in changes a day. */
  changeFrequency?: ArrayLike<number>;
  /** Sitemap signals since the last visit, and in all. */
  signals?: ArrayLike<number>;
  signalsInAll?: ArrayLike<number>;
  /** Bits of PAGE_FLAGS. */
  flags?: ArrayLike<number>;
}

/** Hosts by column: the index is the host's number. */
export interface HostStates {
  /** The prior of its pages' rates. */
  priorShape: ArrayLike<number>;
  priorDays: ArrayLike<number>;
  /** False signals, and signals that could have been. */
  falseSignals: ArrayLike<number>;
  testedSignals: ArrayLike<number>;
  /** When the first signal came; NaN: none yet. */
  signalsSince: ArrayLike<number>;
}

/** What a plan knows beside its pages. */
export interface SavedPlan {
  /** The value or score at which a visit is worth its place in the budget, by the rule that it was saved under; null before the first. */
  price: number | null;
  /** The prior of a host of which nothing is known. */
  priorShape: number;
  priorDays: number;
  hosts: HostStates;
}

export interface Explanation {
  /** Expected changes a day. */
  ratePerDay: number;
  /** Days between visits when nothing new is learned; null before the plan has looked at all pages once. */
  intervalDays: number | null;
  /** null: none is planned, or not yet. */
  nextVisit: number | null;
  /** The chance that the page is not what it was at the last visit; null where there was none. */
  chanceChanged: number | null;
  /** Specification 003's priority, under the rule that goes by it. */
  score: number | null;
  scoreParts: ScoreParts | null;
  /** The band of its appendix B in words, under the rule that goes by it. */
  band: string | null;
}

export interface RevisitPlan {
  readonly kind: RevisitKind;
  readonly pageCount: number;
  /** Pages that are gone and asked now and then only. */
  readonly restingCount: number;
  /** Appends pages and gives the number of the first. */
  load(pages: PageStates): number;
  /** A visit was made. `lastModified` is what the server said, if it did. */
  observe(page: number, finding: Finding, now: number, lastModified?: number): void;
  /** The same for a visit of the past whose page was loaded with the change frequency that it has since. */
  replay(page: number, finding: Finding, visitedAt: number, lastModified?: number): void;
  hostOf(page: number): number;
  /** The last visit that it learned from; NaN: none. */
  lastVisit(page: number): number;
  /** Whether a newer date was signalled since then. */
  isSignalled(page: number): boolean;
  /** Whether the last visit that it learned from found the page gone. */
  isGone(page: number): boolean;
  /**
   * Something speaks for a page that is gone: it is asked before all others, or where it was asked in vain since it went a
   * day after that. `isNews`: it was not so when the page went; else it counts once. False where nothing follows from it.
   */
  recall(page: number, isNews: boolean): boolean;
  /** Learns from all pages at once what otherwise takes a day of calls of `next`: for a plan that was just loaded. */
  relearn(now: number): void;
  /** A sitemap or feed shows a date for the page that it did not show before. */
  signal(page: number, lastModified: number, now: number): void;
  /**
   * The pages to visit now, at most `budget`. They are the caller's until `observe` or `release`.
   * `hostBudget` says how many of a host's pages may be among them, `leastIntervalDays` how long ago a page must have
   * been visited at least, in place of the plan's own least interval.
   */
  next(
    now: number,
    budget: number,
    hostBudget?: (host: number) => number,
    leastIntervalDays?: number,
  ): number[];
  /**
   * Its host did not answer since then, and does again: a page that waits for a try of that time waits no longer, for
   * nothing was learned of it. False where nothing follows from it.
   */
  forgive(page: number, since: number, now: number): boolean;
  /** A page of `next` that was not visited after all. */
  release(page: number): void;
  explain(page: number, now: number): Explanation;
  /** From here on so many visits a day are expected to be made. */
  expectVisits(perDay: number): void;
  savePages(pages: ArrayLike<number>): Required<PageStates>;
  savePlan(): SavedPlan;
}
