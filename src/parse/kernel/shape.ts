/** What shape-text.ts would do for each line and link of a page: here it is fast from the first page on. */

import {
  BYTES,
  HREF_ENDS,
  HREF_STARTS,
  LINE_COUNT,
  LINE_STARTS,
  LINK_COUNT,
  TEXT_STARTS,
} from '../kernel-layout';
import { get } from './state';

const SPACE: u32 = 0x20;
const NEWLINE: u32 = 0x0a;
const NUMBER_SIGN: u32 = 0x23;

/**
 * Turns the white space before each line of a piece of text into a line break. The piece stood at `[from, to]`, and
 * `base` is where its text would begin in `out` had it stood at 0. Answers the first line that is left.
 */
export function breakLines(first: i32, from: i32, to: i32, base: i32, out: i32, length: i32): i32 {
  const count = get(LINE_COUNT);
  const starts = get(LINE_STARTS);
  let line = first;
  while (line < count && load<i32>(starts + (line << 2)) < from) line++;
  for (; line < count; line++) {
    const start = load<i32>(starts + (line << 2));
    if (start > to) break;
    const before = base + start - 1;
    if (before > 0 && before < length && load<u8>(out + before) === SPACE) store<u8>(out + before, NEWLINE);
    // Where a piece ends, the next one may begin.
    if (start === to) break;
  }
  return line;
}

/** The next link from that one on that leads to a part of its own page and may have a sign as its text; -1 for none. */
export function nextPermalink(from: i32): i32 {
  const count = get(LINK_COUNT);
  const bytes = get(BYTES);
  for (let link = from; link < count; link++) {
    const at4 = link << 2;
    const end = load<i32>(get(HREF_ENDS) + at4);
    if (load<i32>(get(HREF_STARTS) + at4) !== end || load<u8>(bytes + end) !== NUMBER_SIGN) continue;
    const first: u32 = load<u8>(bytes + load<i32>(get(TEXT_STARTS) + at4));
    const isWord = (first | 32) - 0x61 < 26 || first - 0x30 < 10;
    if (!isWord) return link;
  }
  return -1;
}
