import { describe, expect, it } from 'vitest';
import { compareWithLast, contentHash, simhashInteger } from './fingerprint.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const last = (hash: Uint8Array | null) => ({
  statusCode: 200,
  contentHash: hash,
  etag: null,
  lastModified: null,
});

describe('the hash of a body', () => {
  it('is SHA-256 of its bytes, checked against the standard’s example', () => {
    expect(Buffer.from(contentHash(bytes('abc'))).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('takes only the bytes of a view, not the buffer behind it', () => {
    const whole = bytes('xxabcxx');
    expect(contentHash(whole.subarray(2, 5))).toEqual(contentHash(bytes('abc')));
  });
});

describe('a page compared with its last visit', () => {
  it('is new when there was none, or none with a body', () => {
    expect(compareWithLast(contentHash(bytes('a')), null)).toBe('new');
    expect(compareWithLast(contentHash(bytes('a')), last(null))).toBe('new');
  });

  it('is unchanged when the bytes are the same, else changed', () => {
    const before = last(contentHash(bytes('a')));
    expect(compareWithLast(contentHash(bytes('a')), before)).toBe('unchanged');
    expect(compareWithLast(contentHash(bytes('b')), before)).toBe('changed');
  });
});

describe('the simhash for databases', () => {
  it('keeps all 64 bits in a signed integer', () => {
    expect(simhashInteger(0, 0)).toBe(0n);
    expect(simhashInteger(0, 0xffff_ffff)).toBe(0xffff_ffffn);
    expect(simhashInteger(1, 2)).toBe(0x1_0000_0002n);
    expect(simhashInteger(0x7fff_ffff, 0xffff_ffff)).toBe(2n ** 63n - 1n);
    expect(simhashInteger(0x8000_0000, 0)).toBe(-(2n ** 63n));
    expect(simhashInteger(0xffff_ffff, 0xffff_ffff)).toBe(-1n);
    expect(simhashInteger(-1, -1)).toBe(-1n);
  });
});
