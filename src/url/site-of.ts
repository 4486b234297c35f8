import type { NormalizedUrl } from './normalize.ts';

/**
 * The site of a page: the host name of its identity, with the port unless it is the scheme's own. Two ports of one host
 * are two sites; http on port 80 and https on port 443 are one. Costs no new text where there is no port.
 */
export function siteOf({ url, host }: Pick<NormalizedUrl, 'url' | 'host'>): string {
  const start = url.indexOf('://') + 3;
  const end = start + host.length;
  return url.charCodeAt(end) === 0x3a ? url.slice(start, url.indexOf('/', end)) : host;
}
