/**
 * What is known of a page's change rate, as a Gamma distribution of two numbers: shape and days. Its mean is shape /
 * days, in changes a day. Each visit updates it; a prior is fitted over the pages of a host. Unchanged visits and dated
 * changes are exact. After a change at an unknown moment the result is no Gamma, and the Gamma with the same mean and
 * variance takes its place. Knows no pages, hosts or time.
 */

export interface GammaRate {
  shape: number;
  /** Days of observation that the shape stands for. */
  days: number;
}

/** Both numbers stay above this: increments over a prior may be larger than a new prior. */
export const LEAST_RATE_NUMBER = 0.02;

/**
 * After a visit that found a change somewhere in the `elapsed` days since the last one. `logFalse` is the logarithm of
 * the chance that all signals of that time were false; 0 without signals.
 */
export function afterChange(rate: GammaRate, elapsed: number, logFalse = 0): GammaRate {
  const { shape, days } = rate;
  const stretch = Math.log1p(elapsed / days);
  const logSame = logFalse - shape * stretch;
  const changed = -Math.expm1(logSame);
  const mean = ((shape / days) * -Math.expm1(logSame - stretch)) / changed;
  const square = (((shape * (shape + 1)) / (days * days)) * -Math.expm1(logSame - 2 * stretch)) / changed;
  const variance = Math.max(square - mean * mean, 1e-12 * mean * mean);
  return { shape: (mean * mean) / variance, days: mean / variance };
}

/** The chance that a page did not change in `elapsed` days. */
export function chanceSame(rate: GammaRate, elapsed: number): number {
  return Math.exp(-rate.shape * Math.log1p(elapsed / rate.days));
}

/** The expected logarithm of the rate, which together with its mean fits a prior. */
export function meanLogRate(rate: GammaRate): number {
  return digamma(rate.shape) - Math.log(rate.days);
}

/** The Gamma with this mean and this mean logarithm; the shape within what priors of real sites need. */
export function fitPrior(mean: number, meanLog: number): GammaRate {
  const spread = Math.max(Math.log(mean) - meanLog, 1e-4);
  let shape = (3 - spread + Math.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread);
  for (let round = 0; round < 8; round++) {
    const step = 1e-4 * shape;
    const error = Math.log(shape) - digamma(shape) - spread;
    const slope = (Math.log(shape + step) - digamma(shape + step) - spread - error) / step;
    shape = Math.min(Math.max(shape - error / slope, shape / 3), shape * 3);
  }
  shape = Math.min(Math.max(shape, 0.15), 5);
  return { shape, days: shape / mean };
}

/** Upwards by its recurrence until the asymptotic series is exact to ten digits. */
export function digamma(x: number): number {
  let sum = 0;
  let at = x;
  for (; at < 8; at++) sum -= 1 / at;
  const inverse = 1 / (at * at);
  const series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse / 240)));
  return sum + Math.log(at) - 0.5 / at - series;
}
