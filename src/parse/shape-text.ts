/**
 * Gives the main text its shape for whoever reads it: lines as browsers show them, the white space of a `pre` as it was
 * written, and without the signs that link a heading to itself. The folded text that is hashed, counted and
 * fingerprinted stays as it is: both have the same words, but for those signs. Made only of pages whose text is stored.
 */

import { IS_PERMALINK } from './kernel-layout.ts';
import type { LinkSpans } from './link-spans.ts';
import type { ScanKernel } from './scan-kernel.ts';
import type { TextPiece } from './text-regions.ts';

export type TextShaper = (text: Uint8Array, pieces: readonly TextPiece[], links: LinkSpans) => Uint8Array;

/** What stands in a link from a heading to itself; the kernel knows the same. */
const PERMALINK_SIGNS: ReadonlySet<string> = new Set([
  '¶',
  '#',
  '§',
  '⁋',
  ...['∞', '⚓', '🔗'].flatMap((sign) => [sign, `${sign}\ufe0e`, `${sign}\ufe0f`]),
]);

/** For text that the kernel has made: it stands in its memory, and so does what is given back, until the next page. */
export function createTextShaper(kernel: ScanKernel): TextShaper {
  return (text, pieces, links) => {
    const { shaped } = kernel;
    kernel.beginShape(shaped.byteOffset);
    for (const { from, to, at } of pieces) {
      for (let i = kernel.nextDoubtful(from, to, at); i >= 0; i = kernel.nextDoubtful(from, to, at))
        if (PERMALINK_SIGNS.has(links.anchorText(i))) kernel.linkKinds[i] |= IS_PERMALINK;
      // The byte before the text is a space, which belongs to no piece.
      kernel.shapePiece(from, to, at, text.length + 1);
    }
    return new Uint8Array(shaped.buffer, shaped.byteOffset, kernel.endShape());
  };
}
