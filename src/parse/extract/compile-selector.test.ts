/** The judges: a plain reading of selectors over parse5's tree, and libxml2's XPath. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { randomPage } from '../../../test/extract/random-page.ts';
import {
  judgeSelector,
  randomSelector,
  writeCss,
  writeXpath,
} from '../../../test/extract/random-selector.ts';
import { describeWhere, isThere, judge } from '../../../test/graph/outside-program.ts';
import { seededRandom } from '../../../test/seeded-random.ts';
import { SumiError } from '../../errors.ts';
import { buildTree } from './build-tree.ts';
import { compileSelector } from './compile-selector.ts';
import { attributeOf, type PageDocument } from './page-tree.ts';

const seed = Number(process.env.SUMI_SEED ?? 20_261_119);
const hasXmllint = isThere('xmllint', ['--version'], 'apt-get install libxml2-utils');
const folder = mkdtempSync(join(tmpdir(), 'sumi-selector-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function select(document: PageDocument, selector: string): string[] {
  const found = compileSelector(selector).select(document);
  return found!.map((element) => attributeOf(element, 'id') ?? element.name);
}

const idsIn = (html: string, selector: string) => select(buildTree(html), selector);

describe(`selectors, judged by parse5 (SUMI_SEED=${seed})`, () => {
  it('find the same elements in the same order', () => {
    const random = seededRandom(seed);
    let found = 0;
    for (let page = 0; page < 80; page++) {
      const html = `<!doctype html>${randomPage(random)}`;
      const document = buildTree(html);
      for (let i = 0; i < 20; i++) {
        const selector = randomSelector(random);
        const css = writeCss(selector);
        const wanted = judgeSelector(html, selector);
        found += wanted.length;
        expect(select(document, css), `${css} in ${html}`).toEqual(wanted);
      }
    }
    expect(found).toBeGreaterThan(300);
  });
});

describeWhere(hasXmllint, `selectors, judged by XPath (SUMI_SEED=${seed})`, () => {
  it('find the same elements in the same order', () => {
    const random = seededRandom(seed + 1);
    let found = 0;
    for (let page = 0; page < 60; page++) {
      // libxml2 does not read pages as browsers do: only pages that leave nothing open to reading.
      const html = randomPage(random, { isTidy: true });
      const selector = randomSelector(random);
      const xpath = writeXpath(selector);
      if (xpath === null) continue;
      const file = join(folder, `${page}.html`);
      writeFileSync(file, html.replace('<head>', '<head><meta charset="utf-8">'));
      const { stdout } = judge('xmllint', ['--html', '--xpath', `${xpath}[@id]/@id`, file], '');
      const wanted = [...stdout.matchAll(/id="([^"]*)"/g)].map(([, id]) => id);
      found += wanted.length;
      const ours = idsIn(html, writeCss(selector)).filter((id) => id.startsWith('n'));
      expect(ours, `${writeCss(selector)} (${xpath}) in ${html}`).toEqual(wanted);
    }
    expect(found).toBeGreaterThan(10);
  });
});

describe('a selector', () => {
  const LIST =
    '<ul><li id=1 class=x>a<li id=2>b<!-- --><li id=3 class=x>c<i id=4></i><li id=5 class="x y">d</ul>';

  it.each([
    ['li:nth-child(odd)', '1,3'],
    ['li:nth-child( 2N + 1 )', '1,3'],
    ['li:nth-child(-n+2)', '1,2'],
    ['li:nth-child(2 of .x)', '3'],
    ['li:nth-last-child(1 of .x)', '5'],
    ['li:nth-child(n of :not(.x))', '2'],
    ['li:nth-last-child(even)', '1,3'],
    ['li:first-child, li:last-child', '1,5'],
    ['i:only-child, i:only-of-type', '4'],
    ['li:first-of-type, li:last-of-type', '1,5'],
    ['li:not(:first-child):not(.y)', '2,3'],
    ['li:is(.y, #2)', '2,5'],
    ['li:where(.y)', '5'],
    ['li:has(> i)', '3'],
    ['li:has(+ .y)', '3'],
    ['li:contains("d")', '5'],
    ['li:icontains(D)', '5'],
    ['.x ~ .x:empty, i:empty', '4'],
    ['li + li:parent', '2,3,5'],
    ['LI[CLASS="x"]', '1,3'],
    ['li[class~=y]', '5'],
    ['li[class="X" i]', '1,3'],
    ['li[class!=x]', '2,5'],
    [':root > body > ul > li:nth-of-type(2)', '2'],
    ['li, .x, li', '1,2,3,5'],
    ['#\\31', '1'],
    ['> body i', '4'],
    ['i < li', '3'],
  ])('%s finds %s', (selector, ids) => {
    expect(idsIn(LIST, selector).join()).toBe(ids);
  });

  it('reads what a browser shows in its inspector, though nobody wrote it', () => {
    const html = '<table><tr><td>a<tr><td id=x>b</table>';
    expect(idsIn(html, 'html > body > table > tbody > tr:nth-child(2) > td')).toEqual(['x']);
  });

  it('asks for languages and for the state of forms', () => {
    const html =
      '<p id=a lang=de-AT>x<select><option id=b><option id=c selected></select><input id=d disabled>';
    expect(idsIn(html, 'p:lang(de)')).toEqual(['a']);
    expect(idsIn(html, ':selected, input:disabled')).toEqual(['c', 'd']);
  });

  it('finds no more elements than are wanted', () => {
    expect(compileSelector('li').select(buildTree(LIST), 1)).toHaveLength(1);
  });

  it('is not confused by attributes and elements with the names of something else', () => {
    const html = '<p id=a constructor=x><p id=b><constructor id=c __proto__=y>';
    expect(idsIn(html, '[constructor]')).toEqual(['a']);
    expect(idsIn(html, '[constructor^=x], [tostring*=a], [valueof|=a], [constructor~=x]')).toEqual(['a']);
    expect(idsIn(html, '[__proto__], constructor')).toEqual(['c']);
    expect(idsIn(html, ':not([hasownproperty])').slice(-3)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['', 'it is empty'],
    ['p[', 'Expected name'],
    ['p:nth-child(x)', "n-th rule couldn't be parsed"],
    ['p:has(', 'Missing closing parenthesis'],
    ['p::text', 'Pseudo-elements are not supported'],
    ['a::attr(href)', 'Pseudo-elements are not supported'],
    ['p:eq(1)', 'Unknown pseudo-class :eq'],
    ['svg|a', 'Namespaced tag names are not'],
    ['p,', ''],
    ['//p', ''],
    ['p >', ''],
    ['p { color: red }', ''],
    ['p:nth-child(2 of ::x)', ''],
    [`${':not('.repeat(2400)}p`, ''],
    ['p '.repeat(6000), 'more than 10000 characters'],
  ])('%j is refused, with what is wrong', (selector, said) => {
    let caught: unknown;
    try {
      compileSelector(selector);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(SumiError);
    const { code, message, hint } = caught as SumiError;
    expect(code).toBe('selector-invalid');
    expect(message).toContain(`"${selector.slice(0, 150)}`);
    expect(message).toContain(said);
    expect(message.length).toBeLessThan(700);
    expect(hint).toMatch(/[\w)]\.$/);
  });

  it('names what to write instead of pseudo-elements and of jQuery', () => {
    expect(() => compileSelector('a::text')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Take the text') }),
    );
    expect(() => compileSelector('a:eq(1)')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(':nth-child()') }),
    );
  });
});

describe('a selector on a page that is made to harm', () => {
  const nest = buildTree('<div>'.repeat(100_000));
  const flat = buildTree('<p>'.repeat(200_000));

  it.each([
    ['div div div div y', nest],
    [':has(y)', nest],
    ['x ~ y ~ p ~ q', flat],
    ['p + p + p:nth-last-child(2)', flat],
    ['p:first-of-type ~ p:last-of-type', flat],
    [':not(:contains(zzz)) > q', flat],
  ])('%s has an answer', (selector, document) => {
    expect(compileSelector(selector).select(document)).not.toBe(undefined);
  });

  it('gives up where the work would be endless, and answers the next page', () => {
    const selector = compileSelector('y div div div div p');
    const harm = buildTree(`${'<div>'.repeat(400)}${'<p></p>'.repeat(20)}`);
    expect(selector.select(harm)).toBeNull();
    expect(selector.select(buildTree('<y><div><div><div><div><p>x'))).toHaveLength(1);
  });

  it('counts siblings once: a page with 200,000 of them is no work', () => {
    expect(
      compileSelector('p:nth-child(199999):nth-of-type(199999):nth-last-child(2)').select(flat),
    ).toHaveLength(1);
  });
});
