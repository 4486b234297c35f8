/**
 * Token buckets: so many requests a second for each token or address, more for a moment. Failed sign-ins of an address have a
 * much smaller one, so that tokens cannot be tried out. Memory is bounded: the bucket that rested longest is dropped, which
 * only forgives.
 */
import type { Clock } from '../primitives/clock.ts';

export interface RateRule {
  perSecond: number;
  burst: number;
}

export interface RateLimits {
  /** Takes one from the bucket; the seconds to wait where it is empty, else 0. */
  take(key: string): number;
}

const MOST_BUCKETS = 10_000;
/** Sixths of a second add up to a little less than a whole one. */
const ROUNDING = 1e-9;

export function createRateLimits(clock: Clock, { perSecond, burst }: RateRule): RateLimits {
  if (perSecond === 0) return { take: () => 0 };
  const buckets = new Map<string, { left: number; at: number }>();

  function read(key: string): { left: number; at: number } {
    const now = clock.monotonic();
    const before = buckets.get(key);
    if (before === undefined) return { left: burst, at: now };
    const left = Math.min(burst, before.left + ((now - before.at) / 1000) * perSecond);
    return { left, at: now };
  }

  const secondsFor = (left: number) =>
    left >= 1 - ROUNDING ? 0 : Math.max(1, Math.ceil((1 - left - ROUNDING) / perSecond));

  return {
    take(key) {
      const bucket = read(key);
      const seconds = secondsFor(bucket.left);
      if (seconds === 0) bucket.left -= 1;
      // Last in the map: the first is the one that rested longest.
      buckets.delete(key);
      buckets.set(key, bucket);
      if (buckets.size > MOST_BUCKETS) buckets.delete(buckets.keys().next().value as string);
      return seconds;
    },
  };
}
