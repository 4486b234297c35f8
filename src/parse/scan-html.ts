/**
 * Reads HTML once, byte by byte, and notes where things stand: links, title, first h1, metas, base, language, text.
 * Promises the links that a browser without scripts would find, also on broken pages, and makes no string for any
 * of them. Never changes the bytes for good, never fails: all bytes are some HTML. The bytes must be UTF-8 with a
 * 0 at `bytes[length]`; results are valid until the next scan.
 * Each loop over bytes is a function of its own, so that its few variables stay in registers.
 */

import {
  ATTRIBUTE,
  attributeSlot,
  isHtmlType,
  isMainValue,
  isSameName,
  META_WIDTH,
  ROLE_NAME,
  SPAN_COUNT,
} from './attribute-spans.ts';
import { type Reference, readReference, writeUtf8 } from './character-references.ts';
import { isSpace, isWideSpace, wideSpaceLength } from './fold-text.ts';
import type { HtmlScan } from './html-scan.ts';
import { createLinkSpans } from './link-spans.ts';
import { noteLinkedData } from './linked-data.ts';
import { findRawEnd, findScriptEnd, isCdata, skipComment } from './raw-text.ts';
import { createSpecialElements, READ_AS } from './special-elements.ts';
import { FLAG, TAG_FLAGS, TAG_HASH, TAG_MULTIPLIER, TAG_SLOT_SHIFT, TAG_SLOTS, tagId } from './tag-names.ts';
import { createTextRegions, REGION, type TextMode } from './text-regions.ts';

export interface HtmlScanner {
  readonly result: HtmlScan;
  scan(bytes: Uint8Array, length: number, mode: TextMode): HtmlScan;
}

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const SPACE = 0x20;

/** Bytes that end a tag name (1), also an attribute name (1 and 2), an unquoted value (1 and 4, not `/`). */
const ENDS = new Uint8Array(256);
for (const byte of [0, 0x09, 0x0a, 0x0c, 0x0d, 0x20, GT]) ENDS[byte] = 7;
ENDS[SLASH] = 3;
ENDS[EQUALS] = 2;

const WHITE = new Uint8Array(256);
for (const byte of [0x09, 0x0a, 0x0c, 0x0d, 0x20]) WHITE[byte] = 1;

/** `other`: `<`, `&`, 0 and the first bytes of wide spaces. */
const TEXT_KIND = { plain: 0, space: 1, other: 2 } as const;
const TEXT = Uint8Array.from(WHITE);
for (const byte of [0, 0x26, LT, 0xc2, 0xe2, 0xe3]) TEXT[byte] = TEXT_KIND.other;

const A = tagId('a');
const AREA = tagId('area');
const LINK = tagId('link');
const BASE = tagId('base');
const META = tagId('meta');
const HTML = tagId('html');
const H1 = tagId('h1');
const H6 = tagId('h6');
const ASIDE_IDS = new Uint8Array(256);
for (const name of ['nav', 'header', 'footer', 'aside']) ASIDE_IDS[tagId(name)] = 1;
const MAIN = tagId('main');
const ARTICLE = tagId('article');
const NOSCRIPT = tagId('noscript');
const FRAMESET = tagId('frameset');
const TITLE = tagId('title');
const SCRIPT = tagId('script');
const PLAINTEXT = tagId('plaintext');
const NOFRAMES = tagId('noframes');

const RAW_NAMES = ['title', 'style', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'];
const RAW_NAME_BYTES: Uint8Array[] = [];
for (const name of RAW_NAMES) RAW_NAME_BYTES[tagId(name)] = Buffer.from(name);

export function createHtmlScanner(): HtmlScanner {
  const special = createSpecialElements();
  const regions = createTextRegions();
  const links = createLinkSpans();
  const reference: Reference = { next: 0, first: 0, second: 0 };
  const result: HtmlScan = {
    links,
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
  let out = new Uint8Array(1 << 16);
  /** End of the text in `out`. */
  let size = 1;
  /** Where the bytes to read end now, and where they really end. */
  let end = 0;
  let realEnd = 0;
  /** While the content of a raw element is read in doubt: where its end tag stands. */
  let resumeAt = -1;
  let depth = 0;
  let isMute = false;
  let hasBody = false;
  let isInFrameset = false;
  let isRawClose = false;
  let isHeadingOpen = false;
  let isLogging = false;

  /** What the last tag with attributes said: pairs of offsets by `ATTRIBUTE`. */
  const spans = new Int32Array(SPAN_COUNT);
  let hasMainRole = false;
  let hasForeignHint = false;
  let isSelfClosing = false;

  function reset(bytes: Uint8Array, length: number): void {
    // Two-character references grow by a fifth at most; everything else shrinks or stays.
    if (out.length < length + (length >> 2) + 64) out = new Uint8Array(length + (length >> 1) + 64);
    special.reset(isLogging);
    regions.reset();
    links.reset(bytes);
    result.titleStart = result.h1Start = result.baseStart = result.langStart = -1;
    result.titleEnd = result.h1End = result.baseEnd = result.langEnd = -1;
    result.metaCount = 0;
    if (result.linkedData.length > 0) result.linkedData = [];
    // A space in front spares the test for "first" when white space is folded.
    out[0] = SPACE;
    size = 1;
    end = realEnd = length;
    resumeAt = -1;
    depth = 0;
    isMute = hasBody = isInFrameset = isRawClose = isHeadingOpen = false;
  }

  /** Copies text up to the next `<` or the end, and returns where that stands. */
  function readText(bytes: Uint8Array, from: number): number {
    const text = out;
    let o = size;
    let p = from;
    for (;;) {
      const b = bytes[p];
      const kind = TEXT[b];
      if (kind === TEXT_KIND.plain) {
        text[o++] = b;
        p++;
      } else if (kind === TEXT_KIND.space) {
        if (text[o - 1] !== SPACE) text[o++] = SPACE;
        p++;
      } else if (b === LT) {
        break;
      } else if (b === 0) {
        if (p >= end) break;
        p++;
      } else if (b === 0x26 && readReference(bytes, p, end, false, reference)) {
        p = reference.next;
        size = o;
        writeReference();
        o = size;
      } else if (b !== 0x26 && wideSpaceLength(bytes, p) > 0) {
        p += wideSpaceLength(bytes, p);
        hasBody = true;
        if (text[o - 1] !== SPACE) text[o++] = SPACE;
      } else {
        text[o++] = b;
        p++;
      }
    }
    size = o;
    return p;
  }

  function writeReference(): void {
    const code = reference.first;
    if (isSpace(code) || isWideSpace(code)) {
      hasBody = true;
      if (out[size - 1] !== SPACE) out[size++] = SPACE;
    } else {
      size = writeUtf8(out, size, code);
      if (reference.second !== 0) size = writeUtf8(out, size, reference.second);
    }
  }

  /** What is not a tag: comments, doctype, CDATA, a lone `<`. Returns where reading goes on. */
  function readOddity(bytes: Uint8Array, tagStart: number): number {
    const next = bytes[tagStart + 1];
    let p = tagStart + 1;
    if (next === 0x21) {
      if (bytes[p + 1] === 0x2d && bytes[p + 2] === 0x2d) return skipComment(bytes, tagStart, end);
      if (special.allowsCdata() && !special.isInDoubt && isCdata(bytes, p + 1)) {
        for (p += 8; p < end; p++) {
          if (bytes[p] === GT && bytes[p - 1] === 0x5d && bytes[p - 2] === 0x5d) return p + 1;
        }
        return end;
      }
    } else if (next !== 0x3f && (next !== SLASH || p + 1 >= end)) {
      if (!isMute) out[size++] = LT;
      return p;
    }
    // Doctype, processing instruction, `</ x>`: all end at the first `>`.
    while (p < end && bytes[p] !== GT) p++;
    return p < end ? p + 1 : p;
  }

  /** Passes over attributes that nobody asks for, but for role=main. Returns where the `>` stands, or the end. */
  function skipAttributes(bytes: Uint8Array, from: number): number {
    let p = from;
    let b = bytes[p];
    while (b !== GT) {
      if (WHITE[b] === 1) {
        b = bytes[++p];
        continue;
      }
      if (b === SLASH) {
        b = bytes[++p];
        isSelfClosing = b === GT;
        continue;
      }
      if (b === 0 && p >= end) return end;
      const nameStart = p;
      b = bytes[++p];
      while ((ENDS[b] & 2) === 0 || (b === 0 && p < end)) b = bytes[++p];
      const nameEnd = p;
      while (WHITE[b] === 1) b = bytes[++p];
      if (b !== EQUALS) continue;
      b = bytes[++p];
      while (WHITE[b] === 1) b = bytes[++p];
      const valueStart = p;
      if (b === 0x22 || b === 0x27) {
        const quote = b;
        do b = bytes[++p];
        while (b !== quote && (b !== 0 || p < end));
        if (p >= end) return end;
        b = bytes[++p];
      } else {
        while ((ENDS[b] & 4) === 0 || (b === 0 && p < end)) b = bytes[++p];
      }
      if (nameEnd - nameStart === 4 && (bytes[nameStart] | 32) === 0x72) {
        if (isSameName(bytes, nameStart, nameEnd, ROLE_NAME))
          hasMainRole ||= isMainValue(bytes, valueStart, p);
      }
    }
    return p;
  }

  /** The same, and notes what the attributes say in `spans`. */
  function readAttributes(bytes: Uint8Array, from: number): number {
    // A loop, because for so few the call of `fill` costs more.
    for (let slot = 0; slot < spans.length; slot++) spans[slot] = -1;
    let p = from;
    let b = bytes[p];
    while (b !== GT) {
      if (WHITE[b] === 1) {
        b = bytes[++p];
        continue;
      }
      if (b === SLASH) {
        b = bytes[++p];
        isSelfClosing = b === GT;
        continue;
      }
      if (b === 0 && p >= end) return end;
      // A `=` in front belongs to the name.
      let hash = b | 32;
      b = bytes[++p];
      while ((ENDS[b] & 2) === 0 || (b === 0 && p < end)) {
        hash = (Math.imul(hash, 61) + (b | 32)) | 0;
        b = bytes[++p];
      }
      let valueStart = p;
      let valueEnd = p;
      while (WHITE[b] === 1) b = bytes[++p];
      if (b === EQUALS) {
        b = bytes[++p];
        while (WHITE[b] === 1) b = bytes[++p];
        valueStart = p;
        if (b === 0x22 || b === 0x27) {
          const quote = b;
          valueStart++;
          do b = bytes[++p];
          while (b !== quote && (b !== 0 || p < end));
          if (p >= end) return end;
          valueEnd = p;
          b = bytes[++p];
        } else {
          while ((ENDS[b] & 4) === 0 || (b === 0 && p < end)) b = bytes[++p];
          valueEnd = p;
        }
      }
      const slot = attributeSlot(hash);
      if (slot < 0 || spans[slot] >= 0) continue;
      spans[slot] = valueStart;
      spans[slot + 1] = valueEnd;
      if (slot === ATTRIBUTE.encoding) hasForeignHint = isHtmlType(bytes, valueStart, valueEnd);
      else if (slot === ATTRIBUTE.font) hasForeignHint = true;
    }
    return p;
  }

  function addLink(id: number, after: number): void {
    const hrefStart = spans[ATTRIBUTE.href];
    if (hrefStart < 0 || spans[ATTRIBUTE.download] >= 0) return;
    const hrefEnd = spans[ATTRIBUTE.href + 1];
    const relStart = spans[ATTRIBUTE.rel];
    const relEnd = spans[ATTRIBUTE.rel + 1];
    if (id === A) links.addAnchor(hrefStart, hrefEnd, relStart, relEnd, after);
    else if (id === AREA) {
      links.addArea(hrefStart, hrefEnd, relStart, relEnd, spans[ATTRIBUTE.alt], spans[ATTRIBUTE.alt + 1]);
    } else if (relStart >= 0) links.addLink(hrefStart, hrefEnd, relStart, relEnd);
  }

  function noteMeta(): void {
    const at = result.metaCount++ * META_WIDTH;
    if (at === result.metas.length) {
      const more = new Int32Array(at * 2);
      more.set(result.metas);
      result.metas = more;
    }
    for (let i = 0; i < META_WIDTH; i++) result.metas[at + i] = spans[ATTRIBUTE.name + i];
  }

  /** Content that is text up to its own end tag. Returns where reading goes on. */
  function readRaw(
    bytes: Uint8Array,
    id: number,
    tagStart: number,
    after: number,
    isHtml: boolean,
    counts: boolean,
  ): number {
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
    end = rawEnd;
    isMute = true;
    return after;
  }

  function startHeading(id: number, tagStart: number, after: number): void {
    if (isHeadingOpen) result.h1End = tagStart;
    isHeadingOpen = id === H1 && result.h1Start < 0;
    if (isHeadingOpen) result.h1Start = after;
  }

  /** Acts on a start tag and returns where reading goes on: after the tag, or after its raw content. */
  function startTag(
    bytes: Uint8Array,
    id: number,
    hash: number,
    flags: number,
    tagStart: number,
    after: number,
  ): number {
    let readAs: number = READ_AS.html;
    if (depth > 0 || (flags & FLAG.special) !== 0) {
      readAs = special.start(hash, id, isSelfClosing, hasForeignHint);
      depth = special.depth;
      isMute = (depth > 0 && special.isMute()) || resumeAt >= 0;
    }
    const isInDoubt = special.isInDoubt;
    if (hasMainRole || id === MAIN) regions.startMain(hash, size);
    else if (hash === regions.mainHash) regions.startInMain();
    if ((flags & FLAG.act) === 0 || (readAs === READ_AS.nothing && !isInDoubt)) return after;
    const counts = special.templates === 0 || isInDoubt;
    if (id === A) {
      links.closeAnchor(tagStart);
      if (counts) addLink(id, after);
    } else if ((flags & FLAG.raw) !== 0) {
      if ((readAs === READ_AS.html || isInDoubt) && resumeAt < 0) {
        return readRaw(bytes, id, tagStart, after, readAs === READ_AS.html, counts);
      }
    } else if (counts && (readAs !== READ_AS.foreign || isInDoubt)) {
      if (id === AREA || id === LINK) addLink(id, after);
      else if (id === META) noteMeta();
      else if (id >= H1 && id <= H6) startHeading(id, tagStart, after);
      else if (ASIDE_IDS[id] === 1) regions.enter(REGION.aside, size);
      else if (id === ARTICLE) regions.enter(REGION.article, size);
      else if (id === NOSCRIPT) regions.enter(REGION.hidden, size);
      else if (id === BASE && result.baseStart < 0) {
        result.baseStart = spans[ATTRIBUTE.href];
        result.baseEnd = spans[ATTRIBUTE.href + 1];
      } else if (id === HTML && result.langStart < 0) {
        result.langStart = spans[ATTRIBUTE.lang];
        result.langEnd = spans[ATTRIBUTE.lang + 1];
      } else if (id === FRAMESET && !hasBody && size === 1 && depth === 0) isInFrameset = true;
    }
    return after;
  }

  function endTag(id: number, hash: number, tagStart: number): void {
    if (isRawClose) isRawClose = false;
    else if (depth > 0) {
      special.end(hash, id);
      depth = special.depth;
      isMute = (depth > 0 && special.isMute()) || resumeAt >= 0;
    }
    if (hash === regions.mainHash) regions.endInMain(size);
    if (id === A) links.closeAnchor(tagStart);
    else if (id >= H1 && id <= H6) {
      if (isHeadingOpen) result.h1End = tagStart;
      isHeadingOpen = false;
    } else if (ASIDE_IDS[id] === 1) regions.leave(REGION.aside, size);
    else if (id === ARTICLE) regions.leave(REGION.article, size);
    else if (id === NOSCRIPT) regions.leave(REGION.hidden, size);
  }

  /** The tag whose `<` stands at `tagStart`, name at `from`. Returns where reading goes on. */
  function readTag(bytes: Uint8Array, tagStart: number, from: number): number {
    let p = from;
    let b = bytes[p];
    let hash = 0;
    while ((ENDS[b] & 1) === 0 || (b === 0 && p < end)) {
      hash = (Math.imul(hash, 61) + (b | 32)) | 0;
      b = bytes[++p];
    }
    let id = TAG_SLOTS[Math.imul(hash, TAG_MULTIPLIER) >>> TAG_SLOT_SHIFT];
    if (TAG_HASH[id] !== hash) id = 0;
    const flags = TAG_FLAGS[id];
    const isEnd = from === tagStart + 2;
    isSelfClosing = hasMainRole = hasForeignHint = false;
    if ((flags & FLAG.attributes) !== 0) p = readAttributes(bytes, p);
    else if (b !== GT) p = skipAttributes(bytes, p);
    // A tag that the end of the page cuts off is dropped.
    if (p >= end) return end;
    p++;
    if (isInFrameset) {
      return !isEnd && id === NOFRAMES ? findRawEnd(bytes, p, end, RAW_NAME_BYTES[NOFRAMES]) : p;
    }
    if (size === 1 && (flags & FLAG.beforeFrameset) === 0) hasBody = true;
    if ((flags & FLAG.inline) === 0 && !isMute && out[size - 1] !== SPACE) out[size++] = SPACE;
    if (isLogging && depth === 0 && (flags & FLAG.raw) === 0) special.log(hash, isEnd ? 1 : 0);
    if (depth > 0 || (flags & (FLAG.act | FLAG.special)) !== 0 || hasMainRole || hash === regions.mainHash) {
      if (!isEnd) return startTag(bytes, id, hash, flags, tagStart, p);
      endTag(id, hash, tagStart);
    }
    return p;
  }

  function readAll(bytes: Uint8Array, length: number): void {
    reset(bytes, length);
    let p = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    for (;;) {
      if (isMute) while (bytes[p] !== LT && p < end) p++;
      else if (bytes[p] !== LT) p = readText(bytes, p);
      if (p < end) {
        const nameStart = bytes[p + 1] === SLASH ? p + 2 : p + 1;
        const letter = bytes[nameStart] | 32;
        p = letter >= 0x61 && letter <= 0x7a ? readTag(bytes, p, nameStart) : readOddity(bytes, p);
      } else if (resumeAt >= 0) {
        bytes[resumeAt] = LT;
        p = resumeAt;
        end = realEnd;
        resumeAt = -1;
        isMute = depth > 0 && special.isMute();
      } else {
        break;
      }
    }
    links.closeAnchor(length);
    if (isHeadingOpen) result.h1End = length;
  }

  function scan(bytes: Uint8Array, length: number, mode: TextMode): HtmlScan {
    isLogging = false;
    readAll(bytes, length);
    if (special.needsLog) {
      isLogging = true;
      readAll(bytes, length);
    }
    result.text = regions.choose(out, size, mode);
    return result;
  }

  return { result, scan };
}
