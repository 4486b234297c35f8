import { describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { dropRepeats } from '../drop-repeats.ts';
import { type LinkTargets, UNFOLLOWED } from '../settlement.ts';
import { packFlags, packNumbers, unpackNumbers } from './pack-links.ts';

function links(targets: number[], flags: number[] = [], anchors: string[] | null = null): LinkTargets {
  return {
    count: targets.length,
    targets: Int32Array.from(targets),
    flags: Uint8Array.from(targets, (_, i) => flags[i] ?? 0),
    anchors,
  };
}

describe('packing numbers', () => {
  it('writes JSON that everybody reads, digit for digit', () => {
    const numbers = [0, 1, 9, 10, 99, 100, 12_345, 999_999_999, 2_147_483_647, 4_294_967_295];
    expect(packNumbers(numbers, numbers.length).toString()).toBe(JSON.stringify(numbers));
  });

  it('takes the first so many, none, or more than fit its buffer', () => {
    expect(packNumbers([1, 2, 3], 2).toString()).toBe('[1,2]');
    expect(packNumbers([], 0).toString()).toBe('[]');
    const many = Array.from({ length: 50_000 }, (_, i) => 2_147_483_647 - i);
    expect(unpackNumbers(packNumbers(many, many.length).toString())).toEqual(many);
  });

  it('leaves flags out where none is set', () => {
    expect(packFlags(Uint8Array.of(0, 0, 4), 2)).toBeNull();
    expect(packFlags(Uint8Array.of(0, 1, 4), 2)).toBe('[0,1]');
  });
});

describe('dropping repeats', () => {
  it('keeps the first of each target, with its flags and anchor', () => {
    const list = links([5, 7, 5, 9, 7], [2, 0, 4, 8, 0], ['a', 'b', 'c', 'd', 'e']);
    expect(dropRepeats(list)).toBe(3);
    expect([...list.targets.subarray(0, 3)]).toEqual([5, 7, 9]);
    expect([...list.flags.subarray(0, 3)]).toEqual([2, 0, 8]);
    expect(list).toMatchObject({ count: 3, anchors: ['a', 'b', 'd'] });
  });

  it('lets one followed link of several make the target followed, wherever it stands', () => {
    const nofollow = 1 | UNFOLLOWED;
    const list = links([5, 5, 6, 6, 7, 7], [nofollow, 0, 0, nofollow, nofollow, nofollow]);
    dropRepeats(list);
    expect([...list.flags.subarray(0, 3)]).toEqual([0, 0, nofollow]);
  });

  it('agrees with a set on random pages of any size, one after the other', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    for (let page = 0; page < 3000; page++) {
      const size = page % 500 === 0 ? 9000 : random.below(120);
      const targets = Array.from(
        { length: size },
        () => 1 + random.below(200) * random.pick([1, 1, 9_000_001]),
      );
      const list = links(targets);
      const count = dropRepeats(list);
      expect([...list.targets.subarray(0, count)], `seed ${seed}, page ${page}`).toEqual([
        ...new Set(targets),
      ]);
    }
  });

  it('does not take the marks of old pages for its own when its count of pages starts anew', async () => {
    vi.resetModules();
    const { dropRepeats: drop } = await import('../drop-repeats.ts');
    const empty = links([]);
    for (let page = 0; page < 2 ** 20 - 60; page++) drop(empty);
    for (let i = 0; i < 50; i++) drop(links(Array.from({ length: 2000 }, (_, j) => 1 + i * 7919 + j * 3)));
    for (let page = 0; page < 20; page++) drop(empty);
    const page = Array.from({ length: 2000 }, (_, i) => 1_000_000 + i);
    expect(drop(links(page))).toBe(2000);
    expect(drop(links([...page.slice(0, 900), ...page.slice(0, 900)]))).toBe(900);
  });
});
