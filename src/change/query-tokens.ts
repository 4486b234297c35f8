/**
 * Recognizes tokens in URLs: session ids, nonces, time stamps and cache busters are new in every answer, so a link that
 * differs only in these is the same link. The name of a parameter decides, because a value that looks generated may
 * select content (`?v=dQw4w9WgXcQ`, `?product=` and a UUID). The look of the value decides only for names with both
 * uses.
 */

/** Tokens, whatever their value is. */
const TOKEN_NAMES: ReadonlySet<string> = new Set([
  ...['_', '__', 'cb', 'cache', 'cachebust', 'cachebuster', 'nocache', 'no_cache', 'bust', 'buster'],
  ...['rand', 'random', 'rnd', 'ts', 'timestamp', '_t', '_ts', 'ver'],
  ...['sid', 'cfid', 'cftoken', 'jsessionid', 'phpsessid', 'aspsessionid', 'zenid', 'oscsid'],
  ...['sig', 'x-amz-date', 'x-amz-expires', 'x-amz-credential'],
  ...['x-goog-date', 'x-goog-expires', 'x-goog-credential'],
  ...[
    'fbclid',
    'gclid',
    'dclid',
    'gbraid',
    'wbraid',
    'msclkid',
    'yclid',
    'twclid',
    'ttclid',
    '_ga',
    '_gl',
    'mc_eid',
  ],
]);
/** In names that sites invent: `csrf_token`, `wp_nonce`, `X-Amz-Signature`. */
const TOKEN_WORDS = /csrf|xsrf|token|nonce|session|sessid|sess_id|signature|hmac|^utm_/;

/** Tokens on some sites, content on others. */
const AMBIGUOUS_NAMES: ReadonlySet<string> = new Set([
  ...['at', 't', 'time', 'exp', 'expires', 'h', 'hash', 'k', 'key', 'auth', 'r', 'rev', 's', 'state'],
]);

/** The terms of a signature beside it: from when, until when, by which policy (Azure, CloudFront). */
const SIGNED_NAMES: ReadonlySet<string> = new Set(['st', 'se', 'skt', 'ske', 'expires', 'exp', 'policy']);
const SIGNATURE = /^sig$|signature|hmac/;

function isToken(name: string, value: string, isSigned: boolean): boolean {
  const lower = name.toLowerCase();
  if (TOKEN_NAMES.has(lower) || TOKEN_WORDS.test(lower)) return true;
  return (AMBIGUOUS_NAMES.has(lower) && looksMade(value)) || (isSigned && SIGNED_NAMES.has(lower));
}

/** A time in seconds or milliseconds, or a mix of small letters, capitals and digits that no phrase has. */
function looksMade(value: string): boolean {
  if (/^\d+$/.test(value)) return value.length >= 10;
  if (value.length < 8 || /[\s/:]/.test(value)) return false;
  const turns = value.replace(/[-_.~=+]/g, '').match(/[a-z]+|[A-Z]+|\d+/g);
  return turns !== null && turns.length > 3 && /\d/.test(value);
}

/** The URL with a star for every token, and for the parameter `token`. Equal texts mean the same link. */
export function comparable(url: string, token: string | null = null): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const plain = path.includes(';') ? path.replace(/;(jsessionid|phpsessid|sid)=[^;/]*/gi, ';$1=*') : path;
  if (query === -1) return plain;
  const found = pairsOf(url);
  const isSigned = found.some(([name]) => SIGNATURE.test(name.toLowerCase()));
  const pairs = found.map(([name, value]) => {
    if (value === null) return name;
    return name === token || isToken(name, value, isSigned) ? `${name}=*` : `${name}=${value}`;
  });
  return `${plain}?${pairs.join('&')}`;
}

/** As written in the query; null without a value. */
function pairsOf(url: string): [name: string, value: string | null][] {
  const query = url.indexOf('?');
  if (query === -1) return [];
  return url
    .slice(query + 1)
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals === -1 ? [pair, null] : [pair.slice(0, equals), pair.slice(equals + 1)];
    });
}

const FEWEST_LINKS = 3;

/**
 * A session parameter of unknown name: all links of a page to one host have it, with one value before and another one
 * now. A word or a short number selects content, even on all links (`lang=de`).
 */
export function sharedToken(past: readonly string[], found: readonly string[], host: string): string | null {
  const before = past.filter((url) => hostOf(url) === host);
  const after = found.filter((url) => hostOf(url) === host);
  if (before.length < FEWEST_LINKS || after.length < FEWEST_LINKS) return null;
  for (const [name, value] of pairsOf(before[0])) {
    const other = valueIn(after[0], name);
    if (value === null || other === null || value === other || !isLong(value) || !isLong(other)) continue;
    const isShared =
      before.every((url) => valueIn(url, name) === value) &&
      after.every((url) => valueIn(url, name) === other);
    if (isShared) return name;
  }
  return null;
}

const isLong = (value: string) => value.length >= 6 && /\d/.test(value);

function valueIn(url: string, name: string): string | null {
  return pairsOf(url).find(([own]) => own === name)?.[1] ?? null;
}

export function hostOf(url: string): string {
  return /^[^/]*\/\/([^/?#]*)/.exec(url)?.[1] ?? '';
}
