/**
 * Turns a fetched body into a ParsedPage: title, heading, description, canonical, robots, refresh, structured data,
 * links, main text, word count and simhash.
 *
 * Promises: a result for any bytes, never an exception. The result and its arrays are reused for the next page, so
 * whoever keeps a value copies it. Plain text has text and words and no links. XHTML is read as XML if well-formed. All
 * other types are read as HTML, because the caller chose to parse them. Before it: fetch. After it: compare.
 */

import { isSameName, META_WIDTH } from './attribute-spans.ts';
import { createUtf8Reader } from './charset.ts';
import { encodeQuery, queryCharset } from './encode-query.ts';
import { createTextFolder } from './fold-text.ts';
import { joinLinkedData } from './linked-data.ts';
import { parseMetaRefresh } from './meta-refresh.ts';
import { isXmlType, type MimeType, parseMimeType } from './mime-type.ts';
import type { HtmlScan } from './page-notes.ts';
import { LINK_FLAGS, type PageParser, type ParsedPage, type ParseInput } from './parsed-page.ts';
import { addRobotsContent, addRobotsHeader } from './robots-directives.ts';
import { createHtmlScanner } from './scan-html.ts';
import { createScanKernel } from './scan-kernel.ts';
import { createTextShaper } from './shape-text.ts';
import { createFingerprinter } from './simhash.ts';
import type { TextMode } from './text-regions.ts';
import { xhtmlToHtml } from './xhtml-to-html.ts';

const DESCRIPTION = Buffer.from('description');
const ROBOTS = Buffer.from('robots');
const REFRESH = Buffer.from('refresh');

function readPlainText(bytes: Uint8Array, length: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8');
  // A byte order mark is no text. NUL is written as in HTML, and as databases keep it.
  return (text.startsWith('\ufeff') ? text.slice(1) : text).replaceAll('\0', '\ufffd');
}

/** The document as HTML; null if it is no XML. */
function readXml(bytes: Uint8Array, length: number): Uint8Array | null {
  const html = xhtmlToHtml(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8'));
  return html === null ? null : Buffer.from(html);
}

/** The sign that links a heading to itself does not belong to its text. */
function withoutPermalink(heading: string): string {
  return heading.replace(/\s*[¶🔗]$/u, '');
}

/** `all` keeps navigation, headers and footers in the text. */
export function createPageParser(textMode: TextMode = 'main'): PageParser {
  const readUtf8 = createUtf8Reader();
  const kernel = createScanKernel();
  const scanner = createHtmlScanner(kernel);
  const folder = createTextFolder();
  const shape = createTextShaper(kernel);
  const fingerprint = createFingerprinter(kernel);
  /** A crawl sees few different Content-Type values. */
  const types = new Map<string, MimeType | null>();
  let agentToken = '';
  let agentBytes = Buffer.alloc(0);
  const page: ParsedPage = {
    title: null,
    h1: null,
    description: null,
    lang: null,
    canonical: null,
    baseHref: null,
    robots: { noindex: false, nofollow: false, other: '' },
    refresh: null,
    structuredData: null,
    charset: 'utf-8',
    text: new Uint8Array(0),
    storedText: () => storedText(),
    wordCount: 0,
    simhashHigh: 0,
    simhashLow: 0,
    links: scanner.result.links,
  };

  let storedText: () => Uint8Array = () => page.text;

  /** Of the last scanned page. */
  function shapedText(): Uint8Array {
    return shape(page.text, scanner.result.pieces, scanner.result.links);
  }

  function typeOf(contentType: string | null): MimeType | null {
    if (contentType === null) return null;
    let type = types.get(contentType);
    if (type === undefined) {
      type = parseMimeType(contentType);
      if (types.size < 256) types.set(contentType, type);
    }
    return type;
  }

  function reset(input: ParseInput): void {
    page.title = page.h1 = page.description = page.lang = page.canonical = page.baseHref = null;
    page.refresh = null;
    page.structuredData = null;
    page.robots.noindex = page.robots.nofollow = false;
    page.robots.other = '';
    if (input.agentToken !== agentToken) {
      agentToken = input.agentToken;
      agentBytes = Buffer.from(agentToken.toLowerCase());
    }
    if (input.xRobotsTag !== null) addRobotsHeader(input.xRobotsTag, agentToken, page.robots);
  }

  function readMetas(bytes: Uint8Array, scan: HtmlScan): void {
    for (let i = 0; i < scan.metaCount; i++) {
      const [nameStart, nameEnd, equivStart, equivEnd, start, end] = scan.metas.subarray(i * META_WIDTH);
      if (start < 0) continue;
      if (nameStart >= 0) {
        if (isSameName(bytes, nameStart, nameEnd, DESCRIPTION)) {
          page.description ??= folder.plain(bytes, start, end);
        } else if (
          isSameName(bytes, nameStart, nameEnd, ROBOTS) ||
          (agentToken !== '' && isSameName(bytes, nameStart, nameEnd, agentBytes))
        ) {
          addRobotsContent(folder.attribute(bytes, start, end), page.robots);
        }
      }
      if (equivStart >= 0 && isSameName(bytes, equivStart, equivEnd, REFRESH)) {
        page.refresh ??= readRefresh(folder.attribute(bytes, start, end));
      }
    }
  }

  function readRefresh(content: string): ParsedPage['refresh'] {
    const refresh = parseMetaRefresh(content);
    const { charset } = scanner.result.links;
    if (refresh === null || refresh.url === null || charset === null) return refresh;
    // A fragment does not belong to the query.
    const hash = refresh.url.indexOf('#');
    const end = hash < 0 ? refresh.url.length : hash;
    const url = encodeQuery(refresh.url.slice(0, end), charset) + refresh.url.slice(end);
    return { ...refresh, url };
  }

  function readHtml(bytes: Uint8Array, length: number): Uint8Array {
    const scan = scanner.scan(bytes, length, textMode);
    if (scan.titleStart >= 0) page.title = folder.plain(bytes, scan.titleStart, scan.titleEnd);
    if (scan.h1Start >= 0) page.h1 = withoutPermalink(folder.markup(bytes, scan.h1Start, scan.h1End));
    if (scan.langStart >= 0) page.lang = folder.attribute(bytes, scan.langStart, scan.langEnd).trim();
    if (scan.baseStart >= 0) page.baseHref = folder.href(bytes, scan.baseStart, scan.baseEnd);
    readMetas(bytes, scan);
    if (scan.linkedData.length > 0) page.structuredData = joinLinkedData(bytes, scan.linkedData);
    const links = scan.links;
    for (let i = 0; i < links.count && page.canonical === null; i++) {
      if ((links.flags[i] & LINK_FLAGS.canonical) !== 0) page.canonical = links.hrefText(i);
    }
    return scan.text;
  }

  return (input) => {
    reset(input);
    const type = typeOf(input.contentType);
    const body = readUtf8(input.bytes, input.length, type);
    page.charset = body.charset;
    scanner.result.links.charset = queryCharset(body.charset);
    if (type?.essence === 'text/plain') {
      scanner.result.links.reset();
      scanner.result.links.settle();
      const text = readPlainText(body.bytes, body.length);
      page.text = Buffer.from(text.replace(/\s+/g, ' ').trim());
      storedText = () => Buffer.from(text.replace(/\r\n?/g, '\n').trimEnd());
    } else {
      const html = type !== null && isXmlType(type.essence) ? readXml(body.bytes, body.length) : null;
      page.text = html === null ? readHtml(body.bytes, body.length) : readHtml(html, html.length);
      storedText = shapedText;
    }
    const { wordCount, high, low } = fingerprint(page.text);
    page.wordCount = wordCount;
    page.simhashHigh = high;
    page.simhashLow = low;
    return page;
  };
}
