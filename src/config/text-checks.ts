/** Claims about texts that options take. Pure, cheap, without imports that cost start-up time. */

import { splitSite } from '../primitives/split-site.ts';
import { compileDomainPattern } from '../url/domain-pattern.ts';

/** Specification 004 section 2.2: non-empty, letters, digits and hyphens. */
export function isCrawlerName(text: string): boolean {
  return /^[A-Za-z0-9-]+$/.test(text);
}

/** RFC 9110 section 5.6.2 token: what may follow the slash of a product. */
export function isVersionToken(text: string): boolean {
  return /^[\w.!#$%&'*+^`|~-]+$/.test(text);
}

export function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  return new URL(text).hostname !== '';
}

export function isEmail(text: string): boolean {
  return /^[^\s@<>();,"]+@[^\s@.<>();,"]+(\.[^\s@.<>();,"]+)+$/.test(text);
}

/** Visible ASCII and spaces inside: safe as a header value, no way to smuggle in a second header. */
export function isHeaderText(text: string): boolean {
  return /^[!-~]([ -~]*[!-~])?$/.test(text);
}

export function isMediaRange(text: string): boolean {
  return /^(\*\/\*|[\w.+-]+\/(\*|[\w.+-]+|\*\+[\w.-]+))$/.test(text);
}

export function isExtension(text: string): boolean {
  return /^\.?[A-Za-z0-9]+(\.[A-Za-z0-9]+)*$/.test(text);
}

export function isPathPrefix(text: string): boolean {
  return text.startsWith('/') && !/[\s?#]/.test(text);
}

/** The words of --allowed-hosts, an address, or a host name with an optional first `*.`. */
export function isHostRule(text: string): boolean {
  if (['host', 'subdomains', 'domain', 'any'].includes(text)) return true;
  const { name, port } = splitSite(text);
  return (
    compileDomainPattern(name) !== null && (port === null || (Number(port) > 0 && Number(port) < 65_536))
  );
}

export function isBodiesRule(text: string): boolean {
  return (
    text === 'none' ||
    /^files:./s.test(text) ||
    /^s3:\/\/[a-z\d][\w.-]{1,62}(\/[^\s?#]*)?(\?addressing=(path|virtual))?$/i.test(text)
  );
}
