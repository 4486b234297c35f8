/**
 * The attributes that the scanner reads, and where their offsets stand while a tag is read. Names are told apart by the
 * hash of `tag-names.ts`, values by their bytes in any case: no string is made.
 */

import { hashName } from './tag-names.ts';

/** Where an attribute's offsets stand in `spans`; name to charset in the order of `metas`. */
export const ATTRIBUTE = {
  name: 0,
  httpEquiv: 2,
  content: 4,
  charset: 6,
  href: 8,
  rel: 10,
  download: 12,
  alt: 14,
  lang: 16,
  encoding: 18,
  font: 20,
} as const;
export const SPAN_COUNT = 22;
/** Numbers a meta: its pairs of offsets from name to charset. */
export const META_WIDTH = 8;

const ATTRIBUTE_NAMES: [string, number][] = [
  ['href', ATTRIBUTE.href],
  ['rel', ATTRIBUTE.rel],
  ['download', ATTRIBUTE.download],
  ['name', ATTRIBUTE.name],
  ['http-equiv', ATTRIBUTE.httpEquiv],
  ['content', ATTRIBUTE.content],
  ['charset', ATTRIBUTE.charset],
  ['alt', ATTRIBUTE.alt],
  ['lang', ATTRIBUTE.lang],
  ['encoding', ATTRIBUTE.encoding],
  ['color', ATTRIBUTE.font],
  ['face', ATTRIBUTE.font],
  ['size', ATTRIBUTE.font],
];
const ATTRIBUTE_HASHES = Int32Array.from(ATTRIBUTE_NAMES, ([name]) => hashName(name));
const ATTRIBUTE_SLOTS = Int8Array.from(ATTRIBUTE_NAMES, ([, slot]) => slot);

/** The slot of an attribute by the hash of its name, -1 for one that nobody asks for. */
export function attributeSlot(hash: number): number {
  for (let i = 0; i < ATTRIBUTE_HASHES.length; i++)
    if (ATTRIBUTE_HASHES[i] === hash) return ATTRIBUTE_SLOTS[i];
  return -1;
}

const TEXT_HTML = Buffer.from('text/html');
const XHTML = Buffer.from('application/xhtml+xml');
const MAIN_VALUE = Buffer.from('main');
export const ROLE_NAME = Buffer.from('role');

/** True when the span is `lower` in any case. */
export function isSameName(bytes: Uint8Array, start: number, end: number, lower: Uint8Array): boolean {
  if (end - start !== lower.length) return false;
  for (let i = 0; i < lower.length; i++) {
    const byte = bytes[start + i];
    if ((byte >= 0x41 && byte <= 0x5a ? byte | 32 : byte) !== lower[i]) return false;
  }
  return true;
}

/** True for the values of encoding that make annotation-xml hold HTML. */
export function isHtmlType(bytes: Uint8Array, start: number, end: number): boolean {
  return isSameName(bytes, start, end, TEXT_HTML) || isSameName(bytes, start, end, XHTML);
}

/** The value as written, with its quotes if it has any. */
export function isMainValue(bytes: Uint8Array, start: number, end: number): boolean {
  const isQuoted = bytes[start] === 0x22 || bytes[start] === 0x27;
  return isSameName(bytes, isQuoted ? start + 1 : start, isQuoted ? end - 1 : end, MAIN_VALUE);
}
