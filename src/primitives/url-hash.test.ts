import { describe, expect, it } from 'vitest';
import { createUrlHasher } from './url-hash.ts';

const KEY = Uint32Array.of(0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c);

function hashOf(url: string, key = KEY): string {
  const hasher = createUrlHasher(key);
  hasher.hash(url);
  return [...hasher.words].map((word) => word.toString(16).padStart(8, '0')).join(' ');
}

/** The definition, word by word: slow and plain. */
function halfSipHash(text: string, k0: number, k1: number, rounds: number, lastRounds: number): string {
  const rotate = (word: number, by: number) => (word << by) | (word >>> (32 - by));
  const v = [k0, k1 ^ 0xee, 0x6c796765 ^ k0, 0x74656462 ^ k1];
  const mix = (count: number) => {
    for (let i = 0; i < count; i++) {
      v[0] = (v[0] + v[1]) | 0;
      v[1] = rotate(v[1], 5) ^ v[0];
      v[0] = rotate(v[0], 16);
      v[2] = (v[2] + v[3]) | 0;
      v[3] = rotate(v[3], 8) ^ v[2];
      v[0] = (v[0] + v[3]) | 0;
      v[3] = rotate(v[3], 7) ^ v[0];
      v[2] = (v[2] + v[1]) | 0;
      v[1] = rotate(v[1], 13) ^ v[2];
      v[2] = rotate(v[2], 16);
    }
  };
  const bytes = Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(4 - (text.length % 4))]);
  bytes[bytes.length - 1] = text.length & 0xff;
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.readInt32LE(at);
    v[3] ^= word;
    mix(rounds);
    v[0] ^= word;
  }
  const output = (by: number, into: number) => {
    v[into] ^= by;
    mix(lastRounds);
    return ((v[1] ^ v[3]) >>> 0).toString(16).padStart(8, '0');
  };
  return `${output(0xee, 2)} ${output(0xdd, 1)}`;
}

describe('the identity hash', () => {
  it('is HalfSipHash-1-3 with 64 bits of output, as a plain one written from its definition says', () => {
    for (const text of ['', 'a', 'abc', 'abcd', 'https://a.test/a/page?x=1', 'x'.repeat(300)]) {
      const [first, second] = [
        halfSipHash(text, KEY[0], KEY[1], 1, 3),
        halfSipHash(text, KEY[2], KEY[3], 1, 3),
      ];
      expect(hashOf(text)).toBe(`${first} ${second}`);
    }
  });

  it('has a judge that gives the published vectors of HalfSipHash-2-4', () => {
    // Key 00 01 … 07, messages of no byte, 00, 00 01.
    const vectors = ['', '\u0000', '\u0000\u0001'].map((text) => halfSipHash(text, KEY[0], KEY[1], 2, 4));
    expect(vectors).toEqual(['591f8d21 c83cb8b9', '122455be 157338f8', 'ef394f06 57eb507c']);
  });

  it('is the same for the same URL and key, whatever was hashed before', () => {
    const hasher = createUrlHasher(KEY);
    hasher.hash('https://a.test/x');
    const first = [...hasher.words];
    hasher.hash('https://a.test/a-much-longer-one');
    hasher.hash('https://a.test/x');
    expect([...hasher.words]).toEqual(first);
  });

  it('depends on both keys, each in its half', () => {
    const url = 'https://a.test/x';
    const [a, b] = [hashOf(url), hashOf(url, Uint32Array.of(KEY[0], KEY[1], 9, 9))];
    expect(b.slice(0, 17)).toBe(a.slice(0, 17));
    expect(b.slice(18)).not.toBe(a.slice(18));
    expect(hashOf(url, Uint32Array.of(9, KEY[1], KEY[2], KEY[3])).slice(0, 17)).not.toBe(a.slice(0, 17));
  });

  it('tells apart URLs that differ in any one character, in length, or in order', () => {
    const base = 'https://a.test/path/to/a/page?with=query';
    const urls = [base, `${base}0`, base.slice(0, -1), `${base}\0`];
    for (let i = 0; i < base.length; i++) {
      const code = base.charCodeAt(i);
      urls.push(base.slice(0, i) + String.fromCharCode(code ^ 1) + base.slice(i + 1));
    }
    expect(new Set(urls.map((url) => hashOf(url))).size).toBe(urls.length);
  });

  it('takes lone and paired wide characters by their UTF-8 bytes', () => {
    const utf8 = (text: string) => Buffer.from(text).toString('latin1');
    for (const text of ['https://a.test/日本', 'a€', '😀b']) expect(hashOf(text)).toBe(hashOf(utf8(text)));
    expect(hashOf('https://a.test/日')).not.toBe(hashOf('https://a.test/本'));
  });

  it('spreads its first and second words evenly, which choose segment and slot', () => {
    const hasher = createUrlHasher(KEY);
    const [low, high] = [new Uint32Array(16), new Uint32Array(16)];
    for (let i = 0; i < 16_000; i++) {
      hasher.hash(`https://a.test/${i}`);
      low[hasher.words[0] & 15]++;
      high[hasher.words[1] >>> 28]++;
    }
    // 1,000 expected a bucket; seven standard deviations are 215.
    for (const count of [...low, ...high]) expect(Math.abs(count - 1000)).toBeLessThan(215);
  });
});
