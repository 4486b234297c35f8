import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codingsOf, decodeBody } from './decode-body.ts';

const text = 'a page about nothing in particular. '.repeat(500);
const plain = Buffer.from(text);

function decode(bytes: Uint8Array, encoding: string, maxBytes = 1_000_000) {
  const decoded = decodeBody(bytes, codingsOf(encoding), maxBytes);
  return 'bytes' in decoded ? Buffer.from(decoded.bytes).toString() : decoded.failure;
}

/** A member with all that a gzip header may hold: extra field, file name, comment and checksum. */
function withHeaderFields(bytes: Uint8Array): Buffer {
  const head = [0x1f, 0x8b, 8, 2 + 4 + 8 + 16, 0, 0, 0, 0, 0, 3];
  const fields = Buffer.concat([Buffer.from(head), Buffer.from('\x03\0abcname\0comment\0', 'latin1')]);
  const packed = zlib.gzipSync(bytes);
  const crc = Buffer.alloc(2);
  // The lower half of the header's CRC-32, which a member of these bytes ends with.
  const own = zlib.gzipSync(fields);
  own.copy(crc, 0, own.length - 8, own.length - 6);
  return Buffer.concat([fields, crc, packed.subarray(10)]);
}

describe('decodeBody', () => {
  it.each([
    ['gzip', zlib.gzipSync(plain)],
    ['x-gzip', zlib.gzipSync(plain)],
    [' GZIP ', zlib.gzipSync(plain)],
    ['deflate', zlib.deflateSync(plain)],
    ['deflate', zlib.deflateRawSync(plain)],
    ['br', zlib.brotliCompressSync(plain)],
    ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(plain))],
    ['br, identity, deflate', zlib.deflateSync(zlib.brotliCompressSync(plain))],
    ['gzip', Buffer.concat([zlib.gzipSync(plain.subarray(0, 100)), zlib.gzipSync(plain.subarray(100))])],
    ['identity', plain],
    ['utf-8', plain],
    ['', plain],
  ])('undoes %s', (encoding, bytes) => {
    expect(decode(bytes, encoding)).toBe(text);
  });

  it.each([
    ['gzip', zlib.gzipSync(plain, { level: 0 })],
    ['deflate', zlib.deflateSync(plain, { level: 0 })],
  ])('gives the beginning of a truncated %s body', (encoding, bytes) => {
    const start = decode(bytes.subarray(0, 5000), encoding);
    expect(start.length).toBeGreaterThan(4000);
    expect(text.startsWith(start)).toBe(true);
  });

  it('does not count a hundred thousand empty members one by one, to see where bytes begin that are no gzip', () => {
    const member = zlib.gzipSync('');
    const bytes = Buffer.concat([...Array<Buffer>(100_000).fill(member), Buffer.from('no gzip')]);
    expect(decode(bytes, 'gzip')).toBe('decode');
  });

  const many = Buffer.concat([zlib.gzipSync(plain.subarray(0, 100)), zlib.gzipSync(plain.subarray(100))]);
  it.each([
    ['line ends', '\r\n\r\n'],
    ['text', '<!-- cached at 12:00 -->'],
    ['zeros', '\0\0\0\0\0\0'],
    ['half the beginning of a member', '\x1f\x8b'],
    ['the beginning of another format', '\x1f\x8b\x09\x09'],
    ['much of anything', 'no gzip '.repeat(10_000)],
  ])('passes over %s behind gzip', (_, tail) => {
    const behind = Buffer.from(tail, 'latin1');
    for (const packed of [zlib.gzipSync(plain), many, withHeaderFields(plain)])
      expect(decode(Buffer.concat([packed, behind]), 'gzip')).toBe(text);
    for (const [coding, packed] of [
      ['deflate', zlib.deflateSync(plain)],
      ['deflate', zlib.deflateRawSync(plain)],
      ['br', zlib.brotliCompressSync(plain)],
    ] as const)
      expect(decode(Buffer.concat([packed, behind]), coding)).toBe(text);
    expect(decode(Buffer.concat([many, behind]), 'gzip', plain.length - 1)).toBe('too-large');
  });

  it('calls gzip with a wrong checksum a decode failure, also before bytes that are no gzip', () => {
    const packed = zlib.gzipSync(plain);
    packed[packed.length - 8] ^= 1;
    expect(decode(packed, 'gzip')).toBe('decode');
    expect(decode(Buffer.concat([packed, Buffer.from('\r\n')]), 'gzip')).toBe('decode');
  });

  it('stops a bomb at the limit', () => {
    const bomb = zlib.gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    expect(decode(bomb, 'gzip')).toBe('too-large');
    expect(decode(zlib.gzipSync(bomb), 'gzip, gzip')).toBe('too-large');
    expect(decode(zlib.brotliCompressSync(Buffer.alloc(5_000_000)), 'br')).toBe('too-large');
  });

  it('keeps the limit to the byte', () => {
    expect(decode(zlib.gzipSync(plain), 'gzip', plain.length)).toBe(text);
    expect(decode(zlib.gzipSync(plain), 'gzip', plain.length - 1)).toBe('too-large');
    expect(decode(zlib.gzipSync(Buffer.from('x')), 'gzip', 0)).toBe('too-large');
  });

  it('calls bytes that are not what they claim a decode failure', () => {
    expect(decode(plain, 'gzip')).toBe('decode');
    expect(decode(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]), 'br')).toBe('decode');
    expect(decode(plain, 'compress')).toBe('decode');
    expect(decode(plain, 'gzip, gzip, gzip, gzip, gzip')).toBe('decode');
  });

  it('leaves an empty body empty', () => {
    expect(decode(new Uint8Array(0), 'gzip')).toBe('');
  });

  it('is not fooled by a gzip size that lies', () => {
    const lying = zlib.gzipSync(plain);
    lying.writeUInt32LE(0x000fffff, lying.length - 4);
    // The check of the size fails in zlib: a broken body, not a crash and not a huge buffer.
    expect(decode(lying, 'gzip')).toBe('decode');
  });
});
