// XHTML as XML: libxml2's xmllint is the judge of what is well-formed, and of the links and the title of what is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { judge as ask, describeWhere, isThere } from '../../test/graph/outside-program.ts';
import { seededRandom } from '../../test/seeded-random.ts';
import { createPageParser } from './parse-page.ts';
import { xhtmlToHtml } from './xhtml-to-html.ts';

const seed = Number(process.env.SUMI_SEED ?? Date.now() % 1_000_000_007);
const parse = createPageParser();
const folder = mkdtempSync(join(tmpdir(), 'sumi-xhtml-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, contentType = 'application/xhtml+xml') {
  const bytes = Buffer.from(text);
  const page = parse({ bytes, length: bytes.length, contentType, xRobotsTag: null, agentToken: 'x' });
  const { links } = page;
  return {
    title: page.title,
    h1: page.h1,
    lang: page.lang,
    charset: page.charset,
    text: Buffer.from(page.text).toString(),
    data: page.structuredData,
    hrefs: Array.from({ length: links.count }, (_, i) => links.hrefText(i)),
  };
}

const NS = 'xmlns="http://www.w3.org/1999/xhtml"';
const document = (body: string, head = '<title>T</title>', attributes = NS) =>
  `<?xml version="1.0"?>\n<html ${attributes}><head>${head}</head><body>${body}</body></html>`;

describe('an XHTML page', () => {
  it('is read as XML: what is empty is empty', () => {
    const page = read(
      document(
        '<h1>One<br/>two</h1><iframe src="/f"/><textarea/><div/><a href="/a">x</a><select><option><a href="/s">s</a></option></select>',
        '<title/><script src="/s.js"/><style/><title>Second</title>',
      ),
    );
    expect(page).toMatchObject({ title: '', h1: 'One two', hrefs: ['/f', '/a', '/s'], text: 'One two x s' });
    const first = document(
      '<p>x</p>',
      '<script src="/s.js"/><title>Seen</title><link rel="next" href="/n"/>',
    );
    expect(read(first)).toMatchObject({ title: 'Seen', hrefs: ['/n'], text: 'x' });
    // As HTML all of it is inside of the script.
    expect(read(first, 'text/html')).toMatchObject({ title: null, hrefs: [], text: '' });
    for (const type of ['application/xml', 'text/xml', 'application/vnd.wap.xhtml+xml'])
      expect(read(first, type).title).toBe('Seen');
  });

  it('has its CDATA, entities and namespaces', () => {
    const text = `<?xml version="1.0"?><!-- c --><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/x.dtd" [
      <!ENTITY firm "A &#38; B"> <!-- <!ENTITY no "> ]' --> ]>
      <h:html xmlns:h="http://www.w3.org/1999/xhtml" xmlns:o="urn:other" xml:lang="de"><h:head><h:title>&firm; &eacute; &#x80;</h:title>
      <h:script type="application/ld+json"><![CDATA[{"a":"<b>"}]]></h:script></h:head><h:body>
      <h:a href="/x?a=1&amp;b=&#50;">link</h:a><o:a href="/other">no</o:a><A href="/upper">no</A><![CDATA[ <a href="/cdata"> ]]>
      <svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><a l:href="/svg"><text>t</text></a></svg></h:body></h:html>`;
    expect(read(text)).toEqual({
      title: 'A & B é \u0080',
      h1: null,
      lang: 'de',
      charset: 'utf-8',
      text: 'link no no <a href="/cdata">',
      data: '{"a":"<b>"}',
      hrefs: ['/x?a=1&b=2', '/svg'],
    });
  });

  it('is read as HTML where it is not well-formed', () => {
    const page = read(`<html ${NS}><title>T</title><p>a<br>b &nbsp;<a href=/x>x</a>`);
    expect(page).toMatchObject({ title: 'T', hrefs: ['/x'], text: 'a b x' });
    expect(xhtmlToHtml(document('&nbsp;'))).toBeNull();
  });

  it('cannot be made to cost more than it weighs', () => {
    const laughs = '<!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>';
    expect(xhtmlToHtml(`${laughs}${document('&b;').slice(22)}`)).toBeNull();
    const great = `<!DOCTYPE html [<!ENTITY a "${'x'.repeat(10_000)}">]><html ${NS}>${'&a;'.repeat(10_000)}</html>`;
    expect(xhtmlToHtml(great)).toBeNull();
    expect(xhtmlToHtml('<a>'.repeat(100_000) + '</a>'.repeat(100_000))).toBeNull();
    expect(xhtmlToHtml(`<!DOCTYPE html [${'<!-- x -->'.repeat(50_000)}`)).toBeNull();
    expect(xhtmlToHtml(`<a${' b="c"'.repeat(100_000)}/>`)).toBeNull();
    // Each of these took minutes, in which nothing else was read.
    const comments = '<!--'.repeat(500_000);
    expect(xhtmlToHtml(`<!DOCTYPE html [${comments}]><html/>`)).toBeNull();
    expect(xhtmlToHtml(`<!DOCTYPE html ["${comments}"]><html/>`)).toBe('<html></html>');
    const prefixes = Array.from({ length: 50_000 }, (_, i) => ` xmlns:p${i}="urn:p"`).join('');
    const inside = '<a xmlns="urn:a"/>'.repeat(50_000);
    expect(xhtmlToHtml(`<html${prefixes}>${inside}</html>`)).toHaveLength(13 + 50_000 * 19);
  });

  it('binds a prefix for the element that says so, and what is inside of it', () => {
    const text = `<html ${NS} xmlns:x="urn:x"><x:a href="/1"/><p xmlns:x="http://www.w3.org/1999/xhtml"><x:a href="/2"/><b
      xmlns:x="urn:y"/><x:a href="/3"/></p><x:a href="/4"/><a xmlns="" href="/5"/><a xmlns="urn:z" href="/6"/><a href="/7"/></html>`;
    expect(read(text).hrefs).toEqual(['/2', '/3', '/5', '/7']);
    expect(xhtmlToHtml('<html><p xmlns:x="urn:x"/><x:a/></html>')).toBeNull();
  });
});

interface Judged {
  isWellFormed: boolean;
  hrefs: string[];
  title: string | null;
}

/** Elements without a namespace were meant as HTML. */
const OF_HTML = "(namespace-uri()='http://www.w3.org/1999/xhtml' or namespace-uri()='')";
const HTML_LINKS = `//*[${OF_HTML} and local-name()='a']/@href`;
const TITLE = `//*[${OF_HTML} and local-name()='title'][1]`;

const hasXmllint = isThere('xmllint', ['--version'], 'Debian: libxml2-utils');
const xmllint = (...args: string[]) => ask('xmllint', ['--nonet', ...args], '');

/** What xmllint says of them, in one go for what is well-formed. */
function judge(documents: readonly string[]): Judged[] {
  const files = documents.map((text, i) => {
    const file = join(folder, `${i}.xml`);
    writeFileSync(file, text);
    return file;
  });
  const { stderr } = xmllint('--noout', ...files);
  // The name of a namespace is compared and not read: libxml2 looks whether it is a URI.
  const bad = new Set(
    [...stderr.matchAll(/^(\S+\.xml):\d+: (?:parser|namespace) error (?!.*is not a valid URI)/gm)].map(
      ([, file]) => file,
    ),
  );
  return files.map((file) => {
    if (bad.has(file)) return { isWellFormed: false, hrefs: [], title: null };
    const hrefs = [...xmllint('--xpath', HTML_LINKS, file).stdout.matchAll(/href="([^"]*)"/g)].map(
      ([, href]) =>
        href
          .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
          .replace(/&lt;/g, '<')
          .replace(/&gt;/g, '>')
          .replace(/&quot;/g, '"')
          .replace(/&amp;/g, '&'),
    );
    return {
      isWellFormed: true,
      hrefs,
      title: xmllint('--xpath', `string(${TITLE})`, file).stdout.replace(/\n$/, ''),
    };
  });
}

describeWhere(hasXmllint, `XHTML as xmllint reads it (SUMI_SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const few = (make: () => string) => Array.from({ length: random.below(4) }, make).join('');
  const PIECES: (() => string)[] = [
    () => `<p>${few(piece)}x &amp; y &lt; z</p>`,
    () => `<a href="/p${random.below(99)}?a=1&amp;b=&#x32;">&gt;</a>`,
    () => `<h:a xmlns:h="http://www.w3.org/1999/xhtml" href='/q"${random.below(99)}'/>`,
    () => `<a xmlns="urn:other" href="/other"/>`,
    () => '<script src="/s"/>',
    () => '<script>a &lt; b; <![CDATA[c < d]]></script>',
    () => `<textarea><a href="/in-${random.below(9)}">x</a></textarea>`,
    () => '<br/>',
    () => '<br></br>',
    () => '<!-- <a href="/no"/> -->',
    () => '<?php echo "<a>" ?>',
    () => '<![CDATA[<a href="/no">]]>',
    () => `<select><option/></select><div${random.below(2) === 0 ? ' class="x"' : ''}>${few(piece)}</div>`,
    () => '東京 &#233;',
  ];
  function piece(): string {
    return random.pick(PIECES)();
  }
  const page = () =>
    document(few(piece) + few(piece) + few(piece), `<title>T &amp; ${random.below(99)}</title>`);
  const DAMAGE = [
    '<',
    '>',
    '&',
    '"',
    '/',
    '--',
    ']]>',
    '<p>',
    '</p>',
    '<a b="1" b="2"/>',
    '<x:y/>',
    '&nbsp;',
    '\u0001',
    ' ',
    '=',
  ];
  const broken = () => {
    const text = page();
    const at = 22 + random.below(text.length - 22);
    return random.below(2) === 0
      ? text.slice(0, at) + random.pick(DAMAGE) + text.slice(at)
      : text.slice(0, at) + text.slice(at + 1 + random.below(6));
  };

  it('is well-formed or not, and has the same links and title where it is', () => {
    const documents = [...Array.from({ length: 40 }, page), ...Array.from({ length: 160 }, broken)];
    const judged = judge(documents);
    expect(judged.slice(0, 40).every(({ isWellFormed }) => isWellFormed)).toBe(true);
    expect(judged.filter(({ isWellFormed }) => !isWellFormed).length).toBeGreaterThan(40);
    documents.forEach((text, i) => {
      const { isWellFormed, hrefs, title } = judged[i];
      expect(xhtmlToHtml(text) !== null, text).toBe(isWellFormed);
      if (!isWellFormed) return;
      const ours = read(text);
      // A fragment is no part of a link here.
      expect(ours.hrefs, text).toEqual(hrefs.map((href) => href.replace(/#.*/, '')));
      expect(ours.title ?? '', text).toBe((title ?? '').replace(/\s+/g, ' ').trim());
    });
  });
});
