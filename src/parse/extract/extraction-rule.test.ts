import { describe, expect, it } from 'vitest';
import { compileRules, type ExtractionRule, extract } from './extraction-rule.ts';
import type { PageDocument } from './page-tree.ts';
import { createDocumentReader } from './read-document.ts';

const read = createDocumentReader();

const css = (selector: string, more: object = {}): ExtractionRule =>
  ({ kind: 'css', selector, take: 'text', isAll: false, ...more }) as ExtractionRule;
const all = (selector: string, more: object = {}) => css(selector, { isAll: true, ...more });
const href = { take: 'attribute', attribute: 'HREF' };

function answerOf(html: string | PageDocument, rule: ExtractionRule) {
  const document = typeof html === 'string' ? read(html) : html;
  return extract(document, compileRules([rule]))[0];
}

describe('a CSS rule', () => {
  const PAGE = `<h1> A  <b>good</b>\npen </h1><p>1<br>2<div>3</div><script>x()</script><style>p{}</style>
    <ul><li><a name=top>no</a><li><a href=" /a?b=1&amp;c ">x</a><li><a href="">y</a></ul><img src=i.png>`;

  it.each<[ExtractionRule, unknown]>([
    [css('h1'), 'A good pen'],
    [css('h2'), null],
    [all('h2'), []],
    [css('body'), 'A good pen\n1\n2\n3\nno\nx\ny'],
    [all('li'), ['no', 'x', 'y']],
    [css('img'), ''],
    [css('script'), 'x()'],
    [css('h1', { take: 'html' }), '<h1> A  <b>good</b>\npen </h1>'],
    [
      all('li > a', { take: 'html' }),
      ['<a name="top">no</a>', '<a href=" /a?b=1&amp;c ">x</a>', '<a href="">y</a>'],
    ],
    [css('a', href), ' /a?b=1&c '],
    [all('a', href), [' /a?b=1&c ', '']],
    [css('h1', href), null],
    [css('a, h1'), 'A good pen'],
  ])('%j gives %j', (rule, value) => {
    expect(answerOf(PAGE, rule)).toEqual(value);
  });

  it('gives for one what it gives first for all', () => {
    for (const more of [{}, { take: 'html' }, href])
      expect(answerOf(PAGE, css('a', more))).toBe((answerOf(PAGE, all('a', more)) as string[])[0]);
  });

  it('says when it would be too much, and goes on with the next rule', () => {
    const harm = read(
      `<title>t</title>${'<div>'.repeat(400)}${'<p>x</p>'.repeat(20)}${'word '.repeat(30_000)}`,
    );
    const rules = compileRules([
      css('y div div div div p'),
      all('y div div div div p'),
      all('div', { take: 'html' }),
      all('div'),
      css('title'),
    ]);
    const problems: [number, string][] = [];
    const values = extract(harm, rules, (rule, problem) => problems.push([rule, problem]));
    expect(values).toEqual([null, [], [], [], 't']);
    expect(problems).toEqual([
      [0, 'too-much-work'],
      [1, 'too-much-work'],
      [2, 'too-large'],
      [3, 'too-large'],
    ]);
    expect(extract(harm, rules)).toEqual(values);
  });

  it('that cannot be used is refused before any page', () => {
    expect(() => compileRules([css('p'), css('p[')])).toThrow(
      expect.objectContaining({ code: 'selector-invalid' }),
    );
  });

  it('is plain data, whose values are plain data', () => {
    const rules = [css('h1'), all('a', href), { kind: 'jsonld', path: ['a'] } as const];
    expect(structuredClone(rules)).toEqual(rules);
    const page = read('<script type=application/ld+json>{"a":{"__proto__":[1]}}</script>');
    const values = extract(page, compileRules(rules));
    expect(JSON.stringify(structuredClone(values))).toBe('[null,[],{"__proto__":[1]}]');
  });
});

describe('a JSON-LD rule', () => {
  const script = (content: string, type = 'application/ld+json') =>
    `<script type="${type}">${content}</script>`;
  const at = (path: string, ...blocks: string[]) =>
    answerOf(blocks.map((block) => script(block)).join('<p>'), { kind: 'jsonld', path: path.split('.') });

  it.each([
    ['offers.price', '{"offers":{"price":12.5}}', 12.5],
    ['offers.price', '[{"a":1},{"offers":[{"x":1},{"price":"9"},{"price":"8"}]}]', '9'],
    ['offers.price', '{"@graph":[{"@type":"WebSite"},{"@graph":{"offers":{"price":1}}}]}', 1],
    ['offers.price', '{"offers":{"price":null}}', null],
    ['offers.price', '{"Offers":{"price":1}}', null],
    ['offers.price', '{"a":{"offers":{"price":1}}}', null],
    ['price', '{"price":{"@value":"5","@type":"xsd:decimal"}}', '5'],
    ['offers', '{"offers":[{"price":1}]}', [{ price: 1 }]],
    ['a', '{"a":true}', true],
    ['a', '{"a":0}', 0],
    ['a', '{"a":""}', ''],
    ['constructor', '{"a":1}', null],
    ['__proto__', '{"__proto__":"x"}', 'x'],
    ['@id', '{"@id":"https://e.x/#a"}', 'https://e.x/#a'],
    ['a', '"text"', null],
    ['a', '{"a":"b\\u0000c\\ud800"}', 'b\ufffdc\ufffd'],
  ])('%s of %s is %j', (path, block, value) => {
    expect(at(path, block)).toEqual(value);
  });

  it('takes the first block that has the path, and goes past broken ones', () => {
    expect(at('b', '{"a":1}', '{"b":}', '{"b":"second"}', '{"b":"third"}')).toBe('second');
    expect(at('b', `${'['.repeat(100_000)}`, `${'{"b":'.repeat(300)}1${'}'.repeat(300)}`, '{"b":2}')).toBe(2);
  });

  it('reads scripts of the type alone, however it is written', () => {
    const rule: ExtractionRule = { kind: 'jsonld', path: ['a'] };
    for (const type of [
      'application/ld+json',
      ' Application/LD+JSON ; charset=utf-8',
      'application/ld+json x',
    ])
      expect(answerOf(script('{"a":1}', type), rule), type).toBe(1);
    for (const type of ['application/json', 'text/javascript', '', 'application/ld+json-not'])
      expect(answerOf(script('{"a":1}', type), rule), type).toBeNull();
    expect(answerOf('<script>{"a":1}</script>', rule)).toBeNull();
  });
});

describe('a rule for meta elements', () => {
  const PAGE = `<meta property="og:title" content=" A &amp;\n B "><meta property="og:title" content="second">
    <meta name="OG:Type" content="article"><meta property="twitter:x og:site_name" content="S">
    <meta property="og:image:width" content="100"><meta name="og:empty" content=""><meta property="og:none">
    <meta name=" Description " content="d"><meta http-equiv="Content-Language" content="de">
    <meta property="article:author" content="me"><meta name="key words" content="k"><body><meta name="late" content="l">`;

  it.each<[ExtractionRule, unknown]>([
    [{ kind: 'og', name: 'title' }, 'A & B'],
    [{ kind: 'og', name: 'Type' }, 'article'],
    [{ kind: 'og', name: 'site_name' }, 'S'],
    [{ kind: 'og', name: 'image:width' }, '100'],
    [{ kind: 'og', name: 'image.width' }, '100'],
    [{ kind: 'og', name: 'empty' }, ''],
    [{ kind: 'og', name: 'none' }, null],
    [{ kind: 'og', name: 'image' }, null],
    [{ kind: 'meta', name: 'description' }, 'd'],
    [{ kind: 'meta', name: 'DESCRIPTION' }, 'd'],
    [{ kind: 'meta', name: 'content-language' }, 'de'],
    [{ kind: 'meta', name: 'article:author' }, 'me'],
    [{ kind: 'meta', name: 'late' }, 'l'],
    [{ kind: 'meta', name: 'desc' }, null],
  ])('%j gives %j', (rule, value) => {
    expect(answerOf(PAGE, rule)).toBe(value);
  });
});

describe('a document', () => {
  const title = (page: Uint8Array | string, source?: object) => answerOf(read(page, source), css('title'));

  it('is decoded as every page is: mark, header, declaration', () => {
    const latin = Buffer.from('<title>caf\xe9</title>', 'latin1');
    expect(title(latin)).toBe('café');
    expect(title(latin, { contentType: 'text/html; charset=windows-1251' })).toBe('cafй');
    expect(title(latin, { contentType: 'text/html; charset=utf-8', charset: 'latin1' })).toBe('café');
    expect(title(Buffer.from('<meta charset=koi8-r><title>\xd4</title>', 'latin1'))).toBe('т');
    expect(title(Buffer.from('\ufeff<title>т</title>'), { charset: 'latin1' })).toBe('т');
    expect(title(Buffer.from('\ufeff<title>т</title>', 'utf16le'))).toBe('т');
  });

  it('may be XHTML, which is read as XML if it is well-formed', () => {
    const page =
      '<html xmlns="http://www.w3.org/1999/xhtml"><head><script/><title>t</title></head><body/></html>';
    expect(title(Buffer.from(page), { contentType: 'application/xhtml+xml' })).toBe('t');
    expect(title(Buffer.from(page), { contentType: 'text/html' })).toBeNull();
    expect(title(Buffer.from('<title>t<b>'), { contentType: 'application/xhtml+xml' })).toBe('t<b>');
  });

  it('has no halves of characters, no NUL and no mark at its beginning', () => {
    expect(title('\ufeff<title>a\ud800b\0c</title>')).toBe('a\ufffdb\ufffdc');
    expect(answerOf('a\0b\udc00', css('body'))).toBe('ab\ufffd');
  });
});
