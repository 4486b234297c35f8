/** parse5 (scripting off) is the judge of the tree. */
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { breakPage, randomPage } from '../../../test/extract/random-page.ts';
import { seededRandom } from '../../../test/seeded-random.ts';
import { buildTree } from './build-tree.ts';
import { htmlOf } from './html-of.ts';
import { attributeOf, DEEPEST, MOST_NODES, type PageElement, type PageNode } from './page-tree.ts';
import { textOf } from './text-of.ts';

const seed = Number(process.env.SUMI_SEED ?? 20_261_119);
const PAGES = 250;
const BROKEN_PAGES = 300;

type Dump = string | [name: string, attributes: string[], children: Dump[]];

function dump(node: PageNode): Dump {
  if (node.kind === 'text') return node.text;
  return [node.name, [...node.attributes], node.children.map(dump)];
}

type Node = DefaultTreeAdapterTypes.Node;

function dumpOfJudge(node: Node): Dump | null {
  if (node.nodeName === '#text') return (node as DefaultTreeAdapterTypes.TextNode).value;
  if (!('tagName' in node)) return null;
  const children: Dump[] = [];
  for (const child of node.childNodes.map(dumpOfJudge)) {
    // Comments are not kept, so the texts around them are one.
    if (typeof child === 'string' && typeof children.at(-1) === 'string')
      children[children.length - 1] += child;
    else if (child !== null) children.push(child);
  }
  return [
    node.tagName.toLowerCase(),
    node.attrs.flatMap(({ name, value }) => [name.toLowerCase(), value]),
    children,
  ];
}

function judge(html: string): Dump {
  const root = parse(html, { scriptingEnabled: false }).childNodes.find((node) => node.nodeName === 'html');
  const [name, attributes, children] = dumpOfJudge(root!) as [string, string[], Dump[]];
  // An empty head that nobody wrote, and white space beside it.
  const kept = children.filter(
    (child) => typeof child !== 'string' && !(child[0] === 'head' && child[2].length === 0),
  );
  return [name, attributes, kept];
}

const ours = (html: string) => dump(buildTree(html).root);

const idsOf = (dumped: Dump): string[] => {
  if (typeof dumped === 'string') return [];
  const [, attributes, children] = dumped;
  const at = attributes.indexOf('id');
  return [...(at < 0 ? [] : [attributes[at + 1]]), ...children.flatMap(idsOf)];
};

describe(`the tree of a page, judged by parse5 (SUMI_SEED=${seed})`, () => {
  it('is the same for pages in which end tags, html, head, body and tbody are left out', () => {
    const random = seededRandom(seed);
    for (let i = 0; i < PAGES; i++) {
      const html = randomPage(random);
      expect(ours(html), `page ${i}: ${html}`).toEqual(judge(html));
    }
  });

  it('has the elements of broken pages, but for few pages', () => {
    const random = seededRandom(seed + 1);
    let same = 0;
    for (let i = 0; i < BROKEN_PAGES; i++) {
      const html = breakPage(randomPage(random), random);
      // The judge moves what stands between cells, and repeats elements.
      const [found, wanted] = [ours(html), judge(html)].map((tree) => [...new Set(idsOf(tree))].sort());
      if (found.join() === wanted.join()) same++;
    }
    expect(same / BROKEN_PAGES).toBeGreaterThan(0.97);
  });

  it.each([
    ['<!doctype html><p>a<p>b<div>c<p>d</div>e', 'paragraphs'],
    ['<!doctype html><ul><li>a<ul><li>b</ul><li>c</ul>', 'lists in lists'],
    ['<!doctype html><dl><dt>a<dd>b<dt>c</dl>', 'terms'],
    ['<!doctype html><table><td>a<td>b<tr><th>c<table><tr><td>d</table><td>e</table>f', 'tables in tables'],
    [
      '<!doctype html><table><caption>c</caption><col><thead><tr><th>a<tbody><tr><td>b<tfoot><td>c</table>',
      'parts',
    ],
    [
      '<!doctype html><select><optgroup label=a><option>1<option>2<optgroup label=b><option>3</select>',
      'options',
    ],
    ['<!doctype html><h1>a<h2>b</h1>c', 'headings'],
    ['<!doctype html><form><div><form id=no></div></form><input>', 'forms'],
    ['<!doctype html><button>a<button>b</button></button>', 'buttons'],
    ['<!doctype html><a href=1>x<a href=2>y</a>', 'links in links'],
    ['<!doctype html><ruby>a<rt>b<rt>c</ruby>', 'ruby'],
    [
      '<!doctype html><svg viewBox="0 0 1 1"><path d=x /><title>t</title><foreignObject><p>a<p>b</foreignObject></svg>c',
      'SVG',
    ],
    ['<!doctype html><svg><g><p>out</p>after', 'what does not belong to SVG'],
    ['<!doctype html><math><mi>x</mi><mtext><b>y</b></mtext></math>', 'MathML'],
    ['<!doctype html><svg><![CDATA[<p>]]></svg><![CDATA[no]]>', 'CDATA'],
    ['<!doctype html><textarea>\n<p>&amp;</textarea><pre>\n\na</pre>', 'first newlines'],
    ['<!doctype html><script>if (a</b/.x) "<p>"</script><style>p>a{}</style><p>x', 'scripts'],
    ['<!doctype html><title>a<b>&eacute;</title><meta charset=utf-8><p>x', 'titles'],
    [
      '<!doctype html><head><noscript><link href=x></noscript></head><body class=a><body class=b id=c>',
      'two bodies',
    ],
    ['<!doctype html><html lang=en><html lang=de dir=ltr>x', 'two roots'],
    ['<!doctype html><frameset><frame src=a><frame src=b></frameset>', 'frames'],
    ['<!doctype html></p>x</br>y</div></x>z', 'end tags alone'],
    ['<!doctype html><p>a<object><p>b</object>c', 'objects'],
    [
      '<!doctype html><p a=1 A=2 b b=3 c=x&amp;y&copy=z&copy>&copy;&copy &notit; &#x80;&#0;&#xd800;&#1114112;&#x;&',
      'references',
    ],
    ['<!doctype html><p>a\0b<p title="a\0b">c\r\nd\re', 'NUL and line ends'],
    ['<!doctype html><image src=a><input><br/><hr><wbr>x', 'empty elements'],
    ['<!doctype html><p/>a<div/>b<span/>c', 'tags that are not empty'],
    ['text before<p>x', 'text first'],
    ['', 'nothing'],
    ['<!doctype html><p>x<', 'an open bracket at the end'],
    ['<!doctype html><p>x<a href="', 'an open attribute at the end'],
    ['<!doctype html><p>a<!-- b --!>c<!>d<!-->e<?php x ?>f</ g>h', 'comments of all kinds'],
    ['<!doctype html><li>a<div><li>b</div><li>c', 'items in blocks'],
    ['<!doctype html><b>a<i>b</i></b><strong>c</strong>', 'formatting'],
  ])('is the same for %j (%s)', (html) => {
    expect(ours(html)).toEqual(judge(html));
  });

  it('does not nest what comes after a formatting element that was closed late', () => {
    const { root } = buildTree('<div><b>a<p>b</b>c</p><p id=after>d</p></div>');
    const after = buildTree(htmlOf(root, 1000)!).elements.find(
      (element) => attributeOf(element, 'id') === 'after',
    );
    expect(after?.parent?.name).toBe('div');
  });

  it('keeps cells and rows without a table, which browsers drop', () => {
    const { elements, body } = buildTree('<tr><td>a<td>b<tr><td>c');
    expect(elements.map(({ name }) => name)).toEqual(['html', 'body', 'tr', 'td', 'td', 'tr', 'td']);
    expect(textOf(body)).toBe('a b\nc');
  });

  it('has no elements of templates in its list', () => {
    const { elements } = buildTree('<p>a<template><p>b<template><i></i></template></template><em>c</em>');
    expect(elements.map(({ name }) => name)).toEqual(['html', 'body', 'p', 'template', 'em']);
  });
});

describe('HTML that is written from a tree', () => {
  it('makes the same tree again', () => {
    const random = seededRandom(seed + 2);
    for (let i = 0; i < 200; i++) {
      const tree = buildTree(randomPage(random));
      const html = `<!doctype html>${htmlOf(tree.root, 1e9)}`;
      expect(ours(html), html).toEqual(dump(tree.root));
    }
  });

  it('writes references where a reader needs them', () => {
    const html =
      '<p title="a&quot;&amp;&nbsp;">&lt;b&gt; &amp;amp;<br></p><script>a<b && c</script><svg><path></path></svg>';
    expect(htmlOf(buildTree(html).body, 1000)).toBe(
      '<body><p title="a&quot;&amp;&nbsp;">&lt;b&gt; &amp;amp;<br></p><script>a<b && c</script><svg><path></path></svg></body>',
    );
    expect(htmlOf(buildTree(html).body, 20)).toBeNull();
    expect(htmlOf(buildTree('<pre>\n\n\na</pre>').body, 1000)).toBe('<body><pre>\n\n\na</pre></body>');
  });
});

describe('a page that is made to harm', () => {
  const TWO_MB = 2 * 1024 * 1024;
  const fill = (text: string) => text.repeat(Math.floor(TWO_MB / text.length));

  function depthOf(element: PageElement): number {
    let depth = 0;
    for (let up: PageElement | null = element; up !== null; up = up.parent) depth++;
    return depth;
  }
  const deepest = (elements: readonly PageElement[]) =>
    elements.reduce(
      (most, element, i) => (i % 97 === 0 || i < 5000 ? Math.max(most, depthOf(element)) : most),
      0,
    );

  it('is never deeper than the limit, and what is deeper stands beside it', () => {
    const { root, elements } = buildTree(
      `${'<div>'.repeat(100_000)}<p class=x>deep<script>1</script></p>${'</div>'.repeat(100_000)}<i>after`,
    );
    expect(deepest(elements)).toBeLessThanOrEqual(DEEPEST + 2);
    expect(elements.filter(({ name }) => name === 'div')).toHaveLength(100_000);
    expect(textOf(root)).toBe('deep\nafter');
    // All end tags were understood.
    expect(elements.at(-1)?.name).toBe('i');
    expect(elements.at(-1)?.parent?.name).toBe('body');
  });

  it.each([
    '<div>',
    '<b><p>',
    `${'<b>'.repeat(100)}<p>${'</b>'.repeat(100)}`,
    '<a><div>',
    '<table><tr><td>',
    '</x>',
    '<',
    '&',
    '&#x',
    '<!--',
    '<p ',
    '<svg>',
    '<template>',
    '<td><li><dd><a><b></p></li></a><table></td>',
    '\0',
    '<p a b c d e f g h>',
  ])('gives a tree for 2 MB of %j', (piece) => {
    const { root, elements, isCut } = buildTree(fill(piece));
    expect(root.name).toBe('html');
    expect(elements.length).toBeLessThanOrEqual(MOST_NODES + 2);
    expect(isCut || elements.length < MOST_NODES).toBe(true);
    expect(deepest(elements)).toBeLessThanOrEqual(DEEPEST + 2);
  });

  it('keeps one huge attribute, and not a million of them', () => {
    const { elements } = buildTree(
      `<p class="${fill('x ')}" ${Array.from({ length: 100_000 }, (_, i) => `a${i}`).join(' ')}>`,
    );
    expect(attributeOf(elements[2], 'class')).toHaveLength(TWO_MB);
    expect(elements[2].attributes).toHaveLength(1024);
  });

  it('reads an attribute with the name of something else', () => {
    const { elements } = buildTree('<p __proto__=a constructor=b>');
    expect([attributeOf(elements[2], '__proto__'), attributeOf(elements[2], 'constructor')]).toEqual([
      'a',
      'b',
    ]);
    expect(attributeOf(elements[1], 'constructor')).toBeNull();
  });
});
