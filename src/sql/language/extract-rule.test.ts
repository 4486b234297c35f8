import { describe, expect, it } from 'vitest';
import { columnTypeOf, ruleOf } from './extract-rule.ts';
import type { CrawlStatement } from './read-crawl.ts';
import { readStatement } from './read-statement.ts';

const itemsOf = (text: string) =>
  (readStatement(`CRAWL (SELECT 1) INTO t EXTRACT (${text})`) as CrawlStatement).extract;
const START = 'CRAWL (SELECT 1) INTO t EXTRACT ('.length + 1;

describe('the rule of an EXTRACT item', () => {
  it('is what the part that runs it takes', () => {
    const rules = itemsOf(
      `css 'h1', css 'a' ATTR 'href' ALL AS links, css 'div' HTML AS d JSON, jsonld.offers.price DOUBLE, og.image:width, meta.description`,
    ).map(ruleOf);
    expect(rules).toEqual([
      { kind: 'css', selector: 'h1', take: 'text', isAll: false },
      { kind: 'css', selector: 'a', take: 'attribute', attribute: 'href', isAll: true },
      { kind: 'css', selector: 'div', take: 'html', isAll: false },
      { kind: 'jsonld', path: ['offers', 'price'] },
      { kind: 'og', name: 'image:width' },
      { kind: 'meta', name: 'description' },
    ]);
  });

  it('names the place of a selector that cannot be used', () => {
    const [good, bad] = itemsOf(`css 'h1' AS a,\n  css 'p:eq(1)' AS b`);
    expect(ruleOf(good)).toBeDefined();
    expect(() => ruleOf(bad)).toThrow(
      expect.objectContaining({
        code: 'selector-invalid',
        details: expect.objectContaining({ selector: 'p:eq(1)', line: 2, column: 3 }),
      }),
    );
  });

  it('needs a type for lists where it gives a list', () => {
    const refused = (text: string) => () => ruleOf(itemsOf(text)[0]);
    expect(refused(`css 'p' ALL AS a DOUBLE`)).toThrow(
      expect.objectContaining({
        code: 'sql-syntax',
        message: expect.stringContaining('expected DOUBLE[] or JSON'),
        details: expect.objectContaining({ line: 1, column: START + `css 'p' ALL AS a `.length }),
      }),
    );
    for (const type of ['DOUBLE[]', 'JSON', 'VARCHAR[]', 'moods'])
      expect(refused(`css 'p' ALL AS a ${type}`)).not.toThrow();
    expect(refused(`css 'p' AS a DOUBLE`)).not.toThrow();
  });

  it('gives its column a type', () => {
    const types = itemsOf(`css 'a', css 'b' ALL, css 'c' AS c DATE, jsonld.d`).map(columnTypeOf);
    expect(types).toEqual(['VARCHAR', 'VARCHAR[]', 'DATE', 'VARCHAR']);
  });
});
