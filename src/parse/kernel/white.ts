/**
 * Where the text of a page has its lines, and how a `pre` has its white space: shape.ts needs this to shape the text.
 * The text itself has a single space in all these places.
 */

import {
  BYTES,
  HAS_SPACE,
  IS_BR,
  IS_CHARACTER,
  IS_PRE,
  LINE_COUNT,
  LINE_STARTS,
  PLAIN,
  TEXT,
  TEXT_KINDS,
  WHITE,
  WHITE_COUNT,
  WHITE_RUNS,
} from '../kernel-layout';
import { get, set } from './state';

const NEWLINE: u32 = 0x0a;
const RETURN: u32 = 0x0d;

/** Where the last line of the text began: an address, like all positions of text here. */
export let lineStart: i32 = 0;
/** A `pre` is open: where its text begins, and how many white runs are before it. */
export let isInPre: bool = false;
let preStart: i32 = 0;
let preRuns: i32 = 0;
/** After the last space that was written because a line ends. */
let lineSpace: i32 = 0;

function at(p: i32): u32 {
  return load<u8>(p);
}

/** Length of a Unicode space at `p`, 0 for none, as in fold-text.ts. */
export function wideSpaceLength(p: i32): i32 {
  const lead = at(p);
  const second = at(p + 1);
  if (lead === 0xc2) return second === 0xa0 ? 2 : 0;
  if (second !== 0x80) return 0;
  const last = at(p + 2);
  if (lead === 0xe3) return last === 0x80 ? 3 : 0;
  if (lead !== 0xe2) return 0;
  return (last >= 0x80 && last <= 0x8a) || last === 0xa8 || last === 0xa9 || last === 0xaf ? 3 : 0;
}

/** Called before the first line of a page. */
export function beginLines(): void {
  if (get(LINE_COUNT) > 0) return;
  lineStart = lineSpace = 0;
  isInPre = false;
}

/** A line of the text begins there. Two lines that begin at one place are one. */
function startLine(out: i32): void {
  if (out === lineStart) return;
  const count = get(LINE_COUNT);
  lineStart = out;
  store<i32>(get(LINE_STARTS) + (count << 2), out - get(TEXT));
  set(LINE_COUNT, count + 1);
}

function addWhite(out: i32, what: i32, hasSpace: bool): void {
  const count = get(WHITE_COUNT);
  const run = get(WHITE_RUNS) + (count << 3);
  store<i32>(run, out - get(TEXT));
  store<i32>(run + 4, hasSpace ? what | HAS_SPACE : what);
  set(WHITE_COUNT, count + 1);
}

/**
 * Keeps the position of the white space of a `pre` that begins at `from`. The text before `out` has a space for it,
 * which was written for it if `isNew`. Returns the position after it.
 */
export function keepWhite(from: i32, out: i32, isNew: bool): i32 {
  let p = from;
  let start = from;
  let breaks = false;
  for (;;) {
    const byte = at(p);
    const kind: u32 = load<u8>(TEXT_KINDS + byte);
    if (kind === WHITE) {
      p++;
      if (byte !== NEWLINE && byte !== RETURN) continue;
      breaks = true;
      // Empty lines at the beginning are not shown.
      if (out === preStart) start = p;
    } else {
      const wide = kind === PLAIN ? 0 : wideSpaceLength(p);
      if (wide === 0) break;
      p += wide;
    }
  }
  const isFirst = out === preStart;
  if (isFirst && breaks) set(WHITE_COUNT, preRuns);
  // If a line ends there anyway, a written line break is that line's end.
  const hasSpace = !isFirst && (isNew || (breaks && out === lineSpace));
  if (start !== p) addWhite(out, start - get(BYTES), hasSpace);
  return p;
}

/** White space given by a reference. The text before `size` has a space for it, see `keepWhite`. */
export function keepReference(size: i32, code: i32, isNew: i32): void {
  if (!isInPre) return;
  const out = get(TEXT) + size;
  if (out === preStart && (<u32>code === NEWLINE || <u32>code === RETURN)) set(WHITE_COUNT, preRuns);
  else addWhite(out, IS_CHARACTER | code, isNew !== 0);
}

/**
 * At a tag that ends a line: after the space that separates the words around it, which belongs to the tag if `isNew`.
 */
export function breakLine(out: i32, isNew: bool, box: i32, isEnd: bool): void {
  if (isNew) lineSpace = out;
  if (isInPre) {
    if ((box & IS_BR) !== 0) {
      if (out !== preStart) addWhite(out, IS_CHARACTER | NEWLINE, out === lineSpace);
      return;
    }
    if ((box & IS_PRE) !== 0 && isEnd) endPre(out);
  }
  startLine(out);
  if ((box & IS_PRE) === 0 || isEnd || isInPre) return;
  isInPre = true;
  preStart = out;
  preRuns = get(WHITE_COUNT);
}

/** White space at the end is not shown. */
function endPre(out: i32): void {
  isInPre = false;
  const size = out - get(TEXT);
  let count = get(WHITE_COUNT);
  while (count > preRuns && load<i32>(get(WHITE_RUNS) + ((count - 1) << 3)) === size) count--;
  set(WHITE_COUNT, count);
}
