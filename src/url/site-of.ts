import type { NormalizedUrl } from './normalize.ts';

/**
 * The site of a page: the host name of its identity, with the port unless it is the default port of the scheme. Two
 * ports of one host are two sites; http on port 80 and https on port 443 are one. Makes no new text if there is no
 * port.
 */
export function siteOf({ url, host }: Pick<NormalizedUrl, 'url' | 'host'>): string {
  const start = url.indexOf('://') + 3;
  const end = start + host.length;
  return url.charCodeAt(end) === 0x3a ? url.slice(start, url.indexOf('/', end)) : host;
}
