/**
 * Reads a URL that the operator gave, or throws the SumiError that says what is wrong with it. A bare host, with a port
 * or a path or without, is read as https; whether it is asked by http after all is for whoever asks it to find out.
 */

import { sumiError } from '../errors.ts';
import { hasPublicSuffix } from '../url/registrable-domain.ts';
import { maskPassword } from './show-value.ts';
import { authorizationOf, withoutCredentials } from './url-credentials.ts';

const BARE = /^(\[[\da-f:.]+\]|[^\s/?#:@\\[\]]+)(:\d+)?(?:[/?#]|$)/i;
const ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[.+\])$/;

/** `example.com`, `example.com/docs`, `localhost:8080`, `10.0.0.1`: no scheme, and no word or file name either. */
export function isBareAddress(text: string): boolean {
  const match = BARE.exec(text.trim());
  if (match === null) return false;
  const [, host, port] = match;
  return port !== undefined || host === 'localhost' || ADDRESS.test(host) || hasPublicSuffix(host);
}

export function readStartUrl(text: string): URL {
  const url = isBareAddress(text) ? `https://${text.trim()}` : text.trim();
  // "example.com:8080/x" has no scheme although it looks like one; the others are common enough to name.
  const scheme = /^(?:([a-z][a-z\d+.-]*):\/\/|(mailto|tel|javascript|data|file|about|ftp):)/i.exec(url);
  const name = (scheme?.[1] ?? scheme?.[2])?.toLowerCase();
  // The address of a database, given in the wrong place, must not put its password on the screen.
  if (name !== undefined && name !== 'http' && name !== 'https')
    throw sumiError('url-scheme', { url: maskPassword(url), scheme: name });
  // The WHATWG parser would take the path of https:///path for a host.
  if (/^https?:(?!\/\/[^/?#\\])/i.test(url) || /^https?:\/\/([^/?#\\]*@)?(:\d*)?([/?#\\]|$)/i.test(url)) {
    throw sumiError('url-no-host', { url: withoutCredentials(url) });
  }
  if (name === undefined || !URL.canParse(url))
    throw sumiError('url-invalid', { url: withoutCredentials(url) });
  const read = new URL(url);
  if (authorizationOf(read) === undefined)
    throw sumiError('url-credentials', { url: withoutCredentials(url) });
  return read;
}
