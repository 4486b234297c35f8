/**
 * Gives the text of a page its shape, in one pass: line breaks where lines begin, the white space of a `pre` as it was
 * written, and no permalinks. The text comes in pieces: a piece is `[from, to)` of all the page's text in its original
 * order, and is now at `at`. Its words stay as they are, and so does the input text.
 */

import {
  BYTES,
  HAS_SPACE,
  HREF_ENDS,
  HREF_STARTS,
  IS_CHARACTER,
  IS_PERMALINK,
  LINE_COUNT,
  LINE_STARTS,
  LINK_COUNT,
  LINK_KINDS,
  TEXT,
  TEXT_BEFORE,
  TEXT_ENDS,
  TEXT_KINDS,
  TEXT_STARTS,
  WHITE,
  WHITE_COUNT,
  WHITE_RUNS,
} from '../kernel-layout';
import { get } from './state';
import { wideSpaceLength } from './white';

const SPACE: u32 = 0x20;
const NEWLINE: u32 = 0x0a;
const RETURN: u32 = 0x0d;
const NUMBER_SIGN: u32 = 0x23;
/** An icon or two may stand beside the sign. */
const LONGEST_PERMALINK_BYTES = 512;

/** Where the shaped text begins, and where it continues. */
let first: i32 = 0;
let out: i32 = 0;
/** The text was written up to here: an address, like the two above. */
let done: i32 = 0;
/** The difference between an offset of all the text and its address, in this piece. */
let shift: i32 = 0;
/** The next line, white run, permalink, and link that may be a permalink. */
let line: i32 = 0;
let run: i32 = 0;
let link: i32 = 0;
let doubtful: i32 = 0;

function at(p: i32): u32 {
  return load<u8>(p);
}

/** The number at that index of a list; the list is named by its index in the state. */
function entry(list: i32, index: i32): i32 {
  return load<i32>(get(list) + (index << 2));
}

/** How much text is before the end of the next white run. */
function runEnd(): i32 {
  return run < get(WHITE_COUNT) ? load<i32>(get(WHITE_RUNS) + (run << 3)) : i32.MAX_VALUE;
}

export function beginShape(address: i32): void {
  first = out = address;
  done = get(TEXT) + 1;
  line = run = link = doubtful = 0;
}

/** The bytes of a permalink sign at this place; 0 for none. A variation selector may follow it. */
function signLength(p: i32, stop: i32): i32 {
  const lead = at(p);
  if (lead === NUMBER_SIGN) return 1;
  const second = at(p + 1);
  let size = 0;
  if (lead === 0xc2) size = second === 0xb6 || second === 0xa7 ? 2 : 0;
  else if (lead === 0xf0) size = second === 0x9f && at(p + 2) === 0x94 && at(p + 3) === 0x97 ? 4 : 0;
  else if (lead === 0xe2) {
    const last = at(p + 2);
    if (second === 0x88 ? last === 0x9e : second === 0x9a ? last === 0x93 : second === 0x81 && last === 0x8b)
      size = 3;
  }
  if (size > 2 && at(p + size) === 0xef && at(p + size + 1) === 0xb8 && (at(p + size + 2) | 1) === 0x8f)
    size += 3;
  return p + size <= stop ? size : 0;
}

/**
 * Marks the permalinks among the links of a piece. Stops at a link that the kernel cannot judge, because its text holds
 * tags or references, and returns it; -1 at the end.
 */
export function nextDoubtful(from: i32, to: i32, where: i32): i32 {
  const text = get(TEXT) + where - from;
  const bytes = get(BYTES);
  const count = get(LINK_COUNT);
  while (doubtful < count) {
    const i = doubtful;
    const before = entry(TEXT_BEFORE, i);
    if (before >= to) return -1;
    doubtful++;
    if (before < from) continue;
    // A link to a part of its own page.
    const href = entry(HREF_ENDS, i);
    if (entry(HREF_STARTS, i) !== href || at(bytes + href) !== NUMBER_SIGN) continue;
    const kind = get(LINK_KINDS) + i;
    if ((at(kind) & 3) !== 0) continue;
    const begin = text + before;
    if (signLength(at(begin) === SPACE ? begin + 1 : begin, text + to) === 0) continue;
    const start = bytes + entry(TEXT_STARTS, i);
    const length = bytes + entry(TEXT_ENDS, i) - start;
    if (length > 0 && signLength(start, start + length) === length) store<u8>(kind, at(kind) | IS_PERMALINK);
    else if (length <= LONGEST_PERMALINK_BYTES) return i;
  }
  return -1;
}

/** Writes the text up to that address, with its lines. */
function copyTo(stop: i32): void {
  const from = done;
  if (stop <= from) return;
  memory.copy(out, from, stop - from);
  const count = get(LINE_COUNT);
  for (; line < count; line++) {
    const space = shift + entry(LINE_STARTS, line) - 1;
    if (space >= stop) break;
    if (space >= from && at(space) === SPACE) store<u8>(out + space - from, NEWLINE);
  }
  out += stop - from;
  done = stop;
}

function writeCharacter(code: i32): void {
  if (code < 0x80) store<u8>(out++, <u32>code === RETURN ? NEWLINE : code);
  else if (code < 0x800) {
    store<u8>(out++, 0xc0 | (code >> 6));
    store<u8>(out++, 0x80 | (code & 0x3f));
  } else {
    store<u8>(out++, 0xe0 | (code >> 12));
    store<u8>(out++, 0x80 | ((code >> 6) & 0x3f));
    store<u8>(out++, 0x80 | (code & 0x3f));
  }
}

/** Writes the white space of the page from that place on. */
function writeWhite(from: i32): void {
  let p = from;
  for (;;) {
    const byte = at(p);
    if (load<u8>(TEXT_KINDS + byte) === WHITE) {
      if (byte === RETURN && at(p + 1) === NEWLINE) p++;
      store<u8>(out++, byte === RETURN ? NEWLINE : byte);
      p++;
      continue;
    }
    const wide = wideSpaceLength(p);
    if (wide === 0) return;
    for (let i = 0; i < wide; i++) store<u8>(out++, at(p++));
  }
}

/** Writes the next white run, which ends before that address of the text. */
function putRun(end: i32): void {
  const what = load<i32>(get(WHITE_RUNS) + (run++ << 3) + 4);
  if ((what & HAS_SPACE) !== 0) {
    copyTo(end - 1);
    if (done === end - 1) done = end;
  } else copyTo(end);
  const bare = what & ~(HAS_SPACE | IS_CHARACTER);
  if ((what & IS_CHARACTER) !== 0) writeCharacter(bare);
  else writeWhite(get(BYTES) + bare);
}

/** Leaves out the sign that has that much text before it, and one of two spaces around it. */
function dropSign(before: i32, stop: i32): void {
  let sign = shift + before;
  if (at(sign) === SPACE) sign++;
  const size = signLength(sign, stop);
  if (size === 0 || sign < done) return;
  copyTo(sign);
  const end = sign + size;
  done = end;
  if (end < stop && at(end) !== SPACE) return;
  const last = out === first ? SPACE : at(out - 1);
  if (last !== SPACE && last !== NEWLINE) return;
  const endsLine = line < get(LINE_COUNT) && shift + entry(LINE_STARTS, line) - 1 === end;
  // The stronger separator stays.
  if (out !== first && (end === stop || endsLine)) out--;
  else if (end < stop) done = end + 1;
}

/** The next permalink of the piece: how much text is before it. */
function nextSign(from: i32, to: i32): i32 {
  const count = get(LINK_COUNT);
  for (; link < count; link++) {
    const before = entry(TEXT_BEFORE, link);
    if (before >= to) break;
    if (before >= from && (at(get(LINK_KINDS) + link) & IS_PERMALINK) !== 0) return before;
  }
  return i32.MAX_VALUE;
}

/** Writes a piece whose permalinks are marked. `end` is the end of the written text. */
export function shapePiece(from: i32, to: i32, where: i32, end: i32): void {
  const text = get(TEXT);
  // There may be a space between two pieces.
  while (done < text + where) store<u8>(out++, at(done++));
  shift = text + where - from;
  const stop = min(to, from + end - where);
  const lines = get(LINE_COUNT);
  while (line > 0 && entry(LINE_STARTS, line - 1) >= from) line--;
  while (line < lines && entry(LINE_STARTS, line) < from) line++;
  const isLine = line < lines && entry(LINE_STARTS, line) === from;
  if (isLine && out !== first && at(out - 1) === SPACE) store<u8>(out - 1, NEWLINE);
  while (runEnd() < from) run++;
  for (;;) {
    const white = runEnd();
    const sign = nextSign(from, stop);
    if (white <= stop && white <= sign) putRun(shift + white);
    else if (sign < stop) {
      link++;
      dropSign(sign, text + end);
    } else break;
  }
  copyTo(shift + stop);
}

/** Returns the length of the written text. */
export function endShape(): i32 {
  while (out !== first && (at(out - 1) === SPACE || at(out - 1) === NEWLINE)) out--;
  return out - first;
}
