import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { HrefCache, MISS, NO_PAGE, PENDING } from './href-cache.ts';

const encode = (text: string) => new TextEncoder().encode(text);

/** Any 32-bit hash will do: the cache compares the bytes. */
function hashOf(bytes: Uint8Array): number {
  let hash = 7;
  for (const byte of bytes) hash = (Math.imul(hash, 31) + byte) | 0;
  return hash;
}

function open() {
  const cache = new HrefCache();
  return {
    cache,
    find(base: number, href: string, hash = hashOf(encode(href))): number {
      const bytes = encode(`<${href}>`);
      return cache.find(base, bytes, 1, bytes.length - 1, hash);
    },
    put(base: number, href: string, value: number, hash = hashOf(encode(href))): void {
      const bytes = encode(`(${href})`);
      cache.put(base, bytes, 1, bytes.length - 1, hash, value);
      bytes.fill(0);
    },
  };
}

describe('the href cache', () => {
  it('knows nothing at first, then what it was told, by base', () => {
    const { cache, find, put } = open();
    const [a, b] = [cache.newBase(), cache.newBase()];
    expect(a).not.toBe(b);
    expect(find(a, 'x.html')).toBe(MISS);
    put(a, 'x.html', 12);
    expect(find(a, 'x.html')).toBe(12);
    expect(find(b, 'x.html')).toBe(MISS);
    expect(find(a, 'x.htm')).toBe(MISS);
    put(b, 'x.html', NO_PAGE);
    expect(find(b, 'x.html')).toBe(NO_PAGE);
    expect(find(a, 'x.html')).toBe(12);
  });

  it('keeps the first meaning of an href', () => {
    const { cache, find, put } = open();
    const base = cache.newBase();
    put(base, 'x', 1);
    put(base, 'x', 2);
    expect(find(base, 'x')).toBe(1);
  });

  it('learns what became of an href that was pending, unless something else stands there by then', () => {
    const { cache, find } = open();
    const base = cache.newBase();
    const put = (href: string, value: number): number =>
      cache.put(base, encode(href), 0, href.length, hashOf(encode(href)), value);
    const slot = put('x', PENDING - 5);
    expect(find(base, 'x')).toBe(PENDING - 5);
    cache.settle(slot, PENDING - 4, 1);
    expect(find(base, 'x')).toBe(PENDING - 5);
    expect(put('x', PENDING - 6)).toBe(slot);
    cache.settle(slot, PENDING - 5, 2);
    expect(find(base, 'x')).toBe(PENDING - 6);
    cache.settle(slot, PENDING - 6, 3);
    expect(find(base, 'x')).toBe(3);
    expect(put('y'.repeat(20_000), PENDING)).toBe(-1);
    cache.settle(-1, PENDING, 4);
    cache.clear();
    cache.settle(slot, 3, 5);
    expect(find(base, 'x')).toBe(MISS);
  });

  it('never takes one href for another, though their hashes are chosen to be equal', () => {
    const { cache, find, put } = open();
    const base = cache.newBase();
    for (let i = 0; i < 500; i++) put(base, `collides/${i}`, i + 1, 42);
    let known = 0;
    for (let i = 0; i < 500; i++) {
      const found = find(base, `collides/${i}`, 42);
      if (found !== MISS) known++;
      expect([MISS, i + 1]).toContain(found);
    }
    // A crowded neighbourhood counts as a miss: the rest is looked up the long way.
    expect(known).toBeGreaterThan(0);
    expect(known).toBeLessThan(100);
  });

  it('does not remember hrefs that would crowd out all others', () => {
    const { cache, find, put } = open();
    const base = cache.newBase();
    put(base, 'kept', 5);
    put(base, 'x'.repeat(9 * 1024 * 1024), 6);
    put(base, 'y'.repeat(20_000), 7);
    expect(find(base, 'kept')).toBe(5);
    expect(find(base, 'y'.repeat(20_000))).toBe(MISS);
  });

  it('agrees with a map on any mixture of finds and puts, also when it is full and starts anew', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const { cache, find, put } = open();
    const truth = new Map<string, number>();
    const bases = Array.from({ length: 20 }, () => cache.newBase());
    let hits = 0;
    for (let i = 1; i <= 250_000; i++) {
      const base = random.pick(bases);
      // Half of the hrefs are asked for often, half are new: more than the cache holds.
      const href = random.below(2) === 0 ? `often/${random.below(500)}` : `page-${i}`;
      const key = `${base} ${href}`;
      const found = find(base, href);
      if (found === MISS) {
        const value = truth.get(key) ?? i;
        truth.set(key, value);
        put(base, href, value);
      } else {
        hits++;
        if (found !== truth.get(key)) expect(found, `seed ${seed}: ${key}`).toBe(truth.get(key));
      }
    }
    expect(hits).toBeGreaterThan(50_000);
  });

  it('forgets everything when told to, and base numbers are never used twice', () => {
    const { cache, find, put } = open();
    const base = cache.newBase();
    put(base, 'x', 1);
    cache.clear();
    expect(find(base, 'x')).toBe(MISS);
    expect(cache.newBase()).not.toBe(base);
  });
});
