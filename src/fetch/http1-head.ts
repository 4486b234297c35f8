/**
 * Reads the head of an HTTP/1.x answer directly from its bytes: the fields that the crawler uses, and those that give
 * the length of the body and say whether the connection may be reused. Other fields never become strings, unless the
 * reader keeps all of them. Values are
 * latin1 (RFC 9110 section 5.5; for Location and Link see header-url.ts). Repeated values are joined by ", " (of
 * Location the first counts); folded lines are joined. A line without a colon, or with more than the bare name before
 * it (spaces, too), is no field and is ignored. If that line was a length, the body ends with the connection, which is
 * then not reused.
 */
import type { HeaderField, ResponseHead } from './fetcher.ts';
import { headerUrl } from './header-url.ts';

/** The places in `values`. Location has its own, because its repetitions are dropped. */
const CONTENT_LENGTH = 0;
const TRANSFER_ENCODING = 1;
const CONNECTION = 2;
const KEEP_ALIVE = 3;
const LOCATION = 4;
const LINK = 13;
const SLOTS = [
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'location',
  'content-type',
  'content-encoding',
  'etag',
  'last-modified',
  'cache-control',
  'retry-after',
  'date',
  'expires',
  'link',
  'x-robots-tag',
  'age',
];

/** By length of the name first: this decides most fields of an answer without reading a letter. */
const slotsByLength: { name: Buffer; slot: number }[][] = [];
for (const [slot, name] of SLOTS.entries()) {
  slotsByLength[name.length] ??= [];
  slotsByLength[name.length].push({ name: Buffer.from(name), slot });
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const ZERO = 48;
const COLON = 58;

/** A table, because a function call per letter costs more than everything else about a name. */
const LOWER_CASE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 65 && byte <= 90 ? byte | 0x20 : byte,
);

/** Node's internal slicing method. toString calls it after checks that cost as much again. */
type Latin1 = Buffer & { latin1Slice(start: number, end: number): string };

/** What the last head said about its body and its connection. */
export interface Http1Framing {
  minorVersion: number;
  contentLength: string | null;
  transferEncoding: string | null;
  connection: string | null;
  keepAlive: string | null;
}

export interface Http1HeadReader {
  /**
   * Reads a whole head, from the status line to the empty line; null if there is no valid status line. `isUntidy` says
   * that there are folded lines or stray carriage returns. The framing decides `contentLength` later.
   */
  read(bytes: Buffer, start: number, isUntidy: boolean): ResponseHead | null;
  readonly framing: Readonly<Http1Framing>;
}

/** One reader serves every connection of a fetcher. It keeps only the framing of the last head. */
export function createHttp1HeadReader(keepsFields = false): Http1HeadReader {
  const values: (string | null)[] = SLOTS.map(() => null);
  const framing: Http1Framing = {
    minorVersion: 1,
    contentLength: null,
    transferEncoding: null,
    connection: null,
    keepAlive: null,
  };

  function readFields(bytes: Buffer, start: number, isUntidy: boolean): void {
    let at = start;
    while (!isLineBreak(bytes, at)) {
      let colon = at;
      while (bytes[colon] !== COLON && bytes[colon] !== LF) colon += 1;
      const end = endOfLine(bytes, colon, isUntidy);
      const slot = bytes[colon] === COLON ? slotNamed(bytes, at, colon) : -1;
      if (slot >= 0) {
        const value = valueBetween(bytes, colon + 1, end, isUntidy);
        const before = values[slot];
        if (before === null) values[slot] = value;
        else if (slot !== LOCATION) values[slot] = `${before}, ${value}`;
      }
      at = end + 1;
    }
  }

  return {
    framing,
    read(bytes, start, isUntidy) {
      const status = readStatus(bytes, start);
      if (status < 0) return null;
      values.fill(null);
      readFields(bytes, endOfLine(bytes, start, isUntidy) + 1, isUntidy);
      framing.minorVersion = bytes[start + 7] - ZERO;
      framing.contentLength = values[CONTENT_LENGTH];
      framing.transferEncoding = values[TRANSFER_ENCODING];
      framing.connection = values[CONNECTION];
      framing.keepAlive = values[KEEP_ALIVE];
      return {
        status,
        contentType: values[5],
        contentLength: null,
        contentEncoding: values[6],
        location: values[LOCATION] === null ? null : headerUrl(values[LOCATION]),
        etag: values[7],
        lastModified: values[8],
        cacheControl: values[9],
        retryAfter: values[10],
        date: values[11],
        expires: values[12],
        age: values[15],
        link: values[LINK] === null ? null : headerUrl(values[LINK]),
        xRobotsTag: values[14],
        fields: keepsFields ? allFields(bytes, start, isUntidy) : null,
      };
    },
  };
}

/** A second reading, so that the first costs nothing more. */
function allFields(bytes: Buffer, start: number, isUntidy: boolean): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let at = endOfLine(bytes, start, isUntidy) + 1; !isLineBreak(bytes, at); ) {
    let colon = at;
    while (bytes[colon] !== COLON && bytes[colon] !== LF) colon += 1;
    const end = endOfLine(bytes, colon, isUntidy);
    if (bytes[colon] === COLON) {
      const name = (bytes as Latin1).latin1Slice(at, colon);
      if (FIELD_NAME.test(name))
        fields.push([name.toLowerCase(), valueBetween(bytes, colon + 1, end, isUntidy)]);
    }
    at = end + 1;
  }
  return fields;
}

const FIELD_NAME = /^[\w!#$%&'*+\-.^`|~]+$/;

const STATUS_START = Buffer.from('HTTP/1.');

/** Whether the available bytes are the beginning of a status line. */
export function beginsLikeStatus(bytes: Buffer, start: number, end: number): boolean {
  const most = Math.min(end - start, STATUS_START.length);
  for (let at = 0; at < most; at += 1) if (bytes[start + at] !== STATUS_START[at]) return false;
  return true;
}

/** The three digits of `HTTP/1.x ddd reason`; reason and the space before it may be missing. Otherwise -1. */
function readStatus(bytes: Buffer, start: number): number {
  // The head ends in an empty line, so a short line stops at its LF and never runs past the end.
  if (!beginsLikeStatus(bytes, start, start + STATUS_START.length)) return -1;
  const minor = bytes[start + 7] - ZERO;
  let at = start + 8;
  if ((minor !== 0 && minor !== 1) || bytes[at] !== SPACE) return -1;
  while (bytes[at] === SPACE) at += 1;
  let status = 0;
  for (let digits = 0; digits < 3; digits += 1, at += 1) {
    const digit = bytes[at] - ZERO;
    if (!(digit >= 0 && digit <= 9)) return -1;
    status = status * 10 + digit;
  }
  const next = bytes[at];
  const ends = next === SPACE || next === CR || next === LF || next === TAB;
  return ends && status >= 100 ? status : -1;
}

function isLineBreak(bytes: Buffer, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF);
}

/**
 * The method of the plain array. Buffer's own also searches texts, and for a near byte its checks cost more than the
 * search.
 */
const indexOfByte = Uint8Array.prototype.indexOf;

/** The LF that ends the line, folded lines (RFC 9112 section 5.2) included. */
function endOfLine(bytes: Buffer, from: number, isUntidy: boolean): number {
  let at = indexOfByte.call(bytes, LF, from);
  while (isUntidy && (bytes[at + 1] === SPACE || bytes[at + 1] === TAB))
    at = indexOfByte.call(bytes, LF, at + 1);
  return at;
}

function valueBetween(bytes: Buffer, from: number, to: number, isUntidy: boolean): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(bytes[start])) start += 1;
  while (end > start && isBlank(bytes[end - 1])) end -= 1;
  const value = (bytes as Latin1).latin1Slice(start, end);
  return isUntidy ? value.replace(/[ \t]*[\r\n][ \t\r\n]*/g, ' ') : value;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF;
}

function slotNamed(bytes: Buffer, start: number, end: number): number {
  const candidates = slotsByLength[end - start];
  if (candidates === undefined) return -1;
  // An index loop: until V8 optimizes it, a loop over the elements costs ten times as much.
  for (let i = 0; i < candidates.length; i++) {
    const { name, slot } = candidates[i];
    let at = 0;
    while (at < name.length && LOWER_CASE[bytes[start + at]] === name[at]) at += 1;
    if (at === name.length) return slot;
  }
  return -1;
}
