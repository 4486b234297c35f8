import { describe, expect, it } from 'vitest';
import { PageNumbers } from './page-numbers.ts';

describe('page numbers', () => {
  it('count ids in their order, from 1, over gaps', () => {
    const numbers = new PageNumbers();
    for (const id of [3, 4, 5, 9, 20, 21]) numbers.add(id);
    expect([3, 4, 5, 9, 20, 21].map((id) => numbers.numberOf(id))).toEqual([1, 2, 3, 4, 5, 6]);
    expect([1, 2, 3, 4, 5, 6].map((number) => numbers.idOf(number))).toEqual([3, 4, 5, 9, 20, 21]);
    expect(numbers.size).toBe(6);
  });

  it('know which ids are not of the project', () => {
    const numbers = PageNumbers.of([
      [3, 2],
      [10, 1],
    ]);
    expect([1, 2, 5, 9, 11, 1000].map((id) => numbers.numberOf(id))).toEqual([0, 0, 0, 0, 0, 0]);
    expect(() => numbers.idOf(0)).toThrow('no page number 0');
    expect(() => numbers.idOf(4)).toThrow('no page number 4');
  });

  it('keep ids in a row as one range, and give the ranges back', () => {
    const ranges: [number, number][] = [
      [1, 1_000_000],
      [2_000_000, 5],
    ];
    expect(PageNumbers.of(ranges).ranges()).toEqual(ranges);
    const joined = PageNumbers.of([
      [1, 10],
      [11, 10],
    ]);
    expect(joined.ranges()).toEqual([[1, 20]]);
  });

  it('hold any number of ranges', () => {
    const numbers = new PageNumbers();
    for (let id = 2; id < 2000; id += 2) numbers.add(id);
    for (let id = 2; id < 2000; id += 2) expect(numbers.idOf(numbers.numberOf(id))).toBe(id);
    expect(numbers.numberOf(1001)).toBe(0);
  });

  it('refuse ids out of order', () => {
    const numbers = PageNumbers.of([[5, 3]]);
    expect(() => numbers.add(7)).toThrow('page 7 comes after page 7');
    expect(new PageNumbers().size).toBe(0);
  });
});
