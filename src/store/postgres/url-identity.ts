/**
 * The identity of a URL as PostgreSQL keeps it: the keyed 128-bit hash of primitives/url-hash.ts, written as a uuid.
 * Equal URLs give equal identities under one key; another database has another key and other identities.
 */
import { createUrlHasher, type UrlHasher } from '../../primitives/url-hash.ts';

/** `keyHex` is the database's secret, 16 bytes as 32 hex digits. */
export function createIdentityBytes(keyHex: string): (url: string) => Buffer {
  const hasher = createKeyedHasher(keyHex);
  return (url) => {
    hasher.hash(url);
    const { words } = hasher;
    const bytes = Buffer.allocUnsafe(16);
    for (let i = 0; i < 4; i++) bytes.writeUInt32BE(words[i], i * 4);
    return bytes;
  };
}

/** The same as PostgreSQL prints it. */
export function createUrlIdentity(keyHex: string): (url: string) => string {
  const bytesOf = createIdentityBytes(keyHex);
  return (url) => {
    const hex = bytesOf(url).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}

/** The hash itself, under the same secret. */
export function createKeyedHasher(keyHex: string): UrlHasher {
  const key = Buffer.from(keyHex, 'hex');
  if (key.length !== 16) throw new Error('the key of URL identities has 16 bytes');
  return createUrlHasher(
    Uint32Array.of(key.readUInt32LE(0), key.readUInt32LE(4), key.readUInt32LE(8), key.readUInt32LE(12)),
  );
}
