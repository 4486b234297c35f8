/** Which searches for sitemaps the start URLs ask for, host by host. Pure. */
import { looksLikeSitemap } from '../../sitemap/find-entries.ts';
import type { StartUrl } from '../parts.ts';
import { isPageUrl, placeOf } from './discovery-record.ts';

/** What of a host's sitemaps a start URL asks for. */
export interface SitemapSearch {
  start: StartUrl;
  /** given: it looks like a sitemap itself, and may be a page. Else they are searched for; that a page's site has none is not remembered. */
  depth: 'given' | 'page' | 'site';
  /** The operator says that it is one, whatever it is called; it is never a page. */
  isFeed?: true;
  /** It may be a page that nobody here has read: what that names is listened for. */
  isUnread?: true;
  /** Another search is for its host: it has to be offered, no more. */
  isOffered?: true;
}

/** For each host first the sitemaps that are given, then one search per port, the most thorough that its start URLs ask for. */
export function searchesByHost(
  startUrls: readonly StartUrl[],
  feeds: readonly StartUrl[],
): SitemapSearch[][] {
  interface HostSearches {
    given: SitemapSearch[];
    sites: Map<string, SitemapSearch>;
    bare: SitemapSearch[];
  }
  const hosts = new Map<string, HostSearches>();
  const searchesOf = ({ host }: StartUrl): HostSearches => {
    const searches = hosts.get(host) ?? { given: [], sites: new Map(), bare: [] };
    hosts.set(host, searches);
    return searches;
  };
  for (const start of feeds) searchesOf(start).given.push({ start, depth: 'given', isFeed: true });
  for (const start of startUrls) {
    if (start.meaning === 'page') {
      // Without a scheme it has to be found first.
      if (start.isBare) searchesOf(start).bare.push({ start, depth: 'page', isOffered: true });
      continue;
    }
    const { given, sites, bare } = searchesOf(start);
    const place = placeOf(start.fetchUrl);
    const search = sites.get(place);
    if (looksLikeSitemap(start.fetchUrl)) given.push({ start, depth: 'given' });
    else if (search === undefined || (search.depth === 'page' && !isPageUrl(start)))
      sites.set(place, { start, depth: isPageUrl(start) ? 'page' : 'site' });
    else if (start.isBare && start.meaning !== 'site') bare.push({ start, depth: 'page', isOffered: true });
  }
  return [...hosts.values()].map(({ given, sites, bare }) => [...given, ...bare, ...sites.values()]);
}
