/**
 * User and password inside a URL: taken out as soon as the URL is read, so that nothing that stores or prints URLs ever
 * has them.
 */
import { basicAuthorization } from './request-headers.ts';

/** The value of Authorization that the URL's user and password make; null without them, undefined where they are malformed. */
export function authorizationOf({ username, password }: URL): string | null | undefined {
  if (username === '' && password === '') return null;
  try {
    return basicAuthorization(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  } catch {
    // Not percent-encoded UTF-8; the error would quote it.
    return undefined;
  }
}

/** For messages: an http or https address without user and password, however badly it is written. */
export function withoutCredentials(text: string): string {
  const isReadable = /^\s*https?:/i.test(text) && URL.canParse(text);
  // Of what cannot be read too little is shown rather than too much: a password may have a slash in it.
  const userinfo = isReadable ? /^(\s*https?:[/\\]*)[^/?#\\]*@/i : /^(\s*(?:https?:[/\\]*)?).*@/is;
  return text.replace(userinfo, '$1***@');
}

/** The same address for who reads it again: without user and password, and without a trace of them. */
export function withoutLogin(text: string): string {
  if (!text.includes('@') || !URL.canParse(text)) return text;
  const url = new URL(text);
  if (authorizationOf(url) === null) return text;
  url.username = '';
  url.password = '';
  return url.href;
}
