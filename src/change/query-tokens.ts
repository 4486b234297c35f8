/**
 * Tells tokens in URLs from addresses: session ids, nonces, time stamps and cache busters are made anew for every
 * answer, so that a link which differs in nothing else is the same link. Short numbers and words address something
 * (`?page=2`, `?lang=de`) and are left alone, unless their parameter is known to hold a token.
 */

const TOKEN_NAMES =
  /^(?:_|ts|cb|ver|rand|random|nonce|timestamp|cachebust(?:er)?|.*(?:csrf|xsrf|token|nonce|session|sessid|sess_id|signature|hmac).*|sid|cfid|sig|[fg]clid|fbclid|msclkid|utm_.*)$/i;

/** A time in seconds or milliseconds, or small letters, capitals and digits in turn, as no phrase has them. */
function looksMade(value: string): boolean {
  if (/^\d+$/.test(value)) return value.length >= 10;
  if (value.length < 8 || /[\s/:]/.test(value)) return false;
  const turns = value.replace(/[-_.~=+]/g, '').match(/[a-z]+|[A-Z]+|\d+/g);
  return turns !== null && turns.length > 3 && /\d/.test(value);
}

/** The URL with a star in place of every token. Equal texts: the same link. */
export function comparable(url: string): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const plain = path.includes(';') ? path.replace(/;(jsessionid|phpsessid|sid)=[^;/]*/gi, ';$1=*') : path;
  if (query === -1) return plain;
  const pairs = url.slice(query + 1).split('&');
  return `${plain}?${pairs.map(maskPair).join('&')}`;
}

function maskPair(pair: string): string {
  const equals = pair.indexOf('=');
  if (equals === -1) return pair;
  const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
  return TOKEN_NAMES.test(name) || looksMade(value) ? `${name}=*` : pair;
}
