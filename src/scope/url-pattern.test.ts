import { describe, expect, it } from 'vitest';
import { compileUrlPattern, InvalidPatternError } from './url-pattern.ts';

function refusal(text: string): InvalidPatternError {
  try {
    compileUrlPattern(text);
  } catch (error) {
    if (error instanceof InvalidPatternError) return error;
    throw error;
  }
  throw new Error(`expected a refusal of ${text}`);
}

describe('compileUrlPattern', () => {
  it.each([
    ['/cart/', 'literal'],
    ['example\\.com/a\\?b', 'literal'],
    ['\\.html$', 'v8'],
    ['^https://x\\.test/.*', 'v8'],
    ['/blog/\\d+|/news/\\w*', 'v8'],
    ['a+$', 're2'],
    ['a.*b', 're2'],
    ['(a|b)c', 'v8'],
    ['^[^?]*(\\.html|/)$', 'v8'],
    ['[^?]*(x|y)$', 're2'],
    ['^a*b*$', 're2'],
    ['(a*)*', 're2'],
    ['[ab]{2,3}', 're2'],
    ['(?i)cart', 're2'],
  ])('runs %s on the %s engine', (text, engine) => {
    expect(compileUrlPattern(text).engine).toBe(engine);
  });

  it.each([
    ['/cart/', 'https://a.test/cart/1', true],
    ['/cart/', 'https://a.test/Cart/1', false],
    ['a\\.test', 'https://a.test/', true],
    ['a\\.test', 'https://aXtest/', false],
    ['^/a', 'https://a.test/a', false],
    ['\\.html$', 'https://a.test/x.html', true],
    ['\\.html$', 'https://a.test/x.html?y', false],
    ['/blog/\\d+', 'https://a.test/blog/12', true],
    ['/(a|b)[0-9]{2}$', 'https://a.test/b42', true],
    ['(?i)CART', 'https://a.test/cart', true],
  ])('finds %s in %s: %s', (text, url, expected) => {
    expect(compileUrlPattern(text).test(url)).toBe(expected);
  });

  it('agrees with RegExp whatever the engine', () => {
    const texts = [
      'a',
      'a.c',
      '^ab',
      'c$',
      'a*',
      '^a*$',
      'ab|c+',
      '^a|b$',
      '\\.',
      'a\\|b',
      '\\w\\d',
      '.+',
      'a?b',
      '(ab)+c',
    ];
    const urls = ['', 'a', 'ab', 'abc', 'aac', 'ccc', 'a|b', 'x9', 'a.c', 'ababc', 'b'];
    for (const text of texts) {
      const pattern = compileUrlPattern(text);
      for (const url of urls) expect(pattern.test(url), `${text} in ${url}`).toBe(new RegExp(text).test(url));
    }
  });

  it.each([
    '(a+)+$',
    '(.*a){20}',
    '(a|a)*$',
    '(a|aa)+$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    'a*a*a*a*a*a*a*a*b',
    '(x+x+)+y',
    'a+$',
    '.*.*.*=.*;',
  ])('answers %s on a long text that makes backtracking engines hang', (text) => {
    const pattern = compileUrlPattern(text);
    expect(typeof pattern.test(`https://a.test/${'a'.repeat(5000)}${'x'.repeat(3000)}!`)).toBe('boolean');
  });

  it.each([
    ['(?=a)b', 0, 'lookaround'],
    ['x(?<!a)b', 1, 'lookaround'],
    ['(a)\\1', 3, 'backreference'],
    ['/a(b', null, 'missing closing )'],
    ['a/[b', 2, 'missing closing ]'],
    ['*.html', 0, 'missing argument'],
    ['a{5000}', 1, 'invalid repeat count'],
  ])('refuses %s with the place and a hint', (text, position, message) => {
    const error = refusal(text);
    expect(error.pattern).toBe(text);
    expect(error.message).toContain(message);
    expect(error.message).toContain(text);
    if (position !== null) expect(error.position).toBe(position);
    expect(error.hint.length).toBeGreaterThan(20);
  });

  it('does not take an escape or a class for a lookaround or a backreference', () => {
    expect(compileUrlPattern('[(?=]').test('?')).toBe(true);
    expect(compileUrlPattern('\\(\\?=').test('(?=')).toBe(true);
    expect(compileUrlPattern('\\\\1').test('\\1')).toBe(true);
  });
});
