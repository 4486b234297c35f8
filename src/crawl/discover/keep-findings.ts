/** What sitemaps name is judged, offered and kept in batches; what was learned of a host is remembered for a while. */
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { FoundEntry, SitemapReport } from '../../sitemap/find-entries.ts';
import type { SitemapFinding } from '../../store/sitemap-port.ts';
import type { LeasedHosts } from '../hosts/leased-hosts.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';
import { orDropped } from '../visit/wait-for-program.ts';
import { type DiscoveryRecord, isFresh, isGuessed, isSearched } from './discovery-record.ts';
import type { UrlJudge } from './judge-urls.ts';
import type { HostFindings, SearchState } from './search-state.ts';
import type { SitemapSearch } from './sitemap-searches.ts';

export interface FindingKeeper {
  add(found: FoundEntry, findings: HostFindings): void;
  save(findings: HostFindings): Promise<void>;
  /** Tells of a sitemap that was read, or could not be. */
  note(found: SitemapReport, findings: HostFindings): void;
  /** A search that did not end is not remembered. */
  remember(host: string, findings: HostFindings): Promise<void>;
  /** What is remembered of the host answers this search. */
  isKnown(record: DiscoveryRecord, search: SitemapSearch): boolean;
  /** A start URL that is a page. */
  offer(start: StartUrl): Promise<void>;
  /** A start URL is being offered, of which nobody else knows yet. */
  readonly isOffering: boolean;
}

export interface KeeperSurroundings {
  state: SearchState;
  hosts: Pick<LeasedHosts, 'wake'>;
  /** Something may be possible that was not. */
  onChange: () => void;
  /** Aborted when what is under way is given up. */
  dropped: AbortSignal;
}

export function createFindingKeeper(
  { store, events, normalizer, discovery, faults, sitemaps, isStartUrl, urlJudge }: CrawlParts,
  { state, hosts, onChange, dropped }: KeeperSurroundings,
): FindingKeeper {
  let offering = 0;
  let judging: Promise<unknown> = Promise.resolve();

  function wakeHosts(candidates: readonly Candidate[]): void {
    const woken = new Set<string>();
    for (const candidate of candidates) if (candidate.state === PAGE_STATES.Queued) woken.add(candidate.host);
    for (const host of woken) hosts.wake(host);
    if (woken.size > 0) onChange();
  }

  /** One after the other: of a page that two sitemaps name, the words of the later one come later. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = judging.then(work, work);
    judging = done.catch(() => {});
    return done;
  }

  /** False when the search was given up meanwhile. */
  async function isJudged(findings: readonly SitemapFinding[], judge: UrlJudge): Promise<boolean> {
    const candidates = findings.map(({ candidate }) => candidate);
    const asked = judge.judge(candidates, dropped);
    return asked === null || (await orDropped(asked, dropped)) !== 'dropped';
  }

  return {
    add(found, { batch }) {
      try {
        const page = normalizer.normalize(found.entry.url);
        if (page === null) return;
        batch.add(found, page.url, () => ({
          ...discovery.judge(page, 1, 'sitemap', false, isStartUrl(page.url)),
          // What was only linked in a way that is not followed is opened: here is another way to it.
          reopens: true,
        }));
      } catch (error) {
        faults.note(found.entry.url, error);
      }
    },
    async save({ batch, record }) {
      const findings = batch.take();
      if (findings.length === 0) return;
      if (urlJudge !== null && !(await inTurn(() => isJudged(findings, urlJudge)))) return;
      record.count(await store.sitemaps.saveEntries(findings, record.now));
      wakeHosts(findings.map(({ candidate }) => candidate));
    },
    note(found, { isCut, record }) {
      const { url, foundBy, kind, entries, problem, trouble } = found;
      if (state.isStopped || isCut) return;
      if (!found.isMiss)
        events.emit({ type: 'sitemap', url, found_by: foundBy, kind, entries, problem, trouble });
      record.note(found);
      if (kind !== null && foundBy === 'given') events.counters.answers++;
    },
    async remember(host, { isCut, depths, record }) {
      if (isCut) return;
      const isSite = depths.has('site');
      const otherwise = sitemaps!.followsLinks ? 'links' : 'not_found';
      const found = record.toRemember({ isSite, isSearched: isSite || depths.has('page') }, otherwise);
      if (found !== null) await store.sitemaps.saveDiscovery(host, found);
    },
    isKnown({ known, now }, { depth, start }) {
      if (known === null || !isFresh(known, now, sitemaps!.cacheMs)) return false;
      if (depth === 'given') return known.sitemaps.includes(start.fetchUrl);
      return isSearched(known, start.fetchUrl) && isGuessed(known, sitemaps!.paths);
    },
    async offer(start) {
      const candidate = discovery.judge(start, 0, 'link', false, true);
      offering++;
      await store.frontier.offer([{ ...candidate, reopens: true }]);
      offering--;
      wakeHosts([candidate]);
      onChange();
    },
    get isOffering() {
      return offering > 0;
    },
  };
}
