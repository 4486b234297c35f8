import { describe, expect, it } from 'vitest';
import { randomPage } from '../../../test/extract/random-page.ts';
import { seededRandom } from '../../../test/seeded-random.ts';
import { createHtmlQuestions } from './html-questions.ts';
import { createDocumentReader } from './read-document.ts';

const { htmlText, htmlLinks, htmlTables, selectCss } = createHtmlQuestions(createDocumentReader());

describe('the text of HTML', () => {
  it.each([
    ['a  b\n c', 'a b c'],
    ['<p>one<p>two', 'one\ntwo'],
    ['<div><div>a</div></div><div>b</div>', 'a\nb'],
    ['a<br><br>b', 'a\nb'],
    ['<b>a</b><i>b</i> <u> c </u>d', 'ab c d'],
    ['<table><tr><td>a<td>b<tr><td>c</table>', 'a b\nc'],
    ['x<script>y</script><style>z</style><noscript>n</noscript><template>t</template>w', 'xw'],
    ['<p hidden>no<p>yes<p hidden=until-found>found', 'yes\nfound'],
    ['<dialog>no</dialog><dialog open>yes</dialog>', 'yes'],
    ['<title>no</title><p>a<svg><title>no</title><text>yes</text></svg>', 'ayes'],
    ['<pre>a\n  b  c\n</pre>d', 'a\n  b  c\nd'],
    ['<pre>\n\n</pre>a', 'a'],
    ['a&nbsp;&nbsp;b\u3000c', 'a b c'],
    ['<img alt="no">a', 'a'],
    ['<!-- a -->b<!-- c -->d', 'bd'],
    ['<div><template shadowrootmode=open>seen</template></div>', 'seen'],
    ['<iframe><p>no</iframe><video>no</video>a', 'a'],
    ['<textarea> a\n b</textarea>', ' a\n b'],
    ['', ''],
    ['<p>', ''],
    ['no markup & no < tag', 'no markup & no < tag'],
  ])('of %j is %j', (html, text) => {
    expect(htmlText(html)).toBe(text);
  });

  it('takes a million line ends in a pre', () => {
    expect(htmlText(`<pre>a${'\n'.repeat(1_000_000)}b${'\n'.repeat(1_000_000)}</pre>`)).toHaveLength(
      1_000_002,
    );
  });
});

describe('the links of HTML', () => {
  const urls = (html: string, base?: string) => htmlLinks(html, base).map(({ url }) => url);

  it('are those that a reader can follow', () => {
    expect(
      htmlLinks(
        '<a href=" /a ">x <img alt="pic"><b>y</b></a><area href=b alt=" B "><a>no</a><link href=c>',
        'https://e.x/d/',
      ),
    ).toEqual([
      { href: '/a', url: 'https://e.x/a', text: 'x pic y', rel: null, isNofollow: false },
      { href: 'b', url: 'https://e.x/d/b', text: 'B', rel: null, isNofollow: false },
    ]);
  });

  it('are resolved against base and address', () => {
    expect(urls('<a href=x>', 'https://e.x/a/b')).toEqual(['https://e.x/a/x']);
    expect(urls('<base href=/c/><base href=/d/><a href=x><a href=?q><a href=#f>', 'https://e.x/a/b')).toEqual(
      ['https://e.x/c/x', 'https://e.x/c/?q', 'https://e.x/c/#f'],
    );
    expect(urls('<base href=https://o.x/><a href=x>')).toEqual(['https://o.x/x']);
    expect(urls('<base target=_blank><base href="http://["><a href=x>', 'https://e.x/')).toEqual([
      'https://e.x/x',
    ]);
  });

  it('have no URL where there is none', () => {
    expect(urls('<a href=x><a href="http://[">')).toEqual([null, null]);
    expect(urls('<a href=x>', 'no address')).toEqual([null]);
    expect(urls('<a href="mailto:a@b"><a href="javascript:x()">')).toEqual(['mailto:a@b', 'javascript:x()']);
  });

  it('tell their rel', () => {
    const links = htmlLinks('<a href=a rel="  NoFollow\nUGC "><a href=b rel="nofollowed"><a href=c rel>');
    expect(links.map(({ rel, isNofollow }) => [rel, isNofollow])).toEqual([
      ['NoFollow UGC', true],
      ['nofollowed', false],
      ['', false],
    ]);
  });
});

describe('the tables of HTML', () => {
  const rows = (html: string) => htmlTables(html).map(({ header, rows }) => [header, ...rows]);

  it('are rectangles of text with a caption and a header', () => {
    const html = '<table><caption>The <b>cap</b></caption><tr><th>A<th>B<tr><td>1<td>2<br>3<tr><td>4</table>';
    expect(htmlTables(html)).toEqual([
      {
        caption: 'The cap',
        header: ['A', 'B'],
        rows: [
          ['1', '2\n3'],
          ['4', ''],
        ],
      },
    ]);
  });

  it.each([
    ['<table><tr><td colspan=2>a<td>b<tr><td>c</table>', [[[], ['a', 'a', 'b'], ['c', '', '']]]],
    [
      '<table><tr><td rowspan=2>a<td>b<tr><td>c<tr><td>d<td>e</table>',
      [[[], ['a', 'b'], ['a', 'c'], ['d', 'e']]],
    ],
    ['<table><tr><td>a<td rowspan=3>b<tr><td>c<tr></table>', [[[], ['a', 'b'], ['c', 'b'], ['', 'b']]]],
    ['<table><tr><td rowspan=2 colspan=2>a<td>b<tr><td>c</table>', [[[], ['a', 'a', 'b'], ['a', 'a', 'c']]]],
    ['<table><tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d</table>', [[[], ['a', 'b'], ['a', 'c'], ['a', 'd']]]],
    ['<table><tr><td rowspan=9>a<tbody><tr><td>b</table>', [[[], ['a'], ['b']]]],
    ['<table><tr><td colspan=0>a<td colspan=x rowspan=-1>b</table>', [[[], ['a', 'b']]]],
    [
      '<table><thead><tr><td>H<tbody><tr><th>r<td>1</table>',
      [
        [
          ['H', ''],
          ['r', '1'],
        ],
      ],
    ],
    [
      '<table><thead><tr><th colspan=2>Size<th rowspan=2>N<tr><th>w<th>h<tbody><tr><td>1<td>2<td>3</table>',
      [
        [
          ['Size w', 'Size h', 'N'],
          ['1', '2', '3'],
        ],
      ],
    ],
    ['<table><tr><th>a<tr><th>b</table>', [[['a'], ['b']]]],
    ['<table><tr><th>r<td>1<tr><th>s<td>2</table>', [[[], ['r', '1'], ['s', '2']]]],
    [
      '<table><tr><td>a<table><tr><td>in</table>b<td>c</table>',
      [
        [[], ['a\nb', 'c']],
        [[], ['in']],
      ],
    ],
    ['<table><tbody></tbody><tr></tr></table><p>', [[[]]]],
    ['<p>none', []],
  ])('of %s', (html, tables) => {
    expect(rows(html)).toEqual(tables);
  });

  it('end, whatever their spans are', () => {
    const wide = htmlTables(`<table>${'<tr><td colspan=1000 rowspan=65534>x'.repeat(3000)}</table>`)[0];
    expect(wide.rows).toHaveLength(1000);
    expect(wide.rows.every((row) => row.length === 1000)).toBe(true);
    const many = htmlTables(
      `<table>${'<tr><td rowspan=60000>x<td colspan=99999999999999999999>y'.repeat(10_000)}</table>`.repeat(
        3,
      ),
    );
    expect(many.reduce((sum, { rows }) => sum + rows.length * (rows[0]?.length ?? 0), 0)).toBeLessThanOrEqual(
      1_000_000,
    );
    const ragged = htmlTables(
      `<table><tr>${'<td>'.repeat(100)}${'<tr><td rowspan=2>'.repeat(200_000)}</table>`,
    )[0];
    expect(ragged.rows.length * 100).toBeLessThanOrEqual(1_000_000);
  });
});

describe('CSS over HTML', () => {
  it('gives texts, HTML or attributes of all matches', () => {
    const html = '<p class=a>x <b>y</b><p class=a title=t>z';
    expect(selectCss(html, '.a', { take: 'text' })).toEqual(['x y', 'z']);
    expect(selectCss(html, '.a', { take: 'html' })).toEqual([
      '<p class="a">x <b>y</b></p>',
      '<p class="a" title="t">z</p>',
    ]);
    expect(selectCss(html, '.a', { take: 'attribute', attribute: 'title' })).toEqual(['t']);
    expect(selectCss(html, '.b', { take: 'text' })).toEqual([]);
    expect(() => selectCss(html, '.a[', { take: 'text' })).toThrow(
      expect.objectContaining({ code: 'selector-invalid' }),
    );
  });
});

describe('documents that are asked several times', () => {
  it('are read once, as long as no more than a few others come between', () => {
    let reads = 0;
    const readDocument = createDocumentReader();
    const questions = createHtmlQuestions((page) => {
      reads++;
      return readDocument(page);
    });
    const page = (i: number, size = 10) => `<p>${i}${' '.repeat(size)}`;
    for (let i = 0; i < 3; i++) expect(questions.htmlText(page(1))).toBe('1');
    questions.selectCss(page(1), 'p', { take: 'text' });
    expect(reads).toBe(1);
    for (const i of [2, 3, 4, 1, 2, 3, 4, 1]) expect(questions.htmlText(page(i))).toBe(String(i));
    expect(reads).toBe(4);
    for (const i of [5, 6, 7, 8, 1]) questions.htmlText(page(i));
    expect(reads).toBe(9);
    // Two that are too large to be kept together.
    for (const i of [10, 11, 10, 11, 11]) questions.htmlLinks(page(i, 5_000_000));
    expect(reads).toBe(13);
  });

  it('give the same answers as if each question had come first', () => {
    const seed = Number(process.env.SUMI_SEED ?? 20_261_119);
    const random = seededRandom(seed);
    const pages = Array.from({ length: 12 }, () => randomPage(random));
    for (let i = 0; i < 60; i++) {
      const html = random.pick(pages);
      const fresh = createHtmlQuestions(createDocumentReader());
      expect(htmlText(html), `SUMI_SEED=${seed}`).toBe(fresh.htmlText(html));
      expect(htmlTables(html)).toEqual(fresh.htmlTables(html));
      expect(selectCss(html, '.a > *', { take: 'html' })).toEqual(
        fresh.selectCss(html, '.a > *', { take: 'html' }),
      );
    }
  });
});
