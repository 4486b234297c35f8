/**
 * Makes strings from spans of HTML bytes: titles, headings, anchor texts, attribute values. Called a few times per
 * page, or on demand; the hot path makes no strings. Never changes the bytes that it reads.
 */

import { type Reference, readReference, writeUtf8 } from './character-references.ts';
import { FLAG, TAG_FLAGS, TAG_HASHES } from './tag-names.ts';

export interface TextFolder {
  /** Text without markup (a title): references decoded, white space folded and trimmed. */
  plain(bytes: Uint8Array, start: number, end: number): string;
  /** The same for a piece of HTML: tags and comments are left out, an image counts with its alt text. */
  markup(bytes: Uint8Array, start: number, end: number): string;
  /** An attribute value: references decoded, nothing folded. */
  attribute(bytes: Uint8Array, start: number, end: number): string;
  /** An href: as an attribute, then trimmed, without tabs, newlines and fragment. */
  href(bytes: Uint8Array, start: number, end: number): string;
}

const SPACE = 0x20;
const SLASH = 0x2f;
const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const REPLACEMENT = 0xfffd;

export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b);
}

/** Length of a Unicode space at `at` that HTML does not fold but readers cannot see; 0 for none. */
export function wideSpaceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at];
  if (lead === 0xc2) return bytes[at + 1] === 0xa0 ? 2 : 0;
  if (lead === 0xe3) return bytes[at + 1] === 0x80 && bytes[at + 2] === 0x80 ? 3 : 0;
  if (lead !== 0xe2 || bytes[at + 1] !== 0x80) return 0;
  const last = bytes[at + 2];
  return (last >= 0x80 && last <= 0x8a) || last === 0xa8 || last === 0xa9 || last === 0xaf ? 3 : 0;
}

export function isWideSpace(code: number): boolean {
  return (
    code === 0xa0 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f
  );
}

/** The end of the tag or comment that begins at `at`: the offset after its `>`, quotes respected. */
export function skipTag(bytes: Uint8Array, at: number, end: number): number {
  let p = at + 1;
  if (bytes[p] === 0x21 && bytes[p + 1] === 0x2d && bytes[p + 2] === 0x2d) {
    for (p += 2; p < end; p++) {
      if (bytes[p] === GREATER_THAN && bytes[p - 1] === 0x2d && bytes[p - 2] === 0x2d) return p + 1;
    }
    return end;
  }
  let quote = 0;
  for (; p < end; p++) {
    const byte = bytes[p];
    if (quote !== 0) {
      if (byte === quote) quote = 0;
    } else if ((byte === 0x22 || byte === 0x27) && bytes[p - 1] === 0x3d) {
      quote = byte;
    } else if (byte === GREATER_THAN) {
      return p + 1;
    }
  }
  return end;
}

export function startsTag(bytes: Uint8Array, at: number, end: number): boolean {
  if (at + 1 >= end) return false;
  const next = bytes[at + 1];
  return next === 0x2f || next === 0x21 || next === 0x3f || ((next | 32) >= 0x61 && (next | 32) <= 0x7a);
}

export function nameAt(bytes: Uint8Array, at: number): string {
  let name = '';
  for (let p = at; p < at + 6 && (bytes[p] | 32) >= 0x61 && (bytes[p] | 32) <= 0x7a; p++) {
    name += String.fromCharCode(bytes[p] | 32);
  }
  return name;
}

/** Whether the tag at `at` separates words, as in the page's text: a `<br>`, a block, an unknown element. */
function breaksWord(bytes: Uint8Array, at: number): boolean {
  let p = at + 1;
  if (bytes[p] === SLASH) p++;
  // Comments and the like do not separate words.
  if (bytes[p] === 0x21 || bytes[p] === 0x3f) return false;
  let hash = 0;
  for (; bytes[p] > SPACE && bytes[p] !== GREATER_THAN && bytes[p] !== SLASH; p++)
    hash = (Math.imul(hash, 61) + (bytes[p] | 32)) | 0;
  const id = TAG_HASHES.indexOf(hash);
  return id <= 0 || (TAG_FLAGS[id] & FLAG.inline) === 0;
}

export function createTextFolder(): TextFolder {
  let scratch = Buffer.alloc(4096);
  const reference: Reference = { next: 0, first: 0, second: 0 };

  function reserve(length: number): void {
    if (scratch.length < length * 3 + 16) scratch = Buffer.alloc(length * 4 + 16);
  }

  function attribute(bytes: Uint8Array, start: number, end: number): string {
    reserve(end - start);
    let o = 0;
    for (let p = start; p < end; ) {
      const byte = bytes[p];
      if (byte === 0x26 && readReference(bytes, p, end, true, reference)) {
        o = writeUtf8(scratch, o, reference.first);
        if (reference.second !== 0) o = writeUtf8(scratch, o, reference.second);
        p = reference.next;
      } else if (byte === 0) {
        o = writeUtf8(scratch, o, REPLACEMENT);
        p++;
      } else {
        scratch[o++] = byte;
        p++;
      }
    }
    return scratch.toString('utf8', 0, o);
  }

  function fold(bytes: Uint8Array, start: number, end: number, hasMarkup: boolean): string {
    reserve(end - start);
    let o = 0;
    for (let p = start; p < end; ) {
      const byte = bytes[p];
      const wide = byte >= 0xc2 ? wideSpaceLength(bytes, p) : 0;
      if (isSpace(byte) || wide > 0) {
        if (o > 0 && scratch[o - 1] !== SPACE) scratch[o++] = SPACE;
        p += wide || 1;
      } else if (byte === 0x26 && readReference(bytes, p, end, false, reference)) {
        p = reference.next;
        const code = reference.first;
        if (isSpace(code) || isWideSpace(code)) {
          if (o > 0 && scratch[o - 1] !== SPACE) scratch[o++] = SPACE;
        } else {
          o = writeUtf8(scratch, o, code);
          if (reference.second !== 0) o = writeUtf8(scratch, o, reference.second);
        }
      } else if (hasMarkup && byte === LESS_THAN && startsTag(bytes, p, end)) {
        const next = skipTag(bytes, p, end);
        const name = nameAt(bytes, p + 1);
        if (o > 0 && scratch[o - 1] !== SPACE && breaksWord(bytes, p)) scratch[o++] = SPACE;
        if (name === 'img') o = writeAlt(bytes, p, next, o);
        p = name === 'script' || name === 'style' ? skipRaw(bytes, next, end, name) : next;
      } else if (byte === 0) {
        if (!hasMarkup) o = writeUtf8(scratch, o, REPLACEMENT);
        p++;
      } else {
        scratch[o++] = byte;
        p++;
      }
    }
    if (o > 0 && scratch[o - 1] === SPACE) o--;
    return scratch.toString('utf8', 0, o);
  }

  function skipRaw(bytes: Uint8Array, from: number, end: number, name: string): number {
    for (let p = from; p < end; p++) {
      if (bytes[p] === LESS_THAN && bytes[p + 1] === 0x2f && nameAt(bytes, p + 2) === name) return p;
    }
    return end;
  }

  /** Written into the scratch buffer in place: the alt text is a part of the tag's bytes, so there is enough space. */
  function writeAlt(bytes: Uint8Array, from: number, end: number, at: number): number {
    const tag = Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString('latin1');
    const match = /\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/i.exec(tag);
    if (match === null) return at;
    const value = match[1] ?? match[2] ?? match[3];
    const start = from + match.index + match[0].length - value.length - (match[3] === undefined ? 1 : 0);
    let o = at;
    if (o > 0 && scratch[o - 1] !== SPACE) scratch[o++] = SPACE;
    for (let p = start; p < start + value.length; ) {
      if (bytes[p] === 0x26 && readReference(bytes, p, start + value.length, true, reference)) {
        o = writeUtf8(scratch, o, reference.first);
        p = reference.next;
      } else {
        const byte = bytes[p++];
        if (!isSpace(byte)) scratch[o++] = byte;
        else if (o > 0 && scratch[o - 1] !== SPACE) scratch[o++] = SPACE;
      }
    }
    return o;
  }

  function href(bytes: Uint8Array, start: number, end: number): string {
    const text = attribute(bytes, start, end);
    const hash = text.indexOf('#');
    const cut = hash < 0 ? text : text.slice(0, hash);
    return cut.replace(/[\t\n\r]+/g, '').replace(/^[\0-\x20]+|[\0-\x20]+$/g, '');
  }

  return {
    plain: (bytes, start, end) => fold(bytes, start, end, false),
    markup: (bytes, start, end) => fold(bytes, start, end, true),
    attribute,
    href,
  };
}
