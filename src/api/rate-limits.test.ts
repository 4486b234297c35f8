import { describe, expect, it } from 'vitest';
import { createRateLimits } from './rate-limits.ts';

function fakeClock() {
  let now = 0;
  return {
    clock: { now: () => now, monotonic: () => now, after: () => () => {} },
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
  };
}

describe('a rate limit', () => {
  it('lets a burst through, then as many as it says, for each key by itself', () => {
    const { clock, pass } = fakeClock();
    const limits = createRateLimits(clock, { perSecond: 2, burst: 5 });
    expect(Array.from({ length: 6 }, () => limits.take('a'))).toEqual([0, 0, 0, 0, 0, 1]);
    expect(limits.take('b')).toBe(0);
    pass(1);
    expect([limits.take('a'), limits.take('a'), limits.take('a')]).toEqual([0, 0, 1]);
    pass(3600);
    expect(Array.from({ length: 6 }, () => limits.take('a'))).toEqual([0, 0, 0, 0, 0, 1]);
  });

  it('says how long to wait, and a wait of that long is enough', () => {
    const { clock, pass } = fakeClock();
    const limits = createRateLimits(clock, { perSecond: 1 / 6, burst: 1 });
    expect([limits.take('a'), limits.take('a')]).toEqual([0, 6]);
    pass(4);
    expect(limits.take('a')).toBe(2);
    pass(2);
    expect(limits.take('a')).toBe(0);
  });

  it('of nothing is none, and many keys take no memory without end', () => {
    const { clock } = fakeClock();
    const none = createRateLimits(clock, { perSecond: 0, burst: 0 });
    expect(none.take('a')).toBe(0);
    const limits = createRateLimits(clock, { perSecond: 1, burst: 1 });
    limits.take('first');
    for (let key = 0; key < 10_000; key++) limits.take(`k${key}`);
    expect(limits.take('first')).toBe(0);
    expect(limits.take('k9999')).toBe(1);
  });
});
