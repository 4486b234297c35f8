/** The words of a text and their simhash: see simhash.ts. */

import {
  BLOCK,
  FEATURES,
  IS_SKIPPED,
  MAY_BE_IDEOGRAPH,
  PLANE_COUNT,
  PLANES,
  SIMHASH_HIGH,
  SIMHASH_LOW,
  WORD_BYTES,
  WORD_CLASSES,
} from '../kernel-layout';
import { set } from './state';

/** Length of the ideograph or kana at `p`, 0 if there is none. */
function ideographLength(p: i32): i32 {
  const lead: u32 = load<u8>(p);
  const second: u32 = load<u8>(p + 1);
  if (lead === 0xe3) return second >= 0x81 && second !== 0x84 && second <= 0xbf ? 3 : 0;
  if (lead >= 0xe4 && lead <= 0xe9) return 3;
  if (lead === 0xef) return second >= 0xa4 && second <= 0xab ? 3 : 0;
  return lead === 0xf0 && second >= 0xa0 && second <= 0xb3 ? 4 : 0;
}

/** The bits that at least two of the three have: the carry of their sum. */
function carryOf(a: u64, b: u64, c: u64): u64 {
  return (a & b) | ((a ^ b) & c);
}

/** Adds `count` features to the planes, eight at a time: each pair carries into the twos, these into the fours. */
function addFeatures(count: i32): void {
  let ones = load<u64>(PLANES);
  let twos = load<u64>(PLANES + 8);
  let fours = load<u64>(PLANES + 16);
  const end = FEATURES + (count << 3);
  for (let p = FEATURES; p < end; p += 64) {
    let carriedFours: u64 = 0;
    let carry: u64 = 0;
    for (let half = p; half < p + 64; half += 32) {
      const a = load<u64>(half);
      const b = load<u64>(half + 8);
      const c = load<u64>(half + 16);
      const d = load<u64>(half + 24);
      const firstTwos = carryOf(ones, a, b);
      ones ^= a ^ b;
      const secondTwos = carryOf(ones, c, d);
      ones ^= c ^ d;
      const newFours = carryOf(twos, firstTwos, secondTwos);
      twos ^= firstTwos ^ secondTwos;
      if (half === p) carriedFours = newFours;
      else {
        carry = carryOf(fours, carriedFours, newFours);
        fours ^= carriedFours ^ newFours;
      }
    }
    for (let plane = PLANES + 24; carry !== 0; plane += 8) {
      const old = load<u64>(plane);
      store<u64>(plane, old ^ carry);
      carry &= old;
    }
  }
  store<u64>(PLANES, ones);
  store<u64>(PLANES + 8, twos);
  store<u64>(PLANES + 16, fours);
}

/** The bits set in more than half of the features. */
function majority(features: i32): u64 {
  let bits: u64 = 0;
  for (let bit: u64 = 0; bit < 64; bit++) {
    let count: u64 = 0;
    for (let plane = PLANE_COUNT - 1; plane >= 0; plane--) {
      count = (count << 1) + ((load<u64>(PLANES + (plane << 3)) >> bit) & 1);
    }
    if (count << 1 > <u64>features) bits |= (<u64>1) << bit;
  }
  return bits;
}

/** Returns how many words the text at `from` has, and sets its simhash. */
export function countWords(from: i32, length: i32): i32 {
  memory.fill(PLANES, 0, PLANE_COUNT << 3);
  let wordCount = 0;
  let previous = 0;
  let hash = 0;
  const end = from + length;
  for (let p = from; p <= end; ) {
    // Nearly all the time is spent in this loop.
    for (; p < end; p++) {
      const folded: i32 = load<u16>(WORD_BYTES + ((<i32>load<u8>(p)) << 1));
      if (folded === 0) break;
      hash = rotl(hash, 5) + folded;
    }
    const byte: i32 = p < end ? <i32>load<u8>(p) : 0;
    const kind: i32 = load<u8>(WORD_CLASSES + byte);
    // Never beyond the end, because another text begins there.
    const wide = kind === MAY_BE_IDEOGRAPH ? min(ideographLength(p), end - p) : 0;
    if (kind === MAY_BE_IDEOGRAPH && wide === 0) {
      hash = rotl(hash, 5) + byte;
      p++;
      continue;
    }
    // An ideograph ends the word before it and is the next word.
    if (hash === 0 && wide > 0) {
      for (let i = 0; i < wide; i++) hash = rotl(hash, 5) + <i32>load<u8>(p + i);
      p += wide;
    } else if (wide === 0) {
      p++;
      if (kind === IS_SKIPPED) continue;
    }
    if (hash === 0) continue;
    const word = (hash ^ (hash >>> 15)) * 0x2c1b3c6d;
    hash = 0;
    const pair = (previous * 0x5bd1e995) ^ word;
    previous = word;
    const mixed = (pair ^ (pair >>> 16)) * 0x7feb352d;
    const other = (pair ^ (pair >>> 13)) * 0x297a2d39;
    const low: u32 = mixed ^ (mixed >>> 15);
    const high: u32 = other ^ (other >>> 16);
    const inBlock = wordCount++ & (BLOCK - 1);
    store<u64>(FEATURES + (inBlock << 3), ((<u64>high) << 32) | low);
    if (inBlock === BLOCK - 1) addFeatures(BLOCK);
  }
  const rest = wordCount & (BLOCK - 1);
  memory.fill(FEATURES + (rest << 3), 0, 64);
  addFeatures(rest);
  const simhash = majority(wordCount);
  set(SIMHASH_LOW, <i32>simhash);
  set(SIMHASH_HIGH, <i32>(simhash >> 32));
  return wordCount;
}
