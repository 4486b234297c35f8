/**
 * Reads HTML once and notes positions: links, title, first h1, metas, base, language, text.
 *
 * Promises: the links that a browser without scripts would find, also on broken pages, without making a string for any
 * of them. Never fails: any UTF-8 bytes are HTML. Results are valid until the next scan. The kernel (scan-kernel.ts)
 * reads the bytes and stops at everything but text, plain anchors and tags without a meaning here; this file decides
 * what that means.
 */

import { isHtmlType } from './attribute-spans.ts';
import * as at from './kernel-layout.ts';
import { createLinkSpans } from './link-spans.ts';
import { createOpenBoxes } from './open-boxes.ts';
import { createPageNotes, type HtmlScan, newScan } from './page-notes.ts';
import { createRawContent } from './raw-content.ts';
import { createScanKernel, type ScanKernel } from './scan-kernel.ts';
import { READ_AS, SpecialElements } from './special-elements.ts';
import { FLAG, TAG_FLAGS, tagId } from './tag-names.ts';
import { createTextRegions, type TextMode } from './text-regions.ts';
import { createTextStops } from './text-stops.ts';

export interface HtmlScanner {
  readonly result: HtmlScan;
  scan(bytes: Uint8Array, length: number, mode: TextMode): HtmlScan;
}

const SPACE = 0x20;

const A = tagId('a');
const ARTICLE = tagId('article');
const FRAME = tagId('frame');
const IFRAME = tagId('iframe');
const NOFRAMES = tagId('noframes');
const FONT = tagId('font');
const ANNOTATION_XML = tagId('annotation-xml');

export function createHtmlScanner(kernel: ScanKernel = createScanKernel()): HtmlScanner {
  const special = new SpecialElements();
  const regions = createTextRegions();
  const boxes = createOpenBoxes(kernel, regions);
  const links = createLinkSpans(kernel);
  const stops = createTextStops(kernel, special);
  const result = newScan(links, regions.pieces);
  /** The kernel's state, page and text: fetched again for each page, because they move when a larger page comes. */
  let state = kernel.state;
  let bytes = kernel.bytes;
  let out = kernel.text;
  let isLogging = false;
  const notes = createPageNotes(kernel, links, boxes, result);
  const raw = createRawContent(kernel, result);

  function reset(length: number): void {
    special.reset(isLogging);
    regions.reset();
    boxes.reset();
    links.reset();
    notes.reset();
    raw.reset(length);
    // A space at the front makes the test for "first" needless when white space is folded.
    out[0] = SPACE;
    state[at.SIZE] = 1;
    state[at.LINE_COUNT] = state[at.WHITE_COUNT] = 0;
    state[at.HAS_BODY] = state[at.IS_FRAMESET] = 0;
    followSpecial();
  }

  /** What the kernel must know about the open special elements. */
  function followSpecial(): void {
    const isInside = special.depth > 0;
    state[at.IS_MUTE] = (isInside && special.isMute) || raw.resumeAt >= 0 ? 1 : 0;
    state[at.TELLS_ALL] = isInside || isLogging ? 1 : 0;
  }

  /** Attributes that change how svg and math are read. */
  function hasForeignHint(id: number): boolean {
    if (id === FONT) return state[at.SPANS + at.FONT] >= 0;
    const encoding = at.SPANS + at.ENCODING;
    return id === ANNOTATION_XML && isHtmlType(bytes, state[encoding], state[encoding + 1]);
  }

  /** Handles a start tag and returns where reading continues: after the tag, or after its raw content. */
  function startTag(id: number, hash: number, flags: number): number {
    const after = state[at.AFTER];
    let readAs: number = READ_AS.html;
    if (special.depth > 0 || (flags & FLAG.special) !== 0) {
      readAs = special.start(hash, id, state[at.IS_SELF_CLOSING] === 1, hasForeignHint(id));
      followSpecial();
    }
    const isInDoubt = special.isInDoubt;
    boxes.start(id, hash, special.depth === 0);
    if ((flags & FLAG.act) === 0 || (readAs === READ_AS.nothing && !isInDoubt)) return after;
    const counts = special.templates === 0 || isInDoubt;
    if (id === A) {
      links.closeAnchor(state[at.AT]);
      if (counts) notes.addLink(id, after, readAs === READ_AS.foreign);
    } else if ((flags & FLAG.raw) !== 0) {
      if ((readAs === READ_AS.html || isInDoubt) && raw.resumeAt < 0) {
        if (id === IFRAME && counts) links.addFrame(true);
        return raw.read(id, readAs === READ_AS.html, counts, isInDoubt);
      }
    } else if (counts && (readAs !== READ_AS.foreign || isInDoubt)) {
      notes.actOnStart(id, after, special.depth === 0);
    }
    return after;
  }

  function endTag(id: number, hash: number): void {
    const tagStart = state[at.AT];
    if (raw.isClose) raw.isClose = false;
    else if (special.depth > 0) {
      special.end(hash, id);
      followSpecial();
    }
    if (id === A) links.closeAnchor(tagStart);
    else if (notes.isHeading(id)) notes.endHeading(tagStart);
    else if (id === ARTICLE) boxes.endArticle();
  }

  /** The tag where the kernel stopped. Returns where reading continues. */
  function readTag(): number {
    const id = state[at.TAG_ID];
    const hash = state[at.TAG_HASH];
    const isEnd = state[at.IS_END_TAG] === 1;
    const after = state[at.AFTER];
    if (state[at.IS_FRAMESET] === 1) {
      if (!isEnd && id === FRAME) links.addFrame(false);
      if (isEnd || id !== NOFRAMES) return after;
      return raw.endOf(NOFRAMES, after);
    }
    const flags = TAG_FLAGS[id];
    if (isLogging && special.depth === 0 && (flags & FLAG.raw) === 0) special.log(hash, isEnd ? 1 : 0);
    if (state[at.ENDED] !== 0) boxes.end(state[at.ENDED]);
    if (!isEnd) return startTag(id, hash, flags);
    // Other tags are reported only for a box or for the log.
    if (special.depth > 0 || (flags & (FLAG.act | FLAG.special)) !== 0) endTag(id, hash);
    return after;
  }

  function readAll(length: number): void {
    reset(length);
    let p = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    for (;;) {
      const stop = kernel.read(p);
      if (stop === at.STOPPED_AT_TAG) p = readTag();
      else if (stop === at.STOPPED_AT_REFERENCE) p = stops.readReferenceAt(state[at.AT]);
      else if (stop === at.STOPPED_AT_ODDITY) p = stops.readOddity(state[at.AT]);
      else if (stop === at.STOPPED_AT_DISGUISE) {
        p = state[at.AFTER];
        links.addDisguised(p);
      } else if (raw.resumeAt >= 0) {
        p = raw.resume();
        followSpecial();
      } else break;
    }
    boxes.finish();
    links.closeAnchor(length);
    notes.endHeading(length);
  }

  function scan(page: Uint8Array, pageLength: number, mode: TextMode): HtmlScan {
    const length = kernel.take(page, pageLength);
    state = kernel.state;
    bytes = kernel.bytes;
    out = kernel.text;
    isLogging = false;
    readAll(length);
    if (special.needsLog) {
      isLogging = true;
      readAll(length);
    }
    links.settle();
    result.text = regions.choose(out, state[at.SIZE], mode);
    return result;
  }

  return { result, scan };
}
