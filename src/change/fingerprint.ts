/**
 * What identifies a visit's finding: hashes of the body, of its main text, and of everything else that can change.
 * Equal hashes mean that nothing of content changed; they never say what did. No strings are made of links.
 */
import * as crypto from 'node:crypto';
import type { LinkList } from '../parse/parsed-page.ts';
import type { ComparedFact, PageFacts } from '../store/page-facts.ts';

/** SHA-256 of the body as it came after decoding. */
export function contentHash(bytes: Uint8Array): Uint8Array {
  // In one call: createHash makes a stream for every page.
  return crypto.hash('sha256', bytes, 'buffer');
}

/** Where a word may be broken: nobody sees whether they are there. */
const BREAKS = /[\u00ad\u200b]/g;
const SOFT_HYPHEN = Buffer.from('\u00ad');
const ZERO_WIDTH_SPACE = Buffer.from('\u200b');

export function withoutBreaks(text: string): string {
  return text.replace(BREAKS, '');
}

/** SHA-256 of the main text. */
export function textHash(text: Uint8Array): Uint8Array {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  // Strings are made of the few texts only that have some.
  return crypto.hash('sha256', hasBreaks(bytes) ? withoutBreaks(bytes.toString()) : bytes, 'buffer');
}

function hasBreaks(bytes: Buffer): boolean {
  // Their last byte first: most texts have none such, and it is found out in a third of the time.
  if (bytes.indexOf(0xad) !== -1 && bytes.includes(SOFT_HYPHEN)) return true;
  return bytes.indexOf(0x8b) !== -1 && bytes.includes(ZERO_WIDTH_SPACE);
}

export function isSameHash(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}

/** What of a page can change beside its main text. */
export type Facets = Pick<PageFacts, Exclude<ComparedFact, 'statusCode'>>;

/** The page's links as two numbers, whatever their order. */
export interface LinkDigest {
  sum: number;
  bits: number;
}

/** The place of the links' own numbers in the hash. */
const LINKS_AT = 24;

/** The last eight bytes are the links' own, so that one can see whether they are the same. */
export function facetHash(facets: Facets, links: LinkDigest): Uint8Array {
  const { title, h1, description, canonical, noindex, nofollow, robotsOther, structuredData } = facets;
  // A field that is absent differs from an empty one; no text holds the marks, which are folded away as white space.
  const text =
    `${title ?? '\x00'}\x1f${h1 ?? '\x00'}\x1f${description ?? '\x00'}\x1f${canonical ?? '\x00'}\x1f` +
    `${structuredData ?? '\x00'}\x1f${noindex ? 1 : 0}${nofollow ? 1 : 0}${robotsOther}`;
  const hash = crypto.hash('sha256', text, 'buffer');
  hash.writeInt32LE(links.sum, LINKS_AT);
  hash.writeInt32LE(links.bits, LINKS_AT + 4);
  return hash;
}

/** By their facet hashes; of pages, not of redirects. */
export function hasSameLinks(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && isSameHash(a.subarray(LINKS_AT), b.subarray(LINKS_AT));
}

/** Of a redirect: where it leads is all there is. */
export function redirectHash(status: number, target: string): Uint8Array {
  return crypto.hash('sha256', `${status}\x1f${target}`, 'buffer');
}

/** Of an answer that is not read for its type: that is all there is. */
export function typeHash(type: string | null): Uint8Array {
  return crypto.hash('sha256', `type\x1f${type ?? ''}`, 'buffer');
}

/**
 * The links of a page in whatever order, from the hashes that the parser made of their bytes, and their flags; `baseHref` is
 * what relative ones depend on, `mark` stands for whatever else decides where they lead and how they count. A page with the
 * same links in other words gives another digest: then they are compared.
 */
export function linkDigest(
  { count, hrefHash, flags }: LinkList,
  baseHref: string | null,
  mark: number,
): LinkDigest {
  let sum = count;
  let bits = mark;
  if (baseHref !== null)
    for (let i = 0; i < baseHref.length; i++) bits = Math.imul(bits ^ baseHref.charCodeAt(i), 0x01000193);
  for (let i = 0; i < count; i++) {
    // Mixed, so that the differences of two pairs of links do not cancel each other out.
    const own = hrefHash[i] ^ Math.imul(flags[i], 0x3c6ef372);
    let mixed = Math.imul(own ^ (own >>> 16), 0x45d9f3b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0x2c1b3c6d);
    sum = (sum + mixed) | 0;
    bits ^= mixed ^ (mixed >>> 11);
  }
  return { sum, bits };
}

/** The two halves as the signed 64-bit integer that databases keep. */
export function simhashInteger(high: number, low: number): bigint {
  return BigInt.asIntN(64, (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
}

/** Bits in which two simhashes differ. */
export function simhashDistance(a: bigint | null, b: bigint | null): number | null {
  if (a === null || b === null) return null;
  let differing = BigInt.asUintN(64, a ^ b);
  let count = 0;
  for (; differing !== 0n; differing &= differing - 1n) count++;
  return count;
}
