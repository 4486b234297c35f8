/**
 * From where a request may come: only under a name of this service, and never from a page of another site. Browsers send
 * Host, Origin and Sec-Fetch-Site themselves, so that a page cannot lie about them; programs send no Origin. Applies to
 * every request, WebSocket upgrades included.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { type SumiError, sumiError } from '../errors.ts';

export interface HostRules {
  /** The address that is listened on. */
  host: string;
  /** NAME or NAME:PORT. */
  allowedHosts: readonly string[];
}

/** What is wrong with where the request comes from; null: nothing. */
export type OriginCheck = (headers: IncomingHttpHeaders, method: string) => SumiError | null;

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** Of the requests that change nothing. */
const SAFE = ['GET', 'HEAD', 'OPTIONS'];

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

export function createOriginCheck({ host, allowedHosts }: HostRules): OriginCheck {
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()));
  const own = new Set([...LOOPBACK_NAMES, bracketed(host.toLowerCase())]);
  const isOpen = !isLoopback(host);

  function isOurs(given: string): boolean {
    const found = /^(\[[0-9a-f:.]+\]|[^:[\]@/\s]+)(?::\d{1,5})?$/.exec(given);
    if (found === null) return false;
    const [, name] = found;
    if (own.has(name) || allowed.has(name) || allowed.has(given)) return true;
    // A page of another site can point its name at us, but not an address: that names who answers.
    return isOpen && isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  }

  return (headers, method) => {
    const given = headers.host?.toLowerCase() ?? '';
    if (!isOurs(given)) return sumiError('host-refused', { host: shown(given) });
    const site = headers['sec-fetch-site'];
    const { origin } = headers;
    if (site === 'cross-site' || site === 'same-site')
      return sumiError('origin-refused', { origin: shown(origin ?? site) });
    if (origin !== undefined && !isOwnOrigin(origin, given))
      return sumiError('origin-refused', { origin: shown(origin) });
    // What a browser's cookie allows must come from a page of ours; a program sends a token instead.
    const isSent =
      /(?:^|;\s*)sumi_session=/.test(headers.cookie ?? '') && headers.authorization === undefined;
    if (isSent && !SAFE.includes(method) && origin === undefined && site !== 'same-origin')
      return sumiError('origin-refused', { origin: 'unknown' });
    return null;
  };
}

function isOwnOrigin(origin: string, host: string): boolean {
  const text = origin.toLowerCase();
  return text === `http://${host}` || text === `https://${host}`;
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function shown(text: string): string {
  return text.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
}
