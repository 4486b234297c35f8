/**
 * Where the body of an HTTP/1.1 answer ends (RFC 9112 section 6.3), and whether its connection may be reused. Strict if
 * two readers could disagree about the end, lenient if an answer is only untidy: contradicting lengths and unknown
 * transfer codings are problems; a length that is not a number counts as no length.
 */
import type { ResponseHead } from './fetcher.ts';
import type { Http1Framing } from './http1-head.ts';

export type BodyEnd = 'none' | 'length' | 'chunks' | 'close';

export interface Framing {
  end: BodyEnd;
  /** For `length`. */
  length: number;
  /** By its head, the server allows to reuse the connection. */
  isReusable: boolean;
  /** How long the server keeps an idle connection open, in seconds; null if it does not say. */
  idleSeconds: number | null;
}

/** Fills `framing` and the head's content length, or returns the problem. */
export function decideFraming(
  framing: Framing,
  head: ResponseHead,
  said: Readonly<Http1Framing>,
  method: string,
): string | null {
  const length = said.contentLength === null ? null : readLength(said.contentLength);
  const codings = said.transferEncoding === null ? [] : codingsIn(said.transferEncoding);
  framing.isReusable = keepsAlive(said.connection, said.minorVersion);
  framing.idleSeconds = said.keepAlive === null ? null : readIdleSeconds(said.keepAlive);
  framing.length = 0;
  if (codings.length > 0) {
    // A careless proxy may repeat it; it is still applied once.
    if (codings.some((coding) => coding !== 'chunked')) return `transfer coding ${said.transferEncoding}`;
    // RFC 9112 section 6.1: with both, an intermediary may have seen another end.
    if (said.contentLength !== null || said.minorVersion === 0) framing.isReusable = false;
  } else if (length === CONFLICT) {
    return `content lengths ${said.contentLength}`;
  } else head.contentLength = length;
  if (method === 'HEAD' || head.status === 204 || head.status === 304) framing.end = 'none';
  else if (codings.length > 0) framing.end = 'chunks';
  else if (length !== null) {
    framing.end = length === 0 ? 'none' : 'length';
    framing.length = length;
  } else {
    framing.end = 'close';
    framing.isReusable = false;
  }
  return null;
}

const CONFLICT = -1;

/**
 * One number, also if it is repeated. Null if it is no number. CONFLICT for several numbers, or one beyond all limits.
 */
function readLength(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const parts = text.split(',').map((part) => part.trim());
  if (parts.some((part) => part !== parts[0])) return CONFLICT;
  if (!/^\d+$/.test(parts[0])) return null;
  const length = Number(parts[0]);
  return Number.isSafeInteger(length) ? length : CONFLICT;
}

function codingsIn(text: string): string[] {
  if (text === 'chunked') return CHUNKED;
  return wordsOf(text).filter((coding) => coding !== 'identity');
}

const CHUNKED = ['chunked'];

function keepsAlive(connection: string | null, minorVersion: number): boolean {
  if (connection === null) return minorVersion === 1;
  if (connection === 'keep-alive') return true;
  const words = wordsOf(connection);
  return !words.includes('close') && (minorVersion === 1 || words.includes('keep-alive'));
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

let lastKeepAlive = '';
let lastIdleSeconds: number | null = null;

function readIdleSeconds(text: string): number | null {
  // A server sends the same value with every answer.
  if (text !== lastKeepAlive) {
    const found = /(?:^|[,;\s])timeout\s*=\s*"?(\d{1,9})/i.exec(text);
    lastIdleSeconds = found === null ? null : Number(found[1]);
    lastKeepAlive = text;
  }
  return lastIdleSeconds;
}
