/**
 * Revisits by crawl value: a page is due when the value of a visit reaches the price. The price is such that all pages
 * together ask for the expected number of visits. The price is computed once a day on a sample, the priors once per
 * round over all pages. Both follow from what is known, never from the visits made, which would feed back.
 */
import { crawlValue, intervalAt, meanCycle, type PageOutlook } from './crawl-value.ts';
import { meanLogRate } from './gamma-posterior.ts';
import type { PageFacts } from './page-facts.ts';
import { type PriceOptions, samplePages, type VisitRule } from './visit-rule.ts';

const FIRST_PRICES = { low: 1e-9, high: 1e6, rounds: 40 };
/** The most that a price moves in a day. */
const STEP = { factor: 8, rounds: 12 };

export function createValueRule(facts: PageFacts, options: PriceOptions): VisitRule {
  const { leastInterval, mostInterval } = options;
  // One object for all calls: ten million pages a day pass through it.
  const outlook: PageOutlook = { shape: 1, days: 1, weight: 1, signals: 0, signalRate: 0, falseShare: 1 };
  let nextPricing = Number.NEGATIVE_INFINITY;
  let isFitted = false;

  function sampleOutlooks(pages: readonly number[], day: number): PageOutlook[] {
    return pages.map((page) => {
      const copy = { ...outlook };
      facts.outlook(page, day, copy);
      // Demand is what pages ask for over a whole cycle, which begins with a visit.
      copy.signals = 0;
      return copy;
    });
  }

  /** Visits a day that the sample asks for at a price. */
  function demand(sample: PageOutlook[], price: number): number {
    let visits = 0;
    for (const page of sample) {
      visits += 1 / meanCycle(page, price, leastInterval, mostInterval);
    }
    return visits;
  }

  function setPrice(day: number): void {
    const { pages, share } = samplePages(facts, options.random);
    const sample = sampleOutlooks(pages, day);
    if (sample.length === 0) return;
    const old = rule.price;
    let meanWeight = 0;
    for (const { weight } of sample) meanWeight += weight / sample.length;
    let low = old === null ? FIRST_PRICES.low * meanWeight : old / STEP.factor;
    let high = old === null ? FIRST_PRICES.high * meanWeight : old * STEP.factor;
    const rounds = old === null ? FIRST_PRICES.rounds : STEP.rounds;
    for (let round = 0; round < rounds; round++) {
      const middle = Math.sqrt(low * high);
      if (demand(sample, middle) * share > options.visitsPerDay()) low = middle;
      else high = middle;
    }
    rule.price = old === null ? high : Math.sqrt(old * high);
  }

  function interval(page: number, day: number): number | null {
    if (rule.price === null) return null;
    facts.outlook(page, day, outlook);
    return intervalAt(outlook, rule.price, leastInterval, mostInterval);
  }

  const rule: VisitRule = {
    price: null,
    spendsAll: true,
    // Before the first price any order works: with the price, all days are computed again.
    due: (page, day) => facts.lastVisit[page] + (interval(page, day) ?? 0),
    worth(page, day) {
      facts.outlook(page, day, outlook);
      return crawlValue(outlook, Math.max(day - facts.lastVisit[page], 1e-6));
    },
    interval,
    tending: {
      begin(day) {
        if (day < nextPricing) return false;
        nextPricing = day + 1;
        // The very first fit does not wait for a whole round, which may take days on a large plan.
        if (!isFitted) facts.fitPriors();
        const isFirst = rule.price === null;
        setPrice(day);
        return isFirst;
      },
      meet(page) {
        if (!facts.hasEvidence(page)) return;
        facts.rate(page, outlook);
        facts.sample(page, outlook, meanLogRate(outlook));
      },
      finishRound() {
        facts.fitPriors();
        facts.beginSample();
        isFitted = true;
      },
    },
  };
  return rule;
}
