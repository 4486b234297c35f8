import { describe, expect, it } from 'vitest';
import type { LinkList } from '../parse/parsed-page.ts';
import {
  contentHash,
  type Facets,
  facetHash,
  hasSameLinks,
  isSameHash,
  linkDigest,
  redirectHash,
  simhashDistance,
  simhashInteger,
  textHash,
} from './fingerprint.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the hash of a body', () => {
  it('is SHA-256 of its bytes, checked against the standard’s example', () => {
    expect(Buffer.from(contentHash(bytes('abc'))).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('takes only the bytes of a view, not the buffer behind it', () => {
    const whole = bytes('xxabcxx');
    expect(contentHash(whole.subarray(2, 5))).toEqual(contentHash(bytes('abc')));
  });

  it('is equal to no hash that is missing', () => {
    const hash = contentHash(bytes('a'));
    expect(isSameHash(hash, contentHash(bytes('a')))).toBe(true);
    expect(isSameHash(hash, contentHash(bytes('b')))).toBe(false);
    expect(isSameHash(hash, null)).toBe(false);
    expect(isSameHash(null, null)).toBe(false);
  });
});

describe('the hash of a text', () => {
  it('is SHA-256 of its bytes, but for the places where words may be broken', () => {
    const plain = bytes('Donaudampfschiff auf dem Fluß');
    expect(textHash(plain)).toEqual(contentHash(plain));
    expect(textHash(bytes('Donau\u00addampf\u200bschiff auf dem Fluß'))).toEqual(contentHash(plain));
    expect(textHash(bytes('Donau-dampf schiff auf dem Fluß'))).not.toEqual(contentHash(plain));
    expect(textHash(bytes('xx\u00adyy').subarray(1, 5))).toEqual(contentHash(bytes('xy')));
  });
});

describe('the hash of what else can change', () => {
  const facets: Facets = {
    title: 'T',
    h1: 'H',
    description: null,
    canonical: null,
    noindex: false,
    nofollow: false,
    robotsOther: '',
    structuredData: null,
  };

  const LINKS = { sum: 1, bits: 2 };
  const OTHER_LINKS = { sum: 1, bits: 3 };

  it('shows whether the links are the same, whatever else is', () => {
    const other = facetHash({ ...facets, title: 'Another' }, LINKS);
    expect(hasSameLinks(facetHash(facets, LINKS), other)).toBe(true);
    expect(hasSameLinks(facetHash(facets, OTHER_LINKS), other)).toBe(false);
    expect(hasSameLinks(null, null)).toBe(false);
  });

  it('changes with every one of its parts', () => {
    const hashes = [
      facetHash(facets, LINKS),
      facetHash(facets, OTHER_LINKS),
      facetHash({ ...facets, title: 'H', h1: 'T' }, LINKS),
      facetHash({ ...facets, title: null }, LINKS),
      facetHash({ ...facets, title: '' }, LINKS),
      facetHash({ ...facets, description: 'D' }, LINKS),
      facetHash({ ...facets, canonical: 'D' }, LINKS),
      facetHash({ ...facets, structuredData: 'D' }, LINKS),
      facetHash({ ...facets, noindex: true }, LINKS),
      facetHash({ ...facets, nofollow: true }, LINKS),
      facetHash({ ...facets, robotsOther: 'noarchive' }, LINKS),
      redirectHash(301, 'links'),
      redirectHash(302, 'links'),
    ].map((hash) => Buffer.from(hash).toString('hex'));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(facetHash({ ...facets }, LINKS)).toEqual(facetHash(facets, LINKS));
  });
});

describe('the digest of links', () => {
  const list = (...hashes: number[]): LinkList => ({
    count: hashes.length,
    // Buffers are used again: what lies beyond the count is of another page.
    hrefHash: Int32Array.of(...hashes, 99),
    bytes: new Uint8Array(0),
    charset: null,
    hrefStart: new Int32Array(0),
    hrefEnd: new Int32Array(0),
    flags: new Uint8Array(hashes.length + 1),
    hrefText: () => '',
    anchorText: () => '',
  });

  it('does not care for the order', () => {
    expect(linkDigest(list(1, 2, -3), null, 0)).toEqual(linkDigest(list(-3, 1, 2), null, 0));
  });

  it('changes with the flags of a link, and with the rules', () => {
    const flagged = (...flags: number[]) => ({ ...list(1, 2), flags: Uint8Array.of(...flags, 0) });
    const all = [
      linkDigest(list(1, 2), null, 0),
      linkDigest(list(1, 2), null, 1),
      linkDigest(list(1, 2), null, ~1),
      linkDigest(flagged(1, 0), null, 0),
      linkDigest(flagged(0, 1), null, 0),
      linkDigest(flagged(1, 1), null, 0),
      linkDigest(flagged(0, 2), null, 0),
    ];
    expect(new Set(all.map((digest) => JSON.stringify(digest))).size).toBe(all.length);
  });

  it('changes when one link comes, goes, or is another, and with the base', () => {
    const all = [
      linkDigest(list(), null, 0),
      linkDigest(list(1, 2), null, 0),
      linkDigest(list(1), null, 0),
      linkDigest(list(1, 2, 3), null, 0),
      linkDigest(list(1, 3), null, 0),
      linkDigest(list(0, 3), null, 0),
      linkDigest(list(1, 2), '/base/', 0),
    ];
    expect(new Set(all.map((digest) => JSON.stringify(digest))).size).toBe(all.length);
  });

  it('tells all pairs of near numbers apart', () => {
    const seen = new Set<string>();
    for (let a = 0; a < 200; a++)
      for (let b = a + 1; b < 200; b++) seen.add(JSON.stringify(linkDigest(list(a, b), null, 0)));
    expect(seen.size).toBe((200 * 199) / 2);
  });
});

describe('the simhash for databases', () => {
  it('keeps all 64 bits in a signed integer', () => {
    expect(simhashInteger(0, 0)).toBe(0n);
    expect(simhashInteger(0, 0xffff_ffff)).toBe(0xffff_ffffn);
    expect(simhashInteger(1, 2)).toBe(0x1_0000_0002n);
    expect(simhashInteger(0x7fff_ffff, 0xffff_ffff)).toBe(2n ** 63n - 1n);
    expect(simhashInteger(0x8000_0000, 0)).toBe(-(2n ** 63n));
    expect(simhashInteger(0xffff_ffff, 0xffff_ffff)).toBe(-1n);
    expect(simhashInteger(-1, -1)).toBe(-1n);
  });

  it('differs in so many bits', () => {
    expect(simhashDistance(0n, 0n)).toBe(0);
    expect(simhashDistance(0n, -1n)).toBe(64);
    expect(simhashDistance(0b1011n, 0b0001n)).toBe(2);
    expect(simhashDistance(null, 1n)).toBeNull();
    expect(simhashDistance(1n, null)).toBeNull();
  });
});
