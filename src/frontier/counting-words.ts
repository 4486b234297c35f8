/**
 * The words by which known URLs are counted, each with its states. Every place that shows a number of URLs (summary,
 * report, stats, hosts, map) takes the states from here; docs/words.md is generated from this table.
 *
 * Promises: each state is in exactly one word, so the words of a project add up to its known URLs.
 */
import { PAGE_STATES, type PageState } from './page-state.ts';

interface CountingWordSpec {
  states: readonly PageState[];
  /** For docs/words.md. */
  about: string;
}

export const COUNTING_WORDS = {
  read: {
    states: ['Processed'],
    about: 'The URL was requested and answered with a page, a document or a redirect that leads on.',
  },
  broken: {
    states: ['DeadLink', 'Gone', 'Failed', 'Unreachable'],
    about:
      'The URL was wanted and gave no page: it is not there, the server answered with an error, or nobody answered. `sumi pages --broken` lists these, `sumi links --broken` the pages that link to them.',
  },
  rate_limited: {
    states: ['RateLimited'],
    about:
      'The host answered 429 (too many requests) and gets no more requests in this run. The next run asks again.',
  },
  skipped: {
    states: [
      'Discovered',
      'Skipped',
      'Blacklisted',
      'Stubbed',
      'DepthExceeded',
      'RequestLimitHit',
      'ContentMismatch',
    ],
    about:
      'A rule, a limit or a setting decided against reading the URL: robots.txt, scope, depth, a list of domains, a page limit, a content type. The reason names it.',
  },
  waiting: {
    states: ['Queued', 'Fetching'],
    about: 'The URL is still to be requested.',
  },
} as const satisfies Record<string, CountingWordSpec>;

export type CountingWord = keyof typeof COUNTING_WORDS;
export const COUNTING_WORD_NAMES = Object.keys(COUNTING_WORDS) as CountingWord[];

/** Known URLs by word; the words add up to `known_urls`. */
export type UrlCounts = { known_urls: number } & Record<CountingWord, number>;

/** An error is a URL that was wanted and gave no page, for any reason. */
export const ERROR_WORDS = ['broken', 'rate_limited'] as const satisfies readonly CountingWord[];

export const BROKEN_STATES: readonly PageState[] = COUNTING_WORDS.broken.states;
export const ERROR_STATES: readonly PageState[] = ERROR_WORDS.flatMap((word) => COUNTING_WORDS[word].states);

export type CrawledPagesStatus = 'success' | 'failed' | 'skipped';

/** The status of each state in the view `crawled_pages`, which has three words; null: the state has no row there. */
export const CRAWLED_PAGES_STATUS: Readonly<Record<PageState, CrawledPagesStatus | null>> = {
  Discovered: null,
  Queued: null,
  Fetching: null,
  Processed: 'success',
  Blacklisted: 'skipped',
  Stubbed: 'skipped',
  DeadLink: 'skipped',
  Unreachable: 'failed',
  RateLimited: 'failed',
  Failed: 'failed',
  DepthExceeded: 'skipped',
  RequestLimitHit: 'skipped',
  ContentMismatch: 'failed',
  Skipped: 'skipped',
  Gone: 'skipped',
};

const WORD_OF = Object.fromEntries(
  COUNTING_WORD_NAMES.flatMap((word) => COUNTING_WORDS[word].states.map((state) => [state, word])),
) as Record<PageState, CountingWord>;

export function wordOf(state: PageState): CountingWord {
  return WORD_OF[state];
}

/** `byState`: how many URLs are in each state, by the state's name. */
export function countUrls(byState: Readonly<Record<string, number>>): UrlCounts {
  const counts: UrlCounts = { known_urls: 0, read: 0, broken: 0, rate_limited: 0, skipped: 0, waiting: 0 };
  for (const [state, n] of Object.entries(byState)) {
    counts.known_urls += n;
    counts[WORD_OF[state as PageState]] += n;
  }
  return counts;
}

/** The stored numbers of these states, for SQL: `6, 14, 9`. */
export function stateList(states: readonly PageState[]): string {
  return states.map((state) => PAGE_STATES[state]).join(', ');
}
