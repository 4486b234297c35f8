/**
 * Revisits by the rule `score`. All scores rise at the same speed, so the order between visits stays, and no day is
 * needed to choose. The price is the score at which pages get their visits: it gives the interval that the budget
 * leaves to a page, computed once a day on a sample. The price explains, and decides nothing.
 */
import { SCORE_A_DAY, scoreParts, standingScore } from './change-frequency.ts';
import type { PageFacts } from './page-facts.ts';
import { type PriceOptions, samplePages, type VisitRule } from './visit-rule.ts';

const ROUNDS = 60;

export function createScoreRule(facts: PageFacts, options: PriceOptions): VisitRule {
  const { leastInterval, mostInterval } = options;
  const isFirst = (page: number) => facts.signals[page] > 0 || !facts.isVisited(page);
  const standing = (page: number, first: boolean) =>
    standingScore(facts.frequency[page], facts.depth[page], first);
  const intervalAt = (price: number, page: number) =>
    Math.min(Math.max((price - standing(page, false)) / SCORE_A_DAY, leastInterval), mostInterval);
  let nextPricing = Number.NEGATIVE_INFINITY;

  function setPrice(): void {
    const { pages, share } = samplePages(facts, options.random);
    if (pages.length === 0) return;
    let low = 0;
    let high = mostInterval * SCORE_A_DAY;
    for (const page of pages) high = Math.max(high, standing(page, false) + mostInterval * SCORE_A_DAY);
    for (let round = 0; round < ROUNDS; round++) {
      const middle = (low + high) / 2;
      let visits = 0;
      for (const page of pages) visits += share / intervalAt(middle, page);
      if (visits > options.visitsPerDay()) low = middle;
      else high = middle;
    }
    rule.price = high;
  }

  const rule: VisitRule = {
    spendsAll: true,
    price: null,
    due: (page) => facts.lastVisit[page] - standing(page, isFirst(page)) / SCORE_A_DAY,
    interval: (page) => (rule.price === null ? null : intervalAt(rule.price, page)),
    expected: (page, day) =>
      isFirst(page) || rule.price === null ? day : facts.lastVisit[page] + intervalAt(rule.price, page),
    score(page, day) {
      const waited = facts.isVisited(page) ? day - facts.lastVisit[page] : 0;
      return scoreParts(facts.frequency[page], facts.depth[page], waited, isFirst(page));
    },
    tending: {
      begin(day) {
        if (day < nextPricing) return false;
        nextPricing = day + 1;
        setPrice();
        return false;
      },
      meet() {},
      finishRound() {},
    },
  };
  return rule;
}
