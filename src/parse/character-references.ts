/**
 * Decodes one HTML character reference (`&amp;`, `&#233;`, `&notin`) by the HTML standard, section 13.2.5.72 and
 * following. Promises the same characters as a browser, in text and in attribute values, where a name without its
 * semicolon before `=`, a letter or a digit stays as written.
 */

import { LEGACY_NAMES, NAMED_CHARACTERS } from './named-characters.ts';

export interface Reference {
  /** Where reading continues. */
  next: number;
  first: number;
  /** A few names stand for two characters; 0 for none. */
  second: number;
}

/** Code points 0x80-0x9f of a numeric reference, and these bytes in windows-1252. 0: unchanged. */
export const WINDOWS_1252_HIGH = Uint16Array.of(
  ...[
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017d, 0,
  ],
  ...[
    0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,
    0x017e,
  ],
  0x0178,
);

const LONGEST_NAME = 31;
const LONGEST_LEGACY_NAME = 6;

let characters: Map<string, number[]> | null = null;
let legacy: Set<string> | null = null;

function namedCharacters(): Map<string, number[]> {
  if (characters === null) {
    characters = new Map();
    for (const entry of NAMED_CHARACTERS.trim().split(/\s+/)) {
      const [name, codes] = entry.split(':');
      characters.set(
        name,
        codes.split('+').map((code) => Number.parseInt(code, 16)),
      );
    }
    legacy = new Set(LEGACY_NAMES.trim().split(/\s+/));
  }
  return characters;
}

function isAlphanumeric(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 32) >= 0x61 && (byte | 32) <= 0x7a);
}

/** Reads the reference whose `&` is at `at`. False if it is only an ampersand. */
export function readReference(
  bytes: Uint8Array,
  at: number,
  end: number,
  isInAttribute: boolean,
  into: Reference,
): boolean {
  if (at + 1 >= end) return false;
  return bytes[at + 1] === 0x23
    ? readNumeric(bytes, at + 2, end, into)
    : readNamed(bytes, at + 1, end, isInAttribute, into);
}

function readNumeric(bytes: Uint8Array, from: number, end: number, into: Reference): boolean {
  let p = from;
  const isHex = p < end && (bytes[p] | 32) === 0x78;
  if (isHex) p++;
  const digitsFrom = p;
  let code = 0;
  for (; p < end; p++) {
    const byte = bytes[p];
    let digit = -1;
    if (byte >= 0x30 && byte <= 0x39) digit = byte - 0x30;
    else if (isHex && (byte | 32) >= 0x61 && (byte | 32) <= 0x66) digit = (byte | 32) - 0x57;
    if (digit < 0) break;
    code = Math.min(code * (isHex ? 16 : 10) + digit, 0x110000);
  }
  if (p === digitsFrom) return false;
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) code = 0xfffd;
  else if (code >= 0x80 && code <= 0x9f) code = WINDOWS_1252_HIGH[code - 0x80] || code;
  into.next = p < end && bytes[p] === 0x3b ? p + 1 : p;
  into.first = code;
  into.second = 0;
  return true;
}

function readNamed(
  bytes: Uint8Array,
  from: number,
  end: number,
  isInAttribute: boolean,
  into: Reference,
): boolean {
  let p = from;
  const limit = Math.min(end, from + LONGEST_NAME + 1);
  while (p < limit && isAlphanumeric(bytes[p])) p++;
  if (p === from) return false;
  let name = '';
  for (let i = from; i < p; i++) name += String.fromCharCode(bytes[i]);
  const table = namedCharacters();
  let codes = p < end && bytes[p] === 0x3b ? table.get(name) : undefined;
  if (codes !== undefined) {
    into.next = p + 1;
  } else {
    let length = Math.min(name.length, LONGEST_LEGACY_NAME);
    while (length > 1 && !legacy!.has(name.slice(0, length))) length--;
    if (length < 2) return false;
    const next = from + length;
    if (isInAttribute && next < end && (bytes[next] === 0x3d || isAlphanumeric(bytes[next]))) return false;
    codes = table.get(name.slice(0, length))!;
    into.next = next < end && bytes[next] === 0x3b ? next + 1 : next;
  }
  into.first = codes[0];
  into.second = codes.length > 1 ? codes[1] : 0;
  return true;
}

/** Writes a code point as UTF-8 and returns the next free offset. */
export function writeUtf8(out: Uint8Array, at: number, code: number): number {
  let o = at;
  if (code < 0x80) {
    out[o++] = code;
  } else if (code < 0x800) {
    out[o++] = 0xc0 | (code >> 6);
    out[o++] = 0x80 | (code & 63);
  } else if (code < 0x10000) {
    out[o++] = 0xe0 | (code >> 12);
    out[o++] = 0x80 | ((code >> 6) & 63);
    out[o++] = 0x80 | (code & 63);
  } else {
    out[o++] = 0xf0 | (code >> 18);
    out[o++] = 0x80 | ((code >> 12) & 63);
    out[o++] = 0x80 | ((code >> 6) & 63);
    out[o++] = 0x80 | (code & 63);
  }
  return o;
}
