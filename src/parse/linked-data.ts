/**
 * JSON-LD: finds its script elements among all scripts, and joins their content into one text. Microdata and RDFa are
 * not read: they are spread over the markup, and the page's text has what they say.
 */

import { isSameName } from './attribute-spans.ts';
import { isSpace } from './fold-text.ts';

/** The most bytes that are kept of a page's JSON-LD. */
export const MOST_LINKED_DATA_BYTES = 65_536;

/** `<script type=application/ld+json>`: a shorter start tag cannot be one. */
const SHORTEST_TAG = 33;

const TYPE_NAME = Buffer.from('type');
const LINKED_DATA = Buffer.from('application/ld+json');
const GT = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const SEMICOLON = 0x3b;

/** Adds the span of a script's content if it is JSON-LD. The start tag is from `tagStart` to `after`. */
export function noteLinkedData(
  spans: number[],
  bytes: Uint8Array,
  tagStart: number,
  after: number,
  end: number,
): void {
  // Scripts with a src are empty, and most others have a short tag, so few need a closer check.
  if (end === after || after - tagStart < SHORTEST_TAG) return;
  if (isLinkedData(bytes, tagStart, after)) spans.push(after, end);
}

/** The first `type` among the attributes decides. */
function isLinkedData(bytes: Uint8Array, tagStart: number, after: number): boolean {
  const end = after - 1;
  let p = tagStart + '<script'.length;
  while (p < end) {
    if (isSpace(bytes[p]) || bytes[p] === SLASH) {
      p++;
      continue;
    }
    const nameStart = p++;
    while (p < end && !isSpace(bytes[p]) && bytes[p] !== SLASH && bytes[p] !== EQUALS) p++;
    const nameEnd = p;
    while (isSpace(bytes[p])) p++;
    if (bytes[p] !== EQUALS) continue;
    do p++;
    while (isSpace(bytes[p]));
    const quote = bytes[p];
    const isQuoted = quote === 0x22 || quote === 0x27;
    if (isQuoted) p++;
    const valueStart = p;
    while (p < end && (isQuoted ? bytes[p] !== quote : !isSpace(bytes[p]) && bytes[p] !== GT)) p++;
    if (isSameName(bytes, nameStart, nameEnd, TYPE_NAME)) return isLinkedDataType(bytes, valueStart, p);
    p++;
  }
  return false;
}

/** White space around it and parameters after it do not matter. */
function isLinkedDataType(bytes: Uint8Array, from: number, to: number): boolean {
  let start = from;
  while (start < to && isSpace(bytes[start])) start++;
  let end = start;
  while (end < to && bytes[end] !== SEMICOLON && !isSpace(bytes[end])) end++;
  return isSameName(bytes, start, end, LINKED_DATA);
}

/**
 * The blocks as written, trimmed, one per line. Line ends inside a block, which mean nothing in JSON, become spaces.
 */
export function joinLinkedData(bytes: Uint8Array, spans: readonly number[]): string | null {
  const blocks: string[] = [];
  let room = MOST_LINKED_DATA_BYTES;
  for (let i = 0; i < spans.length && room > 0; i += 2) {
    const start = spans[i];
    const end = start + Math.min(spans[i + 1] - start, room);
    room -= end - start;
    // The limit may cut inside a character.
    let last = end;
    if (end < spans[i + 1]) while (last > start && (bytes[last] & 0xc0) === 0x80) last--;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, last - start).toString('utf8');
    // NUL as HTML has it in scripts, and as databases keep it.
    const block = text
      .replaceAll('\0', '\ufffd')
      .replace(/\s*[\r\n]\s*/g, ' ')
      .trim();
    if (block !== '') blocks.push(block);
  }
  return blocks.length === 0 ? null : blocks.join('\n');
}
