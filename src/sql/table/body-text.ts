/**
 * Bodies as text: which content types are text, and the text in the encoding by which the page was read. Text begins after
 * its byte order mark; what cannot be decoded becomes U+FFFD. Binary bodies have no text.
 */
import { createUtf8Reader } from '../../parse/charset.ts';
import { essenceOf, matchesMimeType, parseMimeType } from '../../parse/mime-type.ts';

/** All others are binary. */
const TEXT_TYPES: readonly string[] = [
  'text/*',
  '*/*+xml',
  '*/*+json',
  '*/*+yaml',
  'message/*',
  'application/xml',
  'application/xml-dtd',
  'application/json',
  'application/json5',
  'application/json-seq',
  'application/jsonl',
  'application/x-json',
  'application/x-ndjson',
  'application/ndjson',
  'application/javascript',
  'application/x-javascript',
  'application/ecmascript',
  'application/typescript',
  'application/yaml',
  'application/x-yaml',
  'application/toml',
  'application/sql',
  'application/graphql',
  'application/x-sh',
  'application/x-httpd-php',
  'application/x-www-form-urlencoded',
  'application/x-subrip',
  'application/x-tex',
  'application/csv',
  'application/rtf',
];

/** A body without a type is text unless it has a zero byte in its beginning, which no page has. */
const LOOKED_AT_BYTES = 1024;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export interface TypedBody {
  body: Uint8Array;
  contentType: string | null;
  /** The encoding that the parser chose; null where it read nothing. */
  charset: string | null;
}

export type BodyReader = (body: TypedBody) => string | null;

/** The text of a body; null for a binary one. */
export function createBodyReader(): BodyReader {
  const readUtf8 = createUtf8BodyReader();
  return (typed) => {
    const bytes = readUtf8(typed);
    return bytes === null ? null : textOf(bytes);
  };
}

export type Utf8BodyReader = (body: TypedBody) => Uint8Array | null;

/** The same as UTF-8, which need not be valid. The bytes are those of the body, or hold until the next call. */
export function createUtf8BodyReader(): Utf8BodyReader {
  const toUtf8 = createUtf8Reader();
  const isText = createTypeJudge();

  function decode({ body, contentType, charset }: TypedBody): Uint8Array {
    if (charset === 'utf-8') return body;
    const { bytes, length } = toUtf8(
      body,
      body.length,
      contentType === null ? null : parseMimeType(contentType),
    );
    return bytes.subarray(0, length);
  }

  return (typed) => {
    const { body, contentType } = typed;
    const essence = essenceOf(contentType);
    const isReadable =
      essence === null
        ? !body.subarray(0, LOOKED_AT_BYTES).includes(0) || hasWideMark(body)
        : isText(essence);
    if (!isReadable) return null;
    const bytes = decode(typed);
    return BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? bytes.subarray(3) : bytes;
  };
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('utf8');
}

/** UTF-16, where every second byte may be zero. */
function hasWideMark([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Sites send few types, and the same ones again and again. */
function createTypeJudge(): (essence: string) => boolean {
  const judged = new Map<string, boolean>();
  return (essence) => {
    let isText = judged.get(essence);
    if (isText === undefined) {
      isText = TEXT_TYPES.some((pattern) => matchesMimeType(essence, pattern));
      // Types are the sites' words: a site may send a new one with each page.
      if (judged.size > 1000) judged.clear();
      judged.set(essence, isText);
    }
    return isText;
  };
}
