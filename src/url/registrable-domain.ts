/**
 * The part of a host name that somebody can register (`shop.example.co.uk` gives `example.co.uk`), by the public suffix
 * list. Hosting suffixes such as `github.io` count as public, because their names belong to different people.
 *
 * Addresses, single labels and public suffixes are returned as they are, so the answer is never empty.
 */
import { createRequire } from 'node:module';
import type * as Tldts from 'tldts';

// The list takes about 10 ms to load, and most crawls never need it: the first question loads it.
const load = createRequire(import.meta.url);

export function registrableDomain(host: string): string {
  const { getDomain } = load('tldts') as typeof Tldts;
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

/** Whether names under this suffix can be registered: `example.co.uk`, not `urls.txt` or `localhost`. */
export function hasPublicSuffix(host: string): boolean {
  const { parse } = load('tldts') as typeof Tldts;
  const { domain, isIcann } = parse(host);
  return domain !== null && isIcann === true;
}

export interface HostSuffixes {
  /** By the registries alone: `com`, `co.uk`. Null where there is none, as in addresses. */
  suffix: string | null;
  domain: string | null;
  /** With hosting suffixes such as `github.io`. */
  privateSuffix: string | null;
  privateDomain: string | null;
}

export function hostSuffixes(host: string): HostSuffixes {
  const { parse } = load('tldts') as typeof Tldts;
  const { publicSuffix: suffix, domain, isIp } = parse(host);
  if (isIp === true) return { suffix: null, domain: null, privateSuffix: null, privateDomain: null };
  const own = parse(host, { allowPrivateDomains: true });
  return { suffix, domain, privateSuffix: own.publicSuffix, privateDomain: own.domain };
}
