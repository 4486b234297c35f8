/**
 * The input of a CRAWL: what each text of the query stands for. NULL and empty text are counted and left out; text that is
 * no URL becomes a row. A text that was given twice counts once.
 */
import { isBareAddress, readStartUrl } from '../../config/start-url.ts';
import { withoutCredentials } from '../../config/url-credentials.ts';
import type { StartMeaning } from '../../crawl/parts.ts';
import { SumiError } from '../../errors.ts';
import { looksLikeSitemap } from '../../sitemap/find-entries.ts';
import type { NormalizedUrl } from '../../url/normalize.ts';

/** auto: sites and sitemaps stand for what sitemaps name, pages for themselves. always: pages bring theirs, too. */
export type SitemapUse = 'auto' | 'always' | 'never';

export interface InputUrl {
  /** As given, for input_url; without a password. */
  given: string;
  /** Without blanks around it. */
  text: string;
  identity: NormalizedUrl;
  /** Undefined: the page, and what its site's sitemaps name. */
  meaning: StartMeaning | undefined;
}

export interface InvalidInput {
  given: string;
  text: string;
  problem: string;
}

export interface CrawlInput {
  /** By identity. */
  urls: Map<string, InputUrl>;
  invalid: InvalidInput[];
  /** NULL and empty text. */
  empty: number;
}

export interface InputReader {
  input: CrawlInput;
  add(text: string | null): void;
}

export interface InputRules {
  normalize: (url: string) => NormalizedUrl | null;
  sitemaps: SitemapUse;
  followsLinks: boolean;
}

export function createInputReader(rules: InputRules): InputReader {
  const input: CrawlInput = { urls: new Map(), invalid: [], empty: 0 };
  const seen = new Set<string>();
  return {
    input,
    add(given) {
      const text = given?.trim() ?? '';
      if (text === '') {
        input.empty++;
        return;
      }
      if (seen.has(text)) return;
      seen.add(text);
      const read = { ...readOne(text, rules), given: shownOf(given!) };
      if ('problem' in read) input.invalid.push(read);
      else if (!input.urls.has(read.identity.url)) input.urls.set(read.identity.url, read);
    },
  };
}

function shownOf(given: string): string {
  return URL.canParse(given) && /^\s*https?:/i.test(given) ? withoutCredentials(given) : given;
}

/** The input that a page answers. A host that was given without a scheme may have answered by either. */
export function inputOf({ urls }: CrawlInput, url: string): InputUrl | undefined {
  const found = urls.get(url);
  if (found !== undefined || !url.startsWith('http:')) return found;
  const other = urls.get(url.replace('http:', 'https:'));
  return other !== undefined && isBareAddress(other.text) ? other : undefined;
}

function readOne(
  text: string,
  { normalize, sitemaps, followsLinks }: InputRules,
): Omit<InputUrl, 'given'> | Omit<InvalidInput, 'given'> {
  try {
    const url = readStartUrl(text);
    const identity = normalize(url.href);
    if (identity === null) return { text, problem: 'the URL cannot be normalized' };
    return { text, identity, meaning: meaningOf(text, url, sitemaps, followsLinks) };
  } catch (error) {
    if (error instanceof SumiError) return { text, problem: error.message };
    throw error;
  }
}

function meaningOf(
  text: string,
  url: URL,
  sitemaps: SitemapUse,
  followsLinks: boolean,
): StartMeaning | undefined {
  if (sitemaps === 'never') return 'page';
  const isSite = isBareAddress(text) || (url.pathname === '/' && url.search === '');
  // Links are followed from the page itself, which then has to be read as well.
  if (isSite) return followsLinks ? undefined : 'site';
  if (looksLikeSitemap(url.href)) return undefined;
  return sitemaps === 'always' ? undefined : 'page';
}
