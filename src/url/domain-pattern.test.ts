import { describe, expect, it } from 'vitest';
import { compileDomainPattern, createDomainSet, matchesDomain } from './domain-pattern.ts';

function matches(pattern: string, host: string): boolean {
  const compiled = compileDomainPattern(pattern);
  if (compiled === null) throw new Error(`expected a pattern: ${pattern}`);
  return matchesDomain(compiled, host);
}

describe('a domain pattern', () => {
  it('with a star matches the bare domain, subdomains and nested subdomains', () => {
    for (const host of ['example.com', 'blog.example.com', 'api.v2.example.com']) {
      expect(matches('*.example.com', host)).toBe(true);
    }
    expect(matches('*.example.com', 'notexample.com')).toBe(false);
    expect(matches('*.example.com', 'example.com.evil.test')).toBe(false);
  });

  it('without a star matches that host alone', () => {
    expect(matches('example.com', 'example.com')).toBe(true);
    expect(matches('example.com', 'www.example.com')).toBe(false);
  });

  it('does not see case, a trailing dot or the script of an international name', () => {
    expect(matches('*.EXAMPLE.com.', 'Blog.Example.COM.')).toBe(true);
    expect(matches('*.bücher.de', 'shop.xn--bcher-kva.de')).toBe(true);
    expect(matches('XN--BCHER-KVA.de', 'BÜCHER.de')).toBe(true);
  });

  it('may be an address', () => {
    expect(matches('127.0.0.1', '127.0.0.1')).toBe(true);
    expect(matches('[::1]', '[::1]')).toBe(true);
  });

  it.each([
    '',
    '*',
    '*.',
    'https://example.com',
    'example.com/x',
    'example.com:80',
    'a.*.com',
    '*.*.com',
    'exa mple.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
    'a..b',
    '*.[::1]',
  ])('is not %j', (text) => {
    expect(compileDomainPattern(text)).toBeNull();
  });
});

describe('a domain set', () => {
  it('tells the pattern that matched as the user wrote it, the most specific first', () => {
    const set = createDomainSet(['*.Example.com', '*.b.example.com', 'a.b.example.com', 'other.test']);
    expect(set.match('example.com')).toBe('*.Example.com');
    expect(set.match('x.EXAMPLE.com.')).toBe('*.Example.com');
    expect(set.match('x.b.example.com')).toBe('*.b.example.com');
    expect(set.match('a.b.example.com')).toBe('a.b.example.com');
    expect(set.match('other.test')).toBe('other.test');
    expect(set.match('www.other.test')).toBeNull();
    expect(set.match('com')).toBeNull();
  });

  it('takes a name with www. for the one without too, unless that is listed itself', () => {
    const set = createDomainSet(['www.example.com', 'www.b.test', 'b.test', '*.www.c.test']);
    expect([set.match('example.com'), set.match('www.example.com')]).toEqual([
      'www.example.com',
      'www.example.com',
    ]);
    expect([set.match('b.test'), set.match('c.test'), set.match('d.c.test')]).toEqual([
      'b.test',
      '*.www.c.test',
      null,
    ]);
  });

  it('matches nothing when empty and refuses what is no pattern', () => {
    expect(createDomainSet([]).match('example.com')).toBeNull();
    expect(() => createDomainSet(['https://x.test/'])).toThrow('https://x.test/');
  });

  it('agrees with matching one pattern at a time', () => {
    const patterns = ['*.a.test', 'b.test', '*.c.b.test', 'www.d.test', '*.test.org'];
    const set = createDomainSet(patterns);
    for (const host of [
      'a.test',
      'x.a.test',
      'b.test',
      'c.b.test',
      'z.c.b.test',
      'd.test',
      'www.d.test',
      'test.org',
      'org',
    ]) {
      expect(set.match(host) !== null, host).toBe(patterns.some((pattern) => matches(pattern, host)));
    }
  });
});
