/**
 * What tells the three kinds of revisit apart: when a page is due, and which of those due is worth more. Days inside.
 * A rule owns no queue: the plan asks it for keys.
 */
import { bandInterval, bandName, priorityScore, SCORE_A_DAY, standingScore } from './change-frequency.ts';
import type { PageFacts } from './page-facts.ts';

export interface VisitRule {
  /** The day at which the page should be visited again; the order in which pages are asked for. Only of visited pages. */
  due(page: number, day: number): number;
  /** What a visit now is worth: decides among the pages that are due first. Without it the order does. */
  worth?(page: number, day: number): number;
  /** Whether a budget that is left over goes to pages before their day. */
  readonly spendsAll: boolean;
  /** Days between visits; null where the rule is an order only. */
  interval(page: number, day: number): number | null;
  score(page: number, day: number): number | null;
  /** The band of appendix B in words, where the rule goes by it. */
  band?(page: number): string;
  /** Rules that learn from all pages: what is done with each of them once a day. */
  readonly tending?: {
    /** Called before pages are asked for; true when every page's day must be worked out anew. */
    begin(day: number): boolean;
    /** The page, before its day is worked out anew. */
    meet(page: number): void;
    /** All pages were met. */
    finishRound(): void;
  };
}

/** Specification 003's priority. All scores rise alike, so that the order between visits stands still. */
export function createScoreRule(facts: PageFacts): VisitRule {
  const isFirst = (page: number) => facts.signals[page] > 0 || !facts.isVisited(page);
  return {
    spendsAll: true,
    due(page) {
      const standing = standingScore(facts.frequency[page], facts.depth[page], isFirst(page));
      return facts.lastVisit[page] - standing / SCORE_A_DAY;
    },
    interval: () => null,
    score(page, day) {
      const waited = facts.isVisited(page) ? day - facts.lastVisit[page] : 0;
      return priorityScore(facts.frequency[page], facts.depth[page], waited, isFirst(page));
    },
  };
}

/** Appendix B of specification 003: an interval by how often the page changes; a newer sitemap date makes it due. */
export function createBandsRule(facts: PageFacts): VisitRule {
  const interval = (page: number) => bandInterval(facts.frequency[page]);
  return {
    spendsAll: false,
    due(page, day) {
      const planned = facts.lastVisit[page] + interval(page);
      return facts.signals[page] > 0 ? Math.min(planned, day) : planned;
    },
    interval,
    score: () => null,
    band: (page) => bandName(facts.frequency[page]),
  };
}
