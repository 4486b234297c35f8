/**
 * Domain patterns of a map: `example.com` is that host alone, `*.example.com` is the bare domain and everything under
 * it. Case, a trailing dot and the script of an international name do not count. `www.example.com` also means
 * `example.com`, because the identity of a page in a map has no `www.`.
 *
 * A set looks up the suffixes of a host, so its cost does not grow with the number of patterns. Never asks DNS and
 * knows nothing of public suffixes: `*.com` is a pattern like any other.
 */
import { domainToASCII } from 'node:url';

export interface DomainPattern {
  /** As the user wrote it. */
  readonly text: string;
  readonly name: string;
  readonly isWildcard: boolean;
}

export interface DomainSet {
  /** The text of the matching pattern, the most specific one if there are several, or null. */
  match(host: string): string | null;
  readonly size: number;
}

/** Null if the text is no domain pattern: a URL, a port, a star in another place, a label that no host can have. */
export function compileDomainPattern(text: string): DomainPattern | null {
  const trimmed = text.trim();
  // domainToASCII would silently cut a URL down to its host.
  if (/[/?#\\@]/.test(trimmed)) return null;
  const isWildcard = trimmed.startsWith('*.');
  const name = canonicalHost(isWildcard ? trimmed.slice(2) : trimmed);
  if (name === '' || name.length > 253) return null;
  if (name.startsWith('[')) return isWildcard ? null : { text, name, isWildcard };
  const isValid = name.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  return isValid ? { text, name, isWildcard } : null;
}

export function matchesDomain(pattern: DomainPattern, host: string): boolean {
  const name = canonicalHost(host);
  if (name === pattern.name || pattern.name === `www.${name}`) return true;
  return (
    pattern.isWildcard && name.endsWith(pattern.name) && name[name.length - pattern.name.length - 1] === '.'
  );
}

/**
 * Takes texts that `compileDomainPattern` accepts. Throws for any other, because the configuration must have refused
 * it.
 */
export function createDomainSet(patterns: readonly string[]): DomainSet {
  const exact = new Map<string, string>();
  const suffixes = new Map<string, string>();
  for (const text of patterns) {
    const pattern = compileDomainPattern(text);
    if (pattern === null) throw new RangeError(`not a domain pattern: ${text}`);
    const map = pattern.isWildcard ? suffixes : exact;
    if (!map.has(pattern.name)) map.set(pattern.name, text);
  }
  for (const [name, text] of [...exact]) addBare(exact, name, text);
  for (const [name, text] of [...suffixes]) addBare(exact, name, text);
  return {
    size: patterns.length,
    match(host) {
      if (exact.size === 0 && suffixes.size === 0) return null;
      const name = canonicalHost(host);
      const own = exact.get(name);
      if (own !== undefined || suffixes.size === 0) return own ?? null;
      for (let at = 0; ; ) {
        const found = suffixes.get(at === 0 ? name : name.slice(at));
        if (found !== undefined) return found;
        const dot = name.indexOf('.', at);
        if (dot === -1) return null;
        at = dot + 1;
      }
    },
  };
}

/** A name that is listed itself keeps its own entry. */
function addBare(exact: Map<string, string>, name: string, text: string): void {
  const bare = name.startsWith('www.') ? name.slice(4) : '';
  if (bare !== '' && !exact.has(bare)) exact.set(bare, text);
}

/** Hosts of identities are already canonical and pass at the first line. Empty if the text is no host. */
function canonicalHost(host: string): string {
  if (/^[a-z0-9-][a-z0-9._-]*[a-z0-9-]$/.test(host) && !host.includes('xn--')) return host;
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return domainToASCII(name);
}
