/**
 * Copies what stands in a `pre` as it was written, without its tags, and compares it with the text that was made of it:
 * both must have the same words. Rare things are left to copy-preformatted.ts.
 */

import { BYTES, DIFFERS, IS_RARE, OTHER, TEXT_KINDS, WHITE } from '../kernel-layout';
import { commonReference, skipQuoted, wideSpaceLength } from './scan';
import { get } from './state';

const LT: u32 = 0x3c;
const GT: u32 = 0x3e;
const SPACE: u32 = 0x20;
const NEWLINE: u32 = 0x0a;
const RETURN: u32 = 0x0d;
const AMPERSAND: u32 = 0x26;
const SEMICOLON: u32 = 0x3b;
const DASH: u32 = 0x2d;

function at(p: i32): u32 {
  return load<u8>(p);
}

function splat(byte: u32): v128 {
  return i8x16.splat(<i8>byte);
}

function isLetter(byte: u32): bool {
  return (byte | 32) - 0x61 < 26;
}

/** Behind the tag whose `<` stands at `from`; quotes count behind a `=`. */
function skipTag(from: i32, stop: i32): i32 {
  let p = from + 1;
  for (; p < stop; p++) {
    const bytes = v128.load(p);
    const quotes = v128.or(i8x16.eq(bytes, splat(0x22)), i8x16.eq(bytes, splat(0x27)));
    const found = i8x16.bitmask(v128.or(quotes, i8x16.eq(bytes, splat(GT))));
    if (found === 0) {
      p += 15;
      continue;
    }
    p += ctz(found);
    if (p >= stop) break;
    const byte = at(p);
    if (byte === GT) return p + 1;
    if (at(p - 1) === 0x3d) p = skipQuoted(p, byte) - 1;
  }
  return stop;
}

/** The bytes of the page from one offset to the other, to an address. Answers how many it wrote, or why it did not. */
export function copyPre(from: i32, to: i32, out: i32, text: i32, textEnd: i32): i32 {
  const stop = get(BYTES) + to;
  let p = get(BYTES) + from;
  let o = out;
  let t = text;
  /** Behind the last letter, where the text ends. */
  let last = out;
  let isBetween = false;
  while (p < stop) {
    const byte = at(p);
    if (byte === LT) {
      const next = at(p + 1);
      if (next === 0x21) {
        if (at(p + 2) === DASH) return IS_RARE;
      } else if (next !== 0x2f && next !== 0x3f && !isLetter(next)) return IS_RARE;
      if ((next | 32) === 0x62 && (at(p + 2) | 32) === 0x72 && !isLetter(at(p + 3))) {
        store<u8>(o++, NEWLINE);
        isBetween = true;
      }
      // Scripts and styles have text of their own.
      if ((next | 32) === 0x73 && ((at(p + 2) | 32) === 0x63 || (at(p + 2) | 32) === 0x74)) return IS_RARE;
      p = skipTag(p, stop);
      continue;
    }
    if (load<u8>(TEXT_KINDS + byte) === WHITE) {
      isBetween = true;
      const isReturn = byte === RETURN;
      store<u8>(o++, isReturn ? NEWLINE : byte);
      p += isReturn && at(p + 1) === NEWLINE ? 2 : 1;
      // An empty line at the beginning is not shown.
      if (last === out && at(o - 1) === NEWLINE) o = out;
      continue;
    }
    if (isBetween && last !== out) {
      if (at(t) !== SPACE) return DIFFERS;
      t++;
    }
    isBetween = false;
    if (byte === AMPERSAND) {
      const known = commonReference(p + 1);
      if (known === 0 || at(t) !== known) return known === 0 ? IS_RARE : DIFFERS;
      do p++;
      while (at(p) !== SEMICOLON);
      p++;
      t++;
      store<u8>(o++, known);
      last = o;
      continue;
    }
    const bytes = v128.load(p);
    const control = i8x16.le_u(bytes, splat(SPACE));
    const markup = v128.or(i8x16.eq(bytes, splat(LT)), i8x16.eq(bytes, splat(AMPERSAND)));
    const wide = v128.or(i8x16.eq(bytes, splat(0xc2)), i8x16.eq(v128.and(bytes, splat(0xfe)), splat(0xe2)));
    let plain = <i32>ctz(i8x16.bitmask(v128.or(control, v128.or(markup, wide))) | 0x10000);
    if (plain === 0) {
      // A letter that may begin a space, or a 0.
      if (load<u8>(TEXT_KINDS + byte) === OTHER && (byte === 0 || wideSpaceLength(p) > 0)) return IS_RARE;
      plain = 1;
    }
    plain = min(plain, stop - p);
    const same = i8x16.bitmask(i8x16.eq(bytes, v128.load(t)));
    if ((~same & ((1 << plain) - 1)) !== 0) return DIFFERS;
    v128.store(o, bytes);
    p += plain;
    t += plain;
    o += plain;
    last = o;
  }
  return t === textEnd ? last - out : DIFFERS;
}
