/**
 * Gives the main text its shape for people: lines as browsers show them, the white space of a `pre` as it was written,
 * and no signs that link a heading to itself. The folded text that is hashed, counted and fingerprinted stays as it is:
 * both have the same words, except for these signs. Made only for pages whose text is stored.
 */

import { IS_PERMALINK } from './kernel-layout.ts';
import type { LinkSpans } from './link-spans.ts';
import type { ScanKernel } from './scan-kernel.ts';
import type { TextPiece } from './text-regions.ts';

export type TextShaper = (text: Uint8Array, pieces: readonly TextPiece[], links: LinkSpans) => Uint8Array;

/** The text of a link from a heading to itself; the kernel has the same list. */
const PERMALINK_SIGNS: ReadonlySet<string> = new Set([
  '¶',
  '#',
  '§',
  '⁋',
  ...['∞', '⚓', '🔗'].flatMap((sign) => [sign, `${sign}\ufe0e`, `${sign}\ufe0f`]),
]);

/** For text that the kernel made: it is in the kernel's memory, and so is the result, until the next page. */
export function createTextShaper(kernel: ScanKernel): TextShaper {
  return (text, pieces, links) => {
    const { shaped } = kernel;
    kernel.beginShape(shaped.byteOffset);
    for (const { from, to, at } of pieces) {
      for (let i = kernel.nextDoubtful(from, to, at); i >= 0; i = kernel.nextDoubtful(from, to, at))
        if (PERMALINK_SIGNS.has(links.anchorText(i))) kernel.linkKinds[i] |= IS_PERMALINK;
      // The byte before the text is a space that belongs to no piece.
      kernel.shapePiece(from, to, at, text.length + 1);
    }
    return new Uint8Array(shaped.buffer, shaped.byteOffset, kernel.endShape());
  };
}
