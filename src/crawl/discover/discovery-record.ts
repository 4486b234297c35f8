/**
 * What searches for the sitemaps of a host have found, and what is remembered of it: one rule for crawls and `sumi sitemap`.
 *
 *  - A search is remembered with its time, and believed for the time of the cache. Where something was in the way, that is
 *    remembered too: then nothing that is missing counts as vanished, and what may pass is read again sooner.
 *  - That nothing was found is remembered only of a site that was searched as such, and not where what may pass was in
 *    the way.
 */
import type { SitemapReport, Trouble } from '../../sitemap/find-entries.ts';
import { PageSet } from '../../store/page-set.ts';
import type { HostDiscovery, SavedEntry } from '../../store/sitemap-port.ts';
import type { StartUrl } from '../parts.ts';

const MOST_NAMED = 100;
const PASSING_MS = 3_600_000;
const MOST_ONE_BY_ONE = 4096;

export class DiscoveryRecord {
  hits = 0;
  /** Pages that were named, each once. */
  entries = 0;
  trouble: Trouble | null = null;
  /** By which names with ports its sitemaps were searched for. */
  readonly searched = new Set<string>();
  /** The paths that were guessed at where nothing named a sitemap. */
  guessed: readonly string[] = [];
  readonly now: number;
  /** What is remembered of the search before this. */
  readonly known: HostDiscovery | null;
  readonly #named = new Set<string>();
  /** A set of bits is as large as the highest id: of a search with few pages, that would be most of what it holds. */
  #pages: Set<number> | PageSet = new Set();
  readonly #wholes = new Map<string, NonNullable<HostDiscovery['looks']>[string]>();
  /** Of the entries: pages that no sitemap named so far. */
  #added = 0;

  constructor(now: number, known: HostDiscovery | null) {
    this.now = now;
    this.known = known;
  }

  /** What the store says of entries that it was given. */
  count(saved: readonly SavedEntry[]): void {
    for (const { pageId, namedBy } of saved) {
      if (!this.#isNew(pageId)) continue;
      this.entries++;
      if (namedBy === 'none') this.#added++;
    }
  }

  #isNew(pageId: number): boolean {
    if (this.#pages instanceof PageSet) return this.#pages.add(pageId);
    if (this.#pages.has(pageId)) return false;
    this.#pages.add(pageId);
    if (this.#pages.size > MOST_ONE_BY_ONE) {
      const bits = new PageSet();
      for (const id of this.#pages) bits.add(id);
      this.#pages = bits;
    }
    return true;
  }

  note({ url, foundBy, kind, entries, problem, trouble }: SitemapReport): void {
    this.trouble = worse(this.trouble, trouble);
    if (kind === null) return;
    const isWhole = kind !== 'index' && problem === null && trouble === null;
    if (isWhole && this.#wholes.size < MOST_NAMED)
      this.#wholes.set(url, { at: Math.round(this.now), entries });
    this.hits++;
    if (foundBy !== 'index' && this.#named.size < MOST_NAMED) this.#named.add(url);
  }

  /** `isSearched`: not only what was given was read. `isSite`: as a site, not for a page of it. */
  toRemember(
    search: { isSearched: boolean; isSite: boolean },
    otherwise: 'links' | 'not_found',
  ): HostDiscovery | null {
    const { hits, entries, known } = this;
    // One that was not read says nothing of what it named; whoever searches next time finds it forgotten.
    const isMissing = search.isSearched && known?.sitemaps.some((url) => !this.#named.has(url)) === true;
    const trouble = worse(this.trouble, isMissing ? 'lasting' : null);
    if (hits === 0 && (!search.isSite || trouble === 'passing')) return null;
    const found: HostDiscovery = {
      method: hits > 0 ? 'sitemap' : otherwise,
      checkedAt: this.now,
      entries,
      sitemaps: [...this.#named],
      trouble,
      looks: Object.fromEntries(this.#wholes),
      searched: [...this.searched],
      guessed: [...this.guessed],
    };
    return search.isSearched ? found : withKnown(known, found, this.#added);
  }
}

export function isFresh(
  { checkedAt, trouble }: Pick<HostDiscovery, 'checkedAt' | 'trouble'>,
  now: number,
  cacheMs: number,
): boolean {
  // What was read in times to come was read by a clock that was wrong.
  if (checkedAt > now) return false;
  return checkedAt + (trouble === 'passing' ? Math.min(cacheMs, PASSING_MS) : cacheMs) > now;
}

/** The name that a URL's host was searched by: other ports are other sites. */
export function placeOf(url: string): string {
  return new URL(url).host;
}

/** The sitemaps of this very site were searched for then: that one was read which somebody gave says nothing of them. */
export function isSearched({ searched }: Pick<HostDiscovery, 'searched'>, url: string): boolean {
  return searched === null || searched.includes(placeOf(url));
}

/** A search that found none says nothing of paths that it did not try. */
export function isGuessed(
  { method, guessed }: Pick<HostDiscovery, 'method' | 'guessed'>,
  paths: readonly string[],
): boolean {
  return method === 'sitemap' || guessed === null || paths.every((path) => guessed.includes(path));
}

/** A sitemap of the same host by another port is another site's. */
export function isOfAnotherPort(sitemap: string, url: string): boolean {
  const [one, other] = [new URL(sitemap), new URL(url)];
  return one.hostname === other.hostname && one.host !== other.host;
}

/** A page was meant, not its site: by the whole address of one. */
export function isPageUrl({ isBare, fetchUrl }: StartUrl): boolean {
  const { pathname, search } = new URL(fetchUrl);
  return !isBare && (pathname !== '/' || search !== '');
}

/**
 * Beside sitemaps that are known and were not read this time, those given are an addition: the time stays that of the
 * search for all of them, or else what only the others name would count as vanished.
 */
function withKnown(known: HostDiscovery | null, found: HostDiscovery, added: number): HostDiscovery {
  const others = known?.sitemaps.filter((url) => !found.sitemaps.includes(url)) ?? [];
  if (known === null || others.length === 0) return found;
  return {
    method: 'sitemap',
    checkedAt: known.checkedAt,
    entries: known.entries + added,
    sitemaps: [...found.sitemaps, ...others].slice(0, MOST_NAMED),
    trouble: worse(known.trouble, found.trouble),
    looks: Object.fromEntries(
      Object.entries({ ...found.looks, ...known.looks, ...found.looks }).slice(0, MOST_NAMED),
    ),
    searched: known.searched,
    guessed: known.guessed,
  };
}

function worse(a: Trouble | null, b: Trouble | null): Trouble | null {
  return a === 'passing' || b === 'passing' ? 'passing' : (a ?? b);
}
