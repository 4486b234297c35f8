/**
 * The header fields that the operator adds to requests: `header`, `cookie` and `auth`. They are secrets: they go to the
 * origins of the start URLs and nowhere else, and nothing here is ever printed or stored but their names.
 */
import { type SumiError, sumiError } from '../errors.ts';

/** By lower-case name, in the order given. */
export type RequestHeaders = ReadonlyMap<string, string>;

export interface HeaderOptions {
  readonly header: readonly string[];
  readonly cookie: string | null;
  readonly auth: string | null;
}

/** What the client writes by itself, and what to use instead. */
const OWNED: Readonly<Record<string, string>> = {
  accept: '--accept-types says what is read',
  'accept-charset': 'the crawler reads every charset',
  'accept-encoding': '--no-compress turns compression off',
  'accept-language': 'use --accept-language',
  connection: '--no-keep-alive closes connections',
  'content-length': 'the crawler sends no body',
  'content-type': 'the crawler sends no body',
  cookie: 'use --cookie',
  expect: 'the crawler sends no body',
  host: 'it is the host of the URL; --resolve connects to another address',
  'http2-settings': 'use --http2',
  'if-match': 'the crawler sends its own conditions (--mode)',
  'if-modified-since': 'the crawler sends its own conditions (--mode)',
  'if-none-match': 'the crawler sends its own conditions (--mode)',
  'if-range': 'the crawler sends its own conditions (--mode)',
  'if-unmodified-since': 'the crawler sends its own conditions (--mode)',
  'keep-alive': '--no-keep-alive closes connections',
  'proxy-authorization': 'put user and password into the URL of --proxy',
  'proxy-connection': 'the crawler manages its connections itself',
  range: 'the crawler reads whole pages',
  te: 'the crawler sends no body',
  trailer: 'the crawler sends no body',
  'transfer-encoding': 'the crawler sends no body',
  upgrade: 'use --http2',
  'user-agent': 'use --user-agent',
};

/** RFC 9110 section 5.1: a token, a colon, then visible ASCII. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([!-~](?:[ -~\t]*[!-~])?)[ \t]*$/;

export function isHeaderLine(text: string): boolean {
  return HEADER.test(text);
}

/** RFC 6265 section 4.2.1, read generously: pairs of visible ASCII. */
export function isCookieText(text: string): boolean {
  return /^[!-~]+=[ -~]*$/.test(text) && !/[ \t]$/.test(text);
}

/** RFC 7617 section 2: neither part has control characters, and the first colon ends the user's name. */
export function isAuthText(text: string): boolean {
  return /^[^:\p{Cc}]*:[^\p{Cc}]*$/u.test(text);
}

/** Throws where two options say the same field, or a field is none of the operator's. */
export function readRequestHeaders(
  { header, cookie, auth }: HeaderOptions,
  placeOf: (option: 'header' | 'auth') => string,
): RequestHeaders {
  const headers = new Map<string, string>();
  for (const line of header) {
    const [, written, value] = HEADER.exec(line)!;
    const name = written.toLowerCase();
    const refuse = (reason: string): SumiError =>
      sumiError('header-refused', { name: written, place: placeOf('header'), reason });
    if (Object.hasOwn(OWNED, name)) throw refuse(OWNED[name]);
    if (headers.has(name)) throw refuse('it is given twice; expected each name once');
    headers.set(name, value);
  }
  if (auth !== null) {
    if (headers.has('authorization')) {
      const reason = '--auth says it too; expected one of them';
      throw sumiError('header-refused', { name: 'Authorization', place: placeOf('auth'), reason });
    }
    headers.set('authorization', basicAuthorization(auth));
  }
  if (cookie !== null) headers.set('cookie', cookie);
  return headers;
}

/** RFC 7617 with its charset, UTF-8. */
export function basicAuthorization(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword, 'utf8').toString('base64')}`;
}
