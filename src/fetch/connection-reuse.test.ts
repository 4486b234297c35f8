import { describe, expect, it } from 'vitest';
import { ConnectionReuse } from './connection-reuse.ts';

/** Requests in turn: a number is a rest after which one was not taken, null one that was. */
function learned(requests: (number | null)[]): number {
  const reuse = new ConnectionReuse();
  for (const restMs of requests) {
    if (restMs === null) reuse.taken();
    else reuse.notTaken(restMs);
  }
  return reuse.longestRestMs;
}

const taken = (times: number): null[] => Array(times).fill(null);

describe('ConnectionReuse', () => {
  it('changes nothing while requests are seldom not taken', () => {
    expect(learned([])).toBe(Number.POSITIVE_INFINITY);
    expect(learned([50, 50])).toBe(Number.POSITIVE_INFINITY);
    expect(learned([50, ...taken(9), 50, ...taken(9), 50])).toBe(Number.POSITIVE_INFINITY);
  });

  it('after 3 in 20 requests keeps to half of the shortest rest that ended so', () => {
    expect(learned([50, ...taken(9), 80, ...taken(8), 60])).toBe(25);
    expect(learned([50, 80, 60, ...taken(50)])).toBe(25);
    expect(learned([50, 80, 60, 30])).toBe(15);
  });

  it('uses no connection again where even the shortest rest is too long', () => {
    expect(learned([0.4, 0.3, 12])).toBe(0);
  });
});
