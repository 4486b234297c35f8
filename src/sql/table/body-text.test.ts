import { describe, expect, it } from 'vitest';
import { createBodyReader, type TypedBody } from './body-text.ts';

const read = createBodyReader();
const html = (body: Uint8Array, more: Partial<TypedBody> = {}) =>
  read({ body, contentType: 'text/html', charset: null, ...more });

describe('the text of a body', () => {
  it('is decoded by its encoding: named by the server, by the page, or by its byte order mark', () => {
    const text = 'Grüße „日本語“ €';
    expect(html(Buffer.from(text), { charset: 'utf-8' })).toBe(text);
    expect(html(Buffer.from(text))).toBe(text);
    expect(html(Buffer.from(text, 'utf16le'), { contentType: 'text/html; charset=utf-16le' })).toBe(text);
    expect(html(Buffer.from([0x80, 0xfc]), { charset: 'windows-1252' })).toBe('€ü');
    expect(html(Buffer.from('<meta charset=koi8-r>\xd0', 'latin1'), { charset: 'koi8-r' })).toBe(
      '<meta charset=koi8-r>п',
    );
    const japanese = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);
    expect(html(japanese, { contentType: 'text/html; charset=Shift_JIS' })).toBe('日本');
  });

  it('begins after the byte order mark', () => {
    expect(html(Buffer.from('\ufeff<p>'), { charset: 'utf-8' })).toBe('<p>');
    expect(html(Buffer.from('\ufeff<p>'))).toBe('<p>');
    expect(html(Buffer.from('\ufeff<p>', 'utf16le'))).toBe('<p>');
    expect(html(Buffer.from('\ufeff<p>', 'utf16le'), { contentType: null })).toBe('<p>');
  });

  it('has U+FFFD where bytes mean nothing, and keeps zeros', () => {
    expect(html(Buffer.from([0x61, 0xff, 0x62]), { charset: 'utf-8' })).toBe('a\ufffdb');
    expect(html(Buffer.from('a\0b'), { charset: 'utf-8' })).toBe('a\0b');
    expect(html(new Uint8Array())).toBe('');
  });

  it('is there for types of text and for none of the binary ones', () => {
    const of = (contentType: string | null, text = 'abc') =>
      read({ body: Buffer.from(text), contentType, charset: null });
    for (const type of [
      ...['text/html', 'TEXT/Plain; charset=us-ascii', 'text/csv', 'application/json', 'application/ld+json'],
      ...['application/xhtml+xml', 'application/xml', 'application/rss+xml', 'image/svg+xml'],
      ...['application/javascript', 'text/javascript', 'application/x-ndjson', 'application/yaml', null],
    ])
      expect(of(type), String(type)).toBe('abc');
    for (const type of [
      ...['image/png', 'application/pdf', 'application/octet-stream', 'application/zip', 'font/woff2'],
      ...['video/mp4', 'application/gzip', 'application/msword', 'application/x-duckdb'],
    ])
      expect(of(type), type).toBeNull();
    expect(of(null, 'GIF89a\0\x01')).toBeNull();
    expect(of('no type', 'words')).toBe('words');
  });

  it('belongs to its own body, though the reader uses its memory again', () => {
    const first = html(Buffer.from('\xe4'.repeat(50), 'latin1'));
    const second = html(Buffer.from('\xf6'.repeat(10), 'latin1'));
    expect([first, second]).toEqual(['ä'.repeat(50), 'ö'.repeat(10)]);
  });
});
