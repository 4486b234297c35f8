import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { MinHeap } from './min-heap.ts';

describe('the heap', () => {
  it('is empty at first: no key, nothing to take', () => {
    const heap = new MinHeap<string>();
    expect(heap.size).toBe(0);
    expect(heap.peekKey()).toBe(Number.POSITIVE_INFINITY);
    expect(heap.pop()).toBeUndefined();
  });

  it('gives equal keys first in, first out', () => {
    const heap = new MinHeap<number>();
    for (let i = 0; i < 50; i++) heap.push(7, i);
    expect(Array.from({ length: 50 }, () => heap.pop())).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  it('agrees with a sorted list on any mixture of pushes and pops', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const heap = new MinHeap<number>();
    const list: { key: number; value: number }[] = [];
    for (let value = 0; value < 20_000; value++) {
      if (random.below(5) < 3) {
        const key = random.below(100);
        heap.push(key, value);
        const at = list.findIndex((item) => item.key > key);
        list.splice(at === -1 ? list.length : at, 0, { key, value });
      } else {
        expect(heap.peekKey(), `seed ${seed}`).toBe(list[0]?.key ?? Number.POSITIVE_INFINITY);
        expect(heap.pop(), `seed ${seed}`).toBe(list.shift()?.value);
      }
      expect(heap.size).toBe(list.length);
    }
  });
});
