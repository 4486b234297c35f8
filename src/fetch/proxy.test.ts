import { describe, expect, it } from 'vitest';
import { SumiError } from '../errors.ts';
import { createNoProxyRule, createProxyChoice } from './proxy.ts';

describe('NO_PROXY', () => {
  it.each([
    ['example.com', 'http://example.com/', true],
    ['example.com', 'http://www.example.com/', true],
    ['example.com', 'http://notexample.com/', false],
    ['.example.com', 'http://example.com/', true],
    ['.example.com', 'http://a.example.com/', true],
    ['*.example.com', 'http://a.example.com/', true],
    ['EXAMPLE.com', 'http://example.COM/', true],
    ['example.com', 'http://example.com./', true],
    ['example.com:8080', 'http://example.com:8080/', true],
    ['example.com:8080', 'http://example.com/', false],
    ['example.com:443', 'https://example.com/', true],
    ['a.test, b.test c.test', 'http://c.test/', true],
    ['*', 'https://anything.test/', true],
    ['127.0.0.1', 'http://127.0.0.1:99/', true],
    ['0.0.1', 'http://127.0.0.1/', false],
    ['10.0.0.0/8', 'http://10.200.3.4/', true],
    ['10.0.0.0/8', 'http://11.0.0.1/', false],
    ['10.0.0.0/99', 'http://10.0.0.1/', false],
    ['::1', 'http://[::1]/', true],
    ['[::1]:80', 'http://[::1]/', true],
    ['', 'http://example.com/', false],
  ])('%j and %s: exempt %s', (list, url, isExempt) => {
    expect(createNoProxyRule(list)(new URL(url))).toBe(isExempt);
  });
});

describe('the choice of a proxy', () => {
  it('goes by the scheme and reads user and password', () => {
    const choose = createProxyChoice({
      http: 'http://me:p%40ss@one.test:3128',
      https: 'two.test:8080',
      no: 'near.test',
    });
    expect(choose(new URL('http://a.test/'))).toMatchObject({
      url: { host: 'one.test:3128' },
      authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    });
    expect(choose(new URL('https://a.test/'))).toMatchObject({
      url: { host: 'two.test:8080' },
      authorization: null,
    });
    expect(choose(new URL('http://near.test/'))).toBeNull();
  });

  it('is none without a proxy for the scheme', () => {
    const choose = createProxyChoice({ https: 'http://two.test:8080', http: ' ' });
    expect(choose(new URL('http://a.test/'))).toBeNull();
  });

  it('refuses what is not an HTTP proxy, and keeps the password to itself', () => {
    const make = () => createProxyChoice({ http: 'socks5://me:secret@one.test' });
    expect(make).toThrow(SumiError);
    expect(make).toThrow(/one\.test/);
    expect(make).not.toThrow(/secret/);
    expect(() => createProxyChoice({ http: 'http://%zz@a.test' })).toThrow(SumiError);
  });
});
