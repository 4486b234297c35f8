/**
 * The difference between the three rules: when a page is due, and which due page is worth more. Times are days. A rule
 * owns no queue: the plan asks it for keys.
 */
import { bandInterval, bandName, type ScoreParts } from './change-frequency.ts';
import type { PageFacts } from './page-facts.ts';

/** The input of a price. */
export interface PriceOptions {
  visitsPerDay(): number;
  /** From 0 up to 1: selects the pages of the sample. */
  random(): number;
  leastInterval: number;
  mostInterval: number;
}

export interface VisitRule {
  /** The day when the page should be visited again, which gives the order of pages. Only for visited pages. */
  due(page: number, day: number): number;
  /** What a visit now is worth: decides among the pages that are due first. Without it the order decides. */
  worth?(page: number, day: number): number;
  /** Whether an unused budget goes to pages before their day. */
  readonly spendsAll: boolean;
  /**
   * What a visit must be worth, in the rule's own unit, so that all pages together ask for the expected number of
   * visits. Null before it is computed, and for a rule without a price.
   */
  price: number | null;
  /** Days between visits; null while they depend on a price that is not computed yet. */
  interval(page: number, day: number): number | null;
  /** The day of the next visit, if `due` is only an order. */
  expected?(page: number, day: number): number;
  /** The parts of the score, for the rule `score`. */
  score?(page: number, day: number): ScoreParts;
  /** The name of the band, for the rule `bands`. */
  band?(page: number): string;
  /** For rules that learn from all pages: what is done with each of them once a day. */
  readonly tending?: {
    /** Called before pages are selected. True if every page's day must be computed again. */
    begin(day: number): boolean;
    /** The page, before its day is computed again. */
    meet(page: number): void;
    /** All pages were processed. */
    finishRound(): void;
  };
}

const SAMPLE = 2000;

/**
 * Pages to compute a price from: all of a few, a sample of many, without those that are gone. `share`: how many pages
 * each stands for.
 */
export function samplePages(facts: PageFacts, random: () => number): { pages: number[]; share: number } {
  const size = Math.min(facts.count, SAMPLE);
  const pages: number[] = [];
  for (let i = 0; i < size; i++) {
    const page = facts.count <= SAMPLE ? i : Math.floor(random() * facts.count);
    if (!facts.isResting(page)) pages.push(page);
  }
  return { pages, share: facts.count / size };
}

/** The rule `bands`: an interval by how often the page changes. A newer sitemap date makes the page due. */
export function createBandsRule(facts: PageFacts): VisitRule {
  const interval = (page: number) => bandInterval(facts.frequency[page]);
  return {
    spendsAll: false,
    price: null,
    due(page, day) {
      const planned = facts.lastVisit[page] + interval(page);
      return facts.signals[page] > 0 ? Math.min(planned, day) : planned;
    },
    interval,
    band: (page) => bandName(facts.frequency[page]),
  };
}
