// The text that is stored: its words are those of the folded text, its lines and `pre` are judged by parse5.
import { type DefaultTreeAdapterTypes, parse as parseHtml } from 'parse5';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { createPageParser } from './parse-page.ts';

const seed = Number(process.env.SUMI_SEED ?? Date.now() % 1_000_000_007);
const parse = createPageParser();

function read(html: string, contentType = 'text/html') {
  const bytes = Buffer.from(html);
  const page = parse({ bytes, length: bytes.length, contentType, xRobotsTag: null, agentToken: 'x' });
  return {
    stored: Buffer.from(page.storedText()).toString(),
    text: Buffer.from(page.text).toString(),
    h1: page.h1,
  };
}

const stored = (html: string) => read(html).stored;

describe('the stored text', () => {
  it('has line breaks at block borders and at <br>, and none inside a line', () => {
    expect(
      stored(`<h1>Title</h1><p>One <b>bold</b> <i>it</i>alic.</p>
        <p>Two<br>lines<p>Three <img src=x alt=y>four <custom-tag>five</custom-tag>
        <ul><li>a<li>b <span>c</span></ul><table><tr><td>1<td>2<tr><td>3<td>4</table>
        <div><div><div>deep</div></div></div>end`),
    ).toBe('Title\nOne bold italic.\nTwo\nlines\nThree four five\na\nb c\n1 2\n3 4\ndeep\nend');
  });

  it('has code as it was written', () => {
    const code = 'if (a < b) {\n    return "x  y" && 1;\n\n\t}  // done';
    const marked = code
      .replace(/&/g, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/return/, '<span class="k">return</span>');
    expect(stored(`<p>See:</p><pre><code>\n${marked}\n</code></pre><p>after`)).toBe(`See:\n${code}\nafter`);
    expect(stored(`<pre>\r\n  a\r\n    b</pre>`)).toBe('  a\n    b');
    expect(stored('<pre>  never\n  closed')).toBe('  never\n  closed');
    expect(stored('<pre>a<br>  b&nbsp;&eacute;<!-- x --></pre>')).toBe('a\n  b\u00a0é');
  });

  it('leaves out what the page does not show inside of a pre', () => {
    const { stored, text } = read('<p>x<pre>a\n  b <template>no</template>c</pre>');
    expect(text).toBe('x a b c');
    expect(stored).toBe('x\na\n  b c');
    const more = read(`<p>x<pre>a
      <b hidden>hidden
  text</b>b <script>"  "</script>
  c</pre>`);
    expect(more.text).toBe('x a b c');
    expect(more.stored).toBe('x\na\n      b \n  c');
  });

  it('has the lines of a pre that are made by <br> or by blocks, and spaces that were written as references', () => {
    expect(stored('<pre>a<br><br>b <BR/>c\n<br>d<br></pre>e')).toBe('a\n\nb \nc\n\nd\ne');
    expect(stored('<pre>if x:<br>&nbsp;&nbsp;y&#10;&#9;z\u3000</pre>')).toBe('if x:\n\u00a0\u00a0y\n\tz');
    const lines = ['if x:', '    y', '', '  z'].map((line) => `<div class="l">${line}</div>`).join('\n');
    expect(stored(`<pre>${lines}</pre><p>p`)).toBe('if x:\n    y\n\n  z\np');
    expect(stored('<pre><br>\n \n  first\n\n</pre><pre>\tsecond\n </pre>')).toBe('  first\n\tsecond');
    expect(stored('<p>x <pre></pre> <pre> \n </pre>y<pre>a<pre>\n b</pre> c</pre>')).toBe('x\ny\na\n b\nc');
  });

  it('has no permalinks, while the text that is hashed has them as before', () => {
    const { stored, text, h1 } = read(`<h1>Top<a class="headerlink" href="#top" title="Link">¶</a></h1>
      <h2>Sub <a href="#sub">#</a></h2><p>C# <a href="/c">#</a> <a href="#a"><span>§</span></a> <a href="#n">note</a></p>
      <dl><dt>f()<a rel="bookmark" href="#f">&para;</a><dd>does</dl><h3><a href="#z">🔗</a></h3><p>end`);
    expect(stored).toBe('Top\nSub\nC# # note\nf()\ndoes\nend');
    expect(text).toBe('Top¶ Sub # C# # § note f()¶ does 🔗 end');
    expect(h1).toBe('Top');
  });

  it('keeps the line of a heading whose sign stands in front', () => {
    const sign = (id: string) => `<a href="#${id}">#</a>`;
    expect(
      stored(`${sign('a')} One<p>two <h2>${sign('b')} Three</h2><p>${sign('c')}<p>four${sign('d')}`),
    ).toBe('One\ntwo\nThree\nfour');
    expect(stored(`<main><p>x ${sign('e')}</main><nav>no ${sign('f')}</nav><main>y</main>`)).toBe('x\ny');
    expect(
      stored(
        `<p>a ${sign('g')}b <a href="#h">#h</a> <a href="#i"><i>#</i>1</a> <a href="#j">\u2693\ufe0f</a>`,
      ),
    ).toBe('a b #h #1');
  });

  it('is that of the main part, from whatever pieces', () => {
    expect(
      stored(`<nav><p>N</p></nav><p>One</p><aside><pre>no
        no</pre></aside><p>Two</p><footer>F<h2>X<a href="#x">¶</a></h2></footer><pre>  c
  d</pre><p>Three`),
    ).toBe('One\nTwo\n  c\n  d\nThree');
  });

  it('of plain text is as it was sent', () => {
    expect(read('a\r\n  b\r\n\r\nc \n', 'text/plain').stored).toBe('a\n  b\n\nc');
    expect(read('\ufeff  a\n\tb\0', 'text/plain').stored).toBe('  a\n\tb\ufffd');
  });
});

describe('a heading', () => {
  it('has a space where a line or a block ends, and none inside a word', () => {
    expect(read('<h1>Foo<br>Bar <div>Baz</div>Q<b>u</b>x<!-- x -->y</h1>').h1).toBe('Foo Bar Baz Quxy');
    expect(read('<h1><span>Foo</span><span>Bar</span><br/>1</h1>').h1).toBe('FooBar 1');
  });
});

const WORDS = [
  'stone',
  'été',
  'x&amp;y',
  '&lt;p&gt;',
  '&copy;1',
  '東京',
  'a&nbsp;b',
  '100%',
  '&',
  'C#',
  '¶',
  '"q"',
];
const BREAKS = ['\n', '\n\n', '\t', '  ', ' \n    ', '\r\n'];

describe(`the stored text of made pages (SUMI_SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const words = (most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => random.pick(WORDS)).join(' ');
  const span = () => `<span class="k${random.below(9)}" title='>'>${words(2)}</span>`;
  const code = () =>
    `<pre>${Array.from({ length: 1 + random.below(12) }, () => random.pick([span, () => words(3)])() + random.pick(BREAKS)).join('')}</pre>`;
  const BLOCKS = [
    () => `<p>${words(9)}</p>`,
    () => `<h2>${words(3)}<a href="#x">¶</a></h2>`,
    () => `<div>${words(4)}<div>${words(4)}</div>${words(2)}</div>`,
    () => `<ul><li>${words(3)}<li><a href="/l">${words(2)}</a></ul>`,
    () => `<nav>${words(5)}${code()}</nav>`,
    () => `<table><tr><td>${words(2)}<td>${code()}</table>`,
    () => `<h2><a href="#x">¶</a> ${words(3)}</h2>`,
    code,
    code,
  ];

  it('has the words of the folded text, and each pre as parse5 has it', () => {
    let found = 0;
    for (let i = 0; i < 400; i++) {
      const html = `<title>t</title>${Array.from({ length: 1 + random.below(9) }, () => random.pick(BLOCKS)()).join(random.pick(['', '\n']))}`;
      const { stored, text } = read(html);
      // A permalink's sign goes with it, and a word may be one.
      const bare = (value: string) => value.replace(/[\s\u00a0¶]+/g, '');
      expect(bare(stored), html).toBe(bare(text));
      expect(stored, html).not.toMatch(/^\n|\n$/);
      for (const pre of preTexts(html)) {
        const shown = pre.replace(/^\n+/, '').trimEnd();
        if (shown.trim() === '') continue;
        expect(stored, html).toContain(shown);
        found++;
      }
    }
    expect(found).toBeGreaterThan(100);
  });
});

/** The text of each pre outside of nav. */
function preTexts(html: string): string[] {
  const texts: string[] = [];
  const textOf = (node: DefaultTreeAdapterTypes.Node): string =>
    'value' in node ? node.value : 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node && node.tagName === 'nav') return;
    if ('tagName' in node && node.tagName === 'pre') texts.push(textOf(node));
    else if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parseHtml(html, { scriptingEnabled: false }));
  return texts;
}
