/**
 * Collects what single tags say: title, first h1, base, language, metas, links and frames. It gets the start tags with
 * a meaning of their own and the ends of headings. It does not decide where reading continues.
 */
import { META_WIDTH } from './attribute-spans.ts';
import * as at from './kernel-layout.ts';
import type { LinkSpans } from './link-spans.ts';
import type { OpenBoxes } from './open-boxes.ts';
import type { ScanKernel } from './scan-kernel.ts';
import { tagId } from './tag-names.ts';
import type { TextPiece } from './text-regions.ts';

/** What a scan notes of a page. Offsets point into the scanned bytes; a start of -1 means absent. */
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

export function newScan(links: LinkSpans, pieces: readonly TextPiece[]): HtmlScan {
  return {
    links,
    pieces,
    titleStart: -1,
    titleEnd: -1,
    h1Start: -1,
    h1End: -1,
    baseStart: -1,
    baseEnd: -1,
    langStart: -1,
    langEnd: -1,
    metas: new Int32Array(META_WIDTH * 32),
    metaCount: 0,
    linkedData: [],
    text: new Uint8Array(0),
  };
}

const A = tagId('a');
const AREA = tagId('area');
const LINK = tagId('link');
const BASE = tagId('base');
const META = tagId('meta');
const HTML = tagId('html');
const H1 = tagId('h1');
const H6 = tagId('h6');
const ARTICLE = tagId('article');
const FRAMESET = tagId('frameset');

export function createPageNotes(kernel: ScanKernel, links: LinkSpans, boxes: OpenBoxes, result: HtmlScan) {
  let isHeadingOpen = false;

  function reset(): void {
    result.titleStart = result.h1Start = result.baseStart = result.langStart = -1;
    result.titleEnd = result.h1End = result.baseEnd = result.langEnd = -1;
    result.metaCount = 0;
    if (result.linkedData.length > 0) result.linkedData = [];
    isHeadingOpen = false;
  }

  function addLink(id: number, after: number, isForeign: boolean): void {
    const { state } = kernel;
    // Links of svg were first written with a namespace, and may still be.
    const span = isForeign && state[at.SPANS + at.HREF] < 0 ? at.SPANS + at.XLINK : at.SPANS + at.HREF;
    if (state[span] < 0 || state[at.SPANS + at.DOWNLOAD] >= 0) return;
    if (id === A) links.addAnchor(span, after);
    else if (id === AREA) links.addArea(span);
    else if (state[at.SPANS + at.REL] >= 0) links.addLink(span);
  }

  function noteMeta(): void {
    const { state } = kernel;
    const from = result.metaCount++ * META_WIDTH;
    if (from === result.metas.length) {
      const more = new Int32Array(from * 2);
      more.set(result.metas);
      result.metas = more;
    }
    for (let i = 0; i < META_WIDTH; i++) result.metas[from + i] = state[at.SPANS + at.NAME + i];
  }

  function startHeading(id: number): void {
    const { state } = kernel;
    if (isHeadingOpen) result.h1End = state[at.AT];
    isHeadingOpen = id === H1 && result.h1Start < 0;
    if (isHeadingOpen) result.h1Start = state[at.AFTER];
  }

  /** `isOutside`: no special element is open. */
  function actOnStart(id: number, after: number, isOutside: boolean): void {
    const { state } = kernel;
    if (id === AREA || id === LINK) addLink(id, after, false);
    else if (id === META) noteMeta();
    else if (id >= H1 && id <= H6) startHeading(id);
    else if (id === ARTICLE) boxes.startArticle();
    else if (id === BASE && result.baseStart < 0) {
      result.baseStart = state[at.SPANS + at.HREF];
      result.baseEnd = state[at.SPANS + at.HREF + 1];
    } else if (id === HTML && result.langStart < 0) {
      result.langStart = state[at.SPANS + at.LANG];
      result.langEnd = state[at.SPANS + at.LANG + 1];
    } else if (id === FRAMESET && state[at.HAS_BODY] === 0 && state[at.SIZE] === 1 && isOutside) {
      state[at.IS_FRAMESET] = 1;
    }
  }

  function isHeading(id: number): boolean {
    return id >= H1 && id <= H6;
  }

  /** At the end tag of a heading, or at the end of the page. */
  function endHeading(position: number): void {
    if (isHeadingOpen) result.h1End = position;
    isHeadingOpen = false;
  }

  return { reset, addLink, actOnStart, isHeading, endHeading };
}
