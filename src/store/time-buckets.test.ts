import { describe, expect, it } from 'vitest';
import { chooseBuckets, MOST_BUCKETS } from './time-buckets.ts';

const DAY = 86_400_000;
const at = (text: string) => Date.parse(text);

describe('columns of time', () => {
  it('are days for a project that is crawled every day', () => {
    const buckets = chooseBuckets(at('2025-03-01T02:00:00Z'), at('2025-03-30T02:10:00Z'), 30);
    expect(buckets).toEqual({ start: at('2025-03-01T00:00:00Z'), stepMs: DAY, count: 30 });
  });

  it('are weeks that begin on Mondays for one that is crawled every week', () => {
    const buckets = chooseBuckets(at('2025-03-05T02:00:00Z'), at('2025-05-21T03:00:00Z'), 12);
    expect(buckets).toEqual({ start: at('2025-03-03T00:00:00Z'), stepMs: 7 * DAY, count: 12 });
  });

  it('are hours where runs come every few minutes for two days', () => {
    const { stepMs } = chooseBuckets(at('2025-03-01T00:00:00Z'), at('2025-03-02T23:00:00Z'), 500);
    expect(stepMs).toBe(3_600_000);
  });

  it('lie inside of a single run', () => {
    const first = at('2025-03-01T12:00:00Z');
    expect(chooseBuckets(first, first + 40_000, 1)).toEqual({ start: first, stepMs: 1000, count: 41 });
    expect(chooseBuckets(first, first, 1)).toEqual({ start: first, stepMs: 1000, count: 1 });
  });

  it('hold the first and the last visit and are never too many, whatever the span', () => {
    for (let power = 0; power < 13; power += 0.25) {
      for (const runs of [1, 2, 30, 10_000]) {
        const first = at('2024-02-29T23:59:59.999Z');
        const last = Math.round(first + 10 ** power);
        const { start, stepMs, count } = chooseBuckets(first, last, runs);
        expect(start).toBeLessThanOrEqual(first);
        expect(Math.floor((first - start) / stepMs)).toBe(0);
        expect(Math.floor((last - start) / stepMs)).toBe(count - 1);
        expect(count).toBeLessThanOrEqual(MOST_BUCKETS);
      }
    }
  });
});
