/**
 * What tells the three kinds of revisit apart: when a page is due, and which of those due is worth more. Days inside.
 * A rule owns no queue: the plan asks it for keys.
 */
import { bandInterval, bandName, type ScoreParts } from './change-frequency.ts';
import type { PageFacts } from './page-facts.ts';

/** What a price is worked out from. */
export interface PriceOptions {
  visitsPerDay(): number;
  /** From 0 up to 1: which pages are in the sample. */
  random(): number;
  leastInterval: number;
  mostInterval: number;
}

export interface VisitRule {
  /** The day at which the page should be visited again; the order in which pages are asked for. Only of visited pages. */
  due(page: number, day: number): number;
  /** What a visit now is worth: decides among the pages that are due first. Without it the order does. */
  worth?(page: number, day: number): number;
  /** Whether a budget that is left over goes to pages before their day. */
  readonly spendsAll: boolean;
  /**
   * What a visit must be worth, in the rule's own measure, so that all pages together ask for the visits that are expected
   * to be made; null before it was worked out, and where the rule knows no such thing.
   */
  price: number | null;
  /** Days between visits; null where they follow from a price that is not worked out. */
  interval(page: number, day: number): number | null;
  /** The day of the next visit, where `due` is an order and no day. */
  expected?(page: number, day: number): number;
  /** The parts of the score, where the rule goes by it. */
  score?(page: number, day: number): ScoreParts;
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

const SAMPLE = 2000;

/** Pages to work out a price by: all of few, a sample of many, without those that are gone. `share`: how many there are for each. */
export function samplePages(facts: PageFacts, random: () => number): { pages: number[]; share: number } {
  const size = Math.min(facts.count, SAMPLE);
  const pages: number[] = [];
  for (let i = 0; i < size; i++) {
    const page = facts.count <= SAMPLE ? i : Math.floor(random() * facts.count);
    if (!facts.isResting(page)) pages.push(page);
  }
  return { pages, share: facts.count / size };
}

/** Appendix B of specification 003: an interval by how often the page changes; a newer sitemap date makes it due. */
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
