/**
 * Handles the places where the kernel stops in the middle of text: a character reference, and a `<` that begins no tag.
 */
import { type Reference, readReference, writeUtf8 } from './character-references.ts';
import { isSpace, isWideSpace } from './fold-text.ts';
import * as at from './kernel-layout.ts';
import { isCdata } from './raw-text.ts';
import type { ScanKernel } from './scan-kernel.ts';
import type { SpecialElements } from './special-elements.ts';

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const SPACE = 0x20;
const AMPERSAND = 0x26;

export function createTextStops(kernel: ScanKernel, special: SpecialElements) {
  const reference: Reference = { next: 0, first: 0, second: 0 };

  /** At a `&` of the text. Returns where reading continues. */
  function readReferenceAt(p: number): number {
    const { state, bytes, text: out } = kernel;
    let size = state[at.SIZE];
    if (!readReference(bytes, p, state[at.END], false, reference)) {
      out[size++] = AMPERSAND;
      reference.next = p + 1;
    } else if (isSpace(reference.first) || isWideSpace(reference.first)) {
      state[at.HAS_BODY] = 1;
      const isNew = out[size - 1] !== SPACE;
      if (isNew) out[size++] = SPACE;
      kernel.keepReference(size, reference.first, isNew ? 1 : 0);
    } else {
      size = writeUtf8(out, size, reference.first);
      if (reference.second !== 0) size = writeUtf8(out, size, reference.second);
    }
    state[at.SIZE] = size;
    return reference.next;
  }

  /** Neither tag nor comment: doctype, CDATA, a lone `<`. Returns where reading continues. */
  function readOddity(tagStart: number): number {
    const { state, bytes, text: out } = kernel;
    const end = state[at.END];
    const next = bytes[tagStart + 1];
    let p = tagStart + 1;
    if (next === 0x21) {
      if (special.allowsCdata && !special.isInDoubt && isCdata(bytes, p + 1)) {
        for (p += 8; p < end; p++) {
          if (bytes[p] === GT && bytes[p - 1] === 0x5d && bytes[p - 2] === 0x5d) return p + 1;
        }
        return end;
      }
    } else if (next !== 0x3f && (next !== SLASH || p + 1 >= end)) {
      if (state[at.IS_MUTE] === 0) out[state[at.SIZE]++] = LT;
      return p;
    }
    // Doctype, processing instruction, `</ x>`: all end at the first `>`.
    while (p < end && bytes[p] !== GT) p++;
    return p < end ? p + 1 : p;
  }

  return { readReferenceAt, readOddity };
}
