/**
 * Reads HTML up to the next place that needs the caller. Text, tags without a meaning here, and plain anchors are read
 * in this file. Everything else is reported to the caller (scan-html.ts), who handles it and calls again. Addresses
 * inside, offsets outside. The byte after the last one must be 0.
 */

import {
  ACTS,
  ADDED,
  AFTER,
  ANCHOR,
  AT,
  ATTRIBUTE_HASHES,
  ATTRIBUTE_MULTIPLIER,
  ATTRIBUTE_SHIFT,
  ATTRIBUTE_SLOTS,
  BREAKS_LINE,
  BYTES,
  DOWNLOAD,
  END,
  ENDED,
  FIRST_SIGN,
  HAS_ATTRIBUTES,
  HAS_BODY,
  HAS_NAME,
  HREF,
  HREF_ENDS,
  HREF_HASHES,
  HREF_IS_PLAIN,
  HREF_STARTS,
  IS_BEFORE_FRAMESET,
  IS_DISGUISED,
  IS_END_TAG,
  IS_FRAMESET,
  IS_HIDDEN,
  IS_INLINE,
  IS_LANDMARK,
  IS_MAIN,
  IS_MUTE,
  IS_PRE,
  IS_SELF_CLOSING,
  IS_SPECIAL,
  LINK_COUNT,
  LINK_FLAGS,
  LINK_KINDS,
  NAME_ENDS,
  NO_PAGE,
  OPEN_ANCHOR,
  PLAIN,
  REL,
  SEEKS,
  SIGNS,
  SIZE,
  SPAN_COUNT,
  SPANS,
  STATE,
  STOPPED_AT_DISGUISE,
  STOPPED_AT_END,
  STOPPED_AT_ODDITY,
  STOPPED_AT_REFERENCE,
  STOPPED_AT_TAG,
  TAG_BOXES,
  TAG_FLAGS,
  TAG_HASH,
  TAG_HASHES,
  TAG_ID,
  TAG_MULTIPLIER,
  TAG_SHIFT,
  TAG_SLOTS,
  TELLS_ALL,
  TEXT,
  TEXT_BEFORE,
  TEXT_ENDS,
  TEXT_KINDS,
  TEXT_STARTS,
  WATCHED,
  WHITE,
} from '../kernel-layout';
import { endBoxes } from './boxes';
import { readSign } from './signs';
import { four, get, set } from './state';
import { beginLines, breakLine, isInPre, keepWhite, lineStart, wideSpaceLength } from './white';

const LT: u32 = 0x3c;
const GT: u32 = 0x3e;
const SLASH: u32 = 0x2f;
const EQUALS: u32 = 0x3d;
const SPACE: u32 = 0x20;
const AMPERSAND: u32 = 0x26;
const DASH: u32 = 0x2d;
const SEMICOLON: u32 = 0x3b;
const DOUBLE_QUOTE: u32 = 0x22;
const SINGLE_QUOTE: u32 = 0x27;

/** Of the current page. */
let base: i32 = 0;
let end: i32 = 0;
/** Where the next byte of text goes. */
let out: i32 = 0;
let hasBody: i32 = 0;
let isSelfClosing: i32 = 0;
/** For the current tag: what is searched among its attributes, and what they say. */
let seeks: i32 = 0;
let signs: i32 = 0;

function at(p: i32): u32 {
  return load<u8>(p);
}

function isWhite(byte: u32): bool {
  return load<u8>(TEXT_KINDS + byte) === WHITE;
}

/** Whether the byte ends a name or value of that kind. The 0 after the page does, a 0 inside it does not. */
function ends(byte: u32, p: i32, kind: u32): bool {
  return (load<u8>(NAME_ENDS + byte) & kind) !== 0 && (byte !== 0 || p >= end);
}

/** The character of the most common references, by the bytes after their `&`; 0 for all others. */
function commonReference(p: i32): u32 {
  const next = load<u32>(p);
  if ((next & 0xffffff) === four(0x6c, 0x74, SEMICOLON, 0)) return LT;
  if ((next & 0xffffff) === four(0x67, 0x74, SEMICOLON, 0)) return GT;
  if (next === four(0x61, 0x6d, 0x70, SEMICOLON)) return AMPERSAND;
  if (next === four(0x71, 0x75, 0x6f, 0x74) && at(p + 4) === SEMICOLON) return DOUBLE_QUOTE;
  if (next === four(0x23, 0x33, 0x39, SEMICOLON)) return SINGLE_QUOTE;
  return 0;
}

/** Sixteen times the same byte. */
function splat(byte: u32): v128 {
  return i8x16.splat(<i8>byte);
}

/** Which of the sixteen bytes are not plain text. A single space is text, a space after another is not. */
function stopsIn(bytes: v128, before: v128): i32 {
  const doubled = v128.and(i8x16.eq(bytes, splat(SPACE)), i8x16.eq(before, splat(SPACE)));
  const control = i8x16.lt_u(bytes, splat(SPACE));
  const markup = v128.or(i8x16.eq(bytes, splat(LT)), i8x16.eq(bytes, splat(AMPERSAND)));
  const wide = v128.or(i8x16.eq(bytes, splat(0xc2)), i8x16.eq(v128.and(bytes, splat(0xfe)), splat(0xe2)));
  return i8x16.bitmask(v128.or(v128.or(doubled, control), v128.or(markup, wide)));
}

/** Text up to the next `<`, an unknown reference, or the end. Returns that position. */
function readText(from: i32): i32 {
  let p = from;
  let o = out;
  for (;;) {
    // The first space may follow another space. All others follow the byte that was written.
    if (at(p) !== SPACE || at(o - 1) !== SPACE) {
      const bytes = v128.load(p);
      const before = v128.load(p - 1);
      const stops = stopsIn(bytes, i8x16.replace_lane(before, 0, 0));
      v128.store(o, bytes);
      const plain = ctz(stops | 0x10000);
      p += plain;
      o += plain;
      if (plain === 16) continue;
    }
    const b = at(p);
    const kind: u32 = load<u8>(TEXT_KINDS + b);
    if (kind === PLAIN) {
      store<u8>(o++, b);
      p++;
    } else if (kind === WHITE) {
      const isNew = at(o - 1) !== SPACE;
      if (isNew) store<u8>(o++, SPACE);
      p = isInPre ? keepWhite(p, o, isNew) : p + 1;
    } else if (b === LT) {
      break;
    } else if (b === 0) {
      if (p >= end) break;
      p++;
    } else if (b === AMPERSAND) {
      const known = commonReference(p + 1);
      if (known === 0) break;
      do p++;
      while (at(p) !== SEMICOLON);
      p++;
      store<u8>(o++, known);
    } else {
      const wide = wideSpaceLength(p);
      if (wide > 0) {
        hasBody = 1;
        const isNew = at(o - 1) !== SPACE;
        if (isNew) store<u8>(o++, SPACE);
        p = isInPre ? keepWhite(p, o, isNew) : p + wide;
      } else {
        store<u8>(o++, b);
        p++;
      }
    }
  }
  out = o;
  return p;
}

/** Returns the position after the quoted value whose quote is at `from`; `end` if it is never closed. */
function skipQuoted(from: i32, quote: u32): i32 {
  for (let p = from + 1; p < end; p += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(p), splat(quote)));
    if (found !== 0) {
      const close = p + ctz(found);
      return close < end ? close + 1 : end;
    }
  }
  return end;
}

/** Keeps the first attribute of each name, if it is wanted, and reads those that are signs. */
function noteAttribute(hash: i32, valueStart: i32, valueEnd: i32, isWanted: bool): void {
  // Free slots hold a 0.
  if (hash === 0) return;
  const slot = (hash * get(ATTRIBUTE_MULTIPLIER)) >>> ATTRIBUTE_SHIFT;
  if (load<i32>(ATTRIBUTE_HASHES + (slot << 2)) !== hash) return;
  const kind: i32 = load<u8>(ATTRIBUTE_SLOTS + slot);
  if (kind >= FIRST_SIGN) {
    if ((kind & seeks) !== 0) signs |= readSign(kind, valueStart, valueEnd, base);
    return;
  }
  if (!isWanted) return;
  const span = STATE + ((SPANS + kind) << 2);
  if (load<i32>(span) >= 0) return;
  store<i32>(span, valueStart - base);
  store<i32>(span + 4, valueEnd - base);
}

/** Notes the attributes if they are wanted; of others only the signs. Returns the position of the `>`, or the end. */
function readAttributes(from: i32, isWanted: bool): i32 {
  let p = from;
  let b = at(p);
  while (b !== GT) {
    if (isWhite(b)) {
      b = at(++p);
      continue;
    }
    if (b === SLASH) {
      b = at(++p);
      isSelfClosing = i32(b === GT);
      continue;
    }
    if (b === 0 && p >= end) return end;
    // A `=` at the beginning belongs to the name.
    let hash: i32 = b | 32;
    b = at(++p);
    while (!ends(b, p, 2)) {
      hash = hash * 61 + (b | 32);
      b = at(++p);
    }
    let valueStart = p;
    let valueEnd = p;
    while (isWhite(b)) b = at(++p);
    if (b === EQUALS) {
      b = at(++p);
      while (isWhite(b)) b = at(++p);
      valueStart = p;
      if (b === DOUBLE_QUOTE || b === SINGLE_QUOTE) {
        p = skipQuoted(p, b);
        if (p >= end) return end;
        valueStart++;
        valueEnd = p - 1;
        b = at(p);
      } else {
        while (!ends(b, p, 4)) b = at(++p);
        valueEnd = p;
      }
    }
    noteAttribute(hash, valueStart, valueEnd, isWanted);
  }
  return p;
}

function isHexDigit(byte: u32): bool {
  return byte - 0x30 < 10 || (byte | 32) - 0x61 < 6;
}

/** Whether the `#` at `p` belongs to a reference such as `&#35;` and does not begin a fragment. */
function isNumericReference(p: i32, stop: i32): bool {
  if (at(p - 1) !== AMPERSAND || p + 1 >= stop) return false;
  if (at(p + 1) - 0x30 < 10) return true;
  return (at(p + 1) | 32) === 0x78 && p + 2 < stop && isHexDigit(at(p + 2));
}

/** javascript:, mailto:, tel:, data:, in any case. */
function isNoPage(p: i32, stop: i32): bool {
  const length = stop - p;
  if (length < 4) return false;
  const first = load<u32>(p) | 0x20202020;
  if (first === four(0x74, 0x65, 0x6c, 0x3a)) return at(p + 3) === 0x3a;
  if (first === four(0x64, 0x61, 0x74, 0x61)) return length >= 5 && at(p + 4) === 0x3a;
  if (first === four(0x6d, 0x61, 0x69, 0x6c)) {
    return length >= 7 && (at(p + 4) | 32) === 0x74 && (at(p + 5) | 32) === 0x6f && at(p + 6) === 0x3a;
  }
  if (first !== four(0x6a, 0x61, 0x76, 0x61) || length < 11) return false;
  const second = load<u32>(p + 4) | 0x20202020;
  if (second !== four(0x73, 0x63, 0x72, 0x69)) return false;
  return (at(p + 8) | 32) === 0x70 && (at(p + 9) | 32) === 0x74 && at(p + 10) === 0x3a;
}

function isTrimmed(byte: u32): bool {
  return byte <= 0x20 && byte !== 0;
}

/** Adds a link by the offsets of its href: trimmed, without fragment, hashed. Returns the result. */
export function addLink(hrefStart: i32, hrefEnd: i32, flags: i32, kind: i32): i32 {
  const bytes = get(BYTES);
  let start = bytes + hrefStart;
  let stop = bytes + hrefEnd;
  while (start < stop && isTrimmed(at(start))) start++;
  while (stop > start && isTrimmed(at(stop - 1))) stop--;
  if (isNoPage(start, stop)) return NO_PAGE;
  let hash: i32 = 0x811c9dc5;
  let isPastScheme = false;
  let isDisguised = false;
  let isPlain = HREF_IS_PLAIN;
  for (let p = start; p < stop; p++) {
    const byte = at(p);
    if (byte === 0x23 && !isNumericReference(p, stop)) {
      stop = p;
      break;
    }
    if (byte === SLASH || byte === 0x3f || byte === 0x3a) isPastScheme = true;
    else if (!isPastScheme && (byte === AMPERSAND || byte < 0x20)) isDisguised = true;
    if (byte - 0x21 >= 0x5e || byte === AMPERSAND) isPlain = 0;
    hash = (hash ^ byte) * 0x01000193;
  }
  const i = get(LINK_COUNT);
  const at4 = i << 2;
  store<i32>(get(HREF_STARTS) + at4, start - bytes);
  store<i32>(get(HREF_ENDS) + at4, stop - bytes);
  store<i32>(get(HREF_HASHES) + at4, hash);
  store<i32>(get(TEXT_STARTS) + at4, 0);
  store<i32>(get(TEXT_ENDS) + at4, 0);
  store<u8>(get(LINK_FLAGS) + i, flags);
  store<u8>(get(LINK_KINDS) + i, kind | isPlain);
  if (isDisguised) return IS_DISGUISED;
  set(LINK_COUNT, i + 1);
  return ADDED;
}

function closeAnchor(p: i32): void {
  const open = get(OPEN_ANCHOR);
  if (open < 0) return;
  store<i32>(get(TEXT_ENDS) + (open << 2), p - base);
  set(OPEN_ANCHOR, -1);
}

/** An anchor's start tag. Returns the reason to stop, or -1 to continue. */
function openAnchor(after: i32): i32 {
  const href = get(SPANS + HREF);
  if (href < 0 || get(SPANS + DOWNLOAD) >= 0) return -1;
  const i = get(LINK_COUNT);
  const verdict = addLink(href, get(SPANS + HREF + 1), 0, 0);
  if (verdict === IS_DISGUISED) {
    set(AFTER, after - base);
    return STOPPED_AT_DISGUISE;
  }
  if (verdict === ADDED) {
    set(OPEN_ANCHOR, i);
    store<i32>(get(TEXT_STARTS) + (i << 2), after - base);
    store<i32>(get(TEXT_ENDS) + (i << 2), after - base);
    store<i32>(get(TEXT_BEFORE) + (i << 2), out - get(TEXT));
  }
  return -1;
}

/** Why the last tag is reported; -1 if it is not. */
let told: i32 = -1;

/** The tag whose `<` is at `tagStart`, with its name at `from`. Returns the position after it. */
function readTag(tagStart: i32, from: i32): i32 {
  let p = from;
  let b = at(p);
  let hash: i32 = 0;
  while (!ends(b, p, 1)) {
    hash = hash * 61 + (b | 32);
    b = at(++p);
  }
  let id: i32 = load<u8>(TAG_SLOTS + ((hash * get(TAG_MULTIPLIER)) >>> TAG_SHIFT));
  if (load<i32>(TAG_HASHES + (id << 2)) !== hash) id = 0;
  const flags: i32 = load<u8>(TAG_FLAGS + id);
  const isEnd = i32(from === tagStart + 2);
  isSelfClosing = 0;
  let said: i32 = 0;
  const isWanted = (flags & HAS_ATTRIBUTES) !== 0;
  if (isWanted) memory.fill(STATE + (SPANS << 2), 0xff, SPAN_COUNT << 2);
  if (b !== GT) {
    seeks = isEnd !== 0 ? 0 : load<u8>(TAG_BOXES + id) & get(SEEKS);
    signs = 0;
    p = readAttributes(p, isWanted);
    said = signs;
  }
  // A tag that is cut by the end of the page is dropped.
  if (p >= end) return end;
  p++;
  // An empty element hides nothing: icons are empty elements.
  if ((said & IS_HIDDEN) !== 0 && at(p) === LT && at(p + 1) === SLASH) said &= ~IS_HIDDEN;
  let ended: i32 = 0;
  const tellsAll = get(TELLS_ALL);
  if (get(IS_FRAMESET) === 0) {
    const watched: i32 = load<u8>(WATCHED + id);
    if (watched !== 0) ended = endBoxes(watched, id, hash, isEnd);
    const isPart = ended | (said & (IS_MAIN | IS_LANDMARK | HAS_NAME | IS_HIDDEN));
    if (out === get(TEXT) + 1 && (flags & IS_BEFORE_FRAMESET) === 0) hasBody = 1;
    if ((flags & IS_INLINE) === 0 && get(IS_MUTE) === 0) {
      const isNew = at(out - 1) !== SPACE;
      if (isNew) store<u8>(out++, SPACE);
      const box: i32 = load<u8>(TAG_BOXES + id);
      // Most tags that may begin a line follow the beginning of a line.
      if ((box & BREAKS_LINE) !== 0 && (out !== lineStart || isInPre || (box & IS_PRE) !== 0))
        breakLine(out, isNew, box, isEnd !== 0);
    }
    if (id === ANCHOR && (tellsAll | isPart) === 0 && (isEnd !== 0 || get(SPANS + REL) < 0)) {
      closeAnchor(tagStart);
      if (isEnd === 0) told = openAnchor(p);
      return p;
    }
    if ((tellsAll | isPart | (flags & (ACTS | IS_SPECIAL))) === 0) return p;
  }
  told = STOPPED_AT_TAG;
  set(AT, tagStart - base);
  set(AFTER, p - base);
  set(TAG_ID, id);
  set(TAG_HASH, hash);
  set(IS_END_TAG, isEnd);
  set(IS_SELF_CLOSING, isSelfClosing);
  set(SIGNS, said);
  set(ENDED, ended);
  return p;
}

/** Returns the position after the comment whose `<!--` begins at `p`; `end` if it is never closed. */
function skipComment(from: i32): i32 {
  let p = from + 4;
  if (at(p) === GT) return p + 1;
  if (at(p) === DASH && at(p + 1) === GT) return p + 2;
  for (; p < end; p++) {
    if (at(p) !== DASH || at(p + 1) !== DASH) continue;
    if (at(p + 2) === GT) return p + 3;
    if (at(p + 2) === 0x21 && at(p + 3) === GT) return p + 4;
  }
  return end;
}

/** Handles what is at `p`, before the end: a `<`, or what `readText` stopped at. Returns where reading continues. */
function readMarkup(p: i32): i32 {
  if (at(p) === AMPERSAND) {
    told = STOPPED_AT_REFERENCE;
    set(AT, p - base);
    return p;
  }
  const name = at(p + 1) === SLASH ? p + 2 : p + 1;
  if ((at(name) | 32) - 0x61 < 26) return readTag(p, name);
  if (load<u32>(p) === four(LT, 0x21, DASH, DASH)) return skipComment(p);
  told = STOPPED_AT_ODDITY;
  set(AT, p - base);
  return p;
}

/** Continues to read from that offset, and returns why it stopped. */
export function read(from: i32): i32 {
  base = get(BYTES);
  end = base + get(END);
  out = get(TEXT) + get(SIZE);
  hasBody = get(HAS_BODY);
  beginLines();
  told = -1;
  const isMute = get(IS_MUTE);
  let p = base + from;
  do {
    if (isMute !== 0) while (at(p) !== LT && p < end) p++;
    else if (at(p) !== LT) p = readText(p);
    if (p >= end) {
      set(AT, end - base);
      told = STOPPED_AT_END;
    } else {
      p = readMarkup(p);
    }
  } while (told < 0);
  set(SIZE, out - get(TEXT));
  set(HAS_BODY, hasBody);
  return told;
}
