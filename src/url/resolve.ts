/**
 * Resolves a reference as WHATWG `URL` does, and gives its serialisation without fragment and credentials.
 *
 * Most references on a page are plain (`/a/b.html`, `../c`, `d?e=f` on a known host). For these the answer is put
 * together from strings: 0.3 µs per reference instead of 1.4 µs for a URL object. Every other reference goes to `URL`;
 * a test compares both ways. Never gives anything but http and https.
 */

/** RFC 9110 requires at least 8,000 octets. Longer URLs are traps or data. */
export const MAX_URL_LENGTH = 8192;

export interface ResolvedUrl {
  readonly href: string;
  /** Where the path begins in href. */
  readonly authorityEnd: number;
  /** As WHATWG serialises it: lower case, ASCII, a trailing dot kept. */
  readonly host: string;
}

export type Resolve = (input: string, base?: string) => ResolvedUrl | null;

interface ParsedBase {
  readonly authority: string;
  readonly host: string;
  /** Without query, from the authority's end. */
  readonly path: string;
  readonly query: string;
  /** The path up to and with its last slash. */
  readonly directory: string;
}

const MAX_REMEMBERED_AUTHORITIES = 4096;

const SLASH = 0x2f;
const DOT = 0x2e;
const QUESTION = 0x3f;

export function createResolver(): Resolve {
  // Authorities that URL has serialised to themselves: `https://example.com` to `example.com`.
  const knownHosts = new Map<string, string>();
  let lastBaseText: string | undefined;
  let lastBase: ParsedBase | null = null;

  function resolveAbsolute(reference: string): ResolvedUrl | null {
    if (!reference.startsWith('http')) return null;
    const scheme = reference.indexOf('://');
    if (scheme !== 4 && scheme !== 5) return null;
    const slash = reference.indexOf('/', scheme + 3);
    if (slash === -1) return null;
    const host = knownHosts.get(reference.slice(0, slash));
    if (host === undefined || !isPlain(reference, slash)) return null;
    return { href: reference, authorityEnd: slash, host };
  }

  function resolveByUrl(reference: string, base: string | undefined): ResolvedUrl | null {
    const url = parseUrl(reference, base);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
    if (url.username !== '' || url.password !== '') {
      url.username = '';
      url.password = '';
    }
    const host = url.hostname;
    if (!isNameable(host)) return null;
    const whole = url.href;
    const hash = whole.indexOf('#');
    const href = hash === -1 ? whole : whole.slice(0, hash);
    if (href.length > MAX_URL_LENGTH) return null;
    const authorityEnd = href.indexOf('/', url.protocol.length + 2);
    if (knownHosts.size >= MAX_REMEMBERED_AUTHORITIES) knownHosts.clear();
    knownHosts.set(href.slice(0, authorityEnd), host);
    return { href, authorityEnd, host };
  }

  function parsedBase(base: string): ParsedBase | null {
    if (base !== lastBaseText) {
      const resolved = resolveAbsolute(withoutFragment(base)) ?? resolveByUrl(base, undefined);
      lastBase = resolved === null ? null : splitBase(resolved);
      lastBaseText = base;
    }
    return lastBase;
  }

  return (input, base) => {
    const reference = withoutFragment(input);
    if (reference.length > MAX_URL_LENGTH) return null;
    const absolute = resolveAbsolute(reference);
    if (absolute !== null) return absolute;
    const from = base === undefined ? null : parsedBase(base);
    const path = from === null ? null : plainPath(reference, from);
    // With its fragment: URL trims spaces only at the ends of the whole text.
    if (from === null || path === null) return resolveByUrl(input, base);
    const href = from.authority + path;
    return href.length > MAX_URL_LENGTH
      ? null
      : { href, authorityEnd: from.authority.length, host: from.host };
  };
}

/** Path and query of a plain reference, or null if only URL can decide. */
function plainPath(reference: string, base: ParsedBase): string | null {
  if (reference === '') return base.path + base.query;
  const first = reference.charCodeAt(0);
  if (first === SLASH) {
    if (reference.charCodeAt(1) === SLASH) return null;
    return isPlain(reference, 0) ? reference : null;
  }
  if (first === QUESTION) return isPlain(reference, 0) ? base.path + reference : null;
  let directory = base.directory;
  let start = 0;
  while (reference.startsWith('../', start)) {
    start += 3;
    const parent = directory.lastIndexOf('/', directory.length - 2);
    if (parent !== -1) directory = directory.slice(0, parent + 1);
  }
  if (start === 0 && reference.startsWith('./')) start = 2;
  if (reference.charCodeAt(start) === DOT) return null;
  if (start === 0 && hasColonInFirstSegment(reference)) return null;
  return isPlain(reference, start) ? directory + (start === 0 ? reference : reference.slice(start)) : null;
}

/** What URL would change: characters to escape, dot segments, backslashes. `%2e` is a dot for WHATWG. */
const NOT_PLAIN = /[^\w\-~!$&()*+,;=@%./?:]|\/\.|%2[eE]/;

/** Regular expressions instead of loops, because V8 runs them at full speed from the first link on. */
function isPlain(text: string, start: number): boolean {
  return !NOT_PLAIN.test(start === 0 ? text : text.slice(start));
}

/** `mailto:x` is a scheme and `a/b:c` is not. A text that could be either is left to URL. */
function hasColonInFirstSegment(reference: string): boolean {
  return /^[^/?:]*:/.test(reference);
}

function splitBase({ href, authorityEnd, host }: ResolvedUrl): ParsedBase {
  const queryAt = href.indexOf('?', authorityEnd);
  const path = href.slice(authorityEnd, queryAt === -1 ? href.length : queryAt);
  return {
    authority: href.slice(0, authorityEnd),
    host,
    path,
    query: queryAt === -1 ? '' : href.slice(queryAt),
    directory: path.slice(0, path.lastIndexOf('/') + 1),
  };
}

function withoutFragment(text: string): string {
  const hash = text.indexOf('#');
  return hash === -1 ? text : text.slice(0, hash);
}

function parseUrl(reference: string, base: string | undefined): URL | null {
  // A page may name a base that is no URL. Its absolute links are still valid.
  const usableBase = base !== undefined && URL.canParse(base) ? base : undefined;
  return URL.canParse(reference, usableBase) ? new URL(reference, usableBase) : null;
}

/** RFC 1035 section 2.3.4: a name that no name server can hold (long or empty labels, long names) is no host. */
function isNameable(host: string): boolean {
  const end = host.endsWith('.') ? host.length - 1 : host.length;
  if (end > 253) return false;
  let labelStart = 0;
  for (let i = 0; i <= end; i++) {
    if (i === end || host.charCodeAt(i) === DOT) {
      if (i === labelStart || i - labelStart > 63) return false;
      labelStart = i + 1;
    }
  }
  return true;
}
