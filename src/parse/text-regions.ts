/**
 * Remembers in which part of the page each piece of text stands, so that the main text can be chosen when the whole
 * page has been read: the text of <main> (or role=main), else of the only <article>, else all but navigation, headers,
 * footers and asides. Never leaves a page with text without text: what is chosen falls back to a wider choice.
 */

export type TextMode = 'main' | 'all';

/** Bits of a region. `aside`: nav, header, footer, aside. `hidden`: noscript. */
export const REGION = { aside: 1, main: 2, article: 4, hidden: 8 } as const;

const SPACE = 0x20;

export interface TextRegions {
  reset(): void;
  enter(region: number, at: number): void;
  leave(region: number, at: number): void;
  /** A start tag that is <main> or says role=main. */
  startMain(tagHash: number, at: number): void;
  /** The name of the open main element, 0 for none: elements nested in it by the same name are counted. */
  mainHash: number;
  startInMain(): void;
  endInMain(at: number): void;
  /** The text chosen out of `out[1..end)`, moved together in place. */
  choose(out: Uint8Array, end: number, mode: TextMode): Uint8Array;
}

export function createTextRegions(): TextRegions {
  let at = new Int32Array(256);
  let bits = new Uint8Array(256);
  let count = 0;
  let current = 0;
  let asideDepth = 0;
  let asideDepthOutside = 0;
  let articleDepth = 0;
  let articles = 0;
  let hasMain = false;
  let mainDepth = 0;

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

  function enter(region: number, offset: number): void {
    if (region === REGION.aside) asideDepth++;
    if (region === REGION.article && articleDepth++ === 0) articles++;
    mark(current | region, offset);
  }

  function leave(region: number, offset: number): void {
    if (region === REGION.aside && (asideDepth === 0 || --asideDepth > 0)) return;
    if (region === REGION.article && (articleDepth === 0 || --articleDepth > 0)) return;
    mark(current & ~region, offset);
  }

  /** Moves the pieces whose bits satisfy the masks to the front; returns the end of the text. */
  function gather(from: Uint8Array, end: number, must: number, mustNot: number, into: Uint8Array): number {
    let o = 1;
    for (let i = -1; i < count; i++) {
      const pieceBits = i < 0 ? 0 : bits[i];
      if ((pieceBits & must) !== must || (pieceBits & mustNot) !== 0) continue;
      let start = i < 0 ? 1 : at[i];
      const stop = i + 1 < count ? at[i + 1] : end;
      if (start < stop && from[start] === SPACE && into[o - 1] === SPACE) start++;
      if (start >= stop) continue;
      into.copyWithin(o, start, stop);
      o += stop - start;
    }
    if (o > 1 && into[o - 1] === SPACE) o--;
    return o;
  }

  function sizeOf(end: number, must: number, mustNot: number): number {
    let size = 0;
    for (let i = -1; i < count; i++) {
      const pieceBits = i < 0 ? 0 : bits[i];
      if ((pieceBits & must) !== must || (pieceBits & mustNot) !== 0) continue;
      size += (i + 1 < count ? at[i + 1] : end) - (i < 0 ? 1 : at[i]);
    }
    return size;
  }

  function choose(out: Uint8Array, end: number, mode: TextMode): Uint8Array {
    let must = 0;
    let mustNot: number = REGION.hidden;
    if (mode === 'main') {
      mustNot |= REGION.aside;
      if (hasMain) must = REGION.main;
      else if (articles === 1) must = REGION.article;
      // A lone separator is no text.
      if (must !== 0 && sizeOf(end, must, mustNot) < 2) must = 0;
      if (sizeOf(end, must, mustNot) < 2) mustNot = REGION.hidden;
    }
    if (sizeOf(end, must, mustNot) < 2) mustNot = 0;
    const stop = gather(out, end, must, mustNot, out);
    return out.subarray(1, stop);
  }

  const self: TextRegions = {
    mainHash: 0,
    reset() {
      count = current = asideDepth = asideDepthOutside = articleDepth = articles = mainDepth = 0;
      hasMain = false;
      self.mainHash = 0;
    },
    enter,
    leave,
    startMain(tagHash, offset) {
      if (mainDepth > 0) {
        if (tagHash === self.mainHash) mainDepth++;
        return;
      }
      hasMain = true;
      self.mainHash = tagHash;
      mainDepth = 1;
      // A header that was never closed must not hide the main text.
      asideDepthOutside = asideDepth;
      asideDepth = 0;
      mark((current | REGION.main) & ~REGION.aside, offset);
    },
    startInMain() {
      mainDepth++;
    },
    endInMain(offset) {
      if (--mainDepth > 0) return;
      self.mainHash = 0;
      asideDepth = asideDepthOutside;
      mark((current & ~REGION.main & ~REGION.aside) | (asideDepth > 0 ? REGION.aside : 0), offset);
    },
    choose,
  };
  return self;
}
