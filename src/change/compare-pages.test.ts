import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { comparePages } from './compare-pages.ts';
import type { ComparedPage, PageChange } from './visit-record.ts';

const PAGE: ComparedPage = {
  statusCode: 200,
  title: 'Ink',
  h1: 'All about ink',
  description: 'What ink is',
  canonical: 'https://a.example/ink',
  noindex: false,
  nofollow: false,
  robotsOther: '',
  structuredData: '{"@type":"Product","name":"Ink","offers":{"price":"9.99"}}',
  text: 'Ink is a liquid that people write with since long ago',
  links: ['https://a.example/', 'https://a.example/pens', 'https://b.example/'],
  redirectTo: null,
  type: 'text/html',
  content: 'text',
};

const compare = (before: Partial<ComparedPage>, after: Partial<ComparedPage>) =>
  comparePages({ ...PAGE, ...before }, { ...PAGE, ...after });
const partsOf = (change: PageChange | null) => change?.parts ?? null;

describe('a page compared with itself', () => {
  it('did not change', () => {
    expect(compare({}, {})).toBeNull();
  });

  it('did not change when only white space did, or an empty value became none', () => {
    const other = { title: ' Ink\n', h1: 'All  about\tink', text: `${PAGE.text!.replaceAll(' ', '\n ')} ` };
    expect(compare({}, other)).toBeNull();
    expect(compare({ description: '' }, { description: null })).toBeNull();
  });

  it('did not change when only the places are others where words may be broken', () => {
    const other = {
      title: 'I\u00adnk',
      h1: 'All about\u200b ink',
      text: PAGE.text!.replaceAll('in', 'i\u00adn'),
    };
    expect(other.text).not.toBe(PAGE.text);
    expect(compare({}, other)).toBeNull();
    expect(compare(other, {})).toBeNull();
  });

  it('did not change when its links stand in another order, or more than once', () => {
    expect(compare({}, { links: [...PAGE.links].reverse().flatMap((url) => [url, url]) })).toBeNull();
  });
});

describe('what changed', () => {
  it.each([
    ['title', { title: 'Inks' }, 'Ink', 'Inks'],
    ['h1', { h1: null }, 'All about ink', null],
    ['description', { description: 'Other' }, 'What ink is', 'Other'],
    ['canonical', { canonical: 'https://a.example/inks' }, 'https://a.example/ink', 'https://a.example/inks'],
    ['robots', { noindex: true }, 'index, follow', 'noindex, follow'],
    ['robots', { robotsOther: 'noarchive' }, 'index, follow', 'index, follow, noarchive'],
    ['status', { statusCode: 203 }, '200', '203'],
  ] as const)('is the %s, before and after', (name, after, was, is) => {
    expect(compare({}, after)).toEqual({
      parts: [name],
      fields: [{ name, before: was, after: is }],
      linksAdded: [],
      linksRemoved: [],
      text: null,
      wordsAdded: 0,
      wordsRemoved: 0,
    });
  });

  it('is every link that came or went', () => {
    const change = compare(
      {},
      { links: ['https://a.example/', 'https://a.example/new', 'https://b.example/'] },
    );
    expect(change).toMatchObject({
      parts: ['links'],
      linksAdded: ['https://a.example/new'],
      linksRemoved: ['https://a.example/pens'],
    });
  });

  it('is the text, word by word', () => {
    const change = compare({}, { text: 'Ink is a dark liquid that people write with since long ago' });
    expect(change).toMatchObject({
      parts: ['text'],
      text: [
        ['=', 'Ink is a'],
        ['+', 'dark'],
        ['=', 'liquid that people write with since long ago'],
      ],
      wordsAdded: 1,
      wordsRemoved: 0,
    });
  });

  it('is shown of long values too, where they begin to differ', () => {
    const long = (word: string) =>
      `${'A word and another one. '.repeat(100)}${word} ${'and so on '.repeat(200)}`;
    const [field] = compare({ description: long('Old') }, { description: long('New') })!.fields;
    for (const [value, word] of [
      [field.before!, 'Old'],
      [field.after!, 'New'],
    ]) {
      expect(value).toMatch(new RegExp(`^…[a-zA. ]{60}${word} and so on`));
      expect(value.length).toBeLessThanOrEqual(2001);
    }
    const [early] = compare({ description: `Old ${long('')}` }, { description: `New ${long('')}` })!.fields;
    expect([early.before!.slice(0, 10), early.after!.slice(0, 10)]).toEqual(['Old A word', 'New A word']);
    expect(early.before).toMatch(/…$/);
  });

  it('is not the text where one of them was not kept', () => {
    expect(compare({ text: null }, {})).toBeNull();
    expect(compare({}, { text: null })).toBeNull();
  });

  it('is all of it at once', () => {
    const change = compare(
      {},
      { title: 'X', text: 'Y', links: [], structuredData: null, nofollow: true, h1: 'Z' },
    );
    expect(partsOf(change)).toEqual(['title', 'h1', 'robots', 'links', 'structured-data', 'text']);
  });
});

describe('a status', () => {
  it.each([304, 429, 500, 503, null])(
    'of %s that a visit without content left behind is compared with nothing',
    (statusCode) => {
      expect(compare({ statusCode }, {})).toBeNull();
    },
  );

  it('of a page that was gone and is there again has changed', () => {
    expect(partsOf(compare({ statusCode: 404 }, {}))).toEqual(['status']);
  });
});

describe('a redirect', () => {
  const redirect = {
    statusCode: 301,
    redirectTo: 'https://a.example/new',
    content: 'none' as const,
    title: null,
    text: null,
    links: [],
  };

  it('in place of a page is told without the content that went with it', () => {
    expect(compare({}, redirect)).toMatchObject({
      parts: ['status', 'redirect'],
      fields: [
        { name: 'status', before: '200', after: '301' },
        { name: 'redirect', before: null, after: 'https://a.example/new' },
      ],
      linksRemoved: [],
    });
  });

  it('that leads elsewhere has changed, and one that leads to the same place has not', () => {
    expect(compare(redirect, redirect)).toBeNull();
    expect(partsOf(compare(redirect, { ...redirect, redirectTo: 'https://a.example/' }))).toEqual([
      'redirect',
    ]);
  });

  it('that is a page again is told', () => {
    expect(partsOf(compare(redirect, {}))).toEqual(['status', 'redirect']);
  });
});

describe('a type', () => {
  const pdf = { type: 'application/pdf', title: null, text: null, links: [], structuredData: null };

  it('that is refused is all that is told of what was a page, and of what is one again', () => {
    const refused = { ...pdf, content: 'none' as const };
    const gone = compare({}, refused);
    expect(gone).toMatchObject({
      parts: ['type'],
      fields: [{ name: 'type', before: 'text/html', after: 'application/pdf' }],
      linksRemoved: [],
      lost: { title: 'Ink', links: PAGE.links },
    });
    const back = compare(refused, {});
    expect(back).toMatchObject({ parts: ['type'], gained: { title: 'Ink' } });
    expect(compare(refused, refused)).toBeNull();
    expect(partsOf(compare(refused, { ...refused, type: 'image/png' }))).toEqual(['type']);
  });

  it('of a document is told beside its content, of two pages it is not', () => {
    const document = { ...pdf, content: 'document' as const };
    expect(partsOf(compare({}, document))).toEqual(['title', 'links', 'structured-data', 'type']);
    expect(compare({}, { type: 'application/xhtml+xml' })).toBeNull();
  });

  it('of a redirect is none of the page', () => {
    const moved = { type: null, content: 'none' as const, redirectTo: 'https://a.example/new' };
    expect(partsOf(compare({}, moved))).toEqual(['redirect']);
    expect(partsOf(compare(moved, { ...pdf, content: 'none' }))).toEqual(['redirect']);
  });
});

describe('links that differ in tokens only', () => {
  const withLink = (...urls: string[]) => ({ links: [...PAGE.links, ...urls] });

  it.each([
    ['https://a.example/go?token=1', 'https://a.example/go?token=2'],
    ['https://a.example/go?csrf_token=aa&x=1', 'https://a.example/go?csrf_token=bb&x=1'],
    ['https://a.example/go?PHPSESSID=abc', 'https://a.example/go?PHPSESSID=def'],
    ['https://a.example/go;jsessionid=17?x=1', 'https://a.example/go;jsessionid=18?x=1'],
    ['https://a.example/go?_=1', 'https://a.example/go?_=2'],
    ['https://a.example/go?utm_source=x&fbclid=1', 'https://a.example/go?utm_source=y&fbclid=2'],
    ['https://a.example/go?nocache=7', 'https://a.example/go?nocache=8'],
    ['https://a.example/go?at=1754500000', 'https://a.example/go?at=1754500001'],
    ['https://a.example/go?k=3fa85f64', 'https://a.example/go?k=9b1deb4d'],
    [
      'https://a.example/go?k=550e8400-e29b-41d4-a716-446655440000',
      'https://a.example/go?k=6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    ],
    [
      'https://b.example/f?X-Goog-Credential=a%2F1&X-Goog-Date=20260101T1Z&X-Goog-Signature=aa',
      'https://b.example/f?X-Goog-Credential=a%2F2&X-Goog-Date=20260102T1Z&X-Goog-Signature=bb',
    ],
    [
      'https://b.example/f?se=2026-01-01T00%3A00Z&sig=a%3D&sp=r&st=2026-01-01&sv=2022-11-02',
      'https://b.example/f?se=2026-01-02T00%3A00Z&sig=b%3D&sp=r&st=2026-01-02&sv=2022-11-02',
    ],
    [
      'https://b.example/f?Key-Pair-Id=K&Policy=eyJTa&Signature=aa',
      'https://b.example/f?Key-Pair-Id=K&Policy=eyJTb&Signature=bb',
    ],
  ])('are the same: %s and %s', (before, after) => {
    expect(compare(withLink(before), withLink(after))).toBeNull();
  });

  it.each([
    ['https://a.example/list?page=2', 'https://a.example/list?page=3'],
    ['https://a.example/?p=1234', 'https://a.example/?p=1235'],
    ['https://a.example/?lang=de', 'https://a.example/?lang=en'],
    ['https://v.example/watch?v=dQw4w9WgXcQ', 'https://v.example/watch?v=9bZkp7q19f0'],
    ['https://a.example/go?id=a1b2c3d4', 'https://a.example/go?id=f9e8d7c6'],
    ['https://a.example/go?id=1700000001', 'https://a.example/go?id=1700000002'],
    [
      'https://a.example/go?product=550e8400-e29b-41d4-a716-446655440000',
      'https://a.example/go?product=6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    ],
    ['https://a.example/?q=ink-and-pens-2024', 'https://a.example/?q=ink-and-pens-2025'],
    ['https://a.example/?policy=returns', 'https://a.example/?policy=privacy'],
    ['https://b.example/f?sig=1&sp=r', 'https://b.example/f?sig=2&sp=w'],
    ['https://a.example/go?token=1', 'https://a.example/other?token=1'],
    ['https://a.example/go?token=1', 'https://a.example/go?nonce=1'],
    ['https://a.example/go?token=1&p=1', 'https://a.example/go?token=2&p=2'],
  ])('are not those that address something else: %s and %s', (before, after) => {
    expect(compare(withLink(before), withLink(after))).toMatchObject({
      parts: ['links'],
      linksAdded: [after],
      linksRemoved: [before],
    });
  });

  it('are the same with a session of any name, where all links to the host carry it', () => {
    const on = (host: string, session: string, count: number) =>
      Array.from({ length: count }, (_, i) => `https://${host}/p${i}?tab=1&zz=${session}`);
    const compareLinks = (before: string[], after: string[]) => compare({ links: before }, { links: after });
    const elsewhere = ['https://b.example/'];
    const first = [...on('a.example', 'f00d1234', 3), ...elsewhere];
    expect(compareLinks(first, [...on('a.example', 'beef5678', 3), ...elsewhere])).toBeNull();
    const more = compareLinks(first, [...on('a.example', 'beef5678', 4), ...elsewhere]);
    expect(more?.linksAdded).toEqual(['https://a.example/p3?tab=1&zz=beef5678']);
    expect(more?.linksRemoved).toEqual([]);
    // Two links are too few to tell, one link without it makes it an address, and so does a word.
    expect(compareLinks(on('a.example', 'f00d1234', 2), on('a.example', 'beef5678', 2))).not.toBeNull();
    const plain = ['https://a.example/plain'];
    expect(
      compareLinks(
        [...on('a.example', 'f00d1234', 3), ...plain],
        [...on('a.example', 'beef5678', 3), ...plain],
      ),
    ).not.toBeNull();
    expect(compareLinks(on('a.example', 'de', 3), on('a.example', 'en', 3))).not.toBeNull();
  });

  it('are told where there are more of them than before', () => {
    const urls = ['https://a.example/get?token=1', 'https://a.example/get?token=2'];
    expect(compare(withLink(urls[0]), withLink(...urls))?.linksAdded).toEqual([urls[1]]);
  });
});

describe('structured data', () => {
  const data = (before: unknown, after: unknown) => {
    const line = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    return compare({ structuredData: line(before) }, { structuredData: line(after) });
  };

  it.each([
    ['keys in another order', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['lists in another order', { a: [1, { b: 2 }, 'c'] }, { a: ['c', 1, { b: 2 }] }],
    ['blocks in another order', '{"a":1}\n{"b":2}', '{"b":2}\n{"a":1}'],
    ['white space', '{"a":1,"b":"x  y"}', '{ "a" : 1, "b" : " x y" }'],
    ['the time of the request', { dateModified: '2026-01-01', a: 1 }, { dateModified: '2026-01-02', a: 1 }],
    [
      'tokens in addresses',
      { logo: 'https://a.example/l.png?ver=1' },
      { logo: 'https://a.example/l.png?ver=2' },
    ],
    ['keys that mean something to JavaScript', '{"__proto__":{"a":1}}', '{ "__proto__": {"a":1}}'],
  ])('is the same with %s', (_, before, after) => {
    expect(data(before, after)).toBeNull();
  });

  it('is told value by value, each with its place', () => {
    const before = { '@type': 'Product', offers: [{ price: '9.99' }, { price: '5.00' }], sku: 7, gtin: 'x' };
    const after = { '@type': 'Product', offers: [{ price: '5.00' }, { price: '8.99' }], sku: 7, mpn: true };
    expect(data(before, after)?.fields).toEqual([
      { name: 'structured-data', before: 'offers.price: 9.99', after: 'offers.price: 8.99' },
      { name: 'structured-data', before: 'gtin: x', after: null },
      { name: 'structured-data', before: null, after: 'mpn: true' },
    ]);
  });

  it('is told as a whole when the same values are put together in another way', () => {
    const change = data(
      {
        x: [
          { a: 1, b: 1 },
          { a: 2, b: 2 },
        ],
      },
      {
        x: [
          { a: 1, b: 2 },
          { a: 2, b: 1 },
        ],
      },
    );
    expect(change?.parts).toEqual(['structured-data']);
    expect(change?.fields).toHaveLength(1);
  });

  it('of long values is told with its place, from where they differ', () => {
    const body = (word: string) => ({ articleBody: `${'All of this is the same. '.repeat(40)}${word} here` });
    const [{ before, after }] = data(body('Old'), body('New'))!.fields;
    expect(before).toMatch(/^articleBody: ….{60}Old here$/);
    expect(after).toMatch(/^articleBody: ….{60}New here$/);
    // Half of a character is none.
    const faces = (last: string) => ({ name: `x${'😀'.repeat(300)}${last}` });
    for (const value of Object.values(data(faces('1'), faces('2'))!.fields[0]))
      expect(value).not.toMatch(/(?<![\ud800-\udbff])[\udc00-\udfff]/);
  });

  it('that cannot be read has no clock either, and tokens count in no address, relative ones included', () => {
    const wrapped = (time: string, name = 'Ink') =>
      `/*<![CDATA[*/{"@type":"Product","name":"${name}","dateModified" : "${time}"}/*]]>*/`;
    expect(data(wrapped('1'), wrapped('2'))).toBeNull();
    expect(partsOf(data(wrapped('1'), wrapped('1', 'Pen')))).toEqual(['structured-data']);
    expect(data({ url: '/a?sid=1' }, { url: '/a?sid=2' })).toBeNull();
    expect(partsOf(data({ url: '/a?page=1' }, { url: '/a?page=2' }))).toEqual(['structured-data']);
  });

  it('that came or went is told', () => {
    expect(partsOf(compare({}, { structuredData: null }))).toEqual(['structured-data']);
    expect(partsOf(compare({ structuredData: null }, {}))).toEqual(['structured-data']);
  });

  it('that is no JSON, or absurdly deep, is compared as text', () => {
    expect(data('{"a":', '{"a":')).toBeNull();
    expect(data('{"a":', '{"b":')?.fields).toEqual([
      { name: 'structured-data', before: '{"a":', after: '{"b":' },
    ]);
    const deep = '['.repeat(30_000);
    expect(data(deep, `${deep}]`)?.parts).toEqual(['structured-data']);
  });

  it('of random data is equal to itself in any order, and to nothing else', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const make = (depth: number): unknown => {
      const kind = random.below(depth > 3 ? 3 : 5);
      if (kind === 0) return random.below(1000);
      if (kind === 1) return `text ${random.below(1000)}`;
      if (kind === 2) return random.pick([true, false, null]);
      const inner = Array.from({ length: random.below(5) }, () => make(depth + 1));
      return kind === 3 ? inner : Object.fromEntries(inner.map((value, i) => [`k${i}`, value]));
    };
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled).reverse();
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .map(([key, inner]) => [key, shuffled(inner)])
          .reverse(),
      );
    };
    for (let round = 0; round < 300; round++) {
      const one = { name: round, inner: make(0) };
      const note = `seed ${seed}, round ${round}`;
      expect(data(one, shuffled(one)), note).toBeNull();
      expect(partsOf(data(one, { ...(shuffled(one) as object), name: -1 })), note).toEqual([
        'structured-data',
      ]);
    }
  });
});
