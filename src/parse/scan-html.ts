/**
 * Reads HTML once and notes where things stand: links, title, first h1, metas, base, language, text. Promises the links
 * that a browser without scripts would find, also on broken pages, and makes no string for any of them. Never fails: all
 * bytes are some HTML, given as UTF-8. Results are valid until the next scan.
 * The kernel (scan-kernel.ts) reads the bytes and stops at whatever means more than text, a tag of no account or a plain
 * anchor; what that means is decided here.
 */

import { isHtmlType, META_WIDTH } from './attribute-spans.ts';
import { type Reference, readReference, writeUtf8 } from './character-references.ts';
import { isSpace, isWideSpace } from './fold-text.ts';
import * as at from './kernel-layout.ts';
import { createLinkSpans, type LinkSpans } from './link-spans.ts';
import { noteLinkedData } from './linked-data.ts';
import { createOpenBoxes } from './open-boxes.ts';
import { findRawEnd, findScriptEnd, isCdata } from './raw-text.ts';
import { createScanKernel, type ScanKernel } from './scan-kernel.ts';
import { createSpecialElements, READ_AS } from './special-elements.ts';
import { FLAG, TAG_FLAGS, tagId } from './tag-names.ts';
import { createTextRegions, type TextMode, type TextPiece } from './text-regions.ts';

/** What a scan notes. Offsets point into the scanned bytes; a start of -1 means absent. */
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

export interface HtmlScanner {
  readonly result: HtmlScan;
  scan(bytes: Uint8Array, length: number, mode: TextMode): HtmlScan;
}

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const SPACE = 0x20;
const AMPERSAND = 0x26;

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
const FRAME = tagId('frame');
const IFRAME = tagId('iframe');
const TITLE = tagId('title');
const SCRIPT = tagId('script');
const PLAINTEXT = tagId('plaintext');
const NOFRAMES = tagId('noframes');
const FONT = tagId('font');
const ANNOTATION_XML = tagId('annotation-xml');

const RAW_NAMES = ['title', 'style', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'];
const RAW_NAME_BYTES: Uint8Array[] = [];
for (const name of RAW_NAMES) RAW_NAME_BYTES[tagId(name)] = Buffer.from(name);

export function createHtmlScanner(kernel: ScanKernel = createScanKernel()): HtmlScanner {
  const special = createSpecialElements();
  const regions = createTextRegions();
  const boxes = createOpenBoxes(kernel, regions);
  const links = createLinkSpans(kernel);
  const reference: Reference = { next: 0, first: 0, second: 0 };
  const result: HtmlScan = {
    links,
    pieces: regions.pieces,
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
  /** The kernel's state, page and text: taken anew for each page, as they move when a larger page comes. */
  let state = kernel.state;
  let bytes = kernel.bytes;
  let out = kernel.text;
  let realEnd = 0;
  /** While the content of a raw element is read in doubt: where its end tag stands. */
  let resumeAt = -1;
  let isRawClose = false;
  let isHeadingOpen = false;
  let isLogging = false;

  function reset(length: number): void {
    special.reset(isLogging);
    regions.reset();
    boxes.reset();
    links.reset();
    result.titleStart = result.h1Start = result.baseStart = result.langStart = -1;
    result.titleEnd = result.h1End = result.baseEnd = result.langEnd = -1;
    result.metaCount = 0;
    if (result.linkedData.length > 0) result.linkedData = [];
    // A space in front spares the test for "first" when white space is folded.
    out[0] = SPACE;
    state[at.SIZE] = 1;
    state[at.LINE_COUNT] = state[at.WHITE_COUNT] = 0;
    state[at.END] = realEnd = length;
    state[at.HAS_BODY] = state[at.IS_FRAMESET] = 0;
    resumeAt = -1;
    isRawClose = isHeadingOpen = false;
    followSpecial();
  }

  /** What the kernel has to know of the special elements that are open. */
  function followSpecial(): void {
    const isInside = special.depth > 0;
    state[at.IS_MUTE] = (isInside && special.isMute()) || resumeAt >= 0 ? 1 : 0;
    state[at.TELLS_ALL] = isInside || isLogging ? 1 : 0;
  }

  /** At a `&` of the text. Returns where reading goes on. */
  function readReferenceAt(p: number): number {
    let size = state[at.SIZE];
    if (!readReference(bytes, p, state[at.END], false, reference)) {
      out[size++] = AMPERSAND;
      reference.next = p + 1;
    } else if (isSpace(reference.first) || isWideSpace(reference.first)) {
      state[at.HAS_BODY] = 1;
      const isNew = out[size - 1] !== SPACE;
      if (isNew) out[size++] = SPACE;
      kernel.keepReference(size, reference.first, isNew ? 1 : 0);
    } else {
      size = writeUtf8(out, size, reference.first);
      if (reference.second !== 0) size = writeUtf8(out, size, reference.second);
    }
    state[at.SIZE] = size;
    return reference.next;
  }

  /** What is neither tag nor comment: doctype, CDATA, a lone `<`. Returns where reading goes on. */
  function readOddity(tagStart: number): number {
    const end = state[at.END];
    const next = bytes[tagStart + 1];
    let p = tagStart + 1;
    if (next === 0x21) {
      if (special.allowsCdata() && !special.isInDoubt && isCdata(bytes, p + 1)) {
        for (p += 8; p < end; p++) {
          if (bytes[p] === GT && bytes[p - 1] === 0x5d && bytes[p - 2] === 0x5d) return p + 1;
        }
        return end;
      }
    } else if (next !== 0x3f && (next !== SLASH || p + 1 >= end)) {
      if (state[at.IS_MUTE] === 0) out[state[at.SIZE]++] = LT;
      return p;
    }
    // Doctype, processing instruction, `</ x>`: all end at the first `>`.
    while (p < end && bytes[p] !== GT) p++;
    return p < end ? p + 1 : p;
  }

  function addLink(id: number, after: number, isForeign: boolean): void {
    // Links of svg were written with a namespace first, and may still be.
    const span = isForeign && state[at.SPANS + at.HREF] < 0 ? at.SPANS + at.XLINK : at.SPANS + at.HREF;
    const hrefStart = state[span];
    if (hrefStart < 0 || state[at.SPANS + at.DOWNLOAD] >= 0) return;
    const hrefEnd = state[span + 1];
    const relStart = state[at.SPANS + at.REL];
    const relEnd = state[at.SPANS + at.REL + 1];
    if (id === A) links.addAnchor(hrefStart, hrefEnd, relStart, relEnd, after);
    else if (id === AREA) {
      const alt = at.SPANS + at.ALT;
      links.addArea(hrefStart, hrefEnd, relStart, relEnd, state[alt], state[alt + 1]);
    } else if (relStart >= 0) links.addLink(hrefStart, hrefEnd, relStart, relEnd);
  }

  function addFrame(isInline: boolean): void {
    const src = at.SPANS + at.SRC;
    if (state[src] >= 0) links.addFrame(state[src], state[src + 1], isInline);
  }

  function noteMeta(): void {
    const from = result.metaCount++ * META_WIDTH;
    if (from === result.metas.length) {
      const more = new Int32Array(from * 2);
      more.set(result.metas);
      result.metas = more;
    }
    for (let i = 0; i < META_WIDTH; i++) result.metas[from + i] = state[at.SPANS + at.NAME + i];
  }

  /** Content that is text up to its own end tag. Returns where reading goes on. */
  function readRaw(id: number, isHtml: boolean, counts: boolean): number {
    const tagStart = state[at.AT];
    const after = state[at.AFTER];
    const end = state[at.END];
    let rawEnd = end;
    if (id === SCRIPT) {
      rawEnd = findScriptEnd(bytes, after, end);
      if (counts) noteLinkedData(result.linkedData, bytes, tagStart, after, rawEnd);
    } else if (id !== PLAINTEXT) rawEnd = findRawEnd(bytes, after, end, RAW_NAME_BYTES[id]);
    if (id === TITLE && counts && result.titleStart < 0) {
      result.titleStart = after;
      result.titleEnd = rawEnd;
    }
    isRawClose = isHtml && rawEnd < end;
    if (!special.isInDoubt) return rawEnd;
    // It may be no raw text at all: look for links in it, but go on at its end tag if it has one.
    if (rawEnd === end) return after;
    resumeAt = rawEnd;
    bytes[rawEnd] = 0;
    state[at.END] = rawEnd;
    state[at.IS_MUTE] = 1;
    return after;
  }

  /** The page goes on where the raw content that was read in doubt ends. */
  function resume(): number {
    const from = resumeAt;
    bytes[from] = LT;
    state[at.END] = realEnd;
    resumeAt = -1;
    followSpecial();
    return from;
  }

  function startHeading(id: number): void {
    if (isHeadingOpen) result.h1End = state[at.AT];
    isHeadingOpen = id === H1 && result.h1Start < 0;
    if (isHeadingOpen) result.h1Start = state[at.AFTER];
  }

  /** Attributes that change how svg and math are read. */
  function hasForeignHint(id: number): boolean {
    if (id === FONT) return state[at.SPANS + at.FONT] >= 0;
    const encoding = at.SPANS + at.ENCODING;
    return id === ANNOTATION_XML && isHtmlType(bytes, state[encoding], state[encoding + 1]);
  }

  /** Acts on a start tag and returns where reading goes on: after the tag, or after its raw content. */
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
      if (counts) addLink(id, after, readAs === READ_AS.foreign);
    } else if ((flags & FLAG.raw) !== 0) {
      if ((readAs === READ_AS.html || isInDoubt) && resumeAt < 0) {
        if (id === IFRAME && counts) addFrame(true);
        return readRaw(id, readAs === READ_AS.html, counts);
      }
    } else if (counts && (readAs !== READ_AS.foreign || isInDoubt)) {
      actOnStart(id, after);
    }
    return after;
  }

  function actOnStart(id: number, after: number): void {
    const size = state[at.SIZE];
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
    } else if (id === FRAMESET && state[at.HAS_BODY] === 0 && size === 1 && special.depth === 0) {
      state[at.IS_FRAMESET] = 1;
    }
  }

  function endTag(id: number, hash: number): void {
    const tagStart = state[at.AT];
    if (isRawClose) isRawClose = false;
    else if (special.depth > 0) {
      special.end(hash, id);
      followSpecial();
    }
    if (id === A) links.closeAnchor(tagStart);
    else if (id >= H1 && id <= H6) {
      if (isHeadingOpen) result.h1End = tagStart;
      isHeadingOpen = false;
    } else if (id === ARTICLE) boxes.endArticle();
  }

  /** The tag that the kernel stopped at. Returns where reading goes on. */
  function readTag(): number {
    const id = state[at.TAG_ID];
    const hash = state[at.TAG_HASH];
    const isEnd = state[at.IS_END_TAG] === 1;
    const after = state[at.AFTER];
    if (state[at.IS_FRAMESET] === 1) {
      if (!isEnd && id === FRAME) addFrame(false);
      if (isEnd || id !== NOFRAMES) return after;
      return findRawEnd(bytes, after, state[at.END], RAW_NAME_BYTES[NOFRAMES]);
    }
    const flags = TAG_FLAGS[id];
    if (isLogging && special.depth === 0 && (flags & FLAG.raw) === 0) special.log(hash, isEnd ? 1 : 0);
    if (state[at.ENDED] !== 0) boxes.end(state[at.ENDED]);
    if (!isEnd) return startTag(id, hash, flags);
    // Others are told for a box or for the log alone.
    if (special.depth > 0 || (flags & (FLAG.act | FLAG.special)) !== 0) endTag(id, hash);
    return after;
  }

  function readAll(length: number): void {
    reset(length);
    let p = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    for (;;) {
      const stop = kernel.read(p);
      if (stop === at.STOPPED_AT_TAG) p = readTag();
      else if (stop === at.STOPPED_AT_REFERENCE) p = readReferenceAt(state[at.AT]);
      else if (stop === at.STOPPED_AT_ODDITY) p = readOddity(state[at.AT]);
      else if (stop === at.STOPPED_AT_DISGUISE) {
        p = state[at.AFTER];
        links.addDisguised(p);
      } else if (resumeAt >= 0) p = resume();
      else break;
    }
    boxes.finish();
    links.closeAnchor(length);
    if (isHeadingOpen) result.h1End = length;
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
