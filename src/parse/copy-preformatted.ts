/**
 * Copies what stands in a `pre` as it was written, without its tags, and compares it with what the scanner made of it:
 * both must have the same words. Where they have not, something of it is hidden or left out, and the scanner is right.
 */

import { type Reference, readReference, writeUtf8 } from './character-references.ts';
import { isSpace, isWideSpace, nameAt, skipTag, startsTag, wideSpaceLength } from './fold-text.ts';

const SPACE = 0x20;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const AMPERSAND = 0x26;
const LESS_THAN = 0x3c;

export interface PreformattedCopier {
  /**
   * Writes `bytes[start..end)` into `out` from `at` on, where there is room for as many bytes and a fifth more. Answers
   * where it ends; -1 when its words are not those of `text[from..to)`.
   */
  copy(
    bytes: Uint8Array,
    start: number,
    end: number,
    out: Uint8Array,
    at: number,
    text: Uint8Array,
    from: number,
    to: number,
  ): number;
}

export function createPreformattedCopier(): PreformattedCopier {
  const reference: Reference = { next: 0, first: 0, second: 0 };

  /** The end of what was written; -1 where a letter differs. `folded` moves along with it. */
  function copy(
    bytes: Uint8Array,
    start: number,
    end: number,
    out: Uint8Array,
    at: number,
    text: Uint8Array,
    from: number,
    to: number,
  ): number {
    let o = at;
    /** Behind the last letter, where the text ends. */
    let last = at;
    let folded = from;
    let isBetween = false;
    let hasLetters = false;
    for (let p = start; p < end; ) {
      const byte = bytes[p];
      let written = o;
      if (byte === LESS_THAN && startsTag(bytes, p, end)) {
        if (nameAt(bytes, p + 1) === 'br') {
          out[o++] = NEWLINE;
          isBetween = true;
        }
        p = skipTag(bytes, p, end);
        continue;
      }
      if (isSpace(byte)) {
        isBetween = true;
        if (byte === RETURN) {
          out[o++] = NEWLINE;
          p += bytes[p + 1] === NEWLINE ? 2 : 1;
        } else {
          out[o++] = byte;
          p++;
        }
        // An empty line at the beginning is not shown.
        if (!hasLetters && out[o - 1] === NEWLINE) o = at;
        continue;
      }
      const wide = byte >= 0xc2 ? wideSpaceLength(bytes, p) : 0;
      if (byte === AMPERSAND && readReference(bytes, p, end, false, reference)) {
        p = reference.next;
        o = writeUtf8(out, o, reference.first);
        if (reference.second !== 0) o = writeUtf8(out, o, reference.second);
        if (isSpace(reference.first) || isWideSpace(reference.first)) {
          isBetween = true;
          continue;
        }
      } else if (wide > 0) {
        for (let i = 0; i < wide; i++) out[o++] = bytes[p++];
        isBetween = true;
        continue;
      } else {
        p++;
        if (byte === 0) continue;
        out[o++] = byte;
      }
      if (isBetween && hasLetters && text[folded++] !== SPACE) return -1;
      isBetween = false;
      hasLetters = true;
      for (; written < o; written++) if (folded >= to || text[folded++] !== out[written]) return -1;
      last = o;
    }
    return folded === to ? last : -1;
  }

  return { copy };
}
