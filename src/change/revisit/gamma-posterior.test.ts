import { describe, expect, it } from 'vitest';
import {
  afterChange,
  chanceSame,
  digamma,
  fitPrior,
  type GammaRate,
  meanLogRate,
} from './gamma-posterior.ts';

/** The mean of any function of the rate under a Gamma times a likelihood, by brute force over the logarithm of the rate. */
function integrate(
  rate: GammaRate,
  likelihood: (d: number) => number,
  measured: (d: number) => number,
): number {
  let [sum, weight] = [0, 0];
  for (let log = -160; log < 8; log += 2e-3) {
    const d = Math.exp(log);
    const density = Math.exp(rate.shape * log - rate.days * d) * likelihood(d);
    weight += density;
    sum += density * measured(d);
  }
  return sum / weight;
}

const RATES: GammaRate[] = [
  { shape: 0.7, days: 3 },
  { shape: 0.15, days: 0.5 },
  { shape: 2, days: 40 },
  { shape: 9, days: 4 },
];

describe('the posterior of a change rate', () => {
  it('has the exact mean and variance after a change at an unknown moment', () => {
    for (const rate of RATES) {
      for (const elapsed of [0.04, 1, 30]) {
        const likelihood = (d: number) => -Math.expm1(-d * elapsed);
        const mean = integrate(rate, likelihood, (d) => d);
        const variance = integrate(rate, likelihood, (d) => (d - mean) ** 2);
        const after = afterChange(rate, elapsed);
        expect(after.shape / after.days).toBeCloseTo(mean, 6);
        expect(after.shape / after.days ** 2 / variance).toBeCloseTo(1, 4);
      }
    }
  });

  it('learns less from a change that a signal had told of', () => {
    for (const rate of RATES) {
      const falseShare = 0.2;
      const likelihood = (d: number) => 1 - falseShare ** 2 * Math.exp(-d * 5);
      const mean = integrate(rate, likelihood, (d) => d);
      const after = afterChange(rate, 5, 2 * Math.log(falseShare));
      expect(after.shape / after.days).toBeCloseTo(mean, 6);
      const unsignalled = afterChange(rate, 5);
      expect(unsignalled.shape / unsignalled.days).toBeGreaterThan(mean);
    }
  });

  it('is exact after an unchanged visit and after a dated change: days are added, and one to the shape', () => {
    const rate = { shape: 0.7, days: 3 };
    const unchanged = integrate(
      rate,
      (d) => Math.exp(-d * 4),
      (d) => d,
    );
    expect(rate.shape / (rate.days + 4)).toBeCloseTo(unchanged, 6);
    const dated = integrate(
      rate,
      (d) => d * Math.exp(-d * 4),
      (d) => d,
    );
    expect((rate.shape + 1) / (rate.days + 4)).toBeCloseTo(dated, 6);
  });

  it('gives the chance that nothing changed', () => {
    for (const rate of RATES) {
      const same = integrate(
        rate,
        () => 1,
        (d) => Math.exp(-d * 6),
      );
      expect(chanceSame(rate, 6)).toBeCloseTo(same, 5);
    }
    expect(chanceSame(RATES[0], 0)).toBe(1);
  });
});

describe('the prior', () => {
  it('of pages that all follow one Gamma is that Gamma', () => {
    for (const rate of RATES.filter(({ shape }) => shape >= 0.15 && shape <= 5)) {
      const meanLog = integrate(
        rate,
        () => 1,
        (d) => Math.log(d),
      );
      expect(meanLogRate(rate)).toBeCloseTo(meanLog, 3);
      const fitted = fitPrior(rate.shape / rate.days, meanLogRate(rate));
      expect(fitted.shape / rate.shape).toBeCloseTo(1, 5);
      expect(fitted.days / rate.days).toBeCloseTo(1, 5);
    }
  });

  it('stays within bounds for pages that are all alike and for pages that could not differ more', () => {
    expect(fitPrior(0.1, Math.log(0.1)).shape).toBe(5);
    expect(fitPrior(1, -1000).shape).toBe(0.15);
  });

  it('rests on a digamma that keeps its recurrence and its known values', () => {
    expect(digamma(1)).toBeCloseTo(-0.5772156649, 9);
    expect(digamma(0.5)).toBeCloseTo(-1.963510026, 9);
    expect(digamma(3.7) - digamma(2.7)).toBeCloseTo(1 / 2.7, 9);
  });
});
