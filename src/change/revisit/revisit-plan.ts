/**
 * What a plan of revisits promises, whichever rule it follows: it takes what visits and sitemaps found, selects the
 * pages to visit next within a budget, and can explain each selection. Pages and hosts are numbers: pages count from 0
 * in the order in which they are loaded; hosts are given by the caller and should be small. Times are milliseconds
 * since 1970. Never fetches, reads a clock or stores: its state goes in and out in bulk.
 */
import type { VisitOutcome } from '../visit-record.ts';
import type { ScoreParts } from './change-frequency.ts';

/**
 * The result of a visit for a plan. Of pages that are gone it distinguishes those removed permanently (410), and
 * orphans, to which nothing leads any more.
 */
export type Finding = VisitOutcome | 'removed' | 'orphaned';

/** value: by crawl value. score: by a score of change frequency, age and depth. bands: by fixed intervals. */
export type RevisitKind = 'value' | 'score' | 'bands';

/** Pages by column, in equal order. A store keeps one value of each column per page. Missing columns start empty. */
export interface PageStates {
  host: ArrayLike<number>;
  /** Importance against other pages; only the proportions count. */
  weight: ArrayLike<number>;
  depth: ArrayLike<number>;
  /** NaN: never visited. */
  lastVisit: ArrayLike<number>;
  /** NaN: must be computed. */
  nextVisit?: ArrayLike<number>;
  /** What the page's own visits add to its host's prior: changes, and days without one. */
  rateShape?: ArrayLike<number>;
  rateDays?: ArrayLike<number>;
  /** The average of changes a day. */
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

/** What a plan knows besides its pages. */
export interface SavedPlan {
  /**
   * The value or score at which a visit is worth its place in the budget, by the rule that saved it; null before the
   * first price.
   */
  price: number | null;
  /** The prior of a host without evidence. */
  priorShape: number;
  priorDays: number;
  hosts: HostStates;
}

export interface Explanation {
  /** Expected changes a day. */
  ratePerDay: number;
  /** Days between visits if nothing new is learned; null before the plan has processed all pages once. */
  intervalDays: number | null;
  /** Null: none is planned, or not yet. */
  nextVisit: number | null;
  /** The chance that the page differs from its last visit; null if there was none. */
  chanceChanged: number | null;
  /** The score, under the rule `score`. */
  score: number | null;
  scoreParts: ScoreParts | null;
  /** The name of the band, under the rule `bands`. */
  band: string | null;
}

export interface RevisitPlan {
  readonly kind: RevisitKind;
  readonly pageCount: number;
  /** Pages that are gone and requested rarely. */
  readonly restingCount: number;
  /** Appends pages and gives the number of the first. */
  load(pages: PageStates): number;
  /** A visit was made. `lastModified` is what the server said, if it did. */
  observe(page: number, finding: Finding, now: number, lastModified?: number): void;
  /** The same for a visit of the past, if the page was loaded with the change frequency after that visit. */
  replay(page: number, finding: Finding, visitedAt: number, lastModified?: number): void;
  hostOf(page: number): number;
  /** The last visit that the plan learned from; NaN: none. */
  lastVisit(page: number): number;
  /** Whether a newer date was signalled since then. */
  isSignalled(page: number): boolean;
  /** Whether the last visit that the plan learned from found the page gone. */
  isGone(page: number): boolean;
  /**
   * Something speaks for a page that is gone: it is requested before all others; if it was requested in vain since it
   * went, a day after that request. `isNews`: this was not so when the page went; otherwise it counts once. False if
   * nothing follows.
   */
  recall(page: number, isNews: boolean): boolean;
  /** Learns at once from all pages, which otherwise takes a day of calls of `next`: for a plan that was just loaded. */
  relearn(now: number): void;
  /** A sitemap or feed shows a new date for the page. */
  signal(page: number, lastModified: number, now: number): void;
  /**
   * The pages to visit now, at most `budget`. They belong to the caller until `observe` or `release`. `hostBudget` is
   * the most pages of a host among them. `leastIntervalDays` replaces the plan's own least interval.
   */
  next(
    now: number,
    budget: number,
    hostBudget?: (host: number) => number,
    leastIntervalDays?: number,
  ): number[];
  /**
   * The page's host did not answer since then, and answers again: a page that waits after a failed try of that time
   * waits no longer, because the try said nothing about it. False if nothing follows.
   */
  forgive(page: number, since: number, now: number): boolean;
  /** Gives back a page of `next` that was not visited. */
  release(page: number): void;
  explain(page: number, now: number): Explanation;
  /** Sets the expected number of visits a day. */
  expectVisits(perDay: number): void;
  savePages(pages: ArrayLike<number>): Required<PageStates>;
  savePlan(): SavedPlan;
}
