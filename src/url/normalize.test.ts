import { describe, expect, it } from 'vitest';
import { createNormalizer, type NormalizeOptions } from './normalize.ts';

function identity(input: string, options: NormalizeOptions = { preset: 'standard' }, base?: string) {
  return createNormalizer(options).normalize(input, base)?.url ?? null;
}

describe('standard (specification 001)', () => {
  it.each([
    ['HTTPS://EXAMPLE.COM/Path', 'https://example.com/Path'],
    ['http://example.com:80/a', 'http://example.com/a'],
    ['https://example.com:443/a', 'https://example.com/a'],
    ['https://example.com:8443/a', 'https://example.com:8443/a'],
    ['https://example.com/a#section', 'https://example.com/a'],
    ['https://example.com/a?b=2&a=1', 'https://example.com/a?a=1&b=2'],
    ['https://example.com/a?b=2&a=2&a=1', 'https://example.com/a?a=1&a=2&b=2'],
    ['https://example.com/a?a-b=1&a=1', 'https://example.com/a?a=1&a-b=1'],
    ['https://example.com/a/', 'https://example.com/a'],
    ['https://example.com/a//', 'https://example.com/a'],
    ['https://example.com/a/?x=1', 'https://example.com/a?x=1'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com/', 'https://example.com/'],
    ['https://example.com//', 'https://example.com/'],
    ['https://example.com/?', 'https://example.com/'],
    ['https://example.com/a?&&', 'https://example.com/a'],
    ['https://example.com/a/../b/./c', 'https://example.com/b/c'],
    ['https://example.com/%2e%2e/b', 'https://example.com/b'],
    ['https://example.com./a', 'https://example.com/a'],
    ['https://user:secret@example.com/a', 'https://example.com/a'],
    ['https://www.example.com/a', 'https://www.example.com/a'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
    ['http://[::1]:8080/x/', 'http://[::1]:8080/x'],
    ['  https://example.com/a\n', 'https://example.com/a'],
  ])('makes %j the page %s', (input, expected) => {
    expect(identity(input)).toBe(expected);
  });

  it('keeps what the request would use: slash, order of the query and trailing dot, but no fragment or password', () => {
    const { normalize } = createNormalizer({ preset: 'standard' });
    expect(normalize('https://u:p@Example.com./Dir/?b=2&a=1#x')).toEqual({
      url: 'https://example.com/Dir?a=1&b=2',
      fetchUrl: 'https://example.com./Dir/?b=2&a=1',
      host: 'example.com',
    });
  });

  it.each([
    'mailto:a@b.c',
    'javascript:void(0)',
    'ftp://example.com/',
    'data:text/html,x',
    'https://',
    'http:///',
    'nonsense',
    '',
    'https://./',
    'https://a..b/',
    'https://.a/',
    'https://a../',
    'https://exa mple.com/',
    'http://256.1.1.1/',
    `https://${'a'.repeat(64)}.com/`,
    `https://${'a.'.repeat(126)}com/`,
    `https://example.com/${'a'.repeat(8192)}`,
    `https://example.com/?${'é'.repeat(3000)}`,
  ])('gives null for what is no fetchable URL (%#)', (input) => {
    expect(identity(input)).toBeNull();
  });

  it('takes labels of 63 characters, names of 253 and URLs of 8,192', () => {
    expect(identity(`https://${'a'.repeat(63)}.com/`)).not.toBeNull();
    expect(identity(`https://${'a.'.repeat(125)}com./`)).not.toBeNull();
    const longest = `https://example.com/${'a'.repeat(8192 - 20)}`;
    expect(longest.length).toBe(8192);
    expect(identity(longest)).toBe(longest);
  });

  it('drops the parameters it is told to', () => {
    const options: NormalizeOptions = { preset: 'standard', dropQuery: ['sid', 'pk_*'] };
    expect(identity('https://example.com/?SID=1&pk_kwd=2&q=3', options)).toBe('https://example.com/?q=3');
  });

  it('drops them from the path, too, and only what is requested keeps them', () => {
    const options: NormalizeOptions = { preset: 'standard', dropQuery: ['jsessionid', 'x*'] };
    for (const [input, expected] of [
      ['/a;jsessionid=1A.b', '/a'],
      ['/a;JSESSIONID=1?b=;jsessionid=2', '/a?b=;jsessionid=2'],
      ['/a/;jsessionid=1', '/a'],
      ['/;jsessionid=1', '/'],
      ['/a;v=1;jsessionid=2;xy/b;xz=/c', '/a;v=1/b/c'],
      ['/a;jsessionids=1', '/a;jsessionids=1'],
    ]) {
      const found = identity(`https://example.com${input}`, options);
      expect(found).toBe(`https://example.com${expected}`);
      expect(identity(found!, options)).toBe(found);
    }
    const kept = createNormalizer(options).normalize('https://example.com/a;jsessionid=1');
    expect(kept!.fetchUrl).toBe('https://example.com/a;jsessionid=1');
  });
});

describe('terrain (specification 004 section 3.1)', () => {
  it.each([
    ['http://example.com/page', 'https://example.com/page'],
    ['https://www.example.com/', 'https://example.com/'],
    ['https://example.com/page/', 'https://example.com/page'],
    ['https://example.com/page#section', 'https://example.com/page'],
    ['https://example.com/page?utm_source=twitter', 'https://example.com/page'],
    ['https://example.com/page?b=2&a=1', 'https://example.com/page?a=1&b=2'],
    ['https://example.com/a/../b/./c', 'https://example.com/b/c'],
    ['https://EXAMPLE.COM/Page', 'https://example.com/Page'],
    [
      'https://example.com/?fbclid=1&gclid=2&mc_eid=3&ref=4&source=5&utm_x=6&UTM_Y=7&reference=8',
      'https://example.com/?reference=8',
    ],
    ['https://example.com/%7Ejoe/%41%2f%c3%a9', 'https://example.com/~joe/A%2F%C3%A9'],
    ['https://example.com/100%/%%34%31', 'https://example.com/100%25/%2541'],
    ['https://example.com/?q=%7e%2b', 'https://example.com/?q=~%2B'],
    ['http://example.com:80/', 'https://example.com/'],
    ['http://example.com:443/', 'https://example.com/'],
    ['http://example.com:8080/', 'https://example.com:8080/'],
    ['https://www.com/', 'https://www.com/'],
    ['https://www.www.example.com./', 'https://example.com/'],
    ['https://example.com?', 'https://example.com/'],
    ['https://example.com', 'https://example.com/'],
  ])('makes %s the page %s', (input, expected) => {
    expect(identity(input, { preset: 'terrain' })).toBe(expected);
  });

  it('keeps scheme, www and tracking in what is fetched, and the host of the identity as the key', () => {
    const { normalize } = createNormalizer({ preset: 'terrain' });
    expect(normalize('http://www.example.com/a/?utm_id=1')).toEqual({
      url: 'https://example.com/a',
      fetchUrl: 'http://www.example.com/a/?utm_id=1',
      host: 'example.com',
    });
  });
});

describe('path (specification 002)', () => {
  it('drops the query but for the parameters to keep, and compares in lower case', () => {
    const { normalize } = createNormalizer({ preset: 'path', keepQuery: ['page', 'Lang'] });
    expect(normalize('https://Example.com/Collections/Shoes/?sort=up&lang=EN&page=2#top')).toEqual({
      url: 'https://example.com/collections/shoes?lang=en&page=2',
      fetchUrl: 'https://example.com/Collections/Shoes/?sort=up&lang=EN&page=2',
      host: 'example.com',
    });
    expect(identity('https://example.com/a?b=1', { preset: 'path' })).toBe('https://example.com/a');
  });
});

const REFERENCES = [
  '',
  '#f',
  '?',
  '?a=1&b=2',
  '/',
  '//',
  '///',
  '//other.test/x',
  '/a',
  '/a/',
  '/a/../b',
  '/./a',
  '/.',
  '/..',
  '/.well-known/x',
  '.',
  './',
  './a',
  './/a',
  '..',
  '../',
  '../a',
  '../../../../a',
  '../.',
  '.././a',
  '../a/../b',
  '...',
  '.a',
  'a',
  'a/',
  'a/b.html',
  'a//b',
  'a/./b',
  'a/..',
  'a:b',
  'a/b:c',
  './a:b',
  '../a:b',
  'mailto:x@y.z',
  'http:a',
  'https:/a',
  'HTTP://other.test/A',
  'http://other.test',
  'http://other.test/b?c',
  'http://other.test:80/b',
  'http://u:p@other.test/b',
  'a b',
  'a%20b',
  'a%2e',
  '%2e%2E/a',
  '/%2e',
  'a%',
  'a%2',
  'é',
  'a\\b',
  '\\a',
  '/\\a',
  'a\tb',
  ' a ',
  "a'b",
  "?a'b",
  'a"b',
  'a|b',
  'a^b',
  'a{b}',
  'a[b]',
  'a<b>',
  'a`b',
  '?a b',
  '?%',
  '?/../x',
  '?a#b?c',
  'a?b?c',
  '@a',
  '~a',
  '!$&()*+,;=',
  ';p',
  'http://0x7f.1/',
  'http://[::1]/a',
  'http://bücher.test/',
  'http://xn--a/',
  'data:,x',
  'javascript:1',
  'https://other.test/../x',
  'https://other.test//a/.b',
];

const BASES = [
  'https://example.com/',
  'https://example.com',
  'https://example.com/dir/page.html?q=1#f',
  'http://example.com:8080/a/b/c/',
  'http://u:p@example.com/x//y',
  'https://example.com/é/%7E/..;/z',
  'http://[::1]/a/b',
  'https://www.example.com./a/b?c=/d/e',
];

describe('resolving', () => {
  it('gives what URL gives, for every reference on every base, cold and warm', () => {
    let compared = 0;
    for (const base of BASES) {
      const { normalize } = createNormalizer({ preset: 'standard' });
      for (const round of ['cold', 'warm']) {
        for (const reference of REFERENCES) {
          const url = URL.canParse(reference, base) ? new URL(reference, base) : null;
          if (url !== null) {
            url.hash = '';
            url.username = '';
            url.password = '';
          }
          const expected = url?.protocol.startsWith('http') ? url.href : null;
          expect(normalize(reference, base)?.fetchUrl ?? null, `${round} ${reference} on ${base}`).toBe(
            expected,
          );
          compared++;
        }
      }
    }
    expect(compared).toBe(BASES.length * REFERENCES.length * 2);
  });

  it('takes absolute links of a page whose base is no URL', () => {
    expect(identity('https://example.com/a', { preset: 'standard' }, 'nonsense')).toBe(
      'https://example.com/a',
    );
    expect(identity('/a', { preset: 'standard' }, 'nonsense')).toBeNull();
    expect(identity('/a', { preset: 'standard' }, 'about:blank')).toBeNull();
  });

  it('does not grow with the number of hosts and stays right after forgetting them', () => {
    const { normalize } = createNormalizer({ preset: 'standard' });
    for (let i = 0; i < 10_000; i++) expect(normalize(`https://h${i}.test/a/`)?.host).toBe(`h${i}.test`);
    expect(normalize('https://h1.test/b/')?.url).toBe('https://h1.test/b');
  });
});

describe('every preset', () => {
  it.each(['standard', 'terrain', 'path'] as const)(
    '%s gives an identity that is its own identity',
    (preset) => {
      const { normalize } = createNormalizer({ preset, keepQuery: ['a', 'q'] });
      let compared = 0;
      for (const base of BASES) {
        for (const reference of REFERENCES) {
          const first = normalize(reference, base);
          if (first === null) continue;
          expect(normalize(first.url), `${reference} on ${base}`).toMatchObject({
            url: first.url,
            host: first.host,
          });
          compared++;
        }
      }
      expect(compared).toBeGreaterThan(500);
    },
  );
});
