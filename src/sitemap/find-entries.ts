/**
 * Finds the sitemaps of a site and gives their entries: by the Sitemap lines of robots.txt, else by the usual paths,
 * else by the link of a page. Indexes are followed to the sitemaps they name.
 *
 * It promises that robots.txt is obeyed for every request; that an index which names itself, goes ever deeper or ever
 * wider, comes to an end; and that an entry of another host counts only where that host's robots.txt names the sitemap (or the
 * index it came from). Everything that went wrong is told, nothing is thrown. It sends nothing itself: `web` is the
 * caller's, who holds the hosts and their clocks.
 */
import type { RobotsRules } from '../politeness/robots-txt.ts';
import { createForeignCheck, siteOf } from './foreign-hosts.ts';
import { isGzip, readSitemap } from './read-sitemap.ts';
import { sitemapLinks } from './sitemap-links.ts';
import type { SitemapEntry, SitemapKind, SitemapOutcome } from './sitemap-outcome.ts';

/** A fetched answer, redirects followed. */
export interface WebAnswer {
  /** Where it came from in the end. */
  url: string;
  contentType: string | null;
  link: string | null;
  /** To be read once, to its end or as far as it is wanted. */
  pieces: AsyncIterable<Uint8Array>;
  /** What ended the body early, when all there is was read; null when it was whole. */
  cutBy(): Promise<WebRefusal | null>;
}

/** What may be asked of the web, politely. */
export interface SitemapWeb {
  /** What the robots.txt of the URL's origin says, or why nothing of that origin may be asked. */
  robots(url: string): Promise<RobotsRules | WebRefusal>;
  /** GET, or why there is nothing. How it was found says how soon it is asked, and how patiently. */
  get(url: string, foundBy: FoundBy): Promise<WebAnswer | WebRefusal>;
}

export interface WebRefusal {
  refused: string;
  /** Another time there may be an answer. */
  mayPass?: boolean;
}

/** path: it was there before, or is where they often are. */
export type FoundBy = 'given' | 'robots' | 'path' | 'link' | 'index';

/** What became of one sitemap. */
export interface SitemapReport {
  url: string;
  foundBy: FoundBy;
  kind: SitemapKind | null;
  entries: number;
  /** Entries of other hosts that do not vouch for it. */
  foreign: number;
  /** Null when all is well. */
  problem: string | null;
  /** It could not be had this time; there may be entries in it still. */
  mayPass: boolean;
  /** A guess that was none. */
  isMiss: boolean;
}

export interface FoundEntry {
  entry: SitemapEntry;
  /** Where its sitemap was fetched. */
  sitemap: string;
  kind: SitemapKind;
}

export interface FindOptions {
  web: SitemapWeb;
  /** Paths that are tried where robots.txt names no sitemap. */
  paths: readonly string[];
  maxBytes: number;
  onSitemap: (report: SitemapReport) => void;
  /** The sitemaps that the site's page names, of whoever reads that page anyway; else it is asked for. */
  pageLinks?: () => Promise<readonly string[]>;
  /** The start is a sitemap or a feed, whatever it is called, and nothing else is looked for. */
  isGiven?: boolean;
}

/** Indexes inside an index inside an index: more are a trap. */
const DEEPEST_INDEX = 4;
/** As many as one index may have, and as many as are asked for in all. */
const MOST_SITEMAPS = 50_000;
/** One piece of a packed body unpacks to a thousand times as much at most. */
const PACKED_PIECE_BYTES = 8 * 1024;
/** Pieces of a page in which links to sitemaps are looked for. */
const HEAD_PIECES = 16;

interface Named {
  url: string;
  foundBy: FoundBy;
  depth: number;
  /** The indexes that led here. */
  from: readonly string[];
}

/** By its name: `/sitemap_index.xml`, `/news.rss`, `/urls.txt.gz`. What is in it decides in the end. */
export function looksLikeSitemap(url: string): boolean {
  const { pathname } = new URL(url);
  return (
    /\.(?:xml|rss|atom|rdf|txt)(?:\.gz)?$|\.gz$|sitemap[^/]*$/i.test(pathname) && pathname !== '/robots.txt'
  );
}

/** `start` is a home page, any other page, or a sitemap. Entries come as they are read, some at a time, never none. */
export async function* findEntries(start: string, options: FindOptions): AsyncGenerator<FoundEntry[], void> {
  const walk = new SitemapWalk(options);
  const { web } = options;
  if (options.isGiven === true || looksLikeSitemap(start)) {
    yield* walk.read([start], 'given');
    // An address that only looks like a sitemap's is a page.
    if (options.isGiven === true || walk.hits > 0 || !walk.wasHtml) return;
  }
  const robots = await web.robots(start);
  if ('refused' in robots) {
    walk.tell({ url: start, foundBy: 'robots', problem: robots.refused, mayPass: true });
    return;
  }
  const resolve = (address: string) => resolveHttp(address, start);
  yield* walk.read(robots.sitemaps.map(resolve), 'robots');
  if (walk.hits > 0) return;
  for (const path of options.paths) {
    yield* walk.read([resolve(path)], 'path');
    if (walk.hits > 0) return;
  }
  if (options.pageLinks !== undefined) {
    yield* walk.read((await options.pageLinks()).map(resolve), 'link');
    return;
  }
  for (const page of new Set([start, new URL('/', start).href])) {
    yield* walk.readPage(page);
    if (walk.hits > 0) return;
  }
}

class SitemapWalk {
  /** Sitemaps that could be read. */
  hits = 0;
  /** The last one that was read was a page. */
  wasHtml = false;
  readonly #options: FindOptions;
  readonly #isVouchedFor: ReturnType<typeof createForeignCheck>;
  readonly #seen = new Set<string>();

  constructor(options: FindOptions) {
    this.#options = options;
    this.#isVouchedFor = createForeignCheck((url) => options.web.robots(url));
  }

  /** `isBroken`: something was there that wants to be a sitemap. */
  tell(
    report: Pick<SitemapReport, 'url' | 'foundBy' | 'problem'> & Partial<SitemapReport>,
    isBroken = false,
  ): void {
    const { url, foundBy, kind = null, entries = 0, foreign = 0, problem, mayPass = false } = report;
    const isMiss = foundBy === 'path' && kind === null && !isBroken;
    this.#options.onSitemap({ url, foundBy, kind, entries, foreign, problem, mayPass, isMiss });
  }

  /** Each of them, and what indexes among them name, an index's own before the next one. */
  async *read(urls: readonly (string | null)[], foundBy: FoundBy): AsyncGenerator<FoundEntry[], void> {
    const waiting: Named[] = [];
    const name = (url: string | null, by: FoundBy, depth: number, from: readonly string[]) => {
      if (url !== null) waiting.push({ url, foundBy: by, depth, from });
    };
    for (const url of urls.toReversed()) name(url, foundBy, 0, []);
    for (let named = waiting.pop(); named !== undefined; named = waiting.pop()) {
      if (this.#seen.has(named.url)) {
        if (named.foundBy === 'index')
          this.tell({ ...named, problem: 'named before: an index that leads back to it, or a repetition' });
        continue;
      }
      if (this.#seen.size >= MOST_SITEMAPS) {
        this.tell({ ...named, problem: `too many: ${MOST_SITEMAPS} sitemaps were read, no more are` });
        return;
      }
      this.#seen.add(named.url);
      const answer = await this.#options.web.get(named.url, named.foundBy);
      if ('refused' in answer) {
        this.tell({ ...named, problem: answer.refused, mayPass: answer.mayPass });
        continue;
      }
      const children: string[] = [];
      yield* this.#readAnswer(named, answer, children);
      const from = [...named.from, named.url];
      for (const child of children.reverse()) name(child, 'index', named.depth + 1, from);
    }
  }

  /** The page may be a sitemap itself; else it may name some. */
  async *readPage(page: string): AsyncGenerator<FoundEntry[], void> {
    const answer = await this.#options.web.get(page, 'link');
    if ('refused' in answer) {
      this.tell({ url: page, foundBy: 'link', problem: answer.refused, mayPass: answer.mayPass });
      return;
    }
    const head: Uint8Array[] = [];
    const tap = (piece: Uint8Array) => void (head.length < HEAD_PIECES && head.push(piece.slice()));
    const children: string[] = [];
    yield* this.#readAnswer({ url: page, foundBy: 'link', depth: 0, from: [] }, answer, children, tap);
    const links = sitemapLinks(Buffer.concat(head), answer.link).map((link) => resolveHttp(link, answer.url));
    yield* this.read([...children, ...links], 'link');
  }

  async *#readAnswer(
    named: Named,
    answer: WebAnswer,
    children: string[],
    tap?: (piece: Uint8Array) => void,
  ): AsyncGenerator<FoundEntry[], void> {
    let batch: FoundEntry[] = [];
    const { url, contentType } = answer;
    const reader = readSitemap({
      url,
      contentType,
      maxBytes: this.#options.maxBytes,
      onEntry(entry, kind) {
        if (kind !== 'index') batch.push({ entry, sitemap: url, kind });
        else if (children.length < MOST_SITEMAPS) children.push(entry.url);
      },
    });
    const names = [named.url, url, ...named.from];
    const sites = new Set([siteOf(named.url), siteOf(url)]);
    let foreign = 0;
    let wantsMore = true;
    const sift = async () => {
      const counted = await this.#countedOf(batch, sites, names);
      foreign += batch.length - counted.length;
      batch = [];
      return counted;
    };
    for await (const piece of inSmallPieces(answer.pieces)) {
      tap?.(piece);
      // A page is read on for what it names, however soon it is known to be no sitemap.
      if (wantsMore) wantsMore = await reader.push(piece);
      if (batch.length > 0) {
        const counted = await sift();
        if (counted.length > 0) yield counted;
      }
      if (!wantsMore && tap === undefined) break;
    }
    const outcome = await reader.end();
    const counted = await sift();
    if (counted.length > 0) yield counted;
    const cut = wantsMore ? await answer.cutBy() : null;
    this.#tellOutcome(named, outcome, { foreign, cut }, children);
  }

  /** Those of the sitemap's own site, and of hosts that vouch for it. */
  async #countedOf(
    batch: FoundEntry[],
    sites: ReadonlySet<string>,
    names: readonly string[],
  ): Promise<FoundEntry[]> {
    // Most are of the very origin of their sitemap.
    const origin = names[1].slice(0, names[1].indexOf('/', names[1].indexOf('//') + 2) + 1);
    const isOwn = ({ entry }: FoundEntry) => entry.url.startsWith(origin) || sites.has(siteOf(entry.url));
    if (batch.every(isOwn)) return batch;
    const counted: FoundEntry[] = [];
    for (const found of batch)
      if (isOwn(found) || (await this.#isVouchedFor(found.entry.url, names))) counted.push(found);
    return counted;
  }

  #tellOutcome(
    named: Named,
    outcome: SitemapOutcome,
    { foreign, cut }: { foreign: number; cut: WebRefusal | null },
    children: string[],
  ): void {
    const { kind, entries } = outcome;
    // Why it broke off says more than that it did.
    const problem = cut === null ? outcome.problem : null;
    this.wasHtml = problem?.trouble === 'html';
    if (kind !== null) this.hits++;
    const said = problem === null ? [] : [`${problem.trouble}: ${problem.detail}`];
    if (cut !== null) said.push(cut.refused);
    if (kind === 'index' && children.length < entries)
      said.push(`too many: more than ${MOST_SITEMAPS} sitemaps in it`);
    if (children.length > 0 && named.depth >= DEEPEST_INDEX) {
      said.push(`too deep: an index inside ${named.depth} others, what it names is not read`);
      children.length = 0;
    }
    if (foreign > 0) said.push(`foreign: ${foreign} entries of hosts whose robots.txt does not name it`);
    const isBroken = !this.wasHtml && problem?.trouble !== 'empty';
    const mayPass = cut?.mayPass ?? false;
    this.tell({ ...named, kind, entries, foreign, problem: said.join('; ') || null, mayPass }, isBroken);
  }
}

/** As they come, but for packed ones. */
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
