import { describe, expect, it } from 'vitest';
import { createPageParser } from './parse-page.ts';
import { LINK_FLAGS, type ParsedPage } from './parsed-page.ts';

const parse = createPageParser();

function parseHtml(html: string, contentType = 'text/html', xRobotsTag: string | null = null): ParsedPage {
  const bytes = Buffer.from(html);
  return parse({ bytes, length: bytes.length, contentType, xRobotsTag, agentToken: 'sumi-ripple' });
}

const PAGE = `<!doctype html><html lang=" de "><head><title> A &amp; B
</title><base href="/sub/"><base href="/no/"><meta name=Description content="What  it is">
<meta name="robots" content="noindex"><meta name="Sumi-Ripple" content="nofollow">
<meta http-equiv=Refresh content="5; url=next.html"><link rel="Canonical" href="/c?a=1&amp;b=2"></head>
<body><h1>First <i>head</i>ing</h1><h1>Second</h1>
<a href="x.html#part" rel="nofollow ugc">Some <b>text</b> <img alt="picture"></a><area href="y" alt="An area">
<a href="z" download>file</a> <a href="mailto:a@b.c">mail</a></body></html>`;

describe('a parsed page', () => {
  it('has what its head and headings say', () => {
    const page = parseHtml(PAGE);
    expect(page).toMatchObject({
      title: 'A & B',
      h1: 'First heading',
      description: 'What it is',
      lang: 'de',
      canonical: '/c?a=1&b=2',
      baseHref: '/sub/',
      robots: { noindex: true, nofollow: true },
      refresh: { seconds: 5, url: 'next.html' },
      charset: 'utf-8',
    });
  });

  it('has its links in order, with flags and anchor texts', () => {
    const { links } = parseHtml(PAGE);
    const found = Array.from({ length: links.count }, (_, i) => [
      links.hrefText(i),
      links.flags[i],
      links.anchorText(i),
    ]);
    expect(found).toEqual([
      ['/c?a=1&b=2', LINK_FLAGS.canonical, ''],
      ['x.html', LINK_FLAGS.nofollow | LINK_FLAGS.ugc, 'Some text picture'],
      ['y', 0, 'An area'],
    ]);
  });

  it('gives equal hrefs equal hashes and other hrefs other ones', () => {
    const { links } = parseHtml('<a href="/a#1">x</a><a href=" /a ">y</a><a href="/b">z</a>');
    expect(links.hrefHash[0]).toBe(links.hrefHash[1]);
    expect(links.hrefHash[0]).not.toBe(links.hrefHash[2]);
  });

  it('keeps nothing of the page before', () => {
    parseHtml(PAGE, 'text/html', 'noindex, noarchive');
    const page = parseHtml('<p>x');
    expect(page).toMatchObject({
      title: null,
      h1: null,
      description: null,
      lang: null,
      canonical: null,
      baseHref: null,
      refresh: null,
      robots: { noindex: false, nofollow: false, other: '' },
      wordCount: 1,
    });
    expect(page.links.count).toBe(0);
  });

  it('adds X-Robots-Tag to what the page says', () => {
    expect(
      parseHtml('<meta name=robots content="nosnippet">x', 'text/html', 'nofollow, noarchive').robots,
    ).toEqual({
      noindex: false,
      nofollow: true,
      other: 'noarchive, nosnippet',
    });
  });

  it('holds nothing that a database would keep as something else when it is plain text', () => {
    expect(Buffer.from(parseHtml('a\0b', 'text/plain').text).toString()).toBe('a\ufffdb');
  });

  it('is text without links when it is plain text', () => {
    const page = parseHtml('a <a href="/x">b</a>\n\n c', 'text/plain');
    expect(Buffer.from(page.text).toString()).toBe('a <a href="/x">b</a> c');
    expect(page.links.count).toBe(0);
    expect(page.wordCount).toBe(4);
  });
});
