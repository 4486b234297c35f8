/** Claims about texts that options take. Pure, cheap, without imports that cost start-up time. */

import { splitSite } from '../primitives/split-site.ts';
import { compileDomainPattern } from '../url/domain-pattern.ts';

export function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  return new URL(text).hostname !== '';
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

/** A path, and not the address of a store. */
export function isFilePath(text: string): boolean {
  return text.trim() !== '' && !/^[a-z][a-z+]*:\/\//i.test(text);
}
