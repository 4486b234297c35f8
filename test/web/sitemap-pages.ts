// Sitemaps for the fake web: handlers that name pages of the host they are asked on, well-formed or in one of the ways
// in which real ones are not.
import { gzipSync } from 'node:zlib';
import { answer, type Exchange, type Handler } from './fake-web.ts';

export interface Named {
  path: string;
  lastmod?: string;
  changefreq?: string;
  priority?: string;
  /** Of another host of the web. */
  host?: number;
}

type Entries = readonly (string | Named)[];

const XML = { 'content-type': 'application/xml' };

const tag = (name: string, text: string | undefined) =>
  text === undefined ? '' : `<${name}>${text}</${name}>`;

function urlset(exchange: Exchange, entries: Entries): string {
  const urls = entries.map((entry) => {
    const { path, host = exchange.host, ...rest } = typeof entry === 'string' ? { path: entry } : entry;
    const { lastmod, changefreq, priority } = rest as Named;
    return `<url>${tag('loc', exchange.url(path, host))}${tag('lastmod', lastmod)}${tag('changefreq', changefreq)}${tag('priority', priority)}</url>`;
  });
  return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`;
}

/** A urlset of these paths. */
export const sitemapOf =
  (...entries: Entries): Handler =>
  (exchange) =>
    answer(exchange, { headers: XML, body: urlset(exchange, entries) });

/** The same, different each time it is asked; the last one stays. */
export const sitemapsInTurn =
  (...turns: Entries[]): Handler =>
  (exchange) =>
    sitemapOf(...turns[Math.min(exchange.nth, turns.length) - 1])(exchange);

/** An index of these sitemaps. */
export const indexOf =
  (...paths: string[]): Handler =>
  (exchange) => {
    const named = paths.map((path) => `<sitemap>${tag('loc', exchange.url(path, exchange.host))}</sitemap>`);
    answer(exchange, { headers: XML, body: `<sitemapindex>${named.join('')}</sitemapindex>` });
  };

/** Packed, and then cut in the middle. */
export const cutGzip =
  (...entries: Entries): Handler =>
  (exchange) => {
    const packed = gzipSync(urlset(exchange, entries));
    answer(exchange, { body: packed.subarray(0, packed.length >> 1) });
  };

/** So many zeros, packed. */
export const packedZeros =
  (bytes: number): Handler =>
  (exchange) =>
    answer(exchange, { body: gzipSync(Buffer.alloc(bytes)) });

/** A robots.txt that names these sitemaps, with more lines if need be. */
export const robotsNaming =
  (paths: readonly string[], more = ''): Handler =>
  (exchange) => {
    const lines = paths.map((path) => `Sitemap: ${exchange.url(path, exchange.host)}`);
    answer(exchange, { headers: { 'content-type': 'text/plain' }, body: `${lines.join('\n')}\n${more}` });
  };
