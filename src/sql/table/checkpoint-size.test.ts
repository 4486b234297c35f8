import { expect, it } from 'vitest';
import { createCheckpointSize } from './checkpoint-size.ts';

it('stays for small rows, and grows to a whole row group of large ones, up to a bound', () => {
  const small = createCheckpointSize();
  for (let i = 0; i < 100; i++) expect(small.note(100, 100 * 2000)).toBe(null);
  const large = createCheckpointSize();
  expect(large.note(100, 100 * 40_000)).toBe(null);
  expect(large.note(200, 200 * 40_000)).toBe(160);
  expect(large.note(200, 200 * 40_000)).toBe(null);
  expect(large.note(10_000, 10_000 * 1_000_000)).toBe(512);
  expect(large.note(10_000, 10_000 * 1_000_000)).toBe(null);
});
