import { describe, expect, it } from 'vitest';
import { createUrlHasher, type UrlHasher } from '../../primitives/url-hash.ts';
import { NO_DEPTH } from '../settlement.ts';
import { KnownUrls } from './known-urls.ts';
import { PageDepths } from './page-depths.ts';

const open = () => new KnownUrls(createUrlHasher(Uint32Array.of(1, 2, 3, 4)), new PageDepths());

/** Every URL is "a,b,c,d": its own hash, so that tests can choose collisions. */
function chosenHasher(): UrlHasher {
  const words = new Uint32Array(4);
  return { words, hash: (url) => words.set(url.split(',').map(Number)) };
}

describe('the seen-table', () => {
  it('finds what was added and nothing else', () => {
    const known = open();
    expect(known.find('https://a.test/')).toBe(0);
    known.addLast(5, 2);
    expect(known.find('https://a.test/')).toBe(5);
    expect(known.find('https://a.test')).toBe(0);
    expect(known.size).toBe(1);
  });

  it('keeps a hundred thousand URLs apart through all growing', () => {
    const known = open();
    for (let id = 1; id <= 100_000; id++) {
      expect(known.find(`https://a.test/${id}`)).toBe(0);
      known.addLast(id, id % 300);
    }
    expect(known.size).toBe(100_000);
    for (let id = 1; id <= 100_000; id++) {
      if (known.find(`https://a.test/${id}`) !== id) expect(known.find(`https://a.test/${id}`)).toBe(id);
      if (known.depthOf(id) !== id % 300) expect(known.depthOf(id)).toBe(id % 300);
    }
    expect(known.find('https://a.test/100001')).toBe(0);
  });

  it('finds ahead what it finds, also what is added meanwhile', () => {
    const known = open();
    const urls = Array.from({ length: 1000 }, (_, i) => ({ url: `https://a.test/${i % 700}` }));
    const found: number[] = [];
    let next = 1;
    while (found.length < urls.length) {
      const count = known.lookAhead(urls, found.length);
      expect(count).toBeGreaterThan(0);
      for (let i = 0; i < count; i++) {
        const id = known.findAhead(i) || next;
        if (id === next) known.addLast(next++, 0);
        found.push(id);
      }
    }
    expect(known.size).toBe(700);
    expect(found).toEqual(urls.map((_, i) => (i % 700) + 1));
    expect(urls.map(({ url }) => known.find(url))).toEqual(found);
    expect(known.lookAhead(urls, 1000)).toBe(0);
  });

  it('tells hashes apart that differ in one word only, all in one segment and one slot', () => {
    const known = new KnownUrls(chosenHasher(), new PageDepths());
    const hashes: string[] = [];
    for (let i = 0; i < 200; i++) hashes.push(`256,4294967295,${i},0`, `256,4294967295,0,${i + 1000}`);
    for (const [i, hash] of hashes.entries()) {
      expect(known.find(hash)).toBe(0);
      known.addLast(i + 1, 0);
    }
    expect(hashes.map((hash) => known.find(hash))).toEqual(hashes.map((_, i) => i + 1));
    expect(known.find('512,4294967295,5,0')).toBe(0);
  });

  it('keeps depths apart from "no path yet", and caps what no counter can hold', () => {
    const known = open();
    for (const [i, depth] of [0, 255, NO_DEPTH - 1, NO_DEPTH, 1_000_000].entries()) {
      known.find(`https://a.test/${i}`);
      known.addLast(i + 1, depth);
    }
    expect([1, 2, 3, 4, 5].map((id) => known.depthOf(id))).toEqual([
      0,
      255,
      NO_DEPTH - 1,
      NO_DEPTH,
      NO_DEPTH - 1,
    ]);
    known.setDepth(4, 3);
    expect(known.depthOf(4)).toBe(3);
  });
});
