/**
 * Text of an XML document, from UTF-8 bytes. Knows the five entities that XML defines, and character references. Never
 * replaces an entity that a document declares: it stays as written, so that neither a file nor a million copies of a
 * word can come from it.
 */
import { isUtf8 } from 'node:buffer';

const REFERENCE = /&(?:#[xX]([0-9A-Fa-f]{1,8})|#(\d{1,8})|(amp|lt|gt|quot|apos));/g;
const OTHER_REFERENCE = /&(?!amp;)/;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const UNPLAIN = /[&\x80-\xff]/;
const NOT_ASCII = /[\x80-\xff]/;
/** Without the encoding lookup of toString. */
type Latin1 = Buffer & { latin1Slice(start: number, end: number): string };

/** Text of plain bytes, as a string of its own and not a part of a longer one. */
export function ownText(bytes: Buffer, start: number, end: number): string {
  return (bytes as Latin1).latin1Slice(start, end);
}

/**
 * Text between two positions, white space at both ends left out. `onBadBytes` is called for bytes that are no UTF-8.
 */
export function textBetween(
  bytes: Buffer,
  from: number,
  to: number,
  hasReferences: boolean,
  onBadBytes: () => void,
): string {
  let start = from;
  let end = to;
  while (start < end && bytes[start] <= 0x20) start++;
  while (end > start && bytes[end - 1] <= 0x20) end--;
  if (start === end) return '';
  let text = ownText(bytes, start, end);
  // Almost every text is plain: one test decides, in code that is fast from the first call on.
  if (!UNPLAIN.test(text)) return text;
  if (NOT_ASCII.test(text)) {
    const isWellFormed = isUtf8(bytes.subarray(start, end));
    if (isWellFormed) text = bytes.toString('utf8', start, end);
    else onBadBytes();
  }
  if (hasReferences && text.includes('&')) text = resolveReferences(text);
  return text.trim();
}

/** URLs have hardly any reference but `&amp;`. */
function resolveReferences(text: string): string {
  return OTHER_REFERENCE.test(text)
    ? text.replace(REFERENCE, resolveReference)
    : text.replaceAll('&amp;', '&');
}

function resolveReference(whole: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name];
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)
    ? whole
    : String.fromCodePoint(code);
}

/** The value of an attribute in the bytes of a start tag, after its name; null if it is missing. */
export function attributeOf(bytes: Buffer, from: number, to: number, name: string): string | null {
  for (let i = from; i < to; ) {
    while (i < to && (bytes[i] <= 0x20 || bytes[i] === 0x2f)) i++;
    const nameStart = i;
    while (i < to && bytes[i] > 0x20 && bytes[i] !== 0x3d) i++;
    const nameEnd = i;
    while (i < to && bytes[i] <= 0x20) i++;
    if (bytes[i] !== 0x3d || i >= to) {
      if (i === nameStart) return null;
      continue;
    }
    i++;
    while (i < to && bytes[i] <= 0x20) i++;
    const quote = bytes[i];
    const isQuoted = quote === 0x22 || quote === 0x27;
    const start = isQuoted ? i + 1 : i;
    let end = start;
    while (end < to && (isQuoted ? bytes[end] !== quote : bytes[end] > 0x20)) end++;
    i = isQuoted ? end + 1 : end;
    if (isNamed(bytes, nameStart, nameEnd, name)) return textBetween(bytes, start, end, true, () => {});
  }
  return null;
}

function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false;
  return true;
}

const MOST_REPEATED_BYTES = 32;

/** A text that is often repeated, such as `weekly` in a sitemap: made once while it stays the same. */
export class RepeatedText {
  private readonly bytes = Buffer.alloc(MOST_REPEATED_BYTES);
  private length = -1;
  private text = '';

  between(bytes: Buffer, start: number, end: number, onBadBytes: () => void): string {
    const length = end - start;
    if (length > MOST_REPEATED_BYTES) return textBetween(bytes, start, end, true, onBadBytes);
    let i = length === this.length ? 0 : -1;
    while (i >= 0 && i < length && bytes[start + i] === this.bytes[i]) i++;
    if (i === length) return this.text;
    this.text = textBetween(bytes, start, end, true, onBadBytes);
    for (let j = 0; j < length; j++) this.bytes[j] = bytes[start + j];
    this.length = length;
    return this.text;
  }
}
