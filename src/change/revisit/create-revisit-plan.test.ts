import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { at, DAY, planOf, START, visitedPages } from '../../../test/watch/plans-of-pages.ts';
import { crawlValue } from './crawl-value.ts';
import { retryAt } from './create-revisit-plan.ts';
import type { Finding, RevisitKind, RevisitPlan } from './revisit-plan.ts';

const KINDS: RevisitKind[] = ['value', 'score', 'bands'];

describe('every plan', () => {
  it.each(KINDS)('by %s gives a page once, until it was visited or released', (kind) => {
    const plan = planOf(kind);
    plan.load(visitedPages(5));
    const first = plan.next(at(40), 3);
    const second = plan.next(at(40), 3);
    expect(new Set([...first, ...second])).toEqual(new Set([0, 1, 2, 3, 4]));
    expect(plan.next(at(40), 3)).toEqual([]);
    plan.release(second[0]);
    plan.observe(first[0], 'unchanged', at(40));
    expect(plan.next(at(40), 3)).toEqual([second[0]]);
    expect(plan.next(at(90), 3)).toEqual([first[0]]);
  });

  it.each(KINDS)('by %s visits pages never visited first, the heaviest before the others', (kind) => {
    const plan = planOf(kind);
    const lastVisit = [START, Number.NaN, Number.NaN, START - 300 * DAY];
    plan.load(visitedPages(4, { lastVisit, weight: [9, 1, 2, 9] }));
    expect(plan.next(at(1), 2)).toEqual([2, 1]);
    expect(plan.explain(2, at(1)).chanceChanged).toBeNull();
  });

  /** The days between visits that all find the same. */
  function pausesOf(plan: RevisitPlan, finding: Finding, count: number): number[] {
    const pauses: number[] = [];
    plan.observe(0, finding, at(40));
    for (let [day, last] = [40, 40]; pauses.length < count; day += 1 / 8) {
      if (plan.next(at(day), 1).length === 0) continue;
      pauses.push(day - last);
      last = day;
      plan.observe(0, finding, at(day));
    }
    return pauses;
  }

  it.each(KINDS)(
    'by %s asks what is gone ever more rarely, and what is gone for good once a month',
    (kind) => {
      const depth = [1];
      const plan = planOf(kind);
      plan.load(visitedPages(1, { depth }));
      expect(pausesOf(plan, 'gone', 7)).toEqual([1, 2, 4, 8, 16, 30, 30]);
      const [day] = [plan.lastVisit(0)];
      expect(plan.explain(0, day)).toMatchObject({ intervalDays: 30, nextVisit: day + 30 * DAY });
      const other = planOf(kind);
      other.load(visitedPages(1, { depth }));
      expect(pausesOf(other, 'removed', 2)).toEqual([30, 30]);
      expect(other.restingCount).toBe(1);
      other.observe(0, 'changed', at(200));
      expect([other.restingCount, other.isGone(0)]).toEqual([0, false]);
      expect(other.next(at(231), 1)).toEqual([0]);
    },
  );

  it.each(KINDS)('by %s gives a page that is gone once, until it was visited or released', (kind) => {
    const plan = planOf(kind);
    plan.load(visitedPages(1, { depth: [1] }));
    plan.observe(0, 'gone', at(1));
    expect(plan.next(at(3), 1)).toEqual([0]);
    expect(plan.recall(0, true)).toBe(false);
    expect(plan.next(at(3), 1)).toEqual([]);
    plan.release(0);
    expect(plan.next(at(3), 1)).toEqual([0]);
    plan.observe(0, 'failed', at(3));
    expect(plan.isGone(0)).toBe(true);
    expect(plan.next(at(4.9), 1)).toEqual([]);
    expect(plan.next(at(5), 1)).toEqual([0]);
  });

  it.each(KINDS)('by %s asks what is gone before all others when something new speaks for it', (kind) => {
    const plan = planOf(kind);
    plan.load(visitedPages(3, { depth: [1, 1, 1] }));
    plan.observe(1, 'gone', at(40));
    plan.signal(1, at(40.05), at(40.1));
    expect(plan.next(at(40.1), 1)).toEqual([1]);
    plan.observe(1, 'gone', at(40.1));
    // What was so when it went has counted, and news does not bring it up more than once a day.
    expect(plan.recall(1, false)).toBe(false);
    expect(plan.explain(1, at(40.1)).intervalDays).toBe(2);
    expect(plan.recall(1, true)).toBe(true);
    expect(plan.explain(1, at(40.1)).intervalDays).toBe(1);
    expect(plan.next(at(41), 3)).toEqual(expect.not.arrayContaining([1]));
    expect(plan.next(at(41.11), 3)).toEqual([1]);
  });

  it.each(KINDS)('by %s knows what was spoken for when it goes on from what was saved', (kind) => {
    const plan = planOf(kind);
    plan.load(visitedPages(1, { depth: [1] }));
    plan.observe(0, 'gone', at(40));
    plan.recall(0, false);
    const restarted = planOf(kind);
    restarted.load(plan.savePages([0]));
    expect(restarted.next(at(40.1), 1)).toEqual([0]);
  });

  it.each(KINDS)('by %s takes an orphan back when it is led to, not because it answers', (kind) => {
    const plan = planOf(kind);
    plan.load(visitedPages(1, { depth: [1] }));
    expect(plan.savePages([0]).flags[0]).toBe(0);
    plan.observe(0, 'orphaned', at(1));
    expect(plan.next(at(2), 1)).toEqual([0]);
    plan.observe(0, 'unchanged', at(2));
    expect([plan.isGone(0), plan.explain(0, at(2)).intervalDays]).toEqual([true, 2]);
    expect(plan.recall(0, false)).toBe(true);
    expect(plan.next(at(2.1), 1)).toEqual([0]);
    plan.observe(0, 'unchanged', at(2.1));
    expect([plan.isGone(0), plan.restingCount]).toEqual([false, 0]);
  });

  it.each(KINDS)('by %s plans a start URL as ever, gone or not', (kind) => {
    const plan = planOf(kind);
    const stays = planOf(kind);
    for (const each of [plan, stays]) each.load(visitedPages(1));
    plan.observe(0, 'gone', at(1));
    stays.observe(0, 'changed', at(1));
    expect([plan.isGone(0), plan.restingCount]).toEqual([true, 0]);
    expect(plan.savePages([0]).rateShape).toEqual(stays.savePages([0]).rateShape);
    expect(plan.next(at(32), 1)).toEqual([0]);
    plan.observe(0, 'gone', at(32));
    expect(plan.savePages([0]).rateDays[0]).toBeGreaterThan(30);
  });

  it('spends a tenth on what is gone while others wait, and all that is left where none does', () => {
    const plan = planOf('score');
    plan.load(visitedPages(100, { depth: new Float64Array(100).fill(1) }));
    for (let page = 0; page < 60; page++) plan.observe(page, 'gone', at(1));
    const chosen = plan.next(at(3), 20);
    expect(chosen.filter((page) => page < 60).length).toBe(2);
    expect(chosen.length).toBe(20);
    const rest = plan.next(at(3), 40);
    expect(rest.filter((page) => page >= 60).length).toBe(22);
    expect(rest.length).toBe(40);
    expect(new Set([...chosen, ...rest]).size).toBe(60);
    // Others that are loaded anew find the same.
    const states = plan.savePages(Array.from({ length: 60 }, (_, page) => page));
    const restarted = planOf('score');
    restarted.load(states);
    expect([restarted.restingCount, restarted.next(at(3), 100).length]).toEqual([60, 60]);
  });

  it.each(KINDS)('by %s learns nothing from a failed visit and tries again six hours later', (kind) => {
    const plan = planOf(kind);
    plan.load(visitedPages(1));
    const before = plan.savePages([0]);
    expect(plan.next(at(40), 1)).toEqual([0]);
    plan.observe(0, 'failed', at(40));
    const after = plan.savePages([0]);
    expect([after.rateShape, after.rateDays, after.lastVisit]).toEqual([
      before.rateShape,
      before.rateDays,
      before.lastVisit,
    ]);
    plan.signal(0, at(40.1), at(40.1));
    expect(plan.next(at(40.2), 1)).toEqual([]);
    expect(plan.next(at(40.3), 1)).toEqual([0]);
  });

  it.each(KINDS)(
    'by %s asks a page whose visits fail and fail ever more rarely, at least once a month',
    (kind) => {
      const plan = planOf(kind);
      plan.load(visitedPages(1));
      const pauses: number[] = [];
      for (let [day, last] = [40, 40]; pauses.length < 10; day += 1 / 8) {
        if (plan.next(at(day), 1).length === 0) continue;
        pauses.push(day - last);
        last = day;
        plan.observe(0, 'failed', at(day));
      }
      expect(pauses.slice(1)).toEqual([0.25, 0.5, 1, 2, 4, 8, 16, 30, 30]);
      // The next store to load it must know, too.
      const { flags } = plan.savePages([0]);
      expect(retryAt(flags[0], at(0))).toBe(at(30));
      expect(retryAt(0, at(0))).toBeNaN();
      plan.observe(0, 'unchanged', at(200));
      expect(retryAt(plan.savePages([0]).flags[0], at(0))).toBeNaN();
    },
  );

  it.each(KINDS)('by %s replays a visit of the past without counting its change frequency again', (kind) => {
    const [live, loaded] = [planOf(kind), planOf(kind)];
    live.load(visitedPages(1));
    live.observe(0, 'changed', at(2));
    loaded.load(visitedPages(1, { changeFrequency: live.savePages([0]).changeFrequency }));
    loaded.replay(0, 'changed', at(2));
    expect(loaded.savePages([0])).toEqual(live.savePages([0]));
    expect(loaded.lastVisit(0)).toBe(at(2));
  });

  it.each(KINDS)('by %s keeps to what each host may have, and gives the rest to others', (kind) => {
    const plan = planOf(kind);
    plan.load(
      visitedPages(40, { host: Float64Array.from({ length: 40 }, (_, page) => (page < 30 ? 0 : 1)) }),
    );
    const chosen = plan.next(at(60), 20, (host) => (host === 0 ? 3 : 8));
    expect(chosen.filter((page) => page < 30)).toHaveLength(3);
    expect(chosen.filter((page) => page >= 30)).toHaveLength(8);
    expect(plan.next(at(60), 20, () => 0)).toEqual([]);
    expect(plan.next(at(60), 40)).toHaveLength(29);
  });

  it.each(KINDS)('by %s goes on from what was saved as if nothing had happened', (kind) => {
    const random = seededRandom(4);
    const [count, hosts] = [300, 6];
    const options = { visitsPerDay: 60, random: () => 0.5 };
    const plan = planOf(kind, options);
    const weight = Float64Array.from({ length: count }, () => 0.1 + random.next());
    plan.load(
      visitedPages(count, { host: Float64Array.from({ length: count }, (_, i) => i % hosts), weight }),
    );
    for (let step = 1; step < 48; step++) {
      const now = at(step / 4);
      for (let page = 0; page < count; page += 17) plan.signal(page, now - DAY / 8, now);
      for (const page of plan.next(now, 15)) {
        plan.observe(page, random.below(3) === 0 ? 'changed' : 'unchanged', now);
      }
    }
    const everything = Array.from({ length: count }, (_, page) => page);
    const [pages, saved] = [plan.savePages(everything), plan.savePlan()];
    const again = planOf(kind, { ...options, saved });
    expect(again.load(pages)).toBe(0);
    expect(again.pageCount).toBe(count);
    expect(again.savePages(everything)).toEqual(pages);
    expect(again.savePlan()).toEqual(saved);
    const now = at(12);
    expect(again.explain(5, now)).toEqual(plan.explain(5, now));
    const [one, other] = [plan.next(now, 15), again.next(now, 15)];
    expect(other).toHaveLength(one.length);
    // The day of the next pricing is not kept, and equal keys have no order: that is all that may differ.
    expect(other.filter((page) => one.includes(page)).length).toBeGreaterThanOrEqual(one.length - 3);
  });

  it.each(KINDS)('by %s survives clocks that jump, dates to come and dates of another age', (kind) => {
    const plan = planOf(kind);
    plan.load(visitedPages(3));
    plan.observe(0, 'changed', at(-5), at(900));
    plan.observe(1, 'changed', at(2), at(-9000));
    plan.observe(2, 'unchanged', at(0));
    plan.signal(2, at(500), at(1));
    for (const page of [0, 1, 2]) {
      const { ratePerDay, chanceChanged } = plan.explain(page, at(3));
      expect(ratePerDay).toBeGreaterThan(0);
      expect(ratePerDay).toBeLessThan(10);
      expect(chanceChanged).toBeGreaterThan(0);
      expect(chanceChanged).toBeLessThan(1);
    }
    expect(plan.savePages([2]).signals[0]).toBe(0);
    expect(plan.next(at(100), 3)).toHaveLength(3);
  });

  it('never visits a page again within the least interval, whatever its score', () => {
    const plan = planOf('score', { leastIntervalDays: 0.5 });
    plan.load(visitedPages(2));
    expect(plan.next(at(1), 1)).toEqual([0]);
    plan.observe(0, 'changed', at(1));
    expect(plan.next(at(1.4), 2)).toEqual([1]);
    plan.observe(1, 'unchanged', at(1.4));
    expect(plan.next(at(1.6), 2)).toEqual([0]);
  });
});

describe('the plan by value', () => {
  it('gives what a scan over all values would give, whatever happened before', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const [count, hosts, perStep] = [800, 5, 20];
    const rates = Array.from({ length: count }, () => Math.exp(6 * random.next() - 5));
    const plan = planOf('value', { visitsPerDay: perStep * 4 });
    const weight = Float32Array.from({ length: count }, () => Math.exp(2 * random.next() - 1));
    plan.load(visitedPages(count, { host: Float64Array.from(rates, (_, page) => page % hosts), weight }));
    const last = new Array<number>(count).fill(0);
    let [got, best] = [0, 0];
    for (let step = 1; step <= 120; step++) {
      const day = step / 4;
      const { priorShape, priorDays } = plan.savePlan().hosts;
      const states = plan.savePages(rates.map((_, page) => page));
      const values = rates.map((_, page) => {
        const shape = Math.max(priorShape[page % hosts] + states.rateShape[page], 0.02);
        const days = Math.max(priorDays[page % hosts] + states.rateDays[page], 0.02);
        const outlook = { shape, days, weight: weight[page], signals: 0, signalRate: 0, falseShare: 1 };
        return crawlValue(outlook, day - last[page]);
      });
      const chosen = plan.next(at(day), perStep);
      expect(new Set(chosen).size, `seed ${seed}`).toBe(perStep);
      // The first weeks begin with everything fresh, where all values are near nothing.
      if (step > 40) {
        for (const page of chosen) got += values[page];
        const sorted = [...values].sort((a, b) => b - a);
        for (let i = 0; i < perStep; i++) best += sorted[i];
      }
      for (const page of chosen) {
        const isChanged = random.next() < -Math.expm1(-rates[page] * (day - last[page]));
        plan.observe(page, isChanged ? 'changed' : 'unchanged', at(day));
        last[page] = day;
      }
    }
    expect(got / best, `seed ${seed}`).toBeGreaterThan(0.98);
  });

  it('learns the rate of a page and predicts its changes', () => {
    const random = seededRandom(9);
    const plan = planOf('value');
    plan.load(visitedPages(2));
    for (let day = 1; day <= 400; day++) {
      plan.observe(0, random.next() < -Math.expm1(-0.5) ? 'changed' : 'unchanged', at(day));
      plan.observe(1, day % 200 === 0 ? 'changed' : 'unchanged', at(day));
    }
    const [busy, calm] = [plan.explain(0, at(401)), plan.explain(1, at(401))];
    expect(busy.ratePerDay).toBeGreaterThan(0.4);
    expect(busy.ratePerDay).toBeLessThan(0.6);
    expect(calm.ratePerDay).toBeLessThan(0.03);
    expect(busy.chanceChanged).toBeCloseTo(1 - Math.exp(-busy.ratePerDay), 2);
    expect(calm.chanceChanged).toBeCloseTo(1 - Math.exp(-calm.ratePerDay), 2);
  });

  it('takes a Last-Modified as the day of the change, but not one that is the clock of the answer', () => {
    const plan = planOf('value');
    plan.load(visitedPages(3));
    plan.observe(0, 'changed', at(10), at(4));
    plan.observe(1, 'changed', at(10), at(10));
    plan.observe(2, 'changed', at(10));
    const { rateShape, rateDays } = plan.savePages([0, 1, 2]);
    expect([rateShape[0], rateDays[0]]).toEqual([1, 6]);
    expect([rateShape[1], rateDays[1]]).toEqual([rateShape[2], rateDays[2]]);
  });

  it('explains the price: with a larger budget pages are visited sooner', () => {
    const intervals = [2, 20].map((visitsPerDay) => {
      const plan = planOf('value');
      plan.expectVisits(visitsPerDay);
      plan.load(visitedPages(20));
      expect(plan.explain(3, at(1)).intervalDays).toBeNull();
      plan.next(at(1), 0);
      const { intervalDays, nextVisit } = plan.explain(3, at(1));
      expect(nextVisit).toBeCloseTo(at(intervalDays ?? Number.NaN), -1);
      return intervalDays ?? Number.NaN;
    });
    // 20 pages alike: ten days with two visits a day, one with twenty.
    expect(intervals[0]).toBeCloseTo(10, 0);
    expect(intervals[1]).toBeCloseTo(1, 1);
  });

  it('trusts the sitemap of a host that tells the truth, and not of one that always says now', () => {
    const random = seededRandom(11);
    const plan = planOf('value', { visitsPerDay: 200 });
    const count = 400;
    plan.load(visitedPages(count, { host: Float64Array.from({ length: count }, (_, page) => page % 2) }));
    const changedAt = new Array<number>(count).fill(-1);
    const last = new Array<number>(count).fill(0);
    for (let day = 1; day <= 40; day++) {
      for (let page = 0; page < count; page++) {
        const changes = random.next() < 0.05;
        if (changes) changedAt[page] = day - 0.5;
        if (page % 2 === 1 || changes) plan.signal(page, at(day - 0.5), at(day));
      }
      for (const page of plan.next(at(day), 200)) {
        plan.observe(page, changedAt[page] > last[page] ? 'changed' : 'unchanged', at(day));
        last[page] = day;
      }
    }
    const chances = (page: number) => {
      plan.observe(page, 'unchanged', at(41));
      plan.signal(page, at(42), at(42));
      return plan.explain(page, at(42)).chanceChanged ?? Number.NaN;
    };
    expect(chances(0)).toBeGreaterThan(0.85);
    expect(chances(1)).toBeLessThan(0.2);
    const { falseSignals, testedSignals } = plan.savePlan().hosts;
    expect(falseSignals[0] / testedSignals[0]).toBeLessThan(0.1);
    expect(falseSignals[1] / testedSignals[1]).toBeGreaterThan(0.8);
  });

  it('gives the same pages for the same calls', () => {
    const runs = [1, 2].map(() => {
      const random = seededRandom(8);
      const plan = planOf('value');
      plan.load(
        visitedPages(3000, { weight: Float64Array.from({ length: 3000 }, () => random.next() + 0.1) }),
      );
      return Array.from({ length: 50 }, (_, step) => {
        const chosen = plan.next(at(1 + step / 10), 30);
        for (const page of chosen)
          plan.observe(page, random.below(2) === 0 ? 'changed' : 'unchanged', at(1 + step / 10));
        return chosen;
      });
    });
    expect(runs[0]).toEqual(runs[1]);
  });
});
