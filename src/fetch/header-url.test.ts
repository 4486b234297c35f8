import { describe, expect, it } from 'vitest';
import { headerUrl } from './header-url.ts';

const sent = (bytes: string | number[]) => Buffer.from(bytes as string).toString('latin1');

describe('headerUrl', () => {
  it('gives raw UTF-8 the same URL as a link in a UTF-8 page', () => {
    const text = headerUrl(sent('/größe/?q=ü#→'));
    expect(new URL(text, 'http://a.test/').href).toBe(new URL('/größe/?q=ü#→', 'http://a.test/').href);
  });

  it('reads a raw UTF-8 host name', () => {
    expect(new URL(headerUrl(sent('http://größe.test/'))).hostname).toBe(
      new URL('http://größe.test/').hostname,
    );
  });

  it('keeps bytes that are not UTF-8 as they were sent', () => {
    expect(headerUrl(sent([0x2f, 0xf6, 0x2f]))).toBe('/%F6/');
    expect(headerUrl(sent([0x2f, 0xc3, 0xb6, 0xf6]))).toBe('/%C3%B6%F6');
  });

  it('leaves ASCII alone, escapes included', () => {
    expect(headerUrl('/a%20b?c=%c3%b6 d')).toBe('/a%20b?c=%c3%b6 d');
  });
});
