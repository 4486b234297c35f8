/**
 * What attributes say about the part of the page that their element begins: role, class, id, style, hidden. See
 * page-parts.ts.
 */

import {
  ARIA_HIDDEN,
  CLASS,
  CLASS_START,
  HAS_CLASS,
  HAS_ID,
  HAS_NAME,
  HIDDEN,
  ID,
  ID_START,
  IS_HIDDEN,
  IS_LANDMARK,
  IS_MAIN,
  IS_OPEN,
  OPEN,
  ROLE,
  SIGN_HASHES,
  SIGN_KINDS,
  SIGN_MULTIPLIER,
  SIGN_SHIFT,
  STYLE,
} from '../kernel-layout';
import { four, get, set } from './state';

const COLON: u32 = 0x3a;
const SEMICOLON: u32 = 0x3b;

const TRUE: u32 = four(0x74, 0x72, 0x75, 0x65);
const UNTIL: u32 = four(0x75, 0x6e, 0x74, 0x69);
const UNTIL_FOUND_LENGTH: i32 = 11;
// display: none. The first word is recognized by its ends.
const DISP: u32 = four(0x64, 0x69, 0x73, 0x70);
const PLAY: u32 = four(0x70, 0x6c, 0x61, 0x79);
const NONE: u32 = four(0x6e, 0x6f, 0x6e, 0x65);
// visibility: hidden.
const VISI: u32 = four(0x76, 0x69, 0x73, 0x69);
const BILI: u32 = four(0x62, 0x69, 0x6c, 0x69);
const LITY: u32 = four(0x6c, 0x69, 0x74, 0x79);
const HIDD: u32 = four(0x68, 0x69, 0x64, 0x64);
const SHORTEST_STYLE: i32 = 12;

function isLetter(byte: u32): bool {
  return (byte | 32) - 0x61 < 26;
}

function lettersAt(p: i32): u32 {
  return load<u32>(p) | 0x20202020;
}

/** The kinds of signs of the word with that hash. */
function kindsOf(hash: i32): i32 {
  const slot = (hash * get(SIGN_MULTIPLIER)) >>> SIGN_SHIFT;
  return load<i32>(SIGN_HASHES + (slot << 2)) === hash ? load<u8>(SIGN_KINDS + slot) : 0;
}

/**
 * Whether a part of a name is one of the searched words. Parts are separated by bytes that are no letters, or
 * `inCamelCase`.
 */
function hasName(start: i32, stop: i32): bool {
  let hash: i32 = 0;
  let wasLower = false;
  for (let p = start; p < stop; p++) {
    const byte: u32 = load<u8>(p);
    const isUpper = byte - 0x41 < 26;
    const isPart = isLetter(byte);
    if (hash !== 0 && (!isPart || (isUpper && wasLower))) {
      if ((kindsOf(hash) & HAS_NAME) !== 0) return true;
      hash = 0;
    }
    if (isPart) hash = hash * 61 + (byte | 32);
    wasLower = isPart && !isUpper;
  }
  return hash !== 0 && (kindsOf(hash) & HAS_NAME) !== 0;
}

/** The first role counts. */
function readRole(start: i32, stop: i32): i32 {
  let p = start;
  while (p < stop && load<u8>(p) <= 0x20) p++;
  let hash: i32 = 0;
  for (; p < stop && load<u8>(p) > 0x20; p++) hash = hash * 61 + (load<u8>(p) | 32);
  return hash === 0 ? 0 : kindsOf(hash) & (IS_MAIN | IS_LANDMARK);
}

/** Whether the value of a declaration, whose name ends at `from`, begins with these letters. */
function hasValue(from: i32, stop: i32, letters: u32): bool {
  let p = from;
  while (p < stop && load<u8>(p) <= 0x20) p++;
  if (p >= stop || load<u8>(p) !== COLON) return false;
  p++;
  while (p < stop && load<u8>(p) <= 0x20) p++;
  return p + 4 <= stop && lettersAt(p) === letters;
}

function isHiddenByStyle(start: i32, stop: i32): bool {
  const last = stop - SHORTEST_STYLE;
  for (let p = start; p <= last; p++) {
    const letters = lettersAt(p);
    if (letters !== DISP && letters !== VISI) continue;
    // Not the end of another name, such as content-visibility.
    const before: u32 = p > start ? load<u8>(p - 1) : SEMICOLON;
    if (before !== SEMICOLON && before > 0x20) continue;
    if (letters === DISP) {
      if (lettersAt(p + 3) === PLAY && hasValue(p + 7, stop, NONE)) return true;
    } else if (lettersAt(p + 4) === BILI && lettersAt(p + 6) === LITY && hasValue(p + 10, stop, HIDD)) {
      return true;
    }
  }
  return false;
}

function isHidden(kind: i32, start: i32, stop: i32): bool {
  if (kind === STYLE) return isHiddenByStyle(start, stop);
  if (kind === ARIA_HIDDEN) return stop - start === 4 && lettersAt(start) === TRUE;
  // Content that a search in the page shows is content.
  return kind === HIDDEN && !(stop - start === UNTIL_FOUND_LENGTH && lettersAt(start) === UNTIL);
}

/** The signs that an attribute adds to a tag. The value is given by addresses and kept by offsets. */
export function readSign(kind: i32, start: i32, stop: i32, base: i32): i32 {
  if (kind === CLASS || kind === ID) {
    const span = kind === CLASS ? CLASS_START : ID_START;
    set(span, start - base);
    set(span + 1, stop - base);
    return (kind === CLASS ? HAS_CLASS : HAS_ID) | (hasName(start, stop) ? HAS_NAME : 0);
  }
  if (kind === ROLE) return readRole(start, stop);
  if (kind === OPEN) return IS_OPEN;
  return isHidden(kind, start, stop) ? IS_HIDDEN : 0;
}
