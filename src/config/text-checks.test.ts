import { describe, expect, it } from 'vitest';
import { nearestName } from './nearest-name.ts';
import { chooseProxies } from './proxies.ts';
import { parseResolveRule } from './resolve-rules.ts';
import { isBodiesRule, isHostRule, isHttpUrl } from './text-checks.ts';
import { EMAIL, EXTENSION, HEADER_TEXT, MEDIA_RANGE, PATH_PREFIX, VERSION_TOKEN } from './text-patterns.ts';

const matching = (pattern: string) => (text: string) => new RegExp(pattern, 'u').test(text);

describe('text checks', () => {
  it.each([
    [
      isHostRule,
      [
        'host',
        'any',
        'example.com',
        '*.example.com',
        '127.0.0.1',
        '[::1]',
        'bücher.example',
        'localhost',
        'a.com:80',
        '*.a.com:8080',
        '[::1]:1',
      ],
      [
        '',
        '*',
        'a*b.com',
        'https://a.com',
        'a.com:0',
        'a.com:70000',
        'a.com:x',
        'any:80:80',
        'a..b',
        'a b',
        '*.',
      ],
    ],
    [isHttpUrl, ['https://a.com/', 'HTTP://a.com'], ['ftp://a.com', 'a.com', 'https://', 'mailto:x@a.com']],
    [
      matching(EMAIL),
      ['a@b.com', 'a.b+c@d.co.uk'],
      ['a', 'a@b', '@b.com', 'a@b.com; x', 'a b@c.com', 'a@b.'],
    ],
    [matching(HEADER_TEXT), ['Bot/1.0 (x)', 'x'], ['', ' x', 'a\r\nb: c', 'é']],
    [
      matching(MEDIA_RANGE),
      ['text/html', 'text/*', '*/*', 'application/ld+json', 'application/*+xml'],
      ['html', 'text/', '*/html', 'text/html; q=1'],
    ],
    [matching(EXTENSION), ['pdf', '.pdf', 'tar.gz'], ['', '.', '*.pdf', 'a/b']],
    [matching(PATH_PREFIX), ['/', '/docs/'], ['docs', '/a b', '/a?b', '']],
    [
      isBodiesRule,
      ['none', 'files:./x', 's3://crawl', 's3://crawl-1.bodies/2024/raw'],
      ['files:', 'files', 's3://', 's3:///x', 's3://b', 's3://key:secret@crawl', 's3://crawl?x', ''],
    ],
    [matching(VERSION_TOKEN), ['1.0', '2.0-beta+1'], ['', '1 0', '1/0', '1(0)']],
  ])('%o accepts and refuses the right texts', (check, good, bad) => {
    for (const text of good) expect(check(text), text).toBe(true);
    for (const text of bad) expect(check(text), text).toBe(false);
  });
});

describe('parseResolveRule', () => {
  it.each([
    ['a.com=1.2.3.4', { name: 'a.com', address: '1.2.3.4', port: null }],
    ['A.com.=1.2.3.4:80', { name: 'a.com', address: '1.2.3.4', port: 80 }],
    ['a.com=[::1]:80', { name: 'a.com', address: '::1', port: 80 }],
    ['a.com=::1', { name: 'a.com', address: '::1', port: null }],
    ['bücher.example=127.0.0.1', { name: 'xn--bcher-kva.example', address: '127.0.0.1', port: null }],
    ['a.com', null],
    ['=1.2.3.4', null],
    ['a.com=b.com', null],
    ['a.com=1.2.3.4:0', null],
    ['a.com=1.2.3.4:70000', null],
    ['a.com:80=1.2.3.4', null],
  ])('reads %j', (text, rule) => {
    expect(parseResolveRule(text)).toEqual(rule);
  });
});

describe('chooseProxies', () => {
  it('prefers the option, keeps NO_PROXY, and falls back to ALL_PROXY', () => {
    const env = {
      ALL_PROXY: 'http://all:1',
      https_proxy: 'http://small:2',
      HTTPS_PROXY: 'http://big:3',
      NO_PROXY: 'a.com,b.com',
    };
    expect(chooseProxies(null, '', env)).toEqual({
      http: 'http://all:1/',
      https: 'http://small:2/',
      no: 'a.com,b.com',
    });
    expect(chooseProxies('http://u:p%40@me:9', '', env)).toMatchObject({
      http: 'http://u:p%40@me:9/',
      https: 'http://u:p%40@me:9/',
      no: 'a.com,b.com',
    });
    expect(chooseProxies('none', '', env)).toEqual({});
  });
});

describe('nearestName', () => {
  it('finds the name with the fewest changes, a swap counting once', () => {
    expect(nearestName('max-detph', ['max-pages', 'max-depth', 'path'])).toBe('max-depth');
    expect(nearestName('ab', ['ba', 'cd'])).toBe('ba');
    expect(nearestName('', ['abc', 'a'])).toBe('a');
  });
});
