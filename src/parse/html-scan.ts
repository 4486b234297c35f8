/** The result of a scan of HTML. Offsets point into the scanned bytes; a start of -1 means absent. */

import type { LinkSpans } from './link-spans.ts';
import type { TextPiece } from './text-regions.ts';

export interface HtmlScan {
  readonly links: LinkSpans;
  titleStart: number;
  titleEnd: number;
  h1Start: number;
  h1End: number;
  baseStart: number;
  baseEnd: number;
  langStart: number;
  langEnd: number;
  /** For each meta: name, http-equiv, content and charset as pairs of offsets, `META_WIDTH` numbers per meta. */
  metas: Int32Array;
  metaCount: number;
  /** The content of each JSON-LD script, as pairs of offsets. */
  linkedData: number[];
  /** White space folded, references decoded; UTF-8. */
  text: Uint8Array;
  /** The pieces of the page that the text consists of. */
  readonly pieces: readonly TextPiece[];
}
