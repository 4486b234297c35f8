/**
 * Decides the character encoding of a body and gives its bytes as valid UTF-8 with a 0 after them. A body in UTF-8 or
 * ASCII with that 0 in place is returned as it is. Any other is rewritten once into a buffer that is reused. The order:
 * byte order mark, Content-Type, meta or XML declaration. Without any of these: UTF-8 if the body is valid UTF-8 (as
 * its author sees it in a browser that guesses), otherwise windows-1252.
 */

import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type * as EncodingSniffer from 'encoding-sniffer';
import { WINDOWS_1252_HIGH, writeUtf8 } from './character-references.ts';
import type { MimeType } from './mime-type.ts';

/** The standard allows a parser to stop at 1024 bytes. Browsers also obey a later declaration. */
const PRESCAN_BYTES = 16_384;
const UNKNOWN = 'windows-1252';
/**
 * The Encoding standard's result for labels that are not safe to decode any more, such as iso-2022-kr and hz-gb-2312.
 */
const REPLACEMENT = 'replacement';

/**
 * Loaded by the first page that needs it: its tables would cost every start of the program 20 ms, and most pages are
 * UTF-8.
 */
const load = createRequire(import.meta.url);
let loaded: typeof EncodingSniffer | null = null;
function sniffer(): typeof EncodingSniffer {
  loaded ??= load('encoding-sniffer') as typeof EncodingSniffer;
  return loaded;
}

function withoutCopy(bytes: Uint8Array, length: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, length);
}

/** The encoding's name in lower case for a label such as `latin1`; null if there is none. */
export function encodingOfLabel(label: string): string | null {
  const clean = label.trim().toLowerCase();
  if (clean === '') return null;
  if (clean === 'utf-8' || clean === 'utf8') return 'utf-8';
  // An unknown label leaves the default in place. Two different defaults show which case it is.
  const empty = new Uint8Array(0);
  const name = sniffer().getEncoding(empty, { userEncoding: clean, defaultEncoding: 'utf-8' }).toLowerCase();
  if (name !== 'utf-8') return name;
  return sniffer().getEncoding(empty, { userEncoding: clean, defaultEncoding: 'koi8-r' }).toLowerCase() ===
    'utf-8'
    ? name
    : null;
}

/** The encoding that a Content-Type names. */
export function charsetOfMimeType(type: MimeType | null): string | null {
  const label = type?.parameters.get('charset');
  return label === undefined ? null : encodingOfLabel(label);
}

/** The encoding by byte order mark or declaration inside the body; windows-1252 if nothing is declared. */
export function prescanCharset(bytes: Uint8Array, length: number): string {
  return sniffer()
    .getEncoding(withoutCopy(bytes, Math.min(length, PRESCAN_BYTES)), {
      maxBytes: PRESCAN_BYTES,
    })
    .toLowerCase();
}

/**
 * A charset that is given and is not UTF-8. The word alone, for example in a title, declares nothing. A regular
 * expression, because V8 runs it at full speed from the first page on.
 */
const OTHER_CHARSET = /charset[\0-\x20]*=[\0-\x20"']*(?![\0-\x20"']|utf-?8)/i;

/** False if the first bytes cannot declare anything but UTF-8. Saves the prescan of nearly every page. */
function mayDeclareOther(bytes: Uint8Array, length: number): boolean {
  if (bytes[0] === 0x3c && bytes[1] === 0x3f) return true;
  return OTHER_CHARSET.test(withoutCopy(bytes, Math.min(length, 1024)).toString('latin1'));
}

const ESCAPE = 0x1b;
const DOLLAR = 0x24;

/** Whether the bytes, all ASCII, contain the escape sequence by which ISO-2022-JP switches to its own characters. */
function shiftsToJapanese(bytes: Uint8Array, length: number): boolean {
  const body = withoutCopy(bytes, length);
  for (let p = body.indexOf(ESCAPE); p !== -1 && p + 2 < length; p = body.indexOf(ESCAPE, p + 1))
    if (bytes[p + 1] === DOLLAR && (bytes[p + 2] === 0x40 || bytes[p + 2] === 0x42)) return true;
  return false;
}

/** What the body declares, perhaps late; ISO-2022-JP if it declares nothing. */
function declaredOrJapanese(bytes: Uint8Array, length: number): string {
  const head = withoutCopy(bytes, Math.min(length, PRESCAN_BYTES));
  return sniffer()
    .getEncoding(head, { maxBytes: PRESCAN_BYTES, defaultEncoding: 'iso-2022-jp' })
    .toLowerCase();
}

/** The encoding of the body, lower case. `isValid`: the bytes are valid UTF-8. */
export function decideCharset(
  bytes: Uint8Array,
  length: number,
  contentType: MimeType | null,
  isValid: boolean,
): string {
  if (length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (length >= 2 && bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (length >= 2 && bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  const declared = charsetOfMimeType(contentType);
  if (declared !== null) return declared;
  if (isValid && !mayDeclareOther(bytes, length))
    return shiftsToJapanese(bytes, length) ? declaredOrJapanese(bytes, length) : 'utf-8';
  const inside = prescanCharset(bytes, length);
  return inside === UNKNOWN && isValid && !declaresUnknown(bytes, length) ? 'utf-8' : inside;
}

/** Whether windows-1252 was declared and not only assumed: then another default does not change the result. */
function declaresUnknown(bytes: Uint8Array, length: number): boolean {
  const head = withoutCopy(bytes, Math.min(length, PRESCAN_BYTES));
  return (
    sniffer().getEncoding(head, { maxBytes: PRESCAN_BYTES, defaultEncoding: 'koi8-r' }).toLowerCase() ===
    UNKNOWN
  );
}

export interface Utf8Body {
  bytes: Uint8Array;
  length: number;
  charset: string;
}

export type Utf8Reader = (bytes: Uint8Array, length: number, contentType: MimeType | null) => Utf8Body;

function decode(bytes: Buffer, charset: string): string {
  if (charset === 'utf-8') return bytes.toString('utf8');
  // One error instead of the whole body, because its decoder ends at the first byte.
  if (charset === REPLACEMENT) return bytes.length === 0 ? '' : '\ufffd';
  return sniffer().decodeBuffer(bytes, { userEncoding: charset });
}

export function createUtf8Reader(): Utf8Reader {
  let buffer = new Uint8Array(1 << 16);
  const body: Utf8Body = { bytes: buffer, length: 0, charset: 'utf-8' };
  const encoder = new TextEncoder();

  function reserve(length: number): void {
    if (buffer.length < length + 1) buffer = new Uint8Array(length + (length >> 1) + 1);
  }

  function copyWindows1252(bytes: Uint8Array, length: number): number {
    reserve(length * 3);
    let o = 0;
    for (let p = 0; p < length; p++) {
      const byte = bytes[p];
      if (byte < 0x80) buffer[o++] = byte;
      else o = writeUtf8(buffer, o, byte < 0xa0 ? WINDOWS_1252_HIGH[byte - 0x80] || byte : byte);
    }
    return o;
  }

  function copyDecoded(bytes: Uint8Array, length: number, charset: string): number {
    const text = decode(withoutCopy(bytes, length), charset);
    reserve(text.length * 3);
    return encoder.encodeInto(text, buffer).written;
  }

  return (bytes, length, contentType) => {
    const isValid = isUtf8(withoutCopy(bytes, length));
    body.charset = decideCharset(bytes, length, contentType, isValid);
    if (body.charset === 'utf-8' && isValid) {
      if (length < bytes.length && bytes[length] === 0) {
        body.bytes = bytes;
        body.length = length;
        return body;
      }
      reserve(length);
      buffer.set(length === bytes.length ? bytes : bytes.subarray(0, length));
      body.length = length;
    } else if (body.charset === UNKNOWN) {
      body.length = copyWindows1252(bytes, length);
    } else {
      body.length = copyDecoded(bytes, length, body.charset);
    }
    buffer[body.length] = 0;
    body.bytes = buffer;
    return body;
  };
}
