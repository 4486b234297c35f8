/** The result of parsing a body. Valid until the next parse: spans point into reused buffers. */
import type { ParsedFacts } from '../store/page-facts.ts';

export const LINK_FLAGS = {
  nofollow: 1,
  ugc: 2,
  sponsored: 4,
  canonical: 8,
  alternate: 16,
  next: 32,
  prev: 64,
} as const;

/**
 * Frames are links of a separate kind. All bits of a link's flags are in use, so two bits together have a meaning that
 * they cannot have otherwise: the next page and the one before.
 */
export const FRAME_FLAGS = {
  frame: LINK_FLAGS.next | LINK_FLAGS.prev,
  iframe: LINK_FLAGS.next | LINK_FLAGS.prev | LINK_FLAGS.alternate,
} as const;

export type FrameKind = keyof typeof FRAME_FLAGS;

/** Null for a link that is not a frame. */
export function frameKind(flags: number): FrameKind | null {
  if ((flags & FRAME_FLAGS.frame) !== FRAME_FLAGS.frame) return null;
  return (flags & LINK_FLAGS.alternate) === 0 ? 'frame' : 'iframe';
}

/** The flags of a link as words: those of its rel, or the kind of frame. */
export function relWords(flags: number): string {
  const frame = frameKind(flags);
  const rest = frame === null ? flags : flags & ~FRAME_FLAGS.iframe;
  const words = Object.entries(LINK_FLAGS).flatMap(([word, bit]) => ((rest & bit) === 0 ? [] : [word]));
  return (frame === null ? words : [frame, ...words]).join(' ');
}

/** Links in document order, as arrays of equal length (`count` entries are valid). */
export interface LinkList {
  count: number;
  /** The charset for the queries of these links; null for UTF-8. */
  charset: string | null;
  /** The UTF-8 bytes that the spans point into. */
  bytes: Uint8Array;
  /** The raw href: white space trimmed at both ends, fragment excluded, references not decoded yet. */
  hrefStart: Int32Array;
  hrefEnd: Int32Array;
  /** A 32-bit hash of those raw bytes, for the href cache (which compares bytes on a hit). */
  hrefHash: Int32Array;
  flags: Uint8Array;
  /** The href as text: references decoded, tab and newline removed. Makes a string: for cache misses only. */
  hrefText(index: number): string;
  /** Anchor text, white space folded; empty for <link> and <area> (area: its alt). Made on demand. */
  anchorText(index: number): string;
}

export interface RobotsDirectives {
  noindex: boolean;
  nofollow: boolean;
  /** All other directives (noarchive, max-snippet:20), sorted, with commas between; empty for none. */
  other: string;
}

/** Facts that are stored as they are (`isParsed` in store/page-facts.ts), and the sources of the others. */
export interface ParsedPage extends ParsedFacts {
  /** Canonical URL as written (not yet resolved), from <link rel=canonical>. */
  canonical: string | null;
  /** First <base href> as written. */
  baseHref: string | null;
  robots: RobotsDirectives;
  /** A meta refresh: seconds and the URL as written (null = the page itself). */
  refresh: { seconds: number; url: string | null } | null;
  /** At most 64 KiB. */
  structuredData: string | null;
  charset: string;
  /** Main text as UTF-8 bytes (white space folded). */
  text: Uint8Array;
  /**
   * The text for people, which is stored: in lines, `pre` as it was written, without the signs of permalinks. Made on
   * demand.
   */
  storedText(): Uint8Array;
  wordCount: number;
  /** 64-bit simhash of the main text, as two unsigned 32-bit halves. */
  simhashHigh: number;
  simhashLow: number;
  links: LinkList;
}

export interface ParseInput {
  bytes: Uint8Array;
  length: number;
  /** Content-Type header as sent. */
  contentType: string | null;
  xRobotsTag: string | null;
  /** Product token for agent-specific X-Robots-Tag and meta robots ("sumi-ripple"). */
  agentToken: string;
}

export type PageParser = (input: ParseInput) => ParsedPage;
