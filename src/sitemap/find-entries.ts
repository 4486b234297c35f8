/**
 * Finds the sitemaps of a site and gives their entries: by the Sitemap lines of robots.txt, else by the usual paths,
 * else by the link of a page. Indexes are followed to the sitemaps they name.
 *
 * It promises that robots.txt is obeyed for every request; that an index which names itself, or goes ever deeper, comes
 * to an end; and that an entry of another host counts only where that host's robots.txt names the sitemap (or the
 * index it came from). Everything that went wrong is told, nothing is thrown. It sends nothing itself: `web` is the
 * caller's, who holds the hosts and their clocks.
 */
import type { RobotsRules } from '../politeness/robots-txt.ts';
import { createForeignCheck, siteOf } from './foreign-hosts.ts';
import { readSitemap } from './read-sitemap.ts';
import { sitemapLinks } from './sitemap-links.ts';
import type { SitemapEntry, SitemapKind, SitemapOutcome } from './sitemap-outcome.ts';

/** A fetched answer, redirects followed. */
export interface WebAnswer {
  /** Where it came from in the end. */
  url: string;
  contentType: string | null;
  link: string | null;
  bytes: Uint8Array;
  release(): void;
}

/** What may be asked of the web, politely. */
export interface SitemapWeb {
  /** What the robots.txt of the URL's origin says, or why nothing of that origin may be asked. */
  robots(url: string): Promise<RobotsRules | { refused: string }>;
  /** GET, or why there is nothing. Retries only where it is worth it: a path that is only tried is asked once. */
  get(url: string, isTried: boolean): Promise<WebAnswer | { refused: string }>;
}

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
}

/** Indexes inside an index inside an index: more are a trap. */
const DEEPEST_INDEX = 4;
/** As many as one index may have. */
const MOST_SITEMAPS = 50_000;
/** One piece of a packed body unpacks to a thousand times as much at most. */
const PIECE_BYTES = 8 * 1024;

interface Named {
  url: string;
  foundBy: FoundBy;
  depth: number;
  /** The indexes that led here. */
  from: readonly string[];
}

/** By its name: `/sitemap_index.xml`, `/news.rss`, `/urls.txt.gz`. What is in it decides in the end. */
function looksLikeSitemap(url: string): boolean {
  const { pathname } = new URL(url);
  return (
    /\.(?:xml|rss|atom|rdf|txt)(?:\.gz)?$|\.gz$|sitemap[^/]*$/i.test(pathname) && pathname !== '/robots.txt'
  );
}

/** `start` is a home page, any other page, or a sitemap. */
export async function* findEntries(start: string, options: FindOptions): AsyncGenerator<FoundEntry, void> {
  const walk = new SitemapWalk(options);
  const { web } = options;
  if (looksLikeSitemap(start)) {
    yield* walk.read([start], 'given');
    // An address that only looks like a sitemap's is a page.
    if (walk.hits > 0 || !walk.wasHtml) return;
  }
  const robots = await web.robots(start);
  if ('refused' in robots) {
    walk.tell({ url: start, foundBy: 'robots', problem: robots.refused });
    return;
  }
  const resolve = (address: string) => resolveHttp(address, start);
  yield* walk.read(robots.sitemaps.map(resolve), 'robots');
  if (walk.hits > 0) return;
  for (const path of options.paths) {
    yield* walk.read([resolve(path)], 'path');
    if (walk.hits > 0) return;
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

  tell(report: Pick<SitemapReport, 'url' | 'foundBy' | 'problem'> & Partial<SitemapReport>): void {
    const { url, foundBy, kind = null, entries = 0, foreign = 0, problem } = report;
    this.#options.onSitemap({ url, foundBy, kind, entries, foreign, problem });
  }

  /** Each of them, and what indexes among them name, an index's own before the next one. */
  async *read(urls: readonly (string | null)[], foundBy: FoundBy): AsyncGenerator<FoundEntry, void> {
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
      this.#seen.add(named.url);
      const answer = await this.#options.web.get(named.url, named.foundBy === 'path');
      if ('refused' in answer) {
        this.tell({ ...named, problem: answer.refused });
        continue;
      }
      const children: string[] = [];
      yield* this.#readAnswer(named, answer, children);
      const from = [...named.from, named.url];
      for (const child of children.reverse()) name(child, 'index', named.depth + 1, from);
    }
  }

  /** The page may be a sitemap itself; else it may name some. */
  async *readPage(page: string): AsyncGenerator<FoundEntry, void> {
    const answer = await this.#options.web.get(page, false);
    if ('refused' in answer) {
      this.tell({ url: page, foundBy: 'link', problem: answer.refused });
      return;
    }
    const links = sitemapLinks(answer.bytes, answer.link).map((link) => resolveHttp(link, answer.url));
    const children: string[] = [];
    yield* this.#readAnswer({ url: page, foundBy: 'link', depth: 0, from: [] }, answer, children);
    yield* this.read([...children, ...links], 'link');
  }

  async *#readAnswer(named: Named, answer: WebAnswer, children: string[]): AsyncGenerator<FoundEntry, void> {
    let batch: FoundEntry[] = [];
    const { url, contentType, bytes } = answer;
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
    let outcome: SitemapOutcome | null = null;
    try {
      for (let at = 0; outcome === null; at += PIECE_BYTES) {
        const wantsMore = at < bytes.length && (await reader.push(bytes.subarray(at, at + PIECE_BYTES)));
        if (!wantsMore) outcome = await reader.end();
        for (const found of batch) {
          const isOwn = sites.has(siteOf(found.entry.url));
          if (isOwn || (await this.#isVouchedFor(found.entry.url, names))) yield found;
          else foreign++;
        }
        batch = [];
      }
    } finally {
      answer.release();
    }
    this.#tellOutcome(named, outcome, foreign, children);
  }

  #tellOutcome(named: Named, outcome: SitemapOutcome, foreign: number, children: string[]): void {
    const { kind, problem, entries } = outcome;
    this.wasHtml = problem?.trouble === 'html';
    if (kind !== null) this.hits++;
    const said = problem === null ? [] : [`${problem.trouble}: ${problem.detail}`];
    if (kind === 'index' && children.length < entries)
      said.push(`too many: more than ${MOST_SITEMAPS} sitemaps in it`);
    if (children.length > 0 && named.depth >= DEEPEST_INDEX) {
      said.push(`too deep: an index inside ${named.depth} others, what it names is not read`);
      children.length = 0;
    }
    if (foreign > 0) said.push(`foreign: ${foreign} entries of hosts whose robots.txt does not name it`);
    this.tell({ ...named, kind, entries, foreign, problem: said.join('; ') || null });
  }
}

function resolveHttp(address: string, from: string): string | null {
  if (!URL.canParse(address, from)) return null;
  const url = new URL(address, from);
  url.hash = '';
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}
