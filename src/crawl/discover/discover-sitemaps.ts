/**
 * Finds pages by the sitemaps of the start hosts while the crawl runs: each host is searched once (search-site.ts), what
 * its sitemaps name is offered and kept (keep-findings.ts). It also finds out by which scheme a bare host speaks, and
 * which start URLs are feeds.
 *
 * It promises that a search which did not end (stopped, the limit of pages reached) is not remembered, nor one that could
 * not read everything as one that did.
 */
import type { ReadingSitemap } from '../../events/events.ts';
import { looksLikeSitemap } from '../../sitemap/find-entries.ts';
import type { LeasedHosts } from '../hosts/leased-hosts.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';
import { DiscoveryRecord, isPageUrl, placeOf } from './discovery-record.ts';
import { FindingBatch } from './finding-batch.ts';
import { createStartHearing, type StartHearing } from './hear-starts.ts';
import { createFindingKeeper } from './keep-findings.ts';
import { createSiteSearch } from './search-site.ts';
import { type HostFindings, HostSearches, type SearchState } from './search-state.ts';
import { type SitemapSearch, searchesByHost } from './sitemap-searches.ts';
import { withScheme } from './start-scheme.ts';

const ENTRIES_AT_ONCE = 256;
/** So many start URLs of a host are waited for, to see whether they are feeds. */
const MOST_AWAITED = 256;
/** Of start URLs that were not requested here, so many are requested as feeds. */
const MOST_UNASKED = 16;

export interface SitemapDiscovery {
  /** Something may still be found: the run goes on. */
  readonly isUnderWay: boolean;
  /** Something was not requested, since the run may request no more pages. */
  readonly isCut: boolean;
  begin(): void;
  /** Resolves when the search of the host has ended, with the dates that its sitemaps give kept; null when none is to come. */
  datesOf(host: string): Promise<void> | null;
  /** The sitemap of the host that is requested just now. */
  readingOf(host: string): ReadingSitemap | null;
  /** A start URL was answered. */
  readonly seeStart: StartHearing['see'];
  /** No page waits or is in flight: one that was waited for does not come. */
  noMorePages(): void;
  /** Starts nothing more: what is not known by now is not learned. */
  stop(): void;
  /** Resolves when nothing more is done. */
  readonly ended: Promise<unknown>;
}

export interface DiscoverySurroundings {
  hosts: Pick<LeasedHosts, 'rulesOf' | 'request' | 'answers' | 'pause' | 'wake'>;
  /** The run may request no more pages: what sitemaps name besides would only be recorded. */
  isOutOfPages: () => boolean;
  /** Something may be possible that was not. */
  onChange: () => void;
  /** The run began earlier: what its start URLs answered then is not told again. */
  isResumed: boolean;
  onFailure: (error: unknown) => void;
  /** Aborted when what is under way is given up. */
  dropped: AbortSignal;
}

/**
 * Start URLs that are offered once it is known what they are: a sitemap is no page, a bare host needs a scheme, and a
 * site that has sitemaps is no page either.
 */
export function isOfferedLater({ sitemaps }: Pick<CrawlParts, 'sitemaps'>, start: StartUrl): boolean {
  return (
    start.isBare || (sitemaps !== null && (start.meaning === 'site' || looksLikeSitemap(start.fetchUrl)))
  );
}

/** Whether there is anything to find out before the run can be over. */
export function hasToDiscover({ sitemaps, startUrls }: Pick<CrawlParts, 'sitemaps' | 'startUrls'>): boolean {
  return sitemaps !== null || startUrls.some(({ isBare }) => isBare);
}

/** Null when there is nothing to find out. */
export function createSitemapDiscovery(
  parts: CrawlParts,
  around: DiscoverySurroundings,
): SitemapDiscovery | null {
  return hasToDiscover(parts) ? createDiscovery(parts, around) : null;
}

function createDiscovery(parts: CrawlParts, around: DiscoverySurroundings): SitemapDiscovery {
  const { sitemaps, startUrls, crew } = parts;
  const { hosts, onChange, onFailure } = around;
  const state: SearchState = { isStopped: false, isCut: false };
  /** What was not told here may have been answered to another worker, or to this run before it was interrupted. */
  const mayBeUnheard = crew.othersMayHaveMore || around.isResumed;
  const starts = createStartHearing(parts, mayBeUnheard, onChange);
  const keeper = createFindingKeeper(parts, { state, hosts, onChange, dropped: around.dropped });
  const searches = new HostSearches();
  const search = createSiteSearch(parts, {
    ...{ state, keeper, hosts, isOutOfPages: around.isOutOfPages },
    pageLinks: starts.pageLinks,
    onRequest: (host, sitemap) => void searches.reading.set(host, sitemap),
  });
  let unasked = 0;
  let open = 0;
  let ended: Promise<unknown> = Promise.resolve();

  function begin(): void {
    const waiting = searchesByHost(startUrls, sitemaps?.feeds ?? []);
    open = Math.min(crew.hostsReadAtOnce(parts.limits.maxHosts), waiting.length);
    if (sitemaps !== null) for (const [{ start }] of waiting) searches.expect(start.host);
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined && !state.isStopped; next = waiting.shift())
        await searchHost(next).finally(() => searches.end(next![0].start.host));
    };
    const workers = Array.from({ length: open }, () =>
      work()
        .catch(onFailure)
        .finally(() => {
          open--;
          onChange();
        }),
    );
    ended = Promise.all(workers);
  }

  async function searchHost(wanted: readonly SitemapSearch[]): Promise<void> {
    const { host } = wanted[0].start;
    const findings = await findingsOf(host, wanted);
    // Beside the searches: what comes is read while it comes.
    if (sitemaps !== null) for (const start of startPagesOf(host)) awaitFeed(start, findings);
    const waiting = [...wanted];
    const searched = new Set(
      wanted.filter(({ depth }) => depth !== 'given').map(({ start }) => placeOf(start.fetchUrl)),
    );
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const further = await searchStart(next, findings, searched);
      if (further !== null) waiting.push(further);
      if (state.isStopped) return;
    }
    await Promise.all(findings.reading.values());
    if (findings.depths.size > 0 && !state.isStopped) await keeper.remember(host, findings);
  }

  async function findingsOf(host: string, wanted: readonly SitemapSearch[]): Promise<HostFindings> {
    const known = sitemaps === null ? null : await parts.store.sitemaps.discovery(host);
    const record = new DiscoveryRecord(parts.clock.now(), known);
    // One time is kept for all of them: where one has to be made, all are.
    const isRemembered = wanted.every(
      (one) => one.depth === 'given' || one.isOffered || keeper.isKnown(record, one),
    );
    return {
      ...{ record, isRemembered, isCut: false },
      ...{ depths: new Set(), read: new Set(), reading: new Map(), links: new Map() },
      batch: new FindingBatch(ENTRIES_AT_ONCE),
    };
  }

  /** Answers the search of the site of a page that only looked like a sitemap; null else. */
  async function searchStart(
    one: SitemapSearch,
    findings: HostFindings,
    searched: Set<string>,
  ): Promise<SitemapSearch | null> {
    const { start: given, depth, isFeed, isOffered } = one;
    const start = given.isBare ? await withScheme(given, parts, hosts) : given;
    const isSite = sitemaps !== null && given.meaning === 'site';
    if (given.isBare && depth !== 'given' && !isSite) {
      if (sitemaps !== null && isPageUrl({ ...start, isBare: false })) awaitFeed(start, findings);
      await keeper.offer(start);
    }
    const isSearched = sitemaps !== null && !state.isStopped && !isOffered;
    const found = isSearched ? await search({ start, depth, isFeed }, findings) : 'none';
    if (isSite && depth !== 'given') {
      if (found === 'none' && !state.isStopped) await offerSites(start);
      return null;
    }
    const isSitemap = found === 'sitemap' || depth !== 'given' || isFeed || !isOfferedLater(parts, given);
    if (isSitemap || state.isStopped) return null;
    // What only looked like a sitemap is a page, and its site is searched as for any page. One that was a sitemap before
    // is one that cannot be read now.
    const mayBePage = found === 'page' || !findings.record.known?.sitemaps.includes(start.fetchUrl);
    if (mayBePage) await keeper.offer(start);
    const place = placeOf(start.fetchUrl);
    if (found !== 'page' || searched.has(place)) return null;
    searched.add(place);
    return { start: { ...start, isBare: false }, depth: 'page' };
  }

  /** All start URLs that stand for this site, which has no sitemaps: they are its pages. */
  async function offerSites(searched: StartUrl): Promise<void> {
    const place = placeOf(searched.fetchUrl);
    const scheme = new URL(searched.fetchUrl).protocol;
    for (const start of startUrls) {
      if (start.meaning !== 'site' || start.host !== searched.host) continue;
      const found = start.isBare ? respell(start, scheme) : start;
      if (found !== null && placeOf(found.fetchUrl) === place) await keeper.offer(found);
    }
  }

  /** A bare host speaks by the scheme by which its site was searched. */
  function respell({ fetchUrl }: StartUrl, scheme: string): StartUrl | null {
    const found = parts.normalizer.normalize(fetchUrl.replace(/^https?:/, scheme));
    return found === null ? null : { ...found, isBare: false, meaning: 'site' };
  }

  /** Start URLs that are requested as pages. */
  function startPagesOf(host: string): StartUrl[] {
    const isPage = (start: StartUrl) => start.host === host && isPageUrl({ ...start, isBare: false });
    return startUrls.filter((start) => isPage(start) && !isOfferedLater(parts, start)).slice(0, MOST_AWAITED);
  }

  function awaitFeed(start: StartUrl, findings: HostFindings): void {
    findings.reading.set(start.fetchUrl, readFeed(start, findings));
  }

  /** A start URL that is requested as a page, and may answer as feeds or sitemaps do. */
  async function readFeed(start: StartUrl, findings: HostFindings): Promise<void> {
    const found = await starts.feedOf(start.url);
    if (state.isStopped || found === 'none') return;
    const mayBeFeed = found === 'feed' || (mayBeUnheard && unasked++ < MOST_UNASKED);
    if (!mayBeFeed) return;
    const what = found === 'feed' ? { isFeed: true as const } : { isUnread: true as const };
    // At once: the searches of the host may go on for long.
    await search({ start, depth: 'given', ...what }, findings).catch(onFailure);
  }

  function noMorePages(): void {
    // One is on its way, of which nobody else knows yet.
    if (keeper.isOffering && !state.isStopped) return;
    starts.giveUp();
  }

  return {
    get isUnderWay() {
      return open > 0;
    },
    get isCut() {
      return state.isCut;
    },
    begin,
    readingOf: (host) => searches.reading.get(host) ?? null,
    datesOf: (host) => searches.endOf(host),
    seeStart: starts.see,
    noMorePages,
    stop() {
      state.isStopped = true;
      noMorePages();
      searches.endAll();
    },
    get ended() {
      return ended;
    },
  };
}
