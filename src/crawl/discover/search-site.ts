/**
 * One search for the sitemaps of a start URL: reads what is given, named or guessed, and keeps the entries while they
 * come. It promises that nothing a site sends ends the crawl. It sends nothing itself: leased-hosts.ts does.
 */
import type { ReadingSitemap } from '../../events/events.ts';
import { type FoundEntry, findEntries, type SitemapWeb } from '../../sitemap/find-entries.ts';
import type { HostDiscovery } from '../../store/sitemap-port.ts';
import type { LeasedHosts } from '../hosts/leased-hosts.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';
import { isOfAnotherPort, placeOf } from './discovery-record.ts';
import type { FindingKeeper } from './keep-findings.ts';
import type { HostFindings, PageLinks, SearchState } from './search-state.ts';
import type { SitemapSearch } from './sitemap-searches.ts';
import { createSitemapWeb } from './sitemap-web.ts';

export interface SearchSurroundings {
  state: SearchState;
  keeper: FindingKeeper;
  hosts: Pick<LeasedHosts, 'rulesOf' | 'request' | 'pause'>;
  /** What the start page of the host names, once it was read. */
  pageLinks: (host: string) => Promise<PageLinks>;
  /** The run may request no more pages: what sitemaps name besides would only be recorded. */
  isOutOfPages: () => boolean;
  /** The sitemap of the host that is requested just now. */
  onRequest: (host: string, sitemap: ReadingSitemap) => void;
}

/** What the start URL is, where it may be a sitemap: now, or when its host was searched not long ago. */
export type SiteSearch = (
  search: SitemapSearch,
  findings: HostFindings,
) => Promise<'sitemap' | 'page' | 'none'>;

export function createSiteSearch(parts: CrawlParts, around: SearchSurroundings): SiteSearch {
  const { sitemaps, startUrls, clock, events, faults } = parts;
  const { state, keeper, hosts } = around;
  /** Whoever gave them has them read: that one is there says nothing of the site's own. */
  const given = new Set([...startUrls, ...(sitemaps?.feeds ?? [])].map(({ fetchUrl }) => fetchUrl));

  /** Sitemaps of the site that were read before. */
  function knownOf(known: HostDiscovery | null, { fetchUrl }: StartUrl): string[] {
    return known?.sitemaps.filter((url) => !given.has(url) && !isOfAnotherPort(url, fetchUrl)) ?? [];
  }

  function webFor(findings: HostFindings): SitemapWeb {
    return createSitemapWeb({
      retry: parts.policy.retry,
      maxBytes: sitemaps!.maxBytes,
      rulesOf: hosts.rulesOf,
      isKnown: (url) => findings.record.known?.sitemaps.includes(url) === true,
      pause: hosts.pause,
      after: (delayMs, callback) => clock.after(delayMs, callback),
      async request(request) {
        // The entries of one sitemap do not wait for the next.
        await keeper.save(findings);
        if (!state.isStopped && !around.isOutOfPages()) return hosts.request(request);
        findings.isCut = true;
        state.isCut = true;
        return { refused: 'limit: the run has its pages' };
      },
    });
  }

  /** Null: the page has to be requested. */
  async function linksOfPage(
    { host, fetchUrl }: StartUrl,
    { reading, links, record }: HostFindings,
  ): Promise<readonly string[] | null> {
    const found = await around.pageLinks(host);
    if (found === 'unread') {
      // One that may be a feed is requested anyway.
      await reading.get(fetchUrl);
      return links.get(fetchUrl) ?? null;
    }
    // What it named when it was read, the search of then has heard.
    if (found === 'unchanged') return record.known === null ? null : [];
    return found;
  }

  /** Null at the end. What reading a sitemap throws ends the search of this site, which is searched again another time. */
  async function nextBatch(
    entries: AsyncGenerator<FoundEntry[], unknown>,
    { fetchUrl }: StartUrl,
    { record }: HostFindings,
  ): Promise<FoundEntry[] | null> {
    try {
      const next = await entries.next();
      return next.done ? null : next.value;
    } catch (error) {
      faults.note(fetchUrl, error);
      record.trouble = 'passing';
      return null;
    }
  }

  async function keepAll(
    entries: AsyncGenerator<FoundEntry[], unknown>,
    start: StartUrl,
    findings: HostFindings,
  ): Promise<void> {
    for (;;) {
      const batch = await nextBatch(entries, start, findings);
      if (batch === null || state.isStopped) break;
      for (const found of batch) {
        keeper.add(found, findings);
        if (findings.batch.isFull) await keeper.save(findings);
      }
    }
    await entries.return(undefined);
    faults.check();
    if (!state.isStopped) await keeper.save(findings);
  }

  return async (search, findings) => {
    const { start, depth, isFeed, isUnread } = search;
    const { record } = findings;
    const { known } = record;
    if (findings.isRemembered && keeper.isKnown(record, search)) {
      // What was answered then stands for an answer now.
      if (depth === 'given') events.counters.answers++;
      return 'sitemap';
    }
    let hits = 0;
    let isPage = false;
    findings.depths.add(depth);
    const isSite = depth !== 'given';
    if (isSite) {
      record.searched.add(placeOf(start.fetchUrl));
      record.guessed = sitemaps!.paths;
    }
    const entries = findEntries(start.fetchUrl, {
      web: webFor(findings),
      async wasRead(url) {
        // One that is given waits for no other: two that name each other would wait for ever.
        if (isSite) await findings.reading.get(url);
        return findings.read.has(url);
      },
      known: isSite ? knownOf(known, start) : [],
      paths: isSite ? sitemaps!.paths : [],
      maxBytes: sitemaps!.maxBytes,
      // The page of a site that stands for its sitemaps is requested only where there are none.
      pageLinks: async () =>
        isSite && start.meaning !== 'site' && !state.isStopped ? linksOfPage(start, findings) : [],
      onLinks: isUnread && ((links) => findings.links.set(start.fetchUrl, links)),
      onAsk({ url, foundBy, nth, of }) {
        const isGuess = foundBy === 'path' && known?.sitemaps.includes(url) !== true;
        around.onRequest(start.host, { url, nth, of, is_guess: isGuess });
      },
      onSitemap(found) {
        // Nobody but its name said that it is one.
        isPage ||= found.isPage && !isFeed && depth === 'given' && found.foundBy === 'given';
        if (found.kind !== null) {
          hits++;
          findings.read.add(found.url);
        }
        // That a page which may be one does not answer is no trouble of the sitemaps.
        const isGuess = isUnread && found.kind === null && !known?.sitemaps.includes(found.url);
        if (!isPage && !isGuess) keeper.note(found, findings);
      },
      isGiven: !isSite,
    });
    await keepAll(entries, start, findings);
    // From here on what its sitemaps say is of today; a single one that was given says nothing of the others.
    if (!state.isStopped && record.trouble === null && isSite)
      parts.readSitemaps.set(start.host, Math.floor(record.now));
    return hits > 0 ? 'sitemap' : isPage ? 'page' : 'none';
  };
}
