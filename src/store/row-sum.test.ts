import { describe, expect, it } from 'vitest';
import { RowSum } from './row-sum.ts';

function sumOf(...rows: unknown[][]): string {
  const sum = new RowSum();
  for (const row of rows) sum.add(row);
  return sum.checksum;
}

describe('the sum of rows', () => {
  it('is the same in any order', () => {
    expect(sumOf([1, 'a'], [2, null], [3, [1, 2]])).toBe(sumOf([3, [1, 2]], [1, 'a'], [2, null]));
  });

  it('differs when a row is missing, changed or there twice', () => {
    const whole = sumOf([1, 'a'], [2, 'b']);
    expect(sumOf([1, 'a'])).not.toBe(whole);
    expect(sumOf([1, 'a'], [2, 'c'])).not.toBe(whole);
    expect(sumOf([1, 'a'], [2, 'b'], [2, 'b'])).not.toBe(whole);
  });

  it('tells text from number and nothing from empty', () => {
    expect(new Set([sumOf([1]), sumOf(['1']), sumOf([null]), sumOf(['']), sumOf([])]).size).toBe(5);
  });

  it('is the sum of the 64-bit hashes, carried over the two halves', () => {
    const rows = Array.from({ length: 50 }, (_, i) => [i]);
    const expected = rows.reduce((sum, row) => (sum + BigInt(`0x${sumOf(row)}`)) % 2n ** 64n, 0n);
    expect(sumOf(...rows)).toBe(expected.toString(16).padStart(16, '0'));
  });
});
