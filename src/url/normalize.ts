/**
 * Step 1 of a URL's life: gives each page one identity, and keeps the URL that a request would use beside it.
 *
 * Promises: an identity that is normalized again stays the same. Only the identity is changed, never the requested URL,
 * because a server may distinguish `/dir` from `/dir/`. Null for everything that is no http(s) URL. Never uses the
 * network, and keeps only a bounded memory of authorities. Before it: the parser's hrefs. After it: scope/.
 */
import { createPathRule, createQueryRule, type QueryRule } from './query-rule.ts';
import { createResolver } from './resolve.ts';

export type NormalizePreset = 'standard' | 'terrain' | 'path';

export interface NormalizeOptions {
  readonly preset: NormalizePreset;
  /** Preset path: the query parameters that are part of the identity. */
  readonly keepQuery?: readonly string[];
  /**
   * Parameters of query and path (`;jsessionid=…`) that are never part of the identity. `name*` means every name that
   * begins with `name`.
   */
  readonly dropQuery?: readonly string[];
}

export interface NormalizedUrl {
  /** The identity, by which URLs are compared. Never requested. */
  readonly url: string;
  /** What is requested: absolute, as first seen, serialised by WHATWG, without fragment and credentials. */
  readonly fetchUrl: string;
  /** Host name of the identity: lower case, no port, no trailing dot; IPv6 in brackets. */
  readonly host: string;
}

export interface Normalizer {
  /** The rules as text: other rules may give other identities. */
  readonly rules: string;
  normalize(input: string, base?: string): NormalizedUrl | null;
}

const TRACKING_PARAMETERS = ['utm_*', 'fbclid', 'gclid', 'mc_eid', 'ref', 'source'];

export function createNormalizer(options: NormalizeOptions): Normalizer {
  const resolve = createResolver();
  const queryRule = createQueryRule({
    dropped: [...(options.preset === 'terrain' ? TRACKING_PARAMETERS : []), ...(options.dropQuery ?? [])],
    kept: options.preset === 'path' ? (options.keepQuery ?? []) : null,
  });
  const pathRule = createPathRule(options.dropQuery ?? []);
  const identify = options.preset === 'terrain' ? terrainIdentity : standardIdentity;
  const isLowerCased = options.preset === 'path';
  return {
    rules: JSON.stringify([options.preset, options.keepQuery ?? [], options.dropQuery ?? []]),
    normalize(input, base) {
      const found = resolve(input, base);
      if (found === null) return null;
      const href = pathRule === null ? found.href : pathRule(found.href, found.authorityEnd);
      const identity = identify(href, found.authorityEnd, found.host, queryRule);
      return {
        url: isLowerCased ? identity.url.toLowerCase() : identity.url,
        fetchUrl: found.href,
        host: identity.host,
      };
    },
  };
}

interface Identity {
  url: string;
  host: string;
}

function standardIdentity(href: string, authorityEnd: number, host: string, queryRule: QueryRule): Identity {
  const queryAt = href.indexOf('?', authorityEnd);
  const pathEnd = trimSlashes(href, authorityEnd, queryAt === -1 ? href.length : queryAt);
  const hasDot = host.endsWith('.');
  if (queryAt === -1 && pathEnd === href.length && !hasDot) return { url: href, host };
  const name = hasDot ? withoutTrailingDot(host) : host;
  const authority = hasDot ? replaceHost(href, authorityEnd, host, name) : href.slice(0, authorityEnd);
  const query = queryAt === -1 ? '' : queryRule(href.slice(queryAt + 1));
  return { url: authority + href.slice(authorityEnd, pathEnd) + query, host: name };
}

/** The identity in a map: always https, no `www.`, no needless escapes. The query rule removes tracking parameters. */
function terrainIdentity(href: string, authorityEnd: number, host: string, queryRule: QueryRule): Identity {
  const name = withoutWww(withoutTrailingDot(host));
  const port = href.slice(href.indexOf('://') + 3 + host.length, authorityEnd);
  const queryAt = href.indexOf('?', authorityEnd);
  const path = plainEscapes(href.slice(authorityEnd, queryAt === -1 ? href.length : queryAt));
  const query = queryAt === -1 ? '' : queryRule(plainEscapes(href.slice(queryAt + 1)));
  const authority = `https://${name}${port === ':443' ? '' : port}`;
  return { url: authority + path.slice(0, trimSlashes(path, 0, path.length)) + query, host: name };
}

/** The end of the path without its trailing slashes; the root keeps its slash. */
function trimSlashes(href: string, pathStart: number, pathEnd: number): number {
  let end = pathEnd;
  while (end > pathStart + 1 && href.charCodeAt(end - 1) === 0x2f) end--;
  return end;
}

function replaceHost(href: string, authorityEnd: number, host: string, name: string): string {
  const at = href.indexOf('://') + 3;
  return href.slice(0, at) + name + href.slice(at + host.length, authorityEnd);
}

function withoutTrailingDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** The rest must still be a name under some domain: `www.com` is not `com`. */
function withoutWww(host: string): string {
  let name = host;
  while (name.startsWith('www.') && name.includes('.', 4)) name = name.slice(4);
  return name;
}

/**
 * RFC 3986 section 6.2.2: unreserved characters are not escaped, other escapes are upper case. A `%` that begins no
 * escape is escaped itself; otherwise decoding its neighbours could make it begin one.
 */
function plainEscapes(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9A-Fa-f]{2})?/g, (found, hex: string | undefined) => {
    if (hex === undefined) return '%25';
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9\-._~]/.test(char) ? char : found.toUpperCase();
  });
}
