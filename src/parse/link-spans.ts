/**
 * Collects the links of a page as spans of its bytes: trimmed, without fragment, hashed, with the flags of their rel.
 * Leaves out what is no page (javascript:, mailto:, tel:, data:). Makes no string for a link until asked.
 */

import { createTextFolder, type TextFolder } from './fold-text.ts';
import { LINK_FLAGS, type LinkList } from './parsed-page.ts';
import { hashName } from './tag-names.ts';

export interface LinkSpans extends LinkList {
  reset(bytes: Uint8Array): void;
  addAnchor(hrefStart: number, hrefEnd: number, relStart: number, relEnd: number, textStart: number): void;
  addArea(
    hrefStart: number,
    hrefEnd: number,
    relStart: number,
    relEnd: number,
    altStart: number,
    altEnd: number,
  ): void;
  /** Only for the relations that name pages: canonical, alternate, next, prev. */
  addLink(hrefStart: number, hrefEnd: number, relStart: number, relEnd: number): void;
  /** The text of the open anchor, if one is open, ends here. */
  closeAnchor(at: number): void;
}

const KIND = { anchor: 0, area: 1, link: 2 } as const;

/** An anchor that is never closed would take the rest of the page as its text. */
const LONGEST_ANCHOR_BYTES = 4096;

const STYLESHEET = 128;
const REL_FLAGS = new Map<number, number>([
  ...Object.entries(LINK_FLAGS).map(([name, flag]): [number, number] => [hashName(name), flag]),
  [hashName('previous'), LINK_FLAGS.prev],
  [hashName('stylesheet'), STYLESHEET],
]);
const ANCHOR_FLAGS = LINK_FLAGS.nofollow | LINK_FLAGS.ugc | LINK_FLAGS.sponsored;
const PAGE_FLAGS = LINK_FLAGS.canonical | LINK_FLAGS.alternate | LINK_FLAGS.next | LINK_FLAGS.prev;

const NO_PAGE = /^(?:javascript|mailto|tel|data):/i;
const NO_PAGE_NAMES = ['javascript:', 'mailto:', 'tel:', 'data:'].map((name) => Buffer.from(name));

function readRel(bytes: Uint8Array, start: number, end: number): number {
  let flags = 0;
  for (let p = start; p < end; ) {
    let hash = 0;
    while (p < end && (bytes[p] > 0x20 || bytes[p] === 0))
      hash = (Math.imul(hash, 61) + (bytes[p++] | 32)) | 0;
    flags |= REL_FLAGS.get(hash) ?? 0;
    while (p < end && bytes[p] <= 0x20 && bytes[p] !== 0) p++;
  }
  return flags;
}

function isNumericReference(bytes: Uint8Array, hash: number, end: number): boolean {
  if (bytes[hash - 1] !== 0x26 || hash + 1 >= end) return false;
  const byte = bytes[hash + 1];
  if (byte >= 0x30 && byte <= 0x39) return true;
  if ((byte | 32) !== 0x78 || hash + 2 >= end) return false;
  const digit = bytes[hash + 2];
  return (digit >= 0x30 && digit <= 0x39) || ((digit | 32) >= 0x61 && (digit | 32) <= 0x66);
}

function startsWithNoPage(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] | 32;
  if (first !== 0x6a && first !== 0x6d && first !== 0x74 && first !== 0x64) return false;
  for (const name of NO_PAGE_NAMES) {
    if (end - start < name.length) continue;
    let i = 0;
    while (i < name.length && (bytes[start + i] | 32) === (name[i] | 32)) i++;
    if (i === name.length && bytes[start + i - 1] === 0x3a) return true;
  }
  return false;
}

export function createLinkSpans(folder: TextFolder = createTextFolder()): LinkSpans {
  let capacity = 2048;
  let textStart = new Int32Array(capacity);
  let textEnd = new Int32Array(capacity);
  let kinds = new Uint8Array(capacity);
  let openAnchor = -1;

  function grow(): void {
    capacity *= 2;
    const wider = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const more = new Int32Array(capacity);
      more.set(old);
      return more;
    };
    const widerBytes = (old: Uint8Array): Uint8Array<ArrayBuffer> => {
      const more = new Uint8Array(capacity);
      more.set(old);
      return more;
    };
    self.hrefStart = wider(self.hrefStart);
    self.hrefEnd = wider(self.hrefEnd);
    self.hrefHash = wider(self.hrefHash);
    self.flags = widerBytes(self.flags);
    textStart = wider(textStart);
    textEnd = wider(textEnd);
    kinds = widerBytes(kinds);
  }

  /** False when the href is no page. */
  function add(hrefStart: number, hrefEnd: number, flags: number, kind: number): boolean {
    const bytes = self.bytes;
    let start = hrefStart;
    let end = hrefEnd;
    while (start < end && bytes[start] <= 0x20 && bytes[start] !== 0) start++;
    while (end > start && bytes[end - 1] <= 0x20 && bytes[end - 1] !== 0) end--;
    if (startsWithNoPage(bytes, start, end)) return false;
    let hash = 0x811c9dc5 | 0;
    let isPastScheme = false;
    let isDisguised = false;
    for (let p = start; p < end; p++) {
      const byte = bytes[p];
      if (byte === 0x23 && !isNumericReference(bytes, p, end)) {
        end = p;
        break;
      }
      if (byte === 0x2f || byte === 0x3f || byte === 0x3a) isPastScheme = true;
      else if (!isPastScheme && (byte === 0x26 || byte < 0x20)) isDisguised = true;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    if (isDisguised && NO_PAGE.test(folder.href(bytes, start, end))) return false;
    if (self.count === capacity) grow();
    const i = self.count++;
    self.hrefStart[i] = start;
    self.hrefEnd[i] = end;
    self.hrefHash[i] = hash;
    self.flags[i] = flags;
    kinds[i] = kind;
    textStart[i] = textEnd[i] = 0;
    return true;
  }

  const self: LinkSpans = {
    count: 0,
    bytes: new Uint8Array(1),
    hrefStart: new Int32Array(capacity),
    hrefEnd: new Int32Array(capacity),
    hrefHash: new Int32Array(capacity),
    flags: new Uint8Array(capacity),
    reset(bytes) {
      self.bytes = bytes;
      self.count = 0;
      openAnchor = -1;
    },
    addAnchor(hrefStart, hrefEnd, relStart, relEnd, start) {
      const flags = relStart < 0 ? 0 : readRel(self.bytes, relStart, relEnd) & ANCHOR_FLAGS;
      if (!add(hrefStart, hrefEnd, flags, KIND.anchor)) return;
      openAnchor = self.count - 1;
      textStart[openAnchor] = textEnd[openAnchor] = start;
    },
    addArea(hrefStart, hrefEnd, relStart, relEnd, altStart, altEnd) {
      const flags = relStart < 0 ? 0 : readRel(self.bytes, relStart, relEnd) & ANCHOR_FLAGS;
      if (!add(hrefStart, hrefEnd, flags, KIND.area) || altStart < 0) return;
      textStart[self.count - 1] = altStart;
      textEnd[self.count - 1] = altEnd;
    },
    addLink(hrefStart, hrefEnd, relStart, relEnd) {
      const flags = readRel(self.bytes, relStart, relEnd);
      if ((flags & PAGE_FLAGS) === 0 || (flags & STYLESHEET) !== 0) return;
      add(hrefStart, hrefEnd, flags, KIND.link);
    },
    closeAnchor(at) {
      if (openAnchor < 0) return;
      textEnd[openAnchor] = at;
      openAnchor = -1;
    },
    hrefText: (index) => folder.href(self.bytes, self.hrefStart[index], self.hrefEnd[index]),
    anchorText(index) {
      const start = textStart[index];
      let end = Math.min(textEnd[index], start + LONGEST_ANCHOR_BYTES);
      // Not inside a character.
      while (end < textEnd[index] && (self.bytes[end] & 0xc0) === 0x80) end--;
      if (kinds[index] === KIND.anchor) return folder.markup(self.bytes, start, end);
      return folder.plain(self.bytes, start, end);
    },
  };
  return self;
}
