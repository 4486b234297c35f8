/**
 * One pass over a text (UTF-8, white space folded): counts its words and makes a 64-bit simhash of its pairs of
 * neighbouring words, so that texts that differ in a few words differ in a few bits. Case and punctuation do not count.
 * A word is a run between spaces with a letter or digit in it; each ideograph and kana is a word of its own.
 * Bits are counted in vertical counters (one plane a power of two, eight features at a time) instead of 64 numbers.
 */

export interface TextFingerprint {
  wordCount: number;
  high: number;
  low: number;
}

export type Fingerprinter = (text: Uint8Array) => TextFingerprint;

const CLASS = { space: 0, skip: 1, word: 2, wide: 3 } as const;

const CLASSES = new Uint8Array(256);
/** What is hashed of a byte of a word: the letter in lower case, plus one; 0 for all other bytes. */
const WORD = new Uint16Array(256);
for (let byte = 0; byte < 256; byte++) {
  const isUpper = byte >= 0x41 && byte <= 0x5a;
  const isLower = byte >= 0x61 && byte <= 0x7a;
  const isDigit = byte >= 0x30 && byte <= 0x39;
  if (byte <= 0x20) CLASSES[byte] = CLASS.space;
  else if (byte >= 0xe3 && byte <= 0xf0) CLASSES[byte] = CLASS.wide;
  else CLASSES[byte] = isUpper || isLower || isDigit || byte >= 0x80 ? CLASS.word : CLASS.skip;
  if (CLASSES[byte] === CLASS.word) WORD[byte] = (isUpper ? byte | 32 : byte) + 1;
}

/** Length of the ideograph or kana at `at`, 0 when there is none. */
function ideographLength(text: Uint8Array, at: number): number {
  const lead = text[at];
  const second = text[at + 1];
  if (lead === 0xe3) return second >= 0x81 && second !== 0x84 && second <= 0xbf ? 3 : 0;
  if (lead >= 0xe4 && lead <= 0xe9) return 3;
  if (lead === 0xef) return second >= 0xa4 && second <= 0xab ? 3 : 0;
  return lead === 0xf0 && second >= 0xa0 && second <= 0xb3 ? 4 : 0;
}

/** A power of two. */
const BLOCK = 512;
const PLANES = 24;

export function createFingerprinter(): Fingerprinter {
  // A block of features and seven zeros more, so that the last group of eight is whole.
  const lows = new Int32Array(BLOCK + 8);
  const highs = new Int32Array(BLOCK + 8);
  /** Planes from eights upwards; ones, twos and fours stand in front. */
  const lowPlanes = new Int32Array(PLANES);
  const highPlanes = new Int32Array(PLANES);

  /** Adds `count` features (padded with zeros to a multiple of eight) to the planes. */
  function addBlock(features: Int32Array, count: number, planes: Int32Array): void {
    let ones = planes[0];
    let twos = planes[1];
    let fours = planes[2];
    for (let i = 0; i < count; i += 8) {
      const a = features[i];
      const b = features[i + 1];
      let u = ones ^ a;
      const twosA = (ones & a) | (u & b);
      ones = u ^ b;
      const c = features[i + 2];
      const d = features[i + 3];
      u = ones ^ c;
      const twosB = (ones & c) | (u & d);
      ones = u ^ d;
      u = twos ^ twosA;
      const foursA = (twos & twosA) | (u & twosB);
      twos = u ^ twosB;
      const e = features[i + 4];
      const f = features[i + 5];
      u = ones ^ e;
      const twosC = (ones & e) | (u & f);
      ones = u ^ f;
      const g = features[i + 6];
      const h = features[i + 7];
      u = ones ^ g;
      const twosD = (ones & g) | (u & h);
      ones = u ^ h;
      u = twos ^ twosC;
      const foursB = (twos & twosC) | (u & twosD);
      twos = u ^ twosD;
      u = fours ^ foursA;
      let carry = (fours & foursA) | (u & foursB);
      fours = u ^ foursB;
      for (let plane = 3; carry !== 0; plane++) {
        const old = planes[plane];
        planes[plane] = old ^ carry;
        carry &= old;
      }
    }
    planes[0] = ones;
    planes[1] = twos;
    planes[2] = fours;
  }

  function flush(count: number): void {
    lows.fill(0, count, (count + 7) & ~7);
    highs.fill(0, count, (count + 7) & ~7);
    addBlock(lows, count, lowPlanes);
    addBlock(highs, count, highPlanes);
  }

  /** The bits set in more than half of the features. */
  function majority(planes: Int32Array, features: number): number {
    let bits = 0;
    for (let bit = 0; bit < 32; bit++) {
      let count = 0;
      for (let plane = PLANES - 1; plane >= 0; plane--) count = count * 2 + ((planes[plane] >>> bit) & 1);
      if (count * 2 > features) bits |= 1 << bit;
    }
    return bits >>> 0;
  }

  /**
   * Adds the features of all words and answers how many there were. Nothing may follow the loop but the answer: V8
   * compiles the loop while the first text is read, without having seen what comes after it, and would fall back to
   * slow code there at the end of every text.
   */
  function addWords(text: Uint8Array): number {
    let wordCount = 0;
    let previous = 0;
    let hash = 0;
    const length = text.length;
    for (let p = 0; p <= length; ) {
      // Nearly all the time is spent here.
      for (; p < length; p++) {
        const folded = WORD[text[p]];
        if (folded === 0) break;
        hash = (((hash << 5) | (hash >>> 27)) + folded) | 0;
      }
      const byte = p < length ? text[p] : 0;
      const kind = CLASSES[byte];
      const wide = kind === CLASS.wide ? ideographLength(text, p) : 0;
      if (kind === CLASS.wide && wide === 0) {
        hash = (((hash << 5) | (hash >>> 27)) + byte) | 0;
        p++;
        continue;
      }
      // An ideograph ends the word before it and is taken as the next one.
      if (hash === 0 && wide > 0) {
        for (let i = 0; i < wide; i++) hash = (((hash << 5) | (hash >>> 27)) + text[p + i]) | 0;
        p += wide;
      } else if (wide === 0) {
        p++;
        if (kind === CLASS.skip) continue;
      }
      if (hash === 0) continue;
      const word = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
      hash = 0;
      const pair = (Math.imul(previous, 0x5bd1e995) ^ word) | 0;
      previous = word;
      const mixed = Math.imul(pair ^ (pair >>> 16), 0x7feb352d);
      const inBlock = wordCount & (BLOCK - 1);
      lows[inBlock] = mixed ^ (mixed >>> 15);
      const other = Math.imul(pair ^ (pair >>> 13), 0x297a2d39);
      highs[inBlock] = other ^ (other >>> 16);
      wordCount++;
      if (inBlock === BLOCK - 1) flush(BLOCK);
    }
    return wordCount;
  }

  return (text) => {
    lowPlanes.fill(0);
    highPlanes.fill(0);
    const wordCount = addWords(text);
    flush(wordCount & (BLOCK - 1));
    return { wordCount, high: majority(highPlanes, wordCount), low: majority(lowPlanes, wordCount) };
  };
}
