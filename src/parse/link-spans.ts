/**
 * The links of a page as spans of its bytes: trimmed, without fragment, hashed, with the flags of their rel. The kernel
 * finds plain anchors; this file adds all others. Leaves out links to no page (javascript:, mailto:, tel:, data:).
 * Makes a string for a link only on demand.
 */

import { encodeQuery } from './encode-query.ts';
import { createTextFolder } from './fold-text.ts';
import {
  ADDED,
  ALT,
  HREF_IS_PLAIN,
  IS_DISGUISED,
  IS_PERMALINK,
  LINK_COUNT,
  OPEN_ANCHOR,
  REL,
  SIZE,
  SPANS,
  SRC,
} from './kernel-layout.ts';
import { FRAME_FLAGS, LINK_FLAGS, type LinkList } from './parsed-page.ts';
import type { ScanKernel } from './scan-kernel.ts';
import { hashName } from './tag-names.ts';

export interface LinkSpans extends LinkList {
  /** Called before a page is read. */
  reset(): void;
  /** Called after the page is read: sets the positions of the links. */
  settle(): void;
  /** `href`: the span in the kernel's state (kernel-layout.ts) with the address. */
  addAnchor(href: number, textStart: number): void;
  addArea(href: number): void;
  /** Only for the relations that name pages: canonical, alternate, next, prev. */
  addLink(href: number): void;
  /** A document that is shown inside this one. */
  addFrame(isInline: boolean): void;
  /**
   * An anchor that the kernel found and left out, because its href may hide its scheme. Added if it leads to a page.
   */
  addDisguised(textStart: number): void;
  /** Ends the text of the open anchor, if there is one. */
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

export function createLinkSpans(kernel: ScanKernel): LinkSpans {
  const folder = createTextFolder();

  /** Of the current tag. */
  function relFlags(): number {
    const start = kernel.state[SPANS + REL];
    return start < 0 ? 0 : readRel(kernel.bytes, start, kernel.state[SPANS + REL + 1]);
  }

  /** Adds the link after the last one, with that span as its text, if it leads to a page. */
  function addIfPage(textStart: number, textEnd: number): boolean {
    const { state } = kernel;
    const i = state[LINK_COUNT];
    if (NO_PAGE.test(folder.href(kernel.bytes, kernel.hrefStarts[i], kernel.hrefEnds[i]))) return false;
    state[LINK_COUNT]++;
    kernel.textStarts[i] = textStart;
    kernel.textEnds[i] = textEnd;
    kernel.textBefore[i] = state[SIZE];
    return true;
  }

  /** `href`: a span of the kernel's state. */
  function add(href: number, flags: number, kind: number, textStart: number, textEnd: number): boolean {
    const verdict = kernel.addLink(kernel.state[href], kernel.state[href + 1], flags, kind);
    if (verdict === IS_DISGUISED) return addIfPage(textStart, textEnd);
    if (verdict !== ADDED) return false;
    const i = kernel.state[LINK_COUNT] - 1;
    kernel.textStarts[i] = textStart;
    kernel.textEnds[i] = textEnd;
    kernel.textBefore[i] = kernel.state[SIZE];
    return true;
  }

  function openAnchor(): void {
    kernel.state[OPEN_ANCHOR] = kernel.state[LINK_COUNT] - 1;
  }

  const self: LinkSpans = {
    count: 0,
    charset: null,
    bytes: kernel.bytes,
    hrefStart: kernel.hrefStarts,
    hrefEnd: kernel.hrefEnds,
    hrefHash: kernel.hrefHashes,
    flags: kernel.linkFlags,
    reset() {
      kernel.state[LINK_COUNT] = 0;
      kernel.state[OPEN_ANCHOR] = -1;
    },
    settle() {
      self.count = kernel.state[LINK_COUNT];
      self.bytes = kernel.bytes;
      self.hrefStart = kernel.hrefStarts;
      self.hrefEnd = kernel.hrefEnds;
      self.hrefHash = kernel.hrefHashes;
      self.flags = kernel.linkFlags;
    },
    addAnchor(href, start) {
      if (add(href, relFlags() & ANCHOR_FLAGS, KIND.anchor, start, start)) openAnchor();
    },
    addArea(href) {
      const { state } = kernel;
      const hasAlt = state[SPANS + ALT] >= 0;
      const flags = relFlags() & ANCHOR_FLAGS;
      add(href, flags, KIND.area, hasAlt ? state[SPANS + ALT] : 0, hasAlt ? state[SPANS + ALT + 1] : 0);
    },
    addLink(href) {
      const flags = relFlags();
      if ((flags & PAGE_FLAGS) === 0 || (flags & STYLESHEET) !== 0) return;
      // Both flags together mean a frame, because no link is both next and prev.
      const isBoth = (flags & FRAME_FLAGS.frame) === FRAME_FLAGS.frame;
      add(href, isBoth ? flags & ~LINK_FLAGS.prev : flags, KIND.link, 0, 0);
    },
    addFrame(isInline) {
      const { state } = kernel;
      const flags = isInline ? FRAME_FLAGS.iframe : FRAME_FLAGS.frame;
      // A frame without an address shows nothing, or this page inside itself.
      if (state[SPANS + SRC] >= 0 && state[SPANS + SRC] < state[SPANS + SRC + 1])
        add(SPANS + SRC, flags, KIND.link, 0, 0);
    },
    addDisguised(textStart) {
      if (addIfPage(textStart, textStart)) openAnchor();
    },
    closeAnchor(at) {
      const open = kernel.state[OPEN_ANCHOR];
      if (open < 0) return;
      kernel.textEnds[open] = at;
      kernel.state[OPEN_ANCHOR] = -1;
    },
    hrefText(index) {
      const start = kernel.hrefStarts[index];
      const end = kernel.hrefEnds[index];
      if ((kernel.linkKinds[index] & HREF_IS_PLAIN) !== 0) return kernel.bytes.toString('latin1', start, end);
      const href = folder.href(kernel.bytes, start, end);
      return self.charset === null ? href : encodeQuery(href, self.charset);
    },
    anchorText(index) {
      const start = kernel.textStarts[index];
      const textEnd = kernel.textEnds[index];
      let end = Math.min(textEnd, start + LONGEST_ANCHOR_BYTES);
      // Do not cut inside a character.
      while (end < textEnd && (self.bytes[end] & 0xc0) === 0x80) end--;
      if ((kernel.linkKinds[index] & ~(HREF_IS_PLAIN | IS_PERMALINK)) === KIND.anchor)
        return folder.markup(self.bytes, start, end);
      return folder.plain(self.bytes, start, end);
    },
  };
  return self;
}
