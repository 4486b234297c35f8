/**
 * How the crawler names itself: `name/version (+url; email)`, without the parts that are not known,
 * and the product token by which robots.txt groups address it (RFC 9309 section 2.2.1).
 */

import { PROGRAM_NAME, PROGRAM_URL, PROGRAM_VERSION } from './program.ts';

interface UserAgentParts {
  name: string | null;
  version: string | null;
  url: string | null;
  email: string | null;
}

export function buildUserAgent({ name, version, url, email }: UserAgentParts): string {
  // Our version and page describe our program; under another's name they would mislead.
  const isOurs = name === null;
  const product = [name ?? PROGRAM_NAME, version ?? (isOurs ? PROGRAM_VERSION : null)];
  const page = url ?? (isOurs ? PROGRAM_URL : null);
  const contact = [page === null ? null : `+${page}`, email].filter((part) => part !== null).join('; ');
  const named = product.filter((part) => part !== null).join('/');
  return contact === '' ? named : `${named} (${contact})`;
}

/** The name that robots.txt groups are matched against: of a browser-like text the part after "compatible;". */
export function productToken(userAgent: string): string {
  const compatible = /^Mozilla\/[^(]*\(compatible;\s*([\w-]+)/i.exec(userAgent);
  return (compatible ?? /^([\w-]+)/.exec(userAgent.trim()))?.[1] ?? PROGRAM_NAME;
}
