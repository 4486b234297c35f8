/**
 * Gives the main text its shape for whoever reads it: lines as browsers show them, `pre` as it was written, and without
 * the signs that link a heading to itself. The folded text that is hashed, counted and fingerprinted stays as it is:
 * both have the same words, but for those signs. Made only of pages whose text is stored.
 */

import { createPreformattedCopier } from './copy-preformatted.ts';
import { DIFFERS, IS_RARE } from './kernel-layout.ts';
import type { LinkSpans } from './link-spans.ts';
import type { ScanKernel } from './scan-kernel.ts';
import type { TextPiece } from './text-regions.ts';

/** Where a `pre` stands: in the text that is made of the page, and in the page's own bytes. */
export interface Preformatted {
  textStart: number;
  textEnd: number;
  start: number;
  end: number;
}

/** What of a scan says how its text was laid out. Offsets into the text before the main text was chosen from it. */
export interface TextLayout {
  /** Where lines begin, ascending. */
  lineStarts: Int32Array;
  lineCount: number;
  preformatted: readonly Preformatted[];
  /** What the main text was put together from. */
  pieces: readonly TextPiece[];
}

export type TextShaper = (text: Uint8Array, layout: TextLayout, links: LinkSpans) => Uint8Array;

/** A part of the main text, and what stands in its place: a `pre`, or nothing. */
interface Edit {
  from: number;
  to: number;
  pre: Preformatted | null;
}

const SPACE = 0x20;
const NEWLINE = 0x0a;
const NUMBER_SIGN = 0x23;

/** What stands in a link from a heading to itself. */
const PERMALINK_SIGNS = ['¶', '#', '§', '∞', '⚓', '⚓︎', '🔗', '🔗︎', '🔗️', '⁋'].map((sign) => ({
  sign,
  bytes: Buffer.from(sign),
}));
const FIRST_BYTES = new Uint8Array(256);
for (const { bytes } of PERMALINK_SIGNS) FIRST_BYTES[bytes[0]] = 1;
/** An icon or two beside the sign. */
const LONGEST_PERMALINK_BYTES = 512;

/** For text that the kernel has made: it stands in its memory. */
export function createTextShaper(kernel: ScanKernel): TextShaper {
  const copier = createPreformattedCopier();
  let lines = Buffer.alloc(1 << 16);

  /** Writes a `pre` in place of a part of the text; answers where it ends, -1 when it is not to be. */
  function copyPre(
    { start, end }: Preformatted,
    o: number,
    text: Uint8Array,
    from: number,
    to: number,
  ): number {
    const { shaped, bytes } = kernel;
    const at = text.byteOffset;
    const size = kernel.copyPre(start, end, shaped.byteOffset + o, at + from, at + to);
    if (size !== IS_RARE) return size === DIFFERS ? -1 : o + size;
    return copier.copy(bytes, start, end, shaped, o, text, from, to);
  }

  /** The text with all edits made, in the kernel's room for it; answers its length. */
  function makeEdits(shaped: Buffer, text: Uint8Array, edits: readonly Edit[]): number {
    const scratch = kernel.shaped;
    let o = 0;
    let at = 0;
    for (const { from, to, pre } of edits) {
      if (from < at) continue;
      shaped.copy(scratch, o, at, from);
      o += from - at;
      at = to;
      if (pre !== null) {
        const stop = copyPre(pre, o, text, from, to);
        if (stop >= 0) o = stop;
        else o += shaped.copy(scratch, o, from, to);
      } else if ((o === 0 || scratch[o - 1] === NEWLINE) && shaped[at] === NEWLINE) at++;
    }
    o += shaped.copy(scratch, o, at);
    return o > 0 && scratch[o - 1] === NEWLINE ? o - 1 : o;
  }

  return (text, layout, links) => {
    if (lines.length < text.length) lines = Buffer.alloc(text.length * 2);
    lines.set(text);
    const shaped = lines.subarray(0, text.length);
    breakLines(shaped, layout);
    const edits = editsOf(text, layout, links);
    if (edits.length === 0) return Buffer.from(shaped);
    return Buffer.from(kernel.shaped.subarray(0, makeEdits(shaped, text, edits)));
  };
}

/** In the order of the text. */
function editsOf(text: Uint8Array, { preformatted, pieces }: TextLayout, links: LinkSpans): Edit[] {
  const edits: Edit[] = [];
  for (const pre of preformatted) {
    const piece = pieces.find(({ from, to }) => pre.textStart >= from && pre.textStart < to);
    if (piece === undefined) continue;
    const from = placeIn(piece, pre.textStart);
    let to = Math.min(from + Math.min(pre.textEnd, piece.to) - pre.textStart, text.length);
    while (to > from && text[to - 1] === SPACE) to--;
    if (to > from) edits.push({ from, to, pre });
  }
  addPermalinks(edits, text, pieces, links);
  return edits.sort((a, b) => a.from - b.from);
}

/** Where an offset of the whole text stands in the main text. */
function placeIn({ from, at }: TextPiece, offset: number): number {
  return at + offset - from - 1;
}

function breakLines(shaped: Buffer, { lineStarts, lineCount, pieces }: TextLayout): void {
  let line = 0;
  for (const piece of pieces) {
    while (line < lineCount && lineStarts[line] < piece.from) line++;
    for (; line < lineCount && lineStarts[line] <= piece.to; line++) {
      // The white space in front of it.
      const before = placeIn(piece, lineStarts[line]) - 1;
      if (before > 0 && before < shaped.length && shaped[before] === SPACE) shaped[before] = NEWLINE;
      // Where a piece ends, the next one may begin.
      if (lineStarts[line] === piece.to) break;
    }
  }
}

function addPermalinks(
  edits: Edit[],
  text: Uint8Array,
  pieces: readonly TextPiece[],
  links: LinkSpans,
): void {
  const { count, bytes, hrefStart, hrefEnd } = links;
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (hrefStart[i] !== hrefEnd[i] || bytes[hrefEnd[i]] !== NUMBER_SIGN) continue;
    const before = links.textBefore(i);
    // Links stand in the order of the text.
    while (at < pieces.length && before >= pieces[at].to) at++;
    if (at === pieces.length) return;
    if (before < pieces[at].from) continue;
    let from = placeIn(pieces[at], before);
    if (text[from] === SPACE) from++;
    if (FIRST_BYTES[text[from]] === 0) continue;
    const size = signAt(text, from, i, links);
    if (size === 0) continue;
    const to = from + size;
    const endsWord = to === text.length || text[to] === SPACE;
    // The white space before it goes with it where there is some behind it, too.
    if (from > 0 && text[from - 1] === SPACE && endsWord) from--;
    edits.push({ from, to, pre: null });
  }
}

/** The bytes of the sign that is all the text of the link; 0 when it has another one. */
function signAt(text: Uint8Array, from: number, link: number, links: LinkSpans): number {
  if (links.textLength(link) > LONGEST_PERMALINK_BYTES) return 0;
  for (const { sign, bytes } of PERMALINK_SIGNS) {
    let i = 0;
    while (i < bytes.length && text[from + i] === bytes[i]) i++;
    // As it stands, or inside of elements or as a reference.
    if (i === bytes.length && (links.hasText(link, bytes) || links.anchorText(link) === sign)) return i;
  }
  return 0;
}
