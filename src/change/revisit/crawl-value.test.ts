import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { crawlValue, intervalAt, meanCycle, type PageOutlook } from './crawl-value.ts';

const PAGE: PageOutlook = { shape: 0.7, days: 3, weight: 1, signals: 0, signalRate: 0, falseShare: 1 };

/** Staleness and 0.02 of age as the cost of not visiting; the value is what a longer wait costs beyond the mean so far. */
function valueByIntegration({ shape, days, weight }: PageOutlook, elapsed: number): number {
  const steps = 20_000;
  const same = (t: number) => (1 + t / days) ** -shape;
  let [age, costs, cost] = [0, 0, 0];
  for (let i = 0; i < steps; i++) {
    const middle = ((i + 0.5) * elapsed) / steps;
    age += ((1 - same(middle)) * elapsed) / steps;
    cost = 1 - same(middle) + 0.02 * age;
    costs += (cost * elapsed) / steps;
  }
  return weight * (elapsed * (1 - same(elapsed) + 0.02 * age) - costs);
}

describe('the crawl value', () => {
  it('is the cost of the moment times the wait, less the cost so far', () => {
    for (const shape of [0.2, 0.7, 1, 1.5, 2, 6]) {
      for (const elapsed of [0.1, 3, 80]) {
        const page = { ...PAGE, shape, weight: 2.5 };
        const want = valueByIntegration(page, elapsed);
        expect(crawlValue(page, elapsed) / want, `shape ${shape}, ${elapsed} days`).toBeCloseTo(1, 2);
      }
    }
  });

  it('without any signals to come is nearly what it is where there are none', () => {
    const trusted = { ...PAGE, signalRate: 1e-9, falseShare: 0.3 };
    // A rate known well: the posterior's mean and its constant rate are then the same.
    const known = { shape: 4000, days: 10_000 };
    const plain = crawlValue({ ...PAGE, ...known }, 2);
    expect(crawlValue({ ...trusted, ...known }, 2) / plain).toBeCloseTo(1, 2);
  });

  it('jumps with a trusted signal, and hardly moves with one that is nearly always false', () => {
    const quiet = { ...PAGE, shape: 1, days: 50, signalRate: 0.1, falseShare: 0.1 };
    expect(crawlValue({ ...quiet, signals: 1 }, 1)).toBeGreaterThan(20 * crawlValue(quiet, 1));
    const noisy = { ...quiet, falseShare: 0.999 };
    expect(crawlValue({ ...noisy, signals: 1 }, 1) / crawlValue(noisy, 1)).toBeLessThan(1.2);
  });

  it('of a threshold on signals agrees with chance played out', () => {
    const random = seededRandom(5).next;
    const [silentRate, signalRate, falseShare, threshold] = [0.05, 0.3, 0.2, 0.35];
    const worth = -Math.log(falseShare) / silentRate;
    const interval = -Math.log(threshold) / silentRate;
    let [fresh, waited] = [0, 0];
    const rounds = 100_000;
    for (let round = 0; round < rounds; round++) {
      let [time, signals, sure] = [0, 0, 1];
      while (time + signals * worth < interval) {
        const signalAt = -Math.log(1 - random()) / signalRate;
        const stop = Math.min(signalAt, interval - time - signals * worth);
        fresh += (sure * -Math.expm1(-silentRate * stop)) / silentRate;
        sure *= Math.exp(-silentRate * stop);
        time += stop;
        if (stop === signalAt) {
          signals++;
          sure *= falseShare;
        }
      }
      waited += time;
    }
    const known = { shape: 1e6 * silentRate, days: 1e6 };
    const page = { ...PAGE, ...known, signals: 0, signalRate, falseShare };
    // The age term, which this threshold does not know, taken off again: it is the same without signals.
    const ageTerm =
      crawlValue({ ...page, signalRate: 0 }, interval) -
      (-Math.expm1(-silentRate * interval) / silentRate - interval * threshold);
    const played = (fresh - threshold * waited) / rounds;
    expect((crawlValue(page, interval) - ageTerm) / played).toBeCloseTo(1, 1);
  });
});

describe('the interval at a price', () => {
  it('is where the value reaches the price, within the bounds it is given', () => {
    const random = seededRandom(3).next;
    for (let i = 0; i < 500; i++) {
      const page: PageOutlook = {
        shape: 0.05 + 6 * random() ** 3,
        days: 0.05 + 300 * random() ** 4,
        weight: Math.exp(6 * random() - 3),
        signals: Math.floor(3 * random()),
        signalRate: random() < 0.5 ? 0 : random(),
        falseShare: 0.05 + 0.6 * random(),
      };
      const price = Math.exp(10 * random() - 5);
      const interval = intervalAt(page, price, 0.01, 365);
      expect(interval).toBeGreaterThanOrEqual(0.01);
      expect(interval).toBeLessThanOrEqual(365);
      const label = JSON.stringify({ page, price, interval });
      if (interval > 0.01) expect(crawlValue(page, interval * 0.99) / price, label).toBeLessThan(1.002);
      if (interval < 365) expect(crawlValue(page, interval * 1.01) / price, label).toBeGreaterThan(0.998);
    }
  });

  it('is a whole cycle where there are no signals, and is cut short where there are', () => {
    const price = 0.5;
    const cycle = (page: PageOutlook) => meanCycle(page, price, 0.01, 365);
    expect(cycle(PAGE)).toBe(intervalAt(PAGE, price, 0.01, 365));
    const quiet = { ...PAGE, shape: 1, days: 100, signalRate: 0.01, falseShare: 0.1 };
    const busy = { ...quiet, signalRate: 0.5 };
    expect(cycle(quiet)).toBeLessThan(intervalAt(quiet, price, 0.01, 365));
    // A trusted signal every two days on the average, and each is worth a visit after a few days.
    expect(cycle(busy)).toBeLessThan(cycle(quiet) / 3);
  });
});
