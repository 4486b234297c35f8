/**
 * Finds the sitemaps of a site and gives their entries: at the given URL, otherwise by the Sitemap lines of robots.txt,
 * otherwise at the usual paths, otherwise by the link of a page. Indexes are followed to the sitemaps that they name.
 * Before it: the caller's `web`, which holds the hosts and their clocks and sends all requests. After it: the judging
 * of entries.
 *
 * Promises: every request obeys robots.txt. An index that names itself, or grows ever deeper or wider, comes to an end.
 * An entry of another host counts only if that host's robots.txt names the sitemap, or the index that led to it. Every
 * problem is reported, nothing is thrown.
 */
import type { RobotsRules } from '../politeness/robots-txt.ts';
import {
  createForeignCheck,
  FOREIGN_REASONS,
  type ForeignCheck,
  type ForeignReason,
  siteOf,
} from './foreign-hosts.ts';
import { isGzip, readSitemap } from './read-sitemap.ts';
import { HEAD_BYTES, sitemapLinks } from './sitemap-links.ts';
import type { SitemapEntry, SitemapKind, SitemapOutcome } from './sitemap-outcome.ts';

/** A fetched answer, after redirects. */
export interface WebAnswer {
  /** The final URL. */
  url: string;
  contentType: string | null;
  link: string | null;
  /** Read it once, to its end or as far as wanted. */
  pieces: AsyncIterable<Uint8Array>;
  /** What ended the body early, after everything available was read; null if it was complete. */
  cutBy(): Promise<WebRefusal | null>;
}

/** The polite requests that are possible. */
export interface SitemapWeb {
  /** The rules of the robots.txt of the URL's origin, or why no request to that origin is allowed. */
  robots(url: string): Promise<RobotsRules | WebRefusal>;
  /** GET, or why there is no answer. How the URL was found decides how soon and how patiently it is requested. */
  get(url: string, foundBy: FoundBy): Promise<WebAnswer | WebRefusal>;
}

export interface WebRefusal {
  refused: string;
  /** Another time there may be an answer. */
  mayPass?: boolean;
  /** Something is there, but could not be read. */
  isThere?: boolean;
}

/** Why a sitemap could not be read completely: the reason may pass, or it may last. */
export type Trouble = 'passing' | 'lasting';

/** path: it was there before, or is a usual place. */
export type FoundBy = 'given' | 'robots' | 'path' | 'link' | 'index';

/** The result for one sitemap. */
export interface SitemapReport {
  url: string;
  foundBy: FoundBy;
  kind: SitemapKind | null;
  entries: number;
  /** Entries of other hosts whose robots.txt does not name the sitemap. */
  foreign: number;
  /** Null if there is no problem. */
  problem: string | null;
  /** It may contain more than was read. Null if it was read completely, or is no sitemap. */
  trouble: Trouble | null;
  /** It was a guess, and it is no sitemap. */
  isMiss: boolean;
  /** The answer was something else: a page. */
  isPage: boolean;
}

export interface FoundEntry {
  entry: SitemapEntry;
  /** The URL of its sitemap. */
  sitemap: string;
  kind: SitemapKind;
}

export interface FindOptions {
  web: SitemapWeb;
  /**
   * Sitemaps that were read before. They are used if robots.txt names none; `paths` follow if none of them can be read.
   */
  known?: readonly string[];
  /** Paths that are tried if robots.txt names no sitemap. */
  paths: readonly string[];
  maxBytes: number;
  onSitemap: (report: SitemapReport) => void;
  /**
   * The sitemaps that the site's page names, from a caller that reads the page anyway. If absent or null, the page is
   * requested.
   */
  pageLinks?: () => Promise<readonly string[] | null>;
  /** If the start is a page: whether its site is searched (default: yes). */
  isSiteWanted?: () => Promise<boolean>;
  /** Whether another search of the same site has read this sitemap: then it is not read again. */
  wasRead?: (url: string) => Promise<boolean>;
  /** Only the start is read, whatever its name is. */
  isGiven?: boolean;
  /** Called before each request for a sitemap. */
  onAsk?: (asked: AskedSitemap) => void;
  /** For a given start that is a page: called with the sitemaps that it names. */
  onLinks?: (links: readonly string[]) => void;
}

/** Number `nth` of the `of` sitemaps that are known so far. */
export interface AskedSitemap {
  url: string;
  foundBy: FoundBy;
  nth: number;
  of: number;
}

/** How deep indexes may contain indexes; more is a trap. */
const DEEPEST_INDEX = 4;
/** The most sitemaps of one index, and the most requests in all. */
const MOST_SITEMAPS = 50_000;
/** A packed body is read in small pieces, so that few entries are in memory at once. */
const PACKED_PIECE_BYTES = 8 * 1024;
/** Reading pauses while so many entries wait: eight kilobytes may contain a hundred thousand. */
const MOST_IN_HAND = 4096;
const REPEATED = 'named before: an index that leads back to it, or a repetition';

interface Named {
  url: string;
  foundBy: FoundBy;
  depth: number;
  /** The indexes that led here. */
  from: readonly string[];
  /** A guess: a usual place, or a page that may name some. */
  isTried: boolean;
}

/**
 * By its name: `/sitemap_index.xml`, `/news.rss`, `/urls.txt.gz`. The content decides in the end. The word alone means
 * nothing: `/sitemap.html` and `/about-sitemaps` are pages.
 */
export function looksLikeSitemap(url: string): boolean {
  const { pathname } = new URL(url);
  return /\.(?:xml|rss|atom|rdf|txt)(?:\.gz)?$|\.gz$/i.test(pathname) && pathname !== '/robots.txt';
}

/** For the answer to a request for a page: it may be a sitemap or a feed. */
export function isSitemapType(essence: string): boolean {
  return /^(?:text|application)\/(?:(?:rss|atom|rdf)\+)?xml$|^application\/(?:x-)?gzip$/.test(essence);
}

/**
 * `start` is a home page, any other page, or a sitemap. Entries come as they are read, in groups that are never empty.
 */
export async function* findEntries(start: string, options: FindOptions): AsyncGenerator<FoundEntry[], void> {
  const walk = new SitemapWalk(options);
  const { web } = options;
  if (options.isGiven === true) {
    if (options.onLinks === undefined) yield* walk.read([start], 'given');
    else options.onLinks(yield* walk.readPage(start, 'given', false));
    return;
  }
  const home = new URL('/', start).href;
  let links: string[] = [];
  // A caller that gives the links of pages reads the start itself.
  if (options.pageLinks === undefined && start !== home) {
    links = yield* walk.readPage(start, 'given');
    // If a given sitemap cannot be read, no other takes its place.
    if (walk.hits > 0 || (looksLikeSitemap(start) && !walk.wasPage)) return;
    if ((await options.isSiteWanted?.()) === false) return;
  }
  const robots = await web.robots(start);
  if ('refused' in robots) {
    walk.tell({ url: start, foundBy: 'robots', problem: robots.refused, trouble: 'passing' });
    return;
  }
  const resolve = (address: string) => resolveHttp(address, start);
  yield* walk.read(robots.sitemaps.map(resolve), 'robots');
  if (walk.hits > 0) return;
  yield* walk.read((options.known ?? []).map(resolve), 'path');
  if (walk.hits > 0) return;
  for (const path of options.paths) {
    yield* walk.read([resolve(path)], 'path');
    if (walk.hits > 0) return;
  }
  let page = home;
  if (options.pageLinks === undefined) {
    yield* walk.read(links, 'link');
    if (walk.hits > 0) return;
  } else {
    const named = await options.pageLinks();
    if (named !== null) return yield* walk.read(named.map(resolve), 'link');
    page = start;
  }
  links = yield* walk.readPage(page, 'link');
  yield* walk.read(links, 'link');
}

/** Null: not a URL that can be requested. */
type Resolved = string | null;

class SitemapWalk {
  /** Sitemaps that could be read. */
  hits = 0;
  /** The last one is no sitemap but a page. */
  wasPage = false;
  readonly #options: FindOptions;
  readonly #foreign: ForeignCheck;
  readonly #seen = new Set<string>();
  /** Requests for sitemaps that were named. */
  #asked = 0;

  constructor(options: FindOptions) {
    this.#options = options;
    this.#foreign = createForeignCheck((url) => options.web.robots(url));
  }

  tell(
    report: Pick<SitemapReport, 'url' | 'foundBy' | 'problem' | 'trouble'> & Partial<SitemapReport>,
    isMiss = false,
  ): void {
    const { url, foundBy, kind = null, entries = 0, foreign = 0, problem, isPage = false } = report;
    const trouble = isMiss ? null : report.trouble;
    this.#options.onSitemap({ url, foundBy, kind, entries, foreign, problem, trouble, isMiss, isPage });
  }

  #tellRefusal(named: Named, { refused, mayPass, isThere }: WebRefusal): void {
    const trouble = mayPass === true ? 'passing' : 'lasting';
    this.tell({ ...named, problem: refused, trouble }, named.isTried && !mayPass && !isThere);
  }

  /**
   * Reads each of them, and those that indexes among them name, an index's own before the next one. `index`: what named
   * them.
   */
  async *read(
    urls: readonly Resolved[],
    foundBy: FoundBy,
    index?: Named,
  ): AsyncGenerator<FoundEntry[], void> {
    const waiting: Named[] = [];
    const name = (url: Resolved, by: FoundBy, depth: number, from: readonly string[]) => {
      if (url !== null) waiting.push({ url, foundBy: by, depth, from, isTried: by === 'path' });
    };
    const [depth, above] = index === undefined ? [0, []] : [index.depth + 1, [...index.from, index.url]];
    for (const url of urls.toReversed()) name(url, foundBy, depth, above);
    for (let named = waiting.pop(); named !== undefined; named = waiting.pop()) {
      if (this.#seen.has(named.url)) {
        if (named.foundBy === 'index') this.tell({ ...named, problem: REPEATED, trouble: null });
        continue;
      }
      if (this.#seen.size >= MOST_SITEMAPS) {
        const problem = `too many: ${MOST_SITEMAPS} sitemaps were read, no more are`;
        this.tell({ ...named, problem, trouble: 'lasting' });
        return;
      }
      this.#seen.add(named.url);
      if (await this.#wasRead(named)) continue;
      const nth = ++this.#asked;
      this.#options.onAsk?.({ url: named.url, foundBy: named.foundBy, nth, of: nth + waiting.length });
      const answer = await this.#options.web.get(named.url, named.foundBy);
      if ('refused' in answer) {
        this.#tellRefusal(named, answer);
        continue;
      }
      const children: string[] = [];
      yield* this.#readAnswer(named, answer, children);
      const from = [...named.from, named.url];
      for (const child of children.reverse()) name(child, 'index', named.depth + 1, from);
    }
  }

  async #wasRead({ url, foundBy }: Pick<Named, 'url' | 'foundBy'>): Promise<boolean> {
    if (foundBy === 'given' || (await this.#options.wasRead?.(url)) !== true) return false;
    this.hits++;
    return true;
  }

  /** The page may be a sitemap itself; otherwise the sitemaps that it names are returned. `isTried`: it is a guess. */
  async *readPage(
    page: string,
    foundBy: 'given' | 'link',
    isTried = !looksLikeSitemap(page),
  ): AsyncGenerator<FoundEntry[], string[]> {
    const named: Named = { url: page, foundBy, depth: 0, from: [], isTried };
    this.#seen.add(page);
    if (await this.#wasRead(named)) return [];
    const answer = await this.#options.web.get(page, foundBy);
    if ('refused' in answer) {
      this.#tellRefusal(named, answer);
      return [];
    }
    const head: Uint8Array[] = [];
    let missing = HEAD_BYTES;
    const tap = (piece: Uint8Array) => {
      if (missing > 0) head.push(piece.slice(0, missing));
      missing -= piece.length;
      return missing > 0;
    };
    const children: string[] = [];
    yield* this.#readAnswer(named, answer, children, tap);
    if (children.length > 0) yield* this.read(children, 'index', named);
    const links = sitemapLinks(Buffer.concat(head), answer.link);
    return links.map((link) => resolveHttp(link, answer.url)).filter((link) => link !== null);
  }

  async *#readAnswer(
    named: Named,
    answer: WebAnswer,
    children: string[],
    tap?: (piece: Uint8Array) => boolean,
  ): AsyncGenerator<FoundEntry[], void> {
    let batch: FoundEntry[] = [];
    let [wake, goOn] = [() => {}, () => {}];
    let isEnding = false;
    const { url, contentType } = answer;
    const reader = readSitemap({
      url,
      contentType,
      maxBytes: this.#options.maxBytes,
      onEntry(entry, kind) {
        if (kind !== 'index') batch.push({ entry, sitemap: url, kind });
        else if (children.length < MOST_SITEMAPS) children.push(entry.url);
      },
      hold() {
        if (isEnding || batch.length < MOST_IN_HAND) return null;
        wake();
        return new Promise((resolve) => {
          goOn = resolve;
        });
      },
    });
    const names = [named.url, url, ...named.from];
    const sites = new Set([siteOf(named.url), siteOf(url)]);
    const foreign = new Map<ForeignReason, number>();
    let wantsMore = true;
    const sift = async () => {
      const taken = batch;
      batch = [];
      return this.#countedOf(taken, sites, names, foreign);
    };
    for await (const piece of inSmallPieces(answer.pieces)) {
      // Of a page, the head is read for the sitemaps that it names, and no more.
      const isTapped = tap?.(piece) === true;
      let isPushed = !wantsMore;
      const pushed: Promise<boolean> = wantsMore
        ? reader.push(piece).finally(() => {
            isPushed = true;
            wake();
          })
        : Promise.resolve(false);
      while (!isPushed || batch.length > 0) {
        if (!isPushed && batch.length < MOST_IN_HAND)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const counted = await sift();
        if (counted.length > 0) yield counted;
        goOn();
      }
      wantsMore = await pushed;
      if (!wantsMore && !isTapped) break;
    }
    isEnding = true;
    goOn();
    const outcome = await reader.end();
    const counted = await sift();
    if (counted.length > 0) yield counted;
    const cut = wantsMore ? await answer.cutBy() : null;
    this.#tellOutcome(named, outcome, { foreign, cut }, children);
  }

  /** Entries of the sitemap's own site, and of hosts that name the sitemap. */
  async #countedOf(
    batch: FoundEntry[],
    sites: ReadonlySet<string>,
    names: readonly string[],
    foreign: Map<ForeignReason, number>,
  ): Promise<FoundEntry[]> {
    // Most have exactly the origin of their sitemap.
    const origin = names[1].slice(0, names[1].indexOf('/', names[1].indexOf('//') + 2) + 1);
    const isOwn = ({ entry }: FoundEntry) => entry.url.startsWith(origin) || sites.has(siteOf(entry.url));
    if (batch.every(isOwn)) return batch;
    const strangers = new Set(batch.filter((found) => !isOwn(found)));
    await this.#foreign.ask([...strangers].map(({ entry }) => entry.url));
    const counted: FoundEntry[] = [];
    for (const found of batch) {
      const reason = strangers.has(found) ? this.#foreign.reasonOf(found.entry.url, names) : null;
      if (reason === null) counted.push(found);
      else foreign.set(reason, (foreign.get(reason) ?? 0) + 1);
    }
    return counted;
  }

  #tellOutcome(
    named: Named,
    outcome: SitemapOutcome,
    { foreign, cut }: { foreign: ReadonlyMap<ForeignReason, number>; cut: WebRefusal | null },
    children: string[],
  ): void {
    const { kind, entries } = outcome;
    // Why it was cut says more than that it was.
    const problem = cut === null ? outcome.problem : null;
    this.wasPage = kind === null && (problem?.trouble === 'html' || problem?.trouble === 'not-sitemap');
    if (kind !== null) this.hits++;
    const said = problem === null ? [] : [`${problem.trouble}: ${problem.detail}`];
    if (cut !== null) said.push(cut.refused);
    if (kind === 'index' && children.length < entries)
      said.push(`too many: more than ${MOST_SITEMAPS} sitemaps in it`);
    if (children.length > 0 && named.depth >= DEEPEST_INDEX) {
      said.push(`too deep: an index inside ${named.depth} others, what it names is not read`);
      children.length = 0;
    }
    const isWhole = kind !== null && said.length === 0 && !foreign.has('unasked');
    let strangers = 0;
    for (const [reason, count] of foreign) {
      strangers += count;
      said.push(`foreign: ${count} ${count === 1 ? 'entry' : 'entries'} ${FOREIGN_REASONS[reason]}`);
    }
    const mayPass = cut?.mayPass === true || foreign.has('unread');
    this.tell(
      {
        ...named,
        kind,
        entries,
        foreign: strangers,
        problem: said.join('; ') || null,
        trouble: mayPass ? 'passing' : isWhole ? null : 'lasting',
        isPage: this.wasPage,
      },
      named.isTried && (this.wasPage || problem?.trouble === 'empty'),
    );
  }
}

/** Packed pieces are split; others are passed on as they come. */
async function* inSmallPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let isPacked: boolean | null = null;
  for await (const piece of pieces) {
    isPacked ??= isGzip(piece);
    const step = isPacked ? PACKED_PIECE_BYTES : piece.length;
    for (let at = 0; at < piece.length; at += step) yield piece.subarray(at, at + step);
  }
}

function resolveHttp(address: string, from: string): string | null {
  if (!URL.canParse(address, from)) return null;
  const url = new URL(address, from);
  url.hash = '';
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}
