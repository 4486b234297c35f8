/**
 * Columns of Common Crawl's index that the URL alone says: its SURT key, the parts of its host, its path. Each is made
 * only where it is asked for.
 */
import { isIP } from 'node:net';
import { hostSuffixes } from '../../url/registrable-domain.ts';
import { surtKey } from '../../url/surt.ts';

type UrlColumn = (url: URL, text: string) => string | number | null;

const bareHost = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '');
const isAddress = (url: URL) => isIP(bareHost(url)) !== 0;
/** Counted from the end, 1 for the last. */
const partOfHost = (nth: number) => (url: URL) =>
  isAddress(url) ? null : (url.hostname.split('.').at(-nth) ?? null);

export const URL_COLUMNS: Readonly<Record<string, UrlColumn>> = {
  url_surtkey: (_, text) => surtKey(text),
  url_host_name: bareHost,
  url_host_tld: partOfHost(1),
  url_host_2nd_last_part: partOfHost(2),
  url_host_3rd_last_part: partOfHost(3),
  url_host_4th_last_part: partOfHost(4),
  url_host_5th_last_part: partOfHost(5),
  url_host_registry_suffix: ({ hostname }) => hostSuffixes(hostname).suffix,
  url_host_registered_domain: ({ hostname }) => hostSuffixes(hostname).domain,
  url_host_private_suffix: ({ hostname }) => hostSuffixes(hostname).privateSuffix,
  url_host_private_domain: ({ hostname }) => hostSuffixes(hostname).privateDomain,
  url_host_name_reversed: (url) => (isAddress(url) ? null : url.hostname.split('.').reverse().join('.')),
  url_protocol: ({ protocol }) => protocol.slice(0, -1),
  url_port: ({ port }) => (port === '' ? null : Number(port)),
  url_path: ({ pathname }) => pathname,
  url_query: ({ search }) => (search === '' ? null : search.slice(1)),
};

/** What is asked of a text that is no URL is not known. */
export function urlColumns(names: readonly string[], urls: readonly unknown[]): (string | number | null)[][] {
  const columns = names.map(() => new Array<string | number | null>(urls.length).fill(null));
  for (let row = 0; row < urls.length; row++) {
    const text = String(urls[row]);
    if (!URL.canParse(text)) continue;
    const url = new URL(text);
    for (let at = 0; at < names.length; at++) columns[at][row] = URL_COLUMNS[names[at]](url, text);
  }
  return columns;
}
