/**
 * SURT: a URL with its host reversed, so that sorting groups domains and their subdomains.
 *
 * `surtKey` is the key of Wayback and CDX files (`com,example)/path?query`, strongly simplified). `surtForm` only
 * reorders (`http://(com,example,)/path`). Both accept any text and never throw: a text without an authority, such as
 * `dns:example.com`, is returned as it is. Neither is an identity or a URL to request.
 */
import { isIP } from 'node:net';

export interface SurtFormOptions {
  /** `http://(` at the front (default: true). */
  readonly withScheme?: boolean;
  /** A comma after the last label (default: true). */
  readonly withTrailingComma?: boolean;
}

interface Parts {
  scheme: string;
  host: string;
  port: string;
  path: string;
  query: string | null;
  fragment: string | null;
}

export function surtForm(url: string, options: SurtFormOptions = {}): string {
  const parts = splitUrl(url);
  if (parts === null) return url;
  const { withScheme = true, withTrailingComma = true } = options;
  const host = reverseHost(parts.host) + (withTrailingComma ? ',' : '');
  const port = parts.port === '' ? '' : `:${parts.port}`;
  const query = parts.query === null ? '' : `?${parts.query}`;
  const fragment = parts.fragment === null ? '' : `#${parts.fragment}`;
  return `${withScheme ? `${parts.scheme}://(` : ''}${host}${port})${parts.path}${query}${fragment}`;
}

export function surtKey(url: string): string {
  if (url === '') return '-';
  const parts = splitUrl(url.replace(/[\t\n\r]/g, '').trim());
  if (parts === null) return url;
  const host = foldEscapes(parts.host)
    .toLowerCase()
    .replace(/^www\d*\./, '')
    .replace(/\.+$/, '');
  const isDefaultPort = parts.port === (parts.scheme.toLowerCase() === 'https' ? '443' : '80');
  const port = parts.port === '' || isDefaultPort ? '' : `:${parts.port}`;
  let path = stripPathSession(foldDots(foldEscapes(parts.path)).toLowerCase());
  if (path.length > 1) path = path.replace(/\/+$/, '');
  const query = parts.query === null ? '' : stripQuerySession(foldEscapes(parts.query).toLowerCase());
  const sorted = query.split('&').sort(compareParameters).join('&');
  return `${reverseHost(host)}${port})${path === '' ? '/' : path}${sorted === '' ? '' : `?${sorted}`}`;
}

function splitUrl(url: string): Parts | null {
  const found = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#([\s\S]*))?$/.exec(url);
  if (found === null || found[2] === '') return null;
  const authority = found[2].slice(found[2].lastIndexOf('@') + 1);
  const split = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(authority);
  if (split === null) return null;
  return {
    scheme: found[1],
    host: split[1],
    port: split[2] ?? '',
    path: found[3],
    query: found[4] ?? null,
    fragment: found[5] ?? null,
  };
}

function reverseHost(host: string): string {
  return host.startsWith('[') || isIP(host) !== 0 ? host : host.split('.').reverse().join(',');
}

/** Escapes are decoded until none is left. Then only characters that a key may not contain are escaped again. */
function foldEscapes(text: string): string {
  if (!/[^!-~]|[#%]/.test(text)) return text;
  let octets = Buffer.from(text, 'utf8').toString('latin1');
  // Each round shortens the text, so this ends.
  while (/%[0-9A-Fa-f]{2}/.test(octets)) {
    octets = octets.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return octets.replace(
    /[^!-~]|[#%]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function foldDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment === '.' || segment === '..' || segment === '') {
      if (isLast) kept.push('');
    } else kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

function stripPathSession(path: string): string {
  return path
    .replace(/\/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=\/)/, '')
    .replace(/\/\([0-9a-z]{24}\)(?=\/)/, '')
    .replace(/;jsessionid=[0-9a-z]{32}$/, '');
}

const SESSION_PARAMETERS = [
  /^jsessionid=[0-9a-z$]{10,}$/,
  /^phpsessid=[0-9a-z]{32}$/,
  /^sid=[0-9a-z]{32}$/,
  /^aspsessionid[a-z]{8}=[a-z]{24}$/,
  /^cfid=[^&]+$/,
  /^cftoken=[^&]+$/,
];

function stripQuerySession(query: string): string {
  const parameters = query.split('&');
  const kept = parameters.filter(
    (parameter) => !SESSION_PARAMETERS.some((pattern) => pattern.test(parameter)),
  );
  return kept.length === parameters.length ? query : kept.join('&');
}

function compareParameters(a: string, b: string): number {
  const [nameA, nameB] = [a.split('=', 1)[0], b.split('=', 1)[0]];
  if (nameA !== nameB) return nameA < nameB ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
