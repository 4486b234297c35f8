import { describe, expect, it } from 'vitest';
import { createUrlHasher } from '../../primitives/url-hash.ts';
import { createUrlIdentity } from './url-identity.ts';

const KEY = '0123456789abcdeffedcba9876543210';

describe('the identity of a URL', () => {
  it('is the four words of its hash, big end first, as a uuid', () => {
    const hasher = createUrlHasher(Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476));
    hasher.hash('https://example.com/');
    const words = [...hasher.words].map((word) => word.toString(16).padStart(8, '0'));
    const identity = createUrlIdentity(KEY)('https://example.com/');
    expect(identity).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(identity.replaceAll('-', '')).toBe(words.join(''));
  });

  it('keeps leading zeros', () => {
    const identityOf = createUrlIdentity(KEY);
    for (let i = 0; i < 1000; i++) expect(identityOf(`https://example.com/${i}`)).toHaveLength(36);
  });

  it('differs by URL and by key', () => {
    const other = createUrlIdentity('00000000000000000000000000000001');
    const identityOf = createUrlIdentity(KEY);
    expect(identityOf('https://example.com/a')).not.toBe(identityOf('https://example.com/b'));
    expect(identityOf('https://example.com/a')).toBe(identityOf('https://example.com/a'));
    expect(identityOf('https://example.com/a')).not.toBe(other('https://example.com/a'));
  });

  it('refuses a key of another length, without printing it', () => {
    expect(() => createUrlIdentity('abc123')).toThrow('16 bytes');
    expect(() => createUrlIdentity('abc123')).not.toThrow(/abc123/);
  });
});
