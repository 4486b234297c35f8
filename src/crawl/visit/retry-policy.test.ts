import { describe, expect, it } from 'vitest';
import { type RetryOptions, retryPauseMs } from './retry-policy.ts';

function pauses(options: Partial<RetryOptions>): (number | null)[] {
  const all = { retries: 6, backoff: 'constant', delayMs: 1000, maxBackoffMs: 600_000, ...options } as const;
  return Array.from({ length: all.retries + 1 }, (_, i) => retryPauseMs(i + 1, all));
}

describe('the pause before a retry', () => {
  it('doubles in the site profile', () => {
    expect(pauses({ backoff: 'exponential', retries: 4 })).toEqual([1000, 2000, 4000, 8000, null]);
  });

  it('stays the same in the terrain profile', () => {
    expect(pauses({ backoff: 'constant', retries: 3, delayMs: 5000 })).toEqual([5000, 5000, 5000, null]);
  });

  it('goes 1, 1, 2, 3, 5 in the sql profile', () => {
    expect(pauses({ backoff: 'fibonacci', retries: 6 })).toEqual([1000, 1000, 2000, 3000, 5000, 8000, null]);
  });

  it('is never longer than the cap', () => {
    expect(
      retryPauseMs(30, { retries: 30, backoff: 'fibonacci', delayMs: 1000, maxBackoffMs: 600_000 }),
    ).toBe(600_000);
    expect(retryPauseMs(2000, { retries: 9999, backoff: 'exponential', delayMs: 1, maxBackoffMs: 7 })).toBe(
      7,
    );
  });

  it('is none at all when nothing may be tried again', () => {
    expect(pauses({ retries: 0 })).toEqual([null]);
  });
});
