import { describe, expect, it } from 'vitest';
import { NOISY_LAYOUTS } from '../../test/web/noisy-layouts.ts';
import { createPageParser } from './parse-page.ts';

const parse = createPageParser();

function read(html: string) {
  const bytes = Buffer.from(html);
  const page = parse({
    bytes,
    length: bytes.length,
    contentType: 'text/html',
    xRobotsTag: null,
    agentToken: 'sumi',
  });
  const { wordCount, simhashHigh, simhashLow, links } = page;
  const hrefs = Array.from({ length: links.count }, (_, i) => links.hrefText(i));
  return { text: Buffer.from(page.text).toString(), wordCount, simhashHigh, simhashLow, hrefs };
}

const textOf = (html: string) => read(html).text;

const PROSE = 'Ink is made of soot, gum and water, and keeps for a very long time when it is dry. '
  .repeat(8)
  .trim();

describe('what is no main text', () => {
  it.each(Object.entries(NOISY_LAYOUTS))('%s: no rendering differs from the next', (_, layout) => {
    const content = 'All about <b>ink</b> and <a href="/pens">pens</a>.';
    const one = read(layout(content, '2026-01-05 12:00:01'));
    expect(one.text).toContain('All about ink and pens.');
    expect(one.text).not.toContain('12:00');
    expect(one.hrefs).toContain('/pens');
    expect(read(layout(content, '31 December, 23:59 7f3a9'))).toEqual(one);
    expect(textOf(layout('All about pens.', '2026-01-05 12:00:01'))).not.toBe(one.text);
  });

  it('ends where its element does', () => {
    expect(textOf('<p>a</p><div class="sidebar">s<div>t</div>u</div><p>b</p>')).toBe('a b');
    expect(textOf('<p>a</p><div role="navigation">s<div>t</div>u</div><p>b</p>')).toBe('a b');
    expect(textOf('<p>a<span hidden>s<span>t</span> </span> b</p>')).toBe('a b');
    expect(textOf('<p>a<span hidden>s</span>b</p>')).toBe('ab');
    expect(textOf('<table><tr><td class="footer">f<td>a<tr><td>b</table>c')).toBe('a b c');
    expect(textOf('<p>a<p hidden>f<ul><li>b</ul>c')).toBe('a b c');
    expect(textOf('<p>a</p><div class="footer"><p>f</div>b<div class="sidebar">s</div>c')).toBe('a b c');
  });

  it('keeps its links', () => {
    const html =
      '<div id="footer"><a href="/a">x</a></div><div hidden><a href="/b">x</a></div>' +
      '<a hidden rel="nofollow" href="/c">x</a><dialog><a href="/d">x</a></dialog>' +
      '<a href="/e" aria-hidden="true">x</a><p>text</p>';
    expect(read(html)).toMatchObject({ text: 'text', hrefs: ['/a', '/b', '/c', '/d', '/e'] });
  });

  it('is found within a role=main of any element, too', () => {
    expect(textOf('<div>x<section role="main">a<section>b</section><i hidden>t</i>c</section>d</div>')).toBe(
      'a b c',
    );
  });
});

describe('what is main text though it looks otherwise', () => {
  it.each([
    ['footernote', '<div class="footernote">real</div>'],
    ['a header of an article by its name', '<div class="article-header">real</div>'],
    ['the title of what follows', '<div class="page-header">real</div>'],
    ['a layout', '<div class="header-layout">real</div>'],
    ['a page with a sidebar', '<div class="has-sidebar">real</div>'],
    ['content beside a sidebar', '<div class="content-sidebar">real</div>'],
    ['an element that is called content as well', '<div class="main sidebar-right">real</div>'],
    ['a section whose heading is Header', '<div class="section" id="header">real</div>'],
    ['recipes for cookies', '<div class="cookie">real</div>'],
    ['a policy on cookies', '<div id="cookie-policy">real</div>'],
    ['a law on copyright', '<div class="copyright-law">real</div>'],
    ['the price of an advertisement', '<div id="advertisement-prices">real</div>'],
    ['a tutorial on bars', '<div class="navbar-tutorial">real</div>'],
    ['prices of shares', '<div class="share-price">real</div>'],
    ['words without a meaning here', '<span class="footer">real</span>'],
    ['what a search may find', '<div hidden="until-found">real</div>'],
    ['another kind of hiding', '<div style="content-visibility:hidden; overflow:hidden">real</div>'],
    ['what the screen reader reads', '<div aria-hidden="false">real</div>'],
    ['an open dialog', '<dialog open>real</dialog>'],
    ['a role of no landmark', '<div role="presentation">real</div>'],
  ])('%s', (_, html) => {
    expect(textOf(`<p>Some words.</p>${html}<p>More words.</p>`)).toBe('Some words. real More words.');
  });

  it('headers and footers inside an article or main, by their class', () => {
    const parts = '<div class="header">a</div>b<div class="footer">c</div>';
    expect(textOf(`<article>${parts}</article>`)).toBe('a b c');
    expect(textOf(`<main>${parts}</main>`)).toBe('a b c');
    expect(textOf(`<div class="sidebar">s</div><article>${parts}</article><article>d</article>`)).toBe(
      'a b c d',
    );
  });

  it('a page whose html or body says what its parts are', () => {
    expect(textOf('<html class="footer"><body class="has-sidebar sidebar" id="header"><p>a</p>')).toBe('a');
    expect(textOf('<body style="display:none" aria-hidden="true"><p>a</p><i hidden>t</i>')).toBe('a');
  });

  it('what holds the main text or an article', () => {
    expect(textOf('<div class="sidebar">s<main>a</main></div><p>x</p>')).toBe('a');
    expect(textOf('<div hidden>s<main>a<i hidden>t</i></main></div><p>x</p>')).toBe('a');
    expect(textOf('<div class="sidebar">s<article>a</article><article>b</article></div>c')).toBe('s a b c');
    expect(textOf('<div role="banner"><div role="main">a</div></div><p>x</p>')).toBe('a');
    expect(textOf('<main hidden>a</main>')).toBe('a');
  });

  it('most of the text', () => {
    expect(textOf(`<p>Welcome.</p><div class="sidebar-wrapper"><p>${PROSE}</p></div>`)).toBe(
      `Welcome. ${PROSE}`,
    );
    expect(textOf(`<p>Welcome.</p><div style="visibility:hidden"><p>${PROSE}</p></div>`)).toBe(
      `Welcome. ${PROSE}`,
    );
    expect(textOf(`<main><div style="display: none">${PROSE}</div></main><p>x</p>`)).toBe(PROSE);
    // All there is.
    expect(textOf('<div class="footer">a</div>')).toBe('a');
    expect(textOf('<div class="footer">a</div><div hidden>b</div>')).toBe('a');
    expect(textOf('<div hidden>b</div>')).toBe('b');
    expect(textOf('<i hidden>a</i> <i hidden>b</i> <i hidden>c</i> ')).toBe('a b c');
  });

  it('but no list of links, however long', () => {
    const list = Array.from({ length: 60 }, (_, i) => `<a href="/${i}">Page number ${i}</a>`).join(' ');
    expect(textOf(`<p>Little text.</p><div class="sidebar">${list}</div>`)).toBe('Little text.');
  });

  it('parts of items in a list', () => {
    const posts = [1, 2, 3].map(
      (n) => `<div><div class="header">Title ${n}</div>Text ${n}<div class="footer">By ${n}</div></div>`,
    );
    expect(textOf(`<div id="sidebar">s</div>${posts.join('')}`)).toBe(
      'Title 1 Text 1 By 1 Title 2 Text 2 By 2 Title 3 Text 3 By 3',
    );
  });

  it('what follows an element that is never closed', () => {
    expect(textOf(`<p>a <b hidden>b</p><p>${PROSE}</p>`)).toBe(`a b ${PROSE}`);
    expect(textOf(`<p>${PROSE}</p><div class="sidebar">s<p>${PROSE}</p>`)).toBe(`${PROSE} s ${PROSE}`);
    expect(textOf(`<p>a</p><header>h<p>${PROSE}</p>`)).toBe(`a h ${PROSE}`);
  });
});
