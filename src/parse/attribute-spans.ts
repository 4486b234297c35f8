/**
 * The attributes that the scanner reads, and how their values are compared: byte by byte in any case, without making a
 * string. kernel-layout.ts says where their offsets are.
 */

import * as at from './kernel-layout.ts';
import { buildSlots, hashName } from './tag-names.ts';

/** Numbers per meta: its pairs of offsets from name to charset. */
export const META_WIDTH = 8;

const ATTRIBUTES: [string, number][] = [
  ['', 0],
  ['href', at.HREF],
  ['rel', at.REL],
  ['download', at.DOWNLOAD],
  ['xlink:href', at.XLINK],
  ['src', at.SRC],
  ['name', at.NAME],
  ['http-equiv', at.HTTP_EQUIV],
  ['content', at.CONTENT],
  ['charset', at.CHARSET],
  ['alt', at.ALT],
  ['lang', at.LANG],
  ['encoding', at.ENCODING],
  ['color', at.FONT],
  ['face', at.FONT],
  ['size', at.FONT],
  ['class', at.CLASS],
  ['id', at.ID],
  ['role', at.ROLE],
  ['style', at.STYLE],
  ['hidden', at.HIDDEN],
  ['aria-hidden', at.ARIA_HIDDEN],
  ['open', at.OPEN],
];

/** By slot: the hash of the name, and where its offsets are, or which sign it is. */
export function attributeTable(): { multiplier: number; hashes: Int32Array; spans: Uint8Array } {
  const byIndex = Int32Array.from(ATTRIBUTES, ([name]) => hashName(name));
  const { multiplier, slots } = buildSlots(byIndex, at.ATTRIBUTE_SHIFT);
  return {
    multiplier,
    hashes: Int32Array.from(slots, (index) => byIndex[index]),
    spans: slots.map((index) => ATTRIBUTES[index][1]),
  };
}

const TEXT_HTML = Buffer.from('text/html');
const XHTML = Buffer.from('application/xhtml+xml');

/** True if the span equals `lower` in any case. */
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
