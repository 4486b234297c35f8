/**
 * Remembers in which part of the page each piece of text is, so that the main text can be chosen at the end of the
 * page: the text of <main> (or role=main), otherwise of the only <article>, otherwise everything but navigation,
 * headers, footers and asides (by element, role, or the words of a class or id); never hidden text. A word or an
 * attribute is no proof: such a box that holds most of the text is text all the same. Never leaves a page with text
 * without text: the choice becomes wider until it has some.
 */

import { HIDDEN_BOX, LANDMARK_BOX, MAIN_BOX, NAMED_BOX } from './kernel-layout.ts';
import { mostOf } from './page-parts.ts';

export type TextMode = 'main' | 'all';

/** Bits of a region: one per box, and one for articles. */
const MAIN = 1 << MAIN_BOX;
const LANDMARK = 1 << LANDMARK_BOX;
const NAMED = 1 << NAMED_BOX;
const HIDDEN = 1 << HIDDEN_BOX;
const ARTICLE = 16;

const SPACE = 0x20;

/** The bytes of a box that each link takes. The rest is prose. A list of links is no content, however long. */
const LINK_BYTES = 40;
/** Less prose than this is never most of a page. */
const LITTLE_PROSE = 200;

/** A run of the page's text that was chosen: its old and its new position. */
export interface TextPiece {
  from: number;
  to: number;
  at: number;
}

export interface TextRegions {
  /** Of the last choice, in order. */
  readonly pieces: readonly TextPiece[];
  reset(): void;
  /** `part` is the part that the names of a named box say, -1 for others. `links` counts the links before. */
  open(box: number, at: number, links: number, part: number): void;
  close(box: number, at: number, links: number): void;
  /** As `close`, for a box whose end is not known. */
  closeUnended(box: number, at: number, links: number): void;
  /** The open box is no box after all. */
  cancel(box: number): void;
  enterArticle(at: number): void;
  leaveArticle(at: number): void;
  isInArticle(): boolean;
  /** The text that is chosen from `out[1..end)`, moved together in place. */
  choose(out: Uint8Array, end: number, mode: TextMode): Uint8Array;
}

/** A box that may turn out to be no box. */
interface Doubted {
  bit: number;
  from: number;
  to: number;
  prose: number;
  part: number;
}

export function createTextRegions(): TextRegions {
  let at = new Int32Array(256);
  let bits = new Uint8Array(256);
  let count = 0;
  let current = 0;
  let articleDepth = 0;
  let articles = 0;
  let hasMain = false;
  /** Of the open boxes. */
  const openedAt = [0, 0, 0, 0];
  const linksBefore = [0, 0, 0, 0];
  let namedPart = -1;
  let doubted: Doubted[] = [];
  const pieces: TextPiece[] = [];

  function mark(bitsNow: number, offset: number): void {
    if (bitsNow === current) return;
    current = bitsNow;
    if (count > 0 && at[count - 1] === offset) {
      bits[count - 1] = bitsNow;
      return;
    }
    if (count === at.length) {
      const moreAt = new Int32Array(count * 2);
      moreAt.set(at);
      at = moreAt;
      const moreBits = new Uint8Array(count * 2);
      moreBits.set(bits);
      bits = moreBits;
    }
    at[count] = offset;
    bits[count++] = bitsNow;
  }

  function clear(bit: number, from: number, to: number): void {
    let low = 0;
    for (let high = count; low < high; ) {
      const middle = (low + high) >> 1;
      if (at[middle] < from) low = middle + 1;
      else high = middle;
    }
    for (let i = low; i < count && at[i] < to; i++) bits[i] &= ~bit;
  }

  function doubt(box: number, to: number, links: number): void {
    const from = openedAt[box];
    const prose = to - from - LINK_BYTES * (links - linksBefore[box]);
    const part = box === NAMED_BOX ? namedPart : -1;
    if (part >= 0 || prose > LITTLE_PROSE) doubted.push({ bit: 1 << box, from, to, prose, part });
  }

  /** Moves the pieces whose bits fit the masks to the front. Returns the end of the text. */
  function gather(out: Uint8Array, end: number, must: number, mustNot: number): number {
    let o = 1;
    pieces.length = 0;
    for (let i = -1; i < count; i++) {
      const pieceBits = i < 0 ? 0 : bits[i];
      let start = i < 0 ? 1 : at[i];
      const stop = i + 1 < count ? at[i + 1] : end;
      if (start >= stop) continue;
      if ((pieceBits & must) !== must || (pieceBits & mustNot) !== 0) {
        // It may have taken the white space after it.
        if (out[stop - 1] === SPACE && out[o - 1] !== SPACE) out[o++] = SPACE;
        continue;
      }
      if (out[start] === SPACE && out[o - 1] === SPACE) start++;
      if (start >= stop) continue;
      pieces.push({ from: start, to: stop, at: o });
      out.copyWithin(o, start, stop);
      o += stop - start;
    }
    if (o > 1 && out[o - 1] === SPACE) o--;
    return o;
  }

  function sizeOf(out: Uint8Array, end: number, must: number, mustNot: number): number {
    let size = 0;
    for (let i = -1; i < count; i++) {
      const pieceBits = i < 0 ? 0 : bits[i];
      if ((pieceBits & must) !== must || (pieceBits & mustNot) !== 0) continue;
      const start = i < 0 ? 1 : at[i];
      const length = (i + 1 < count ? at[i + 1] : end) - start;
      // A separator alone is no text.
      if (length !== 1 || out[start] !== SPACE) size += length;
    }
    return size;
  }

  /** Gives up the boxes that are not what they seem, if so much of the page is left without them. */
  function settleDoubts(left: number): void {
    const most = 2 * left + LITTLE_PROSE;
    const counts: number[] = [];
    for (const { part } of doubted) if (part >= 0) counts[part] = (counts[part] ?? 0) + 1;
    for (const { bit, from, to, prose, part } of doubted) {
      const isOneOfMany = part >= 0 && counts[part] > mostOf(part);
      if (isOneOfMany || prose > most) clear(bit, from, to);
    }
  }

  function choose(out: Uint8Array, end: number, mode: TextMode): Uint8Array {
    let must = 0;
    let mustNot: number = HIDDEN;
    if (mode === 'main') {
      mustNot |= LANDMARK | NAMED;
      if (hasMain) must = MAIN;
      else if (articles === 1) must = ARTICLE;
    }
    if (doubted.length > 0) settleDoubts(sizeOf(out, end, must, mustNot));
    if (must !== 0 && sizeOf(out, end, must, mustNot) === 0) must = 0;
    for (const wider of [LANDMARK | HIDDEN, HIDDEN, 0]) {
      if (sizeOf(out, end, must, mustNot) > 0) break;
      mustNot &= wider;
    }
    const stop = gather(out, end, must, mustNot);
    return out.subarray(1, stop);
  }

  function close(box: number, offset: number, links: number): void {
    if (box === NAMED_BOX || box === HIDDEN_BOX) doubt(box, offset, links);
    mark(current & ~(1 << box), offset);
  }

  return {
    pieces,
    reset() {
      count = current = articleDepth = articles = 0;
      hasMain = false;
      if (doubted.length > 0) doubted = [];
    },
    open(box, offset, links, part) {
      openedAt[box] = offset;
      linksBefore[box] = links;
      if (box === NAMED_BOX) namedPart = part;
      if (box === MAIN_BOX) hasMain = true;
      mark(current | (1 << box), offset);
    },
    close,
    closeUnended(box, offset, links) {
      doubt(box, offset, links);
      close(box, offset, links);
    },
    cancel(box) {
      clear(1 << box, openedAt[box], Number.POSITIVE_INFINITY);
      current &= ~(1 << box);
    },
    enterArticle(offset) {
      if (articleDepth++ === 0) articles++;
      mark(current | ARTICLE, offset);
    },
    leaveArticle(offset) {
      if (articleDepth === 0 || --articleDepth > 0) return;
      mark(current & ~ARTICLE, offset);
    },
    isInArticle: () => articleDepth > 0,
    choose,
  };
}
