/**
 * Charset, base, meta refresh, links and page facts against public suites, through the functions that the crawl uses.
 * Where a suite's crawler follows other rules than ours, the case is translated by the rule stated beside it.
 */

import { MIMEType } from 'node:util';
import { describe, expect, it } from 'vitest';
import { charsetOfMimeType, encodingOfLabel, prescanCharset } from '../../src/parse/charset.ts';
import { parseMetaRefresh } from '../../src/parse/meta-refresh.ts';
import { parseMimeType } from '../../src/parse/mime-type.ts';
import { createPageParser } from '../../src/parse/parse-page.ts';
import { LINK_FLAGS, type ParsedPage } from '../../src/parse/parsed-page.ts';
import { type ConformanceCase, describeCases } from './load-cases.ts';

const FILES = [
  'html/html5lib-encoding.json',
  'html/wpt-meta-refresh.json',
  'html/w3lib-html.json',
  'html/scrapy-links.json',
  'html/nutch-pages.json',
];

const CHARSET_EXCEPTION =
  'the MIME Sniffing standard (suite http/wpt-mime-types) decides how a header is read; w3lib reads it by its own pattern';

/** Cases that contradict a standard we follow, by id, with the reason; half A of the data. */
const EXCEPTIONS = new Map<string, string>([
  ['w3lib:contentTypeCharset:b9e24b81', CHARSET_EXCEPTION],
  ['w3lib:contentTypeCharset:729facee', CHARSET_EXCEPTION],
  ['w3lib:contentTypeCharset:6957b37c', CHARSET_EXCEPTION],
  ['w3lib:contentTypeCharset:efb89327', CHARSET_EXCEPTION],
  ['w3lib:contentTypeCharset:fbf21da8', CHARSET_EXCEPTION],
  ['w3lib:contentTypeCharset:dd793a88', CHARSET_EXCEPTION],
  ['w3lib:contentTypeCharset:58615fe0', CHARSET_EXCEPTION],
]);

function bytesOf(input: { html?: string; htmlBase64?: string }): Uint8Array {
  return input.html === undefined ? Buffer.from(input.htmlBase64!, 'base64') : Buffer.from(input.html);
}

function parseAll(input: ConformanceCase['input']): ParsedPage {
  const bytes = bytesOf(input);
  const contentType = input.encoding ? `text/html; charset=${input.encoding}` : 'text/html; charset=utf-8';
  const parse = createPageParser('all');
  return parse({ bytes, length: bytes.length, contentType, xRobotsTag: null, agentToken: 'sumi-ripple' });
}

function resolve(href: string, base: string): string | null {
  return URL.canParse(href, base) ? new URL(href, base).href : null;
}

/** URLs as the standard writes them, without fragment: our spans end before it. */
function plainUrl(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}

interface FoundLink {
  url: string;
  text: string;
  nofollow: boolean;
}

function linksOf(page: ParsedPage, url: string): FoundLink[] {
  const base = page.baseHref === null ? url : (resolve(page.baseHref, url) ?? url);
  const found: FoundLink[] = [];
  for (let i = 0; i < page.links.count; i++) {
    const target = resolve(page.links.hrefText(i), base);
    if (target === null) continue;
    const nofollow = (page.links.flags[i] & LINK_FLAGS.nofollow) !== 0;
    found.push({ url: plainUrl(target), text: page.links.anchorText(i), nofollow });
  }
  return found;
}

/** Scrapy names encodings as Python does, where gb18030 stands for its subset gbk. */
function standardName(pythonName: string | null): string | null {
  if (pythonName === null) return null;
  return pythonName === 'gb18030' ? 'gbk' : encodingOfLabel(pythonName);
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const WELL_FORMED = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*(?:${TOKEN}=(?:${TOKEN}|"[^"\\\\]*"))?)*$`,
);

/** What Node's own reader of MIME types makes of a value: the judge of malformed ones, which Scrapy reads its own way. */
function charsetByTheStandard(value: string): string | null {
  try {
    const label = new MIMEType(value).params.get('charset');
    return label === null ? null : encodingOfLabel(label);
  } catch {
    // MIMEType throws for what is no MIME type.
    return null;
  }
}

type Check = (input: ConformanceCase['input'], expected: ConformanceCase['expected'], half: string) => void;

const CHECKS: Record<string, Check> = {
  prescan(input, expected) {
    const bytes = bytesOf(input);
    expect(prescanCharset(bytes, bytes.length)).toBe(expected.encoding);
  },
  metaRefreshContent(input, expected) {
    expect(parseMetaRefresh(input.content)).toEqual(expected.refresh);
  },
  baseUrl(input, expected) {
    const { baseHref } = parseAll(input);
    // Scrapy leaves the base of a page without <base> as it was given, and writes no final slash after a host.
    const given = input.url === '' ? undefined : input.url;
    const base = baseHref === null ? input.url : new URL(baseHref, given).href;
    expect(base).toBe(expected.base);
  },
  metaRefresh(input, expected) {
    const page = parseAll(input);
    // Scrapy ignores a refresh without URL and keeps fractions of seconds, which the standard cuts off.
    const url = page.refresh?.url ?? null;
    const ours = url === null ? null : { seconds: page.refresh!.seconds, url: new URL(url, input.url).href };
    const theirs =
      expected.refresh === null
        ? null
        : { ...expected.refresh, seconds: Math.floor(expected.refresh.seconds) };
    expect(ours).toEqual(theirs);
  },
  contentTypeCharset({ value }, expected, half) {
    const ours = charsetOfMimeType(parseMimeType(value));
    const isComparable = half === 'A' || (WELL_FORMED.test(value) && value.split(/charset=/i).length < 3);
    expect(ours).toBe(isComparable ? standardName(expected.encoding) : charsetByTheStandard(value));
  },
  prescanLenient(input, expected) {
    const bytes = bytesOf(input);
    const html = Buffer.from(bytes)
      .toString('latin1')
      .replace(/<!--.*?-->/gs, '');
    const ours = prescanCharset(bytes, bytes.length);
    const pragma =
      /<meta[^>]*content=["']?[^"'>]*charset/i.test(html) &&
      !/http-equiv=["']?content-type["' >]/i.test(html);
    if (pragma) {
      // Scrapy takes any attribute for http-equiv: `prescan` wins, nothing is declared.
      expect(ours).toBe('windows-1252');
    } else if (expected.encoding === null && /<body.*<meta[^>]*charset/is.test(html)) {
      // Scrapy stops at <body>, the standard does not.
      expect(ours).not.toBe('windows-1252');
    } else {
      expect(ours).toBe(standardName(expected.encoding) ?? 'windows-1252');
    }
  },
  links(input, expected) {
    // Scrapy drops file names such as jpg, and duplicates.
    const ours = linksOf(parseAll(input), input.url).filter(
      ({ url }) => !/\.(?:jpe?g|png|gif|pdf|zip|css)$/i.test(url),
    );
    const distinct = ours.filter(({ url }, i) => ours.findIndex((other) => other.url === url) === i);
    expect(distinct).toEqual(expected.links.map((link: FoundLink) => ({ ...link, url: plainUrl(link.url) })));
  },
  pageFacts(input, expected) {
    const page = parseAll(input);
    // Nutch drops nofollow links, and counts images, media and form actions, which are no pages to us.
    const ours = linksOf(page, input.url)
      .filter(({ nofollow }) => !nofollow)
      .map(({ url, text }) => ({ url, text }));
    const notOurs = [
      ...Buffer.from(bytesOf(input))
        .toString()
        .matchAll(/<(?!i?frame\b)[a-z]+\b[^>]*?\s(?:src|action)\s*=\s*["']?([^"'\s>]+)/gi),
    ].map((match) => new URL(match[1], input.url).href);
    const theirs = expected.links
      .filter(({ url }: FoundLink) => !notOurs.includes(url))
      .map((link: FoundLink) => ({ ...link, url: plainUrl(link.url) }));
    expect(ours).toEqual(theirs);
    expect(page.title ?? '').toBe(expected.title);
    // Nutch counts the title as text.
    const text = `${page.title ?? ''} ${Buffer.from(page.text).toString()}`;
    expect(text.replace(/\s+/g, '')).toBe(expected.text.replace(/\s+/g, ''));
  },
};

describeCases('HTML cases of other projects', FILES, (...suites) => {
  let ran = 0;
  const excepted: string[] = [];
  for (const suite of suites) {
    describe(suite.cases[0].id.split(':')[0], () => {
      for (const { id, kind, input, expected } of suite.cases) {
        const reason = EXCEPTIONS.get(id);
        if (reason === undefined) {
          it(`${id} gives what the suite expects`, () => {
            ran++;
            CHECKS[kind](input, expected, suite.half);
          });
        } else {
          excepted.push(id);
          it(`${id} differs: ${reason}`, () => {
            expect(() => CHECKS[kind](input, expected, suite.half)).toThrow();
          });
        }
      }
    });
  }

  it('runs every case but the listed exceptions', () => {
    expect(ran + excepted.length).toBe(suites.reduce((sum, suite) => sum + suite.count, 0));
  });
});
