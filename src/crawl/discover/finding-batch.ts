/**
 * Entries of one sitemap on their way to the store, each page once: of one that is named twice the newer date counts. A batch is full by the
 * number of its entries or by what they say: few that say much would fill the memory as many do.
 */
import type { Candidate } from '../../frontier/candidate.ts';
import { keepNewerDate, wordsOf } from '../../sitemap/entry-words.ts';
import type { FoundEntry } from '../../sitemap/find-entries.ts';
import type { SitemapFinding } from '../../store/sitemap-port.ts';

const MOST_LETTERS = 1024 * 1024;

export class FindingBatch {
  readonly #most: number;
  #findings = new Map<string, SitemapFinding>();
  #letters = 0;
  #sitemap: string | null = null;

  constructor(most: number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#findings.size >= this.#most || this.#letters >= MOST_LETTERS;
  }

  /** What another sitemap says comes after it: of a page that both name, each has its own words. */
  isOf(sitemap: string): boolean {
    return this.#sitemap === null || this.#sitemap === sitemap;
  }

  /** `url`: the identity of its page. */
  add({ entry, sitemap, kind }: FoundEntry, url: string, judge: () => Candidate): void {
    const earlier = this.#findings.get(url);
    if (earlier !== undefined) {
      keepNewerDate(earlier, entry);
      return;
    }
    this.#sitemap = sitemap;
    const { lastmodAt: lastmod, changefreq, priority } = entry;
    const words = wordsOf(entry, kind, url);
    this.#letters += (words.details?.length ?? 0) + (words.lastmodText?.length ?? 0);
    this.#findings.set(url, { candidate: judge(), lastmod, changefreq, priority, sitemap, ...words });
  }

  /** All of them; then it is empty. */
  take(): SitemapFinding[] {
    const taken = [...this.#findings.values()];
    this.#findings = new Map();
    this.#letters = 0;
    this.#sitemap = null;
    return taken;
  }
}
