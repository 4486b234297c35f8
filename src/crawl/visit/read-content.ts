/** Makes what a program's own content parser found look like a parsed page, so that one road serves both. */

import type { LinkList, ParsedPage } from '../../parse/parsed-page.ts';
import { createFingerprinter, type Fingerprinter } from '../../parse/simhash.ts';
import { NO_PARSED_FACTS } from '../../store/page-facts.ts';
import type { ContentInput, ContentParser } from '../parts.ts';

/** Made by the first page that has a parser of its own: most crawls have none. */
let fingerprinter: Fingerprinter | null = null;

export function readContent(parse: ContentParser, input: ContentInput): ParsedPage {
  const found = parse(input);
  const given = keepable(found.text) ?? '';
  const text = Buffer.from(given.replace(/\s+/g, ' ').trim());
  fingerprinter ??= createFingerprinter();
  const fingerprint = fingerprinter(text);
  return {
    ...NO_PARSED_FACTS,
    title: keepable(found.title),
    h1: keepable(found.h1),
    description: keepable(found.description),
    canonical: null,
    baseHref: null,
    robots: { noindex: false, nofollow: false, other: '' },
    refresh: null,
    charset: 'utf-8',
    text,
    storedText: () => Buffer.from(given.replace(/\r\n?/g, '\n').trimEnd()),
    wordCount: text.length === 0 ? 0 : text.toString().split(' ').length,
    simhashHigh: fingerprint.high,
    simhashLow: fingerprint.low,
    links: listOf(found.links ?? []),
  };
}

/** Text as every database keeps it, so that it is the same when it is read again: no NUL, no half of a surrogate pair. */
export function keepable(text: string | null | undefined): string | null {
  return text?.replace(/\0|\p{Surrogate}/gu, '\ufffd') ?? null;
}

function listOf(hrefs: string[]): LinkList {
  const parts = hrefs.map((href) => Buffer.from(href.split('#', 1)[0]));
  const bytes = Buffer.concat(parts);
  const hrefStart = new Int32Array(parts.length);
  const hrefEnd = new Int32Array(parts.length);
  const hrefHash = new Int32Array(parts.length);
  let at = 0;
  parts.forEach((part, i) => {
    hrefStart[i] = at;
    at += part.length;
    hrefEnd[i] = at;
    for (const byte of part) hrefHash[i] = Math.imul(hrefHash[i] ^ byte, 0x01000193);
  });
  return {
    count: parts.length,
    charset: null,
    bytes,
    hrefStart,
    hrefEnd,
    hrefHash,
    flags: new Uint8Array(parts.length),
    hrefText: (index) => parts[index].toString(),
    anchorText: () => '',
  };
}
