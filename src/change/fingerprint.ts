/**
 * Hashes that identify what a visit found: of the body, of its main text, and of everything else that can change. Equal
 * hashes mean that no content changed; they never say what did. Makes no strings of links.
 */
import * as crypto from 'node:crypto';
import type { LinkList } from '../parse/parsed-page.ts';
import type { ComparedFact, PageFacts } from '../store/page-facts.ts';

/** SHA-256 of the decoded body. */
export function contentHash(bytes: Uint8Array): Uint8Array {
  // In one call, because createHash makes a stream for every page.
  return crypto.hash('sha256', bytes, 'buffer');
}

/** Places where a word may break: they are invisible. */
const BREAKS = /[\u00ad\u200b]/g;
const SOFT_HYPHEN = Buffer.from('\u00ad');
const ZERO_WIDTH_SPACE = Buffer.from('\u200b');

export function withoutBreaks(text: string): string {
  return text.replace(BREAKS, '');
}

/** SHA-256 of the main text. */
export function textHash(text: Uint8Array): Uint8Array {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  // Strings are made only of the few texts that contain such breaks.
  return crypto.hash('sha256', hasBreaks(bytes) ? withoutBreaks(bytes.toString()) : bytes, 'buffer');
}

function hasBreaks(bytes: Buffer): boolean {
  // Searches their last byte first: most texts have none, and this takes a third of the time.
  if (bytes.indexOf(0xad) !== -1 && bytes.includes(SOFT_HYPHEN)) return true;
  return bytes.indexOf(0x8b) !== -1 && bytes.includes(ZERO_WIDTH_SPACE);
}

export function isSameHash(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}

/** The facts of a page that can change, besides its main text. */
export type Facets = Pick<PageFacts, Exclude<ComparedFact, 'statusCode'>>;

/** The page's links as two numbers, independent of their order. */
export interface LinkDigest {
  sum: number;
  bits: number;
}

/** The position of the links' numbers in the hash. */
const LINKS_AT = 24;

/** The last eight bytes belong to the links, so that one can see whether the links are the same. */
export function facetHash(facets: Facets, links: LinkDigest): Uint8Array {
  const { title, h1, description, canonical, noindex, nofollow, robotsOther, structuredData } = facets;
  // A missing field differs from an empty one. No text contains the marks, because white space is folded.
  const text =
    `${title ?? '\x00'}\x1f${h1 ?? '\x00'}\x1f${description ?? '\x00'}\x1f${canonical ?? '\x00'}\x1f` +
    `${structuredData ?? '\x00'}\x1f${noindex ? 1 : 0}${nofollow ? 1 : 0}${robotsOther}`;
  const hash = crypto.hash('sha256', text, 'buffer');
  hash.writeInt32LE(links.sum, LINKS_AT);
  hash.writeInt32LE(links.bits, LINKS_AT + 4);
  return hash;
}

/** By their facet hashes; for pages, not for redirects. */
export function hasSameLinks(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && isSameHash(a.subarray(LINKS_AT), b.subarray(LINKS_AT));
}

/** For a redirect: its target is all its content. */
export function redirectHash(status: number, target: string): Uint8Array {
  return crypto.hash('sha256', `${status}\x1f${target}`, 'buffer');
}

/** For an answer whose type is not read: the type is all its content. */
export function typeHash(type: string | null): Uint8Array {
  return crypto.hash('sha256', `type\x1f${type ?? ''}`, 'buffer');
}

/**
 * A digest of a page's links, independent of their order, from the parser's hashes of their bytes and their flags.
 * `baseHref` decides relative links; `mark` stands for everything else that decides where they lead and how they count.
 * The same links in another spelling give another digest: then they are compared.
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
    // Mixed, so that the differences of two pairs of links do not cancel out.
    const own = hrefHash[i] ^ Math.imul(flags[i], 0x3c6ef372);
    let mixed = Math.imul(own ^ (own >>> 16), 0x45d9f3b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0x2c1b3c6d);
    sum = (sum + mixed) | 0;
    bits ^= mixed ^ (mixed >>> 11);
  }
  return { sum, bits };
}

/** The two halves as the signed 64-bit integer that databases store. */
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
