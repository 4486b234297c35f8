/** What a scan of HTML notes. Offsets point into the scanned bytes; a start of -1 means absent. */

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
  /** Of each meta: name, http-equiv, content and charset as pairs of offsets, `META_WIDTH` numbers a meta. */
  metas: Int32Array;
  metaCount: number;
  /** Of each JSON-LD script its content, as pairs of offsets. */
  linkedData: number[];
  /** White space folded, references decoded; UTF-8. */
  text: Uint8Array;
  /** What the text was put together from. */
  readonly pieces: readonly TextPiece[];
}
