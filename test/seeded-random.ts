/** Chance that can be repeated: the same seed gives the same numbers. A test that fails prints its seed. */
export interface SeededRandom {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Numerical Recipes' linear congruence on 32 bits, its upper bits stirred once more. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  function next(): number {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const stirred = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    return ((stirred ^ (stirred >>> 12)) >>> 0) / 0x1_0000_0000;
  }
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, pick: (items) => items[below(items.length)] };
}
