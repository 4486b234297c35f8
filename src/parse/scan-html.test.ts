/** parse5 (scripting off) is the judge of the scanner: on generated pages and on broken ones, with a fresh seed each run. */

import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { createTextFolder } from './fold-text.ts';
import { createHtmlScanner } from './scan-html.ts';

const seed = Number(process.env.SUMI_SEED ?? Date.now() % 1_000_000_007);
const INTACT_PAGES = 300;
const BROKEN_PAGES = 2_000;
const MOST_DIFFERENT = 0.005;

type Random = (below: number) => number;

function createRandom(start: number): Random {
  let state = start | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)];
}

const WORDS =
  'map river stone crawl page link quick été 東京 ink &amp; &nbsp; a&lt;b &copy;2024 x&y 100% <b>bold</b> Ω'.split(
    ' ',
  );
const SCHEMES = [
  'mailto:a@b.c',
  'javascript:void(0)',
  'tel:+1',
  'data:text/plain,x',
  'JavaScript:x',
  '&#109;ailto:a@b.c',
];

function words(random: Random, count: number): string {
  return Array.from({ length: count }, () => pick(random, WORDS)).join(' ');
}

function href(random: Random): string {
  const n = random(1000);
  return pick(random, [
    () => `/docs/${n}.html`,
    () => `../p${n}`,
    () => `https://example.com/${n}?a=1&amp;b=${n}`,
    () => `?q=${n}&lt=3&copy=1&amp`,
    () => `page${n}#part`,
    () => `#only-${n}`,
    () => ` /spaced/${n} `,
    () => `/line\n${n}`,
    () => `/caf&eacute;/${n}`,
    () => `/num&#35;${n}&#x2F;x`,
    () => pick(random, SCHEMES),
  ])();
}

function anchor(random: Random): string {
  const rel = pick(random, [
    '',
    '',
    ' rel="nofollow"',
    ' rel="ugc sponsored"',
    ' download',
    ' title="a > b"',
  ]);
  const quote = pick(random, ['"', '"', "'"]);
  const target = href(random);
  const attribute =
    random(8) === 0 && !/[\s"'>]/.test(target) ? `href=${target}` : `href=${quote}${target}${quote}`;
  return `<a class="x"${rel} ${attribute}>${words(random, 2)}</a>`;
}

function block(random: Random, depth: number): string {
  const inner = (): string => (depth > 3 ? anchor(random) : block(random, depth + 1));
  return pick(random, [
    () => `<p>${words(random, 8)} ${anchor(random)} ${words(random, 3)}</p>`,
    () => `<div class="c${random(9)}">${inner()}${inner()}</div>`,
    () => `<ul><li>${anchor(random)}<li>${anchor(random)}</ul>`,
    () => `<table><tr><td>${inner()}</td><td>${anchor(random)}</td></tr></table>`,
    () => `<section><h2>${words(random, 2)}</h2>${inner()}</section>`,
    () => `<nav>${anchor(random)}${anchor(random)}</nav>`,
    () => `<!-- <a href="/in-comment">x</a> -->`,
    () => `<script>if (a<b) document.write("<a href='/in-script'>");</script>`,
    () => `<script><!--\n<script>var s = "</script>";\n//--></script>`,
    () => `<style>a > b { content: "<a href=/in-style>" }</style>`,
    () => `<noscript><img src="x.gif">${anchor(random)}</noscript>`,
    () =>
      `<svg viewBox="0 0 1 1"><title>icon</title><path d="M0 0"/><a href="/svg-${random(99)}"><text>t</text></a></svg>`,
    () =>
      `<svg><style>x<y</style><foreignObject><div>${anchor(random)}</div></foreignObject><![CDATA[ <a href="/cdata"> ]]></svg>`,
    () => `<math><mi>x</mi><mtext>${anchor(random)}</mtext></math>`,
    () => `<template><div>${anchor(random)}</div></template>`,
    () => `<select><option value="/x">one<option>two</select>`,
    () => `<textarea><a href="/in-textarea"></textarea>`,
    () => `<map><area shape=rect href="${href(random)}" alt="area"></map>`,
    () => `<iframe src="/f${random(99)}"><a href="/in-iframe"></a></iframe>`,
    () => `<iframe></iframe><iframe src=""></iframe><frame src="/stray-frame">`,
    () => `<svg><a xlink:href="/xlink-${random(99)}"><text>t</text></a></svg>`,
    () => `<svg><a xlink:href="/old" href="/new-${random(99)}"><text>t</text></a></svg>`,
    () => `<a xlink:href="/no-link">x</a>`,
    () => `<form action="/s"><input name=q value='<a href="/v">'><button>go</button></form>`,
  ])();
}

function page(random: Random): string {
  const canonical = random(2) === 0 ? `<link rel="canonical" href="/c${random(99)}">` : '';
  const blocks = Array.from({ length: 3 + random(12) }, () => block(random, 0)).join('\n');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${words(random, 3).replace(/<[^>]*>/g, '')}</title>
<link rel="stylesheet" href="/s.css"><link rel=alternate href="/feed.xml">${canonical}
<meta name="description" content="d"></head><body>
${blocks}
</body></html>`;
}

const PIECES = [
  ...[
    '<svg>',
    '</svg>',
    '<math>',
    '</math>',
    '<template>',
    '</template>',
    '<select>',
    '</select>',
    '<textarea>',
  ],
  ...[
    '</textarea>',
    '<title>',
    '</title>',
    '<style>',
    '</style>',
    '<script>',
    '</script>',
    '<!--',
    '-->',
    '--!>',
  ],
  ...[
    '<![CDATA[',
    ']]>',
    '"',
    "'",
    '<',
    '>',
    '/',
    '=',
    '&',
    '&#',
    '&amp',
    '\0',
    '<p>',
    '</p>',
    '</div>',
    '<div>',
  ],
  ...[
    '<a href="/injected">',
    '</a>',
    '<a href=',
    '<foreignObject>',
    '</foreignObject>',
    '<desc>',
    '<mi>',
    '</mi>',
  ],
  ...[
    '<table>',
    '</table>',
    '<td>',
    '</td>',
    '<noscript>',
    '</noscript>',
    '<plaintext>',
    '<xmp>',
    '</xmp>',
    '<br/>',
  ],
  ...[
    '<font color=red>',
    '<b>',
    '</b>',
    '<option>',
    '<input>',
    '<iframe>',
    '</iframe>',
    '<?x',
    '<!x>',
    '</>',
    '</ x>',
  ],
  ...[
    '<annotation-xml encoding="text/html">',
    '<body>',
    '</body>',
    '<html>',
    '<frameset>',
    '<noframes>',
    '</noframes>',
  ],
];

function breakPage(html: string, random: Random): string {
  let text = html;
  for (let i = 1 + random(6); i > 0; i--) {
    const at = random(text.length);
    const length = 1 + random(pick(random, [3, 20, 200]));
    const tags = [...text.matchAll(/<[^>]*>/g)];
    const tag = pick(random, tags);
    text = pick(random, [
      () => text.slice(0, at) + text.slice(at + length),
      () => text.slice(0, at) + pick(random, PIECES) + text.slice(at),
      () => text.slice(0, at) + pick(random, PIECES) + text.slice(at),
      () => text.slice(0, at + length) + text.slice(at),
      () => text.slice(0, at) + String.fromCharCode(random(128)) + text.slice(at + 1),
      () => (tag ? text.slice(0, tag.index) + text.slice(tag.index + tag[0].length) : text),
      () => (tag ? text.slice(0, at) + tag[0] + text.slice(at) : text),
      () => (random(4) === 0 ? text.slice(0, at) : text),
    ])();
    if (text.length === 0) text = '<p>';
  }
  return text;
}

interface Facts {
  hrefs: Set<string>;
  title: string | null;
}

const PAGE_RELATIONS = new Set(['canonical', 'alternate', 'next', 'prev', 'previous']);

/** Where the element leads as a link; null for none. */
function targetOf(name: string, attributes: Map<string, string>, isHtml: boolean): string | null {
  // A frame that names nothing shows nothing.
  if (isHtml && (name === 'iframe' || name === 'frame')) return attributes.get('src') || null;
  const href = attributes.get('href') ?? (isHtml ? null : (attributes.get('xlink href') ?? null));
  return href !== null && isLink(name, attributes, isHtml) ? href : null;
}

function isLink(name: string, attributes: Map<string, string>, isHtml: boolean): boolean {
  if (attributes.has('download')) return false;
  if (name === 'a') return true;
  if (!isHtml) return false;
  const relations = (attributes.get('rel') ?? '').toLowerCase().split(/\s+/);
  if (name === 'link')
    return relations.some((rel) => PAGE_RELATIONS.has(rel)) && !relations.includes('stylesheet');
  return name === 'area';
}

function judge(html: string): Facts {
  const facts: Facts = { hrefs: new Set(), title: null };
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node) {
      const isHtml = node.namespaceURI === 'http://www.w3.org/1999/xhtml';
      const attributes = new Map(
        node.attrs.map(({ prefix, name, value }) => [prefix ? `${prefix} ${name}` : name, value]),
      );
      const target = targetOf(node.tagName, attributes, isHtml);
      if (target !== null) {
        const trimmed = target.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '');
        const text = trimmed
          .replace(/#.*/s, '')
          .replace(/[\t\n\r]/g, '')
          .replace(/[\0-\x20]+$/, '');
        if (!/^(?:javascript|mailto|tel|data):/i.test(text)) facts.hrefs.add(text);
      }
      if (node.tagName === 'title' && isHtml && facts.title === null) {
        facts.title = node.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
      }
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html, { scriptingEnabled: false }));
  return facts;
}

const scanner = createHtmlScanner();
const folder = createTextFolder();

function scan(html: string): Facts & { text: string } {
  const body = Buffer.from(html);
  const bytes = new Uint8Array(body.length + 1);
  bytes.set(body);
  const result = scanner.scan(bytes, body.length, 'main');
  expect(Buffer.compare(bytes.subarray(0, body.length), body), 'the bytes are left as they were').toBe(0);
  const hrefs = new Set<string>();
  for (let i = 0; i < result.links.count; i++) hrefs.add(result.links.hrefText(i));
  const title = result.titleStart < 0 ? null : folder.plain(bytes, result.titleStart, result.titleEnd);
  return { hrefs, title, text: Buffer.from(result.text).toString() };
}

function fold(text: string | null): string | null {
  return text === null ? null : text.replace(/[\s\u00a0]+/g, ' ').trim();
}

/** Compares many pages; returns how many differ, and fails at once for a missing link. */
function compare(count: number, make: (random: Random) => string): { links: number; titles: number } {
  const different = { links: 0, titles: 0 };
  for (let i = 0; i < count; i++) {
    const html = make(createRandom(Math.imul(seed, 31) + i));
    const ours = scan(html);
    const theirs = judge(html);
    const missing = [...theirs.hrefs].filter((link) => !ours.hrefs.has(link));
    expect(missing, `seed ${seed}, page ${i}: links that parse5 has\n${html}`).toEqual([]);
    if (ours.hrefs.size !== theirs.hrefs.size) different.links++;
    if (fold(ours.title) !== fold(theirs.title)) different.titles++;
  }
  return different;
}

describe(`the scanner against parse5 (SUMI_SEED=${seed})`, () => {
  it('finds exactly the links and the title of intact pages', () => {
    expect(compare(INTACT_PAGES, page)).toEqual({ links: 0, titles: 0 });
  });

  it('misses no link of broken pages and differs on at most 0.5 % of them', () => {
    const different = compare(BROKEN_PAGES, (random) => breakPage(page(random), random));
    expect(different.links / BROKEN_PAGES).toBeLessThanOrEqual(MOST_DIFFERENT);
    expect(different.titles / BROKEN_PAGES).toBeLessThanOrEqual(MOST_DIFFERENT);
  });
});

describe(`the text against parse5 (SUMI_SEED=${seed})`, () => {
  const PIECES_OF_TEXT = [
    ...[
      ' ',
      '  ',
      '\t',
      '\r\n',
      '\f',
      ' \n ',
      '\u00a0',
      '\u3000',
      '\u2003',
      '\u202f',
      '&nbsp;',
      '&emsp;',
      '&#32;',
    ],
    ...[
      '&amp;',
      '&lt;',
      '&gt;',
      '&quot;',
      '&#39;',
      '&lt',
      '&gt1',
      '&amp',
      '&quo;',
      '&copy',
      '&notit;',
      '&#8217;',
      '&#x41;',
    ],
    ...[
      'a',
      'word',
      'Â',
      'é',
      '東京',
      '‐',
      'ã',
      '😀',
      '<b>',
      '</b>',
      '<!-- c -->',
      'fifteen letters',
      'sixteen letters.',
    ],
  ];

  /** One piece of text, without tags that break words: parse5 does not say where those stand. */
  function text(random: Random): string {
    return Array.from({ length: 1 + random(40) }, () => pick(random, PIECES_OF_TEXT)).join('');
  }

  function textOf(html: string): string {
    const parts: string[] = [];
    const visit = (node: DefaultTreeAdapterTypes.Node): void => {
      if ('value' in node) parts.push(node.value);
      if ('childNodes' in node) for (const child of node.childNodes) visit(child);
    };
    visit(parse(html, { scriptingEnabled: false }));
    return parts.join('');
  }

  it('has the same characters, white space folded', () => {
    for (let i = 0; i < 3_000; i++) {
      const html = text(createRandom(Math.imul(seed, 17) + i));
      const expected = textOf(html)
        .replace(/[ \t\n\f\r\u00a0\u2000-\u200a\u2028\u2029\u202f\u3000]+/g, ' ')
        .trim();
      expect(scan(html).text, `seed ${seed}, text ${i}: ${JSON.stringify(html)}`).toBe(expected);
    }
  });
});

describe('a page', () => {
  it('of any size is read whole, and one after it as if it were the first', () => {
    const link = (n: number): string => `<a href="/page-${n}">page ${n}</a> `;
    const large = Array.from({ length: 60_000 }, (_, n) => link(n)).join('');
    expect(large.length).toBeGreaterThan(1_000_000);
    const first = scan(large);
    expect(first.hrefs.size).toBe(60_000);
    expect(first.text.endsWith('page 59999')).toBe(true);
    expect(scan(link(1))).toEqual({ hrefs: new Set(['/page-1']), title: null, text: 'page 1' });
  });

  it('of nothing but the shortest links has them all', () => {
    const body = Buffer.from('<a href>'.repeat(300_000));
    expect(scanner.scan(Buffer.concat([body, Buffer.of(0)]), body.length, 'main').links.count).toBe(300_000);
  });

  it('keeps the links behind raw text that is read in doubt', () => {
    const before = '<table><svg><desc><td></table><textarea></b><svg></p></textarea>';
    expect(scan(`${before}TEXT<a href=/x>y</a>`).hrefs).toEqual(new Set(['/x']));
  });

  it('has no description by an attribute whose name hashes to nothing', () => {
    const body = Buffer.from('<meta aostdnju=description content=hello>');
    const { metas } = scanner.scan(Buffer.concat([body, Buffer.of(0)]), body.length, 'main');
    expect(metas[0]).toBe(-1);
  });

  it('does not see what stood where it ends', () => {
    scan('x'.repeat(100).concat('<a href="/old">--></a>'.repeat(20)));
    expect(scan('<a href="/new" title="').hrefs).toEqual(new Set());
    expect(scan('<a href="/new">new').hrefs).toEqual(new Set(['/new']));
    expect(scan('a <!-- never closed').text).toBe('a');
    expect(scan('a &l').text).toBe('a &l');
  });
});

describe('the text of a page', () => {
  it('is that of <main> alone when there is one', () => {
    expect(scan('<header>top<main>a <b>b</b>c<nav>n</nav><p>d</main><footer>f</footer>').text).toBe('a bc d');
  });

  it('is that of the element with role=main up to its own end tag', () => {
    expect(scan('<div>x<div role="main">a<div>b</div>c</div>d</div>').text).toBe('a b c');
  });

  it('is that of the only article, but not of one among several', () => {
    expect(scan('x<article>one</article>y').text).toBe('one');
    expect(scan('x<article>one</article><article>two</article>').text).toBe('x one two');
  });

  it('leaves out navigation, scripts, styles, templates, noscript, selects and svg', () => {
    const html = `<title>t</title><nav>n</nav>a<script>s</script><style>s</style><template>t</template>
      <noscript>n</noscript><select><option>o</select><svg><text>v</text></svg><!-- c -->b`;
    expect(scan(html).text).toBe('a b');
  });

  it('falls back to all text when everything stands in navigation', () => {
    expect(scan('<nav>only this</nav>').text).toBe('only this');
  });

  it('decodes references and folds white space of all kinds', () => {
    expect(scan('a&amp;b&nbsp;&nbsp;c\u00a0\u3000d&#x41;&eacute;&notit;').text).toBe('a&b c dAé¬it;');
  });
});
