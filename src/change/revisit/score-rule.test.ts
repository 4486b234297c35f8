import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { at, planOf, visitedPages } from '../../../test/watch/plans-of-pages.ts';

describe('the plan by score', () => {
  it('orders pages as a scan over 003 scores would, on any sequence of visits', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const count = 300;
    const plan = planOf('score', { leastIntervalDays: 0 });
    plan.load(visitedPages(count, { depth: Float64Array.from({ length: count }, () => random.below(6)) }));
    for (let step = 1; step <= 300; step++) {
      const now = at(step / 24);
      const scores = Array.from({ length: count }, (_, page) => plan.explain(page, now).score ?? Number.NaN);
      const chosen = plan.next(now, 4);
      const lowest = Math.min(...chosen.map((page) => scores[page]));
      const left = scores.filter((_, page) => !chosen.includes(page));
      expect(chosen).toHaveLength(4);
      expect(Math.max(...left), `seed ${seed}, step ${step}`).toBeLessThanOrEqual(lowest + 1e-6);
      for (const page of chosen) plan.observe(page, random.below(4) === 0 ? 'changed' : 'unchanged', now);
    }
  });

  it('names the score of its formula with its parts, and no day before it has looked at all pages', () => {
    const plan = planOf('score');
    plan.load(visitedPages(1, { depth: [3] }));
    plan.observe(0, 'changed', at(2));
    expect(plan.explain(0, at(7))).toMatchObject({ intervalDays: null, nextVisit: null });
    const { score, scoreParts } = plan.explain(0, at(7));
    expect(score).toBeCloseTo(0.4 * 5 + 4 * 0.15 + 0.05, 5);
    expect(scoreParts).toEqual({
      changes: expect.closeTo(4 * 0.15, 5),
      waiting: expect.closeTo(0.4 * 5, 5),
      depth: 0.05,
      first: 0,
    });
    plan.signal(0, at(6), at(7));
    expect(plan.explain(0, at(7)).score).toBeCloseTo(102.65, 4);
    plan.relearn(at(7));
    expect(plan.explain(0, at(7))).toMatchObject({ nextVisit: at(7), intervalDays: expect.any(Number) });
  });

  it('says beforehand at which intervals its order comes round to pages', () => {
    const [count, perHour] = [300, 5];
    const plan = planOf('score', { visitsPerDay: 24 * perHour });
    const depth = Array.from({ length: count }, (_, page) => page % 6);
    const changeFrequency = Array.from({ length: count }, (_, page) => (page % 5) / 20);
    plan.load(visitedPages(count, { depth, changeFrequency }));
    plan.relearn(at(0));
    const told = Array.from({ length: count }, (_, page) => plan.explain(page, at(0)).intervalDays!);
    expect(told.reduce((sum, days) => sum + 1 / days, 0)).toBeCloseTo(24 * perHour, 3);
    const visits = new Array(count).fill(0);
    for (let hour = 1; hour <= 24 * 120; hour++) {
      for (const page of plan.next(at(hour / 24), perHour)) {
        if (hour > 24 * 20) visits[page]++;
        plan.observe(page, 'unchanged', at(hour / 24));
      }
    }
    for (const page of [0, 1, 4, 29, 299]) {
      expect(told[page] / (100 / visits[page]), `page ${page}`).toBeCloseTo(1, 1);
      const { intervalDays, nextVisit } = plan.explain(page, at(120));
      expect(intervalDays).toBeCloseTo(told[page], 6);
      // The order may come round to it a little later than was said, never by days.
      expect(nextVisit).toBeGreaterThan(at(119.5));
      expect(nextVisit).toBeLessThan(at(120 + told[page] + 0.1));
    }
  });

  it('goes on with what it knew when it was saved', () => {
    const plan = planOf('score', { visitsPerDay: 5 });
    plan.load(visitedPages(20));
    plan.relearn(at(1));
    const again = planOf('score', { visitsPerDay: 5, saved: plan.savePlan() });
    again.load(plan.savePages(Array.from({ length: 20 }, (_, page) => page)));
    expect(again.explain(7, at(2))).toEqual(plan.explain(7, at(2)));
    expect(again.explain(7, at(2)).intervalDays).toBeCloseTo(4, 6);
  });
});

describe('the plan by bands', () => {
  it('visits a page when its interval is over and not before, however large the budget', () => {
    const plan = planOf('bands');
    plan.load(visitedPages(3, { changeFrequency: [0, 0.25, 12] }));
    expect(plan.next(at(0.04), 9)).toEqual([]);
    expect(plan.next(at(0.042), 9)).toEqual([2]);
    expect(plan.next(at(3.9), 9)).toEqual([]);
    expect(plan.next(at(4), 9)).toEqual([1]);
    expect(plan.next(at(29.9), 9)).toEqual([]);
    expect(plan.next(at(30), 9)).toEqual([0]);
    plan.observe(0, 'changed', at(30));
    const { intervalDays, nextVisit } = plan.explain(0, at(30));
    expect([intervalDays, nextVisit]).toEqual([7, at(37)]);
  });

  it('visits at once what a sitemap says is newer', () => {
    const plan = planOf('bands');
    plan.load(visitedPages(2));
    plan.signal(1, at(-1), at(1));
    expect(plan.next(at(1), 2)).toEqual([]);
    plan.signal(1, at(0.5), at(1));
    expect(plan.next(at(1), 2)).toEqual([1]);
  });
});
