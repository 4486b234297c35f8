/**
 * Finds pages by the sitemaps of the start hosts while the crawl runs: each host is looked at once, what its sitemaps
 * name is judged, offered and kept in batches, and what was learned of the host is remembered for a while.
 *
 * It promises that a look which did not end (stopped, the limit of pages reached) is not remembered, nor one that could
 * not read everything as one that did, and that nothing a site sends ends the crawl. It also finds out by which
 * scheme a bare host speaks, since nobody else may ask before. It sends nothing itself: leased-hosts.ts does.
 */

import type { ReadingSitemap } from '../../events/events.ts';
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import {
  type FoundEntry,
  findEntries,
  looksLikeSitemap,
  type SitemapReport,
  type SitemapWeb,
} from '../../sitemap/find-entries.ts';
import { sitemapLinks } from '../../sitemap/sitemap-links.ts';
import type { HostDiscovery } from '../../store/sitemap-port.ts';
import type { LeasedHosts } from '../hosts/leased-hosts.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';
import {
  isFresh,
  isGuessed,
  isOfAnotherPort,
  isPageUrl,
  isSearched,
  LookRecord,
  placeOf,
} from './discovery-record.ts';
import { FindingBatch } from './finding-batch.ts';
import { createSitemapWeb } from './sitemap-web.ts';
import { createAwaited } from './start-answers.ts';
import { type Look, looksByHost } from './start-checks.ts';
import { createStartFeeds } from './start-feeds.ts';

const ENTRIES_AT_ONCE = 256;
/** So many start URLs of a host are waited for, to see whether they are feeds. */
const MOST_AWAITED = 256;
/** Of start URLs that were not asked for here, so many are asked for as feeds. */
const MOST_UNASKED = 16;

export interface SitemapDiscovery {
  /** Something may still be found: the run goes on. */
  readonly isUnderWay: boolean;
  /** Something was not asked for, since the run may ask for no more pages. */
  readonly isCut: boolean;
  begin(): void;
  /** Resolves when the look at the host has ended, with the dates that its sitemaps give kept; null when none is to come. */
  datesOf(host: string): Promise<void> | null;
  /** The sitemap of the host that is asked for just now. */
  readingOf(host: string): ReadingSitemap | null;
  /** A start URL was answered: a page may name sitemaps, a feed is one. */
  seeStart(start: Pick<StartUrl, 'url' | 'host'>, found: StartAnswer): void;
  /** No page waits or is in flight: one that was waited for does not come. */
  noMorePages(): void;
  /** Starts nothing more: what is not known by now is not learned. */
  stop(): void;
  /** Resolves when nothing more is done. */
  readonly ended: Promise<unknown>;
}

/** What a start URL answered that was asked for as a page. */
export type StartAnswer =
  | { body: Uint8Array; link: string | null }
  | { movedTo: string }
  | 'feed'
  /** As it was read before: by a 304, or because it was not asked for. */
  | 'unchanged'
  | 'other';

/** What the start page of a site names. unread: not read here, but maybe elsewhere or earlier in the run. */
type PageLinks = readonly string[] | 'unread' | 'unchanged';

export interface DiscoverySurroundings {
  hosts: Pick<LeasedHosts, 'rulesOf' | 'request' | 'answers' | 'pause' | 'wake'>;
  /** The run may ask for no more pages: what sitemaps name besides would only be recorded. */
  isOutOfPages: () => boolean;
  /** Something may be possible that was not. */
  onChange: () => void;
  /** The run began earlier: what its start URLs answered then is not told again. */
  isResumed: boolean;
  onFailure: (error: unknown) => void;
}

/** What the looks at one host have seen so far. */
interface Seen {
  record: LookRecord;
  /** What is remembered of the host is all that the looks ask for. */
  isRemembered: boolean;
  /** The run has its pages: no more was asked for. */
  isCut: boolean;
  /** Looks that were not spared, by what they asked for. */
  depths: Set<Look['depth']>;
  /** Sitemaps that were read, by address. */
  read: Set<string>;
  /** Start URLs that may be sitemaps, while they are asked for as pages. */
  reading: Map<string, Promise<void>>;
  /** What start pages name that were asked for once more, by address. */
  links: Map<string, readonly string[]>;
  /** Not offered yet. */
  batch: FindingBatch;
}

/** Start URLs that are offered once it is known what they are: a sitemap is no page, and a bare host needs a scheme. */
export function isOfferedLater({ sitemaps }: Pick<CrawlParts, 'sitemaps'>, start: StartUrl): boolean {
  return start.isBare || (sitemaps !== null && looksLikeSitemap(start.fetchUrl));
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
  const { sitemaps, startUrls, store, clock, events } = parts;
  if (!hasToDiscover(parts)) return null;
  const { hosts: leased } = around;
  /** Whoever gave them has them read: that one is there says nothing of the site's own. */
  const given = new Set([...startUrls, ...(sitemaps?.feeds ?? [])].map(({ fetchUrl }) => fetchUrl));
  /** What was not told here may have been answered to another worker, or to this run before it was interrupted. */
  const mayBeUnheard = parts.crew.othersMayHaveMore || around.isResumed;
  const pages = createAwaited<PageLinks>(mayBeUnheard ? 'unread' : [], around.onChange);
  const feeds = createStartFeeds(around.onChange);
  let [isStopped, isCut] = [false, false];
  let unasked = 0;
  /** Start URLs that are being offered. */
  let offering = 0;
  let open = 0;
  /** Hosts that are to be looked at, or are just now. */
  const reading = new Map<string, ReadingSitemap>();
  const looking = new Map<string, { ended: Promise<void>; end: () => void }>();
  let ended: Promise<unknown> = Promise.resolve();

  const mayAsk = () => !isStopped && !around.isOutOfPages();

  function begin(): void {
    const hosts = looksByHost(startUrls, sitemaps?.feeds ?? []);
    open = Math.min(parts.crew.hostsReadAtOnce(parts.limits.maxHosts), hosts.length);
    if (sitemaps !== null) for (const [{ start }] of hosts) expectLook(start.host);
    const work = async () => {
      for (let looks = hosts.shift(); looks !== undefined && !isStopped; looks = hosts.shift())
        await lookAt(looks).finally(() => endLook(looks![0].start.host));
    };
    const workers = Array.from({ length: open }, () =>
      work()
        .catch(around.onFailure)
        .finally(() => {
          open--;
          around.onChange();
        }),
    );
    ended = Promise.all(workers);
  }

  function expectLook(host: string): void {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    looking.set(host, { ended, end });
  }

  function endLook(host: string): void {
    looking.get(host)?.end();
    looking.delete(host);
    reading.delete(host);
  }

  async function lookAt(looks: readonly Look[]): Promise<void> {
    const { host } = looks[0].start;
    const record = new LookRecord(
      clock.now(),
      sitemaps === null ? null : await store.sitemaps.discovery(host),
    );
    const seen: Seen = {
      record,
      // One time is kept for all of them: where one has to be looked at, all are.
      isRemembered: looks.every((look) => look.depth === 'given' || look.isOffered || isKnown(record, look)),
      isCut: false,
      depths: new Set(),
      read: new Set(),
      reading: new Map(),
      links: new Map(),
      batch: new FindingBatch(ENTRIES_AT_ONCE),
    };
    // Beside the looks: what comes is read while it comes.
    if (sitemaps !== null) for (const start of startPagesOf(host)) awaitFeed(start, seen);
    const waiting = [...looks];
    const searched = new Set(
      looks.filter(({ depth }) => depth !== 'given').map((look) => placeOf(look.start.fetchUrl)),
    );
    for (let look = waiting.shift(); look !== undefined; look = waiting.shift()) {
      const { start: given, depth, isFeed, isOffered } = look;
      const start = given.isBare ? await withScheme(given) : given;
      if (given.isBare && depth !== 'given') {
        if (sitemaps !== null && isPageUrl({ ...start, isBare: false })) awaitFeed(start, seen);
        await offer(start);
      }
      const isLooked = sitemaps !== null && !isStopped && !isOffered;
      const found = isLooked ? await discover({ start, depth, isFeed }, seen) : 'none';
      // One that was a sitemap before is one that cannot be read now.
      const mayBePage = found === 'page' || !seen.record.known?.sitemaps.includes(start.fetchUrl);
      if (depth === 'given' && !isFeed && isOfferedLater(parts, given) && found !== 'sitemap' && !isStopped) {
        // What only looked like a sitemap is a page, and its site is looked at as for any page.
        if (mayBePage) await offer(start);
        const place = placeOf(start.fetchUrl);
        if (found === 'page' && !searched.has(place)) {
          searched.add(place);
          waiting.push({ start: { ...start, isBare: false }, depth: 'page' });
        }
      }
      if (isStopped) return;
    }
    await Promise.all(seen.reading.values());
    if (seen.depths.size > 0 && !isStopped) await remember(host, seen);
  }

  /** Start URLs that are asked for as pages. */
  function startPagesOf(host: string): StartUrl[] {
    const isPage = (start: StartUrl) => start.host === host && isPageUrl({ ...start, isBare: false });
    return startUrls.filter((start) => isPage(start) && !isOfferedLater(parts, start)).slice(0, MOST_AWAITED);
  }

  function awaitFeed(start: StartUrl, seen: Seen): void {
    seen.reading.set(start.fetchUrl, readFeed(start, seen));
  }

  /** A start URL that is asked for as a page, and may answer as feeds or sitemaps do. */
  async function readFeed(start: StartUrl, seen: Seen): Promise<void> {
    const found = await feeds.of(start.url);
    if (isStopped || found === 'none') return;
    const mayBeFeed = found === 'feed' || (mayBeUnheard && unasked++ < MOST_UNASKED);
    if (!mayBeFeed) return;
    const what = found === 'feed' ? { isFeed: true as const } : { isUnread: true as const };
    // At once: the looks at the host may go on for long.
    await discover({ start, depth: 'given', ...what }, seen).catch(around.onFailure);
  }

  async function offer(start: StartUrl): Promise<void> {
    const candidate = parts.discovery.judge(start, 0, 'link', false, true);
    offering++;
    await store.frontier.offer([{ ...candidate, reopens: true }]);
    offering--;
    wakeHosts([candidate]);
    around.onChange();
  }

  /** A bare host is asked by https, and by http where nobody speaks https. */
  async function withScheme(start: StartUrl): Promise<StartUrl> {
    const plain = plainOf(parts, start);
    if (plain === null) return start;
    const origins = [start, plain].map(({ fetchUrl }) => new URL(fetchUrl).origin);
    const [secureRobots, plainRobots] = await Promise.all(
      origins.map((origin) => store.hosts.robots(origin)),
    );
    const isFresh = (robots: typeof plainRobots) =>
      robots !== null && robots.status > 0 && robots.expiresAt > clock.now();
    if (isFresh(secureRobots)) return start;
    if (isFresh(plainRobots)) return plain;
    if (await leased.answers(start.fetchUrl)) return start;
    return (await leased.answers(plain.fetchUrl)) ? plain : start;
  }

  /** What the start URL is, where it may be a sitemap: now, or when it was looked at not long ago. */
  async function discover(look: Look, seen: Seen): Promise<'sitemap' | 'page' | 'none'> {
    const { start, depth, isFeed, isUnread } = look;
    const { record } = seen;
    const { known } = record;
    if (seen.isRemembered && isKnown(record, look)) {
      // What was answered then stands for an answer now.
      if (depth === 'given') events.counters.answers++;
      return 'sitemap';
    }
    let hits = 0;
    let isPage = false;
    seen.depths.add(depth);
    const isSite = depth !== 'given';
    if (isSite) {
      record.searched.add(placeOf(start.fetchUrl));
      record.guessed = sitemaps!.paths;
    }
    const entries = findEntries(start.fetchUrl, {
      web: webFor(seen),
      async wasRead(url) {
        // One that is given waits for no other: two that name each other would wait for ever.
        if (isSite) await seen.reading.get(url);
        return seen.read.has(url);
      },
      known: isSite ? knownOf(known, start) : [],
      paths: isSite ? sitemaps!.paths : [],
      maxBytes: sitemaps!.maxBytes,
      pageLinks: async () => (isSite && !isStopped ? linksOfPage(start, seen) : []),
      onLinks: isUnread && ((links) => seen.links.set(start.fetchUrl, links)),
      onAsk({ url, foundBy, nth, of }) {
        const isGuess = foundBy === 'path' && known?.sitemaps.includes(url) !== true;
        reading.set(start.host, { url, nth, of, is_guess: isGuess });
      },
      onSitemap(found) {
        // Nobody but its name said that it is one.
        isPage ||= found.isPage && !isFeed && depth === 'given' && found.foundBy === 'given';
        if (found.kind !== null) {
          hits++;
          seen.read.add(found.url);
        }
        // That a page which may be one does not answer is no trouble of the sitemaps.
        const isGuess = isUnread && found.kind === null && !known?.sitemaps.includes(found.url);
        if (!isPage && !isGuess) note(found, seen);
      },
      isGiven: !isSite,
    });
    for (;;) {
      const batch = await nextBatch(entries, start, seen);
      if (batch === null || isStopped) break;
      for (const found of batch) {
        add(found, seen);
        if (seen.batch.isFull) await save(seen);
      }
    }
    await entries.return(undefined);
    parts.faults.check();
    if (!isStopped) await save(seen);
    // From here on what its sitemaps say is of today; a single one that was given says nothing of the others.
    if (!isStopped && record.trouble === null && isSite)
      parts.readSitemaps.set(start.host, Math.floor(record.now));
    return hits > 0 ? 'sitemap' : isPage ? 'page' : 'none';
  }

  /** Null at the end. What reading a sitemap throws ends the search of this site, which is looked at again another time. */
  async function nextBatch(
    entries: AsyncGenerator<FoundEntry[], unknown>,
    { fetchUrl }: StartUrl,
    { record }: Seen,
  ): Promise<FoundEntry[] | null> {
    try {
      const next = await entries.next();
      return next.done ? null : next.value;
    } catch (error) {
      parts.faults.note(fetchUrl, error);
      record.trouble = 'passing';
      return null;
    }
  }

  /** Null: the page has to be asked for. */
  async function linksOfPage({ host, fetchUrl }: StartUrl, seen: Seen): Promise<readonly string[] | null> {
    const links = await pages.of(siteName(host));
    if (links === 'unread') {
      // One that may be a feed is asked for anyway.
      await seen.reading.get(fetchUrl);
      return seen.links.get(fetchUrl) ?? null;
    }
    // What it named when it was read, the look of then has heard.
    if (links === 'unchanged') return seen.record.known === null ? null : [];
    return links;
  }

  function add(found: FoundEntry, { batch }: Seen): void {
    try {
      const page = parts.normalizer.normalize(found.entry.url);
      if (page === null) return;
      batch.add(found, page.url, () => ({
        ...parts.discovery.judge(page, 1, 'sitemap', false, parts.isStartUrl(page.url)),
        // What was only linked in a way that is not followed is opened: here is another way to it.
        reopens: true,
      }));
    } catch (error) {
      parts.faults.note(found.entry.url, error);
    }
  }

  async function save(seen: Seen): Promise<void> {
    const findings = seen.batch.take();
    if (findings.length === 0) return;
    seen.record.count(await store.sitemaps.saveEntries(findings, seen.record.now));
    wakeHosts(findings.map(({ candidate }) => candidate));
  }

  function note(found: SitemapReport, seen: Seen): void {
    const { url, foundBy, kind, entries, problem, trouble } = found;
    if (isStopped || seen.isCut) return;
    if (!found.isMiss)
      events.emit({ type: 'sitemap', url, found_by: foundBy, kind, entries, problem, trouble });
    seen.record.note(found);
    if (kind !== null && foundBy === 'given') events.counters.answers++;
  }

  async function remember(host: string, { isCut, depths, record }: Seen): Promise<void> {
    if (isCut) return;
    const isSite = depths.has('site');
    const otherwise = sitemaps!.followsLinks ? 'links' : 'not_found';
    const found = record.toRemember({ isSite, isSearched: isSite || depths.has('page') }, otherwise);
    if (found !== null) await store.sitemaps.saveDiscovery(host, found);
  }

  function isKnown({ known, now }: LookRecord, { depth, start }: Look): boolean {
    if (known === null || !isFresh(known, now, sitemaps!.cacheMs)) return false;
    if (depth === 'given') return known.sitemaps.includes(start.fetchUrl);
    return isSearched(known, start.fetchUrl) && isGuessed(known, sitemaps!.paths);
  }

  /** Sitemaps of the site that were read before. */
  function knownOf(known: HostDiscovery | null, { fetchUrl }: StartUrl): string[] {
    return known?.sitemaps.filter((url) => !given.has(url) && !isOfAnotherPort(url, fetchUrl)) ?? [];
  }

  function webFor(seen: Seen): SitemapWeb {
    return createSitemapWeb({
      retry: parts.policy.retry,
      maxBytes: sitemaps!.maxBytes,
      rulesOf: leased.rulesOf,
      isKnown: (url) => seen.record.known?.sitemaps.includes(url) === true,
      pause: leased.pause,
      after: (delayMs, callback) => clock.after(delayMs, callback),
      async ask(request) {
        // The entries of one sitemap do not wait for the next.
        await save(seen);
        if (mayAsk()) return leased.request(request);
        seen.isCut = true;
        isCut = true;
        return { refused: 'limit: the run has its pages' };
      },
    });
  }

  function noMorePages(): void {
    // One is on its way, of which nobody else knows yet.
    if (offering > 0 && !isStopped) return;
    pages.giveUp();
    feeds.giveUp();
  }

  function wakeHosts(candidates: readonly Candidate[]): void {
    const hosts = new Set<string>();
    for (const { state, host } of candidates) if (state === PAGE_STATES.Queued) hosts.add(host);
    for (const host of hosts) leased.wake(host);
    if (hosts.size > 0) around.onChange();
  }

  return {
    get isUnderWay() {
      return open > 0;
    },
    get isCut() {
      return isCut;
    },
    begin,
    readingOf: (host) => reading.get(host) ?? null,
    datesOf: (host) => looking.get(host)?.ended ?? null,
    seeStart({ url, host }, found) {
      if (typeof found === 'object' && 'body' in found)
        pages.see(siteName(host), sitemapLinks(found.body, found.link));
      if (parts.isStartUrl(url) && typeof found === 'string')
        // One that is no page names none.
        pages.see(siteName(host), found === 'unchanged' ? 'unchanged' : []);
      // A start URL may be heard to lead here later.
      if (found === 'feed') feeds.see(url, 'feed');
      // At depth 0 there may be many more than those that were given.
      else if (!parts.isStartUrl(url) && !feeds.isAwaited(url)) return;
      else if (typeof found === 'object' && 'movedTo' in found) feeds.move(url, found.movedTo);
      else feeds.see(url, 'none');
    },
    noMorePages,
    stop() {
      isStopped = true;
      noMorePages();
      for (const host of [...looking.keys()]) endLook(host);
    },
    get ended() {
      return ended;
    },
  };
}

/** Home pages often lead to the same name with or without www (docs/decisions/0011). */
function siteName(host: string): string {
  return host.replace(/^www\./, '');
}

function plainOf({ normalizer }: CrawlParts, start: StartUrl): StartUrl | null {
  const found = normalizer.normalize(start.fetchUrl.replace(/^https:/, 'http:'));
  return found?.fetchUrl.startsWith('http:') ? { ...found, isBare: true } : null;
}
