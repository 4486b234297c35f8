import { expect, it } from 'vitest';
import { mostWalked } from './most-walked.ts';

it('a small project may always be walked, a large one by a run of its size', () => {
  expect(mostWalked(0)).toBeGreaterThanOrEqual(10_000);
  expect(mostWalked(100_000)).toBeGreaterThanOrEqual(1_000_000);
  expect(mostWalked(100)).toBeLessThan(100_000);
});
