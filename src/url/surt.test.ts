import { describe, expect, it } from 'vitest';
import { surtForm, surtKey } from './surt.ts';

describe('surtKey', () => {
  it.each([
    ['', '-'],
    ['http://www.Example.com/', 'com,example)/'],
    ['https://www2.example.com:443/Path/?b=2&a=1#x', 'com,example)/path?a=1&b=2'],
    ['http://example.com:8080/a//b/../c', 'com,example:8080)/a/c'],
    ['http://127.0.0.1/x', '127.0.0.1)/x'],
    ['http://example.com/(S(4hqa0555fwsecu455xqckv45))/a.aspx', 'com,example)/a.aspx'],
    ['http://example.com/a;jsessionid=0123456789abcdef0123456789abcdef', 'com,example)/a'],
    ['http://example.com/?a=1&PHPSESSID=0123456789abcdef0123456789abcdef', 'com,example)/?a=1'],
    ['http://example.com/%2541?x=%20', 'com,example)/a?x=%20'],
    ['dns:example.com', 'dns:example.com'],
  ])('of %j is %s', (url, key) => {
    expect(surtKey(url)).toBe(key);
  });
});

describe('surtForm', () => {
  it('turns the host round and drops the user', () => {
    expect(surtForm('http://u:p@a.example.org:81/p?q#f')).toBe('http://(org,example,a,:81)/p?q#f');
    expect(surtForm('http://a.example.org/p', { withScheme: false })).toBe('org,example,a,)/p');
    expect(surtForm('http://a.example.org/p', { withTrailingComma: false })).toBe('http://(org,example,a)/p');
  });

  it('leaves addresses in order and texts without a host alone', () => {
    expect(surtForm('http://10.0.0.1/p')).toBe('http://(10.0.0.1,)/p');
    expect(surtForm('mailto:a@b.c')).toBe('mailto:a@b.c');
  });
});
