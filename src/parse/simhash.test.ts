import { describe, expect, it } from 'vitest';
import { createPageParser } from './parse-page.ts';
import { createFingerprinter, type TextFingerprint } from './simhash.ts';

const fingerprint = createFingerprinter();
const of = (text: string): TextFingerprint => fingerprint(Buffer.from(text));

function bitsSet(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest = (rest & (rest - 1)) >>> 0) count++;
  return count;
}

function distance(a: TextFingerprint, b: TextFingerprint): number {
  return bitsSet((a.high ^ b.high) >>> 0) + bitsSet((a.low ^ b.low) >>> 0);
}

/** Words that repeat as in real text: few common ones, many rare ones. */
function makeText(seed: number, words: number): string[] {
  let state = seed;
  return Array.from({ length: words }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    const rank = Math.floor(((state >>> 8) / 2 ** 24) ** 2 * 2000);
    return `w${rank.toString(36)}x`;
  });
}

describe('the word count', () => {
  it('counts runs between spaces that hold a letter or digit', () => {
    expect(of('One two, three - four (5) don’t e-mail --').wordCount).toBe(7);
    expect(of('').wordCount).toBe(0);
  });

  it('counts each ideograph and kana as a word', () => {
    expect(of('東京は 夜 abc日本').wordCount).toBe(7);
    expect(of('한국어 단어').wordCount).toBe(2);
  });
});

/** The same, feature by feature and bit by bit, for texts of plain words. */
function slowly(words: readonly string[]): TextFingerprint {
  const counts = new Array<number>(64).fill(0);
  let previous = 0;
  for (const text of words) {
    let hash = 0;
    for (const byte of Buffer.from(text)) hash = (((hash << 5) | (hash >>> 27)) + byte + 1) | 0;
    const word = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    const pair = Math.imul(previous, 0x5bd1e995) ^ word;
    previous = word;
    const mixed = Math.imul(pair ^ (pair >>> 16), 0x7feb352d);
    const other = Math.imul(pair ^ (pair >>> 13), 0x297a2d39);
    const low = mixed ^ (mixed >>> 15);
    const high = other ^ (other >>> 16);
    for (let bit = 0; bit < 32; bit++) {
      counts[bit] += (low >>> bit) & 1;
      counts[32 + bit] += (high >>> bit) & 1;
    }
  }
  const half = (from: number): number =>
    counts.slice(from, from + 32).reduce((bits, n, bit) => bits + (n * 2 > words.length ? 2 ** bit : 0), 0);
  return { wordCount: words.length, high: half(32), low: half(0) };
}

describe('the simhash', () => {
  it('counts more words than 24 bits hold, and touches nothing else', () => {
    const parse = createPageParser();
    const words = 2 ** 24 + 5000;
    const html = Buffer.from(`<a href=/x>l</a><a href=/yy>m</a><p>${'a '.repeat(words)}`);
    const input = { contentType: 'text/html', xRobotsTag: null, agentToken: 'sumi-ripple' };
    const page = parse({ ...input, bytes: html, length: html.length });
    expect(page.wordCount).toBe(words + 1);
    expect([page.links.hrefText(0), page.links.hrefText(1)]).toEqual(['/x', '/yy']);
    // All pairs but the first few are the same, and so they decide.
    const { high, low } = of('a '.repeat(1000));
    expect({ high: page.simhashHigh, low: page.simhashLow }).toEqual({ high, low });
  });

  it('does not depend on what stands behind the text', () => {
    const fresh = createFingerprinter();
    const cut = Buffer.from('one two \u4e00').subarray(0, -2);
    const alone = fresh(cut);
    fresh(Buffer.from('one two \u4e00\u4e01 and more'));
    expect(fresh(cut)).toEqual(alone);
  });

  it('has the bits that most of the pairs of words have, for any number of words', () => {
    for (const count of [0, 1, 2, 7, 8, 9, 511, 512, 513, 1023, 1024, 5000]) {
      const words = makeText(count + 1, count);
      expect(of(words.join(' ')), `${count} words`).toEqual(slowly(words));
    }
  });

  it('is the same for the same words in other case and punctuation', () => {
    expect(distance(of('The quick, brown fox!'), of('the QUICK brown fox'))).toBe(0);
  });

  it('differs in a few bits when a few of many words change', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const words = makeText(seed, 1000);
      const changed = [...words];
      for (let i = 0; i < 5; i++) changed[(i * 197 + seed) % 1000] = `changed${i}`;
      expect(distance(of(words.join(' ')), of(changed.join(' ')))).toBeLessThanOrEqual(6);
    }
  });

  it('differs in many bits for different texts', () => {
    for (let seed = 1; seed <= 20; seed++) {
      expect(
        distance(of(makeText(seed, 500).join(' ')), of(makeText(seed + 100, 500).join(' '))),
      ).toBeGreaterThan(15);
    }
  });

  it('is the majority over all blocks: a text said twice has the bits of the text', () => {
    const words = makeText(7, 1537).join(' ');
    expect(distance(of(words), of(`${words} ${words}`))).toBeLessThanOrEqual(2);
  });
});
