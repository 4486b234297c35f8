/** Step 8, the part that needs no history yet: what identifies a body, and how it compares with the last visit. */
import * as crypto from 'node:crypto';
import type { LastVisit } from '../frontier/candidate.ts';

/** SHA-256 of the body as it came after decoding. */
export function contentHash(bytes: Uint8Array): Uint8Array {
  // In one call: createHash makes a stream for every page.
  return crypto.hash('sha256', bytes, 'buffer');
}

export function compareWithLast(hash: Uint8Array, last: LastVisit | null): 'new' | 'changed' | 'unchanged' {
  if (last === null || last.contentHash === null) return 'new';
  return Buffer.compare(hash, last.contentHash) === 0 ? 'unchanged' : 'changed';
}

/** The two halves as the signed 64-bit integer that databases keep. */
export function simhashInteger(high: number, low: number): bigint {
  return BigInt.asIntN(64, (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
}
