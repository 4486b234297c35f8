import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { PageSet } from './page-set.ts';

describe('a set of pages', () => {
  it('holds what a set of numbers holds, whatever their order and size', () => {
    const random = seededRandom(7);
    const pages = new PageSet();
    const numbers = new Set<number>();
    for (let i = 0; i < 5000; i++) {
      const id = 1 + Math.floor(random.next() * (i % 2 === 0 ? 2000 : 3_000_000));
      expect(pages.add(id)).toBe(!numbers.has(id));
      numbers.add(id);
    }
    for (let id = 0; id < 4000; id++) expect(pages.has(id)).toBe(numbers.has(id));
    expect(pages.has(2 ** 31 - 1)).toBe(false);
    expect(pages.add(2 ** 24 + 31)).toBe(true);
    expect(pages.has(2 ** 24 + 31)).toBe(true);
  });
});
