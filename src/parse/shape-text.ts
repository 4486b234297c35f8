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

/** What of a scan says how its text was laid out, beside the lines that the kernel knows. */
export interface TextLayout {
  readonly preformatted: readonly Preformatted[];
  /** What the main text was put together from. */
  readonly pieces: readonly TextPiece[];
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

/** What stands in a link from a heading to itself. */
const PERMALINK_SIGNS = ['¶', '#', '§', '∞', '⚓', '⚓︎', '🔗', '🔗︎', '🔗️', '⁋'].map((sign) => ({
  sign,
  bytes: Buffer.from(sign),
}));
const FIRST_BYTES = new Uint8Array(256);
for (const { bytes } of PERMALINK_SIGNS) FIRST_BYTES[bytes[0]] = 1;
/** An icon or two beside the sign. */
const LONGEST_PERMALINK_BYTES = 512;

/** For text that the kernel has made: it stands in its memory, and so does what is given back, until the next page. */
export function createTextShaper(kernel: ScanKernel): TextShaper {
  const copier = createPreformattedCopier();

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
  function makeEdits(lines: number, text: Uint8Array, edits: readonly Edit[]): number {
    const { shaped } = kernel;
    let o = 0;
    let at = 0;
    for (const { from, to, pre } of edits) {
      if (from < at) continue;
      shaped.copyWithin(o, lines + at, lines + from);
      o += from - at;
      at = to;
      if (pre !== null) {
        const stop = copyPre(pre, o, text, from, to);
        if (stop >= 0) o = stop;
        else {
          shaped.copyWithin(o, lines + from, lines + to);
          o += to - from;
        }
      } else if ((o === 0 || shaped[o - 1] === NEWLINE) && at < text.length && shaped[lines + at] === NEWLINE)
        at++;
    }
    shaped.copyWithin(o, lines + at, lines + text.length);
    o += text.length - at;
    return o > 0 && shaped[o - 1] === NEWLINE ? o - 1 : o;
  }

  return (text, layout, links) => {
    const { shaped } = kernel;
    const { length } = text;
    shaped.set(text);
    let line = 0;
    for (const { from, to, at } of layout.pieces)
      line = kernel.breakLines(line, from, to, at - from - 1, shaped.byteOffset, length);
    const edits = editsOf(text, layout, links, kernel);
    if (edits.length === 0) return viewOf(shaped, length);
    // What it is made of stands in the second half of the room.
    const lines = shaped.length >> 1;
    shaped.copyWithin(lines, 0, length);
    return viewOf(shaped, makeEdits(lines, text, edits));
  };
}

/** No buffer of its own for each page, and no Buffer, whose `slice` does not copy. */
function viewOf(shaped: Buffer, length: number): Uint8Array {
  return new Uint8Array(shaped.buffer, shaped.byteOffset, length);
}

/** In the order of the text. */
function editsOf(
  text: Uint8Array,
  { preformatted, pieces }: TextLayout,
  links: LinkSpans,
  kernel: ScanKernel,
): Edit[] {
  const edits: Edit[] = [];
  for (const pre of preformatted) {
    const piece = pieces.find(({ from, to }) => pre.textStart >= from && pre.textStart < to);
    if (piece === undefined) continue;
    const from = placeIn(piece, pre.textStart);
    let to = Math.min(from + Math.min(pre.textEnd, piece.to) - pre.textStart, text.length);
    while (to > from && text[to - 1] === SPACE) to--;
    if (to > from) edits.push({ from, to, pre });
  }
  const isInOrder = edits.length === 0;
  addPermalinks(edits, text, pieces, links, kernel);
  return isInOrder ? edits : edits.sort((a, b) => a.from - b.from);
}

/** Where an offset of the whole text stands in the main text. */
function placeIn({ from, at }: TextPiece, offset: number): number {
  return at + offset - from - 1;
}

function addPermalinks(
  edits: Edit[],
  text: Uint8Array,
  pieces: readonly TextPiece[],
  links: LinkSpans,
  kernel: ScanKernel,
): void {
  let at = 0;
  for (let i = kernel.nextPermalink(0); i >= 0; i = kernel.nextPermalink(i + 1)) {
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
