/**
 * Encodes the query of a link as browsers send it: in the charset of the page that has the link. Changes only
 * characters beyond ASCII, and the bytes that the charset makes of them. A character that the charset does not have
 * becomes a numeric reference. The URL parser does the rest. The path is always sent as UTF-8.
 */
import { createRequire } from 'node:module';
import type * as Whatwg from '@exodus/bytes/whatwg.js';

/** Characters that a query may not contain, in ascending order (URL standard, special-query percent-encode set). */
const QUERY_SET = ' "#\'<>';

/** Loaded by the first query that needs it, with the tables of all encodings. */
const load = createRequire(import.meta.url);
let loaded: typeof Whatwg | null = null;
function whatwg(): typeof Whatwg {
  if (loaded === null) {
    load('@exodus/bytes/encoding.js');
    loaded = load('@exodus/bytes/whatwg.js') as typeof Whatwg;
  }
  return loaded;
}

/** The charset for the queries of a page's links; null for UTF-8, which the URL parser handles itself. */
export function queryCharset(charset: string): string | null {
  return charset === 'utf-8' || charset === 'replacement' || charset.startsWith('utf-16') ? null : charset;
}

/** `href` without its fragment. */
export function encodeQuery(href: string, charset: string): string {
  const at = href.indexOf('?') + 1;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant.
  if (at === 0 || /^[\x00-\x7f]*$/.test(href.slice(at))) return href;
  return href.slice(0, at) + whatwg().percentEncodeAfterEncoding(charset, href.slice(at), QUERY_SET);
}
