/**
 * A program's own word on found URLs, after the scope's. All that a page or a part of a sitemap names is asked at once,
 * and answers are kept for a while. A URL that is refused has its verdict from the start, also where only its depth, a
 * nofollow or a frame shuts it out: a shorter way to it must not open it. Start URLs are never asked about.
 */
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';

/**
 * Asked about found URLs (by link, redirect or sitemap) that would be queued, all new ones of a page at once: null lets
 * one be queued, text is the reason for which it is skipped. It is given identities, and never those of start URLs.
 * What it throws ends the run. `signal` is aborted when the page is given up.
 */
export type JudgeUrls = (urls: readonly string[], signal: AbortSignal) => Promise<readonly (string | null)[]>;

const MOST_ANSWERS = 10_000;
const { Queued, Skipped, DepthExceeded } = PAGE_STATES;

export interface UrlJudge {
  /**
   * Gives candidates that are refused their reason. Null where nobody had to be asked: it is done by then.
   */
  judge(candidates: readonly Candidate[], signal: AbortSignal): Promise<void> | null;
  /** Why these known URLs are refused; of others nothing. */
  refusalsOf(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** Why a URL was refused lately; null where it was not, or nobody remembers. */
  lastRefusalOf(url: string): string | null;
}

/** Whether such a page is queued, or may be later because of a link that is found. */
export function mayBeQueued(state: PageStateCode, reason: string | null): boolean {
  if (state === Queued || state === DepthExceeded) return true;
  return state === Skipped && reason !== null && /^(?:nofollow|frame|redirect):/.test(reason);
}

export function createUrlJudge(judgeUrls: JudgeUrls, isStartUrl: (url: string) => boolean): UrlJudge {
  const answers = new Map<string, string | null>();

  function keep(url: string, answer: string | null): void {
    // Asked twice at the same time: the place of the first counts.
    if (answers.size >= MOST_ANSWERS && !answers.has(url)) answers.delete(answers.keys().next().value!);
    answers.set(url, answer);
  }

  /** What is asked for one page: answers that are known, and URLs that must be asked. */
  function createQuestion() {
    const refused = new Map<string, string>();
    const unknown = new Set<string>();
    return {
      refused,
      add(url: string): void {
        if (isStartUrl(url)) return;
        const answer = answers.get(url);
        if (answer === undefined) unknown.add(url);
        else if (answer !== null) refused.set(url, answer);
      },
      /** Null when nothing has to be asked. */
      ask(signal: AbortSignal): Promise<void> | null {
        if (unknown.size === 0) return null;
        const urls = [...unknown];
        return judgeUrls(urls, signal).then((given) => {
          for (const [i, url] of urls.entries()) {
            keep(url, given[i]);
            if (given[i] !== null) refused.set(url, given[i]);
          }
        });
      },
    };
  }

  return {
    judge(candidates, signal) {
      const question = createQuestion();
      for (const { url, state, reason } of candidates) if (mayBeQueued(state, reason)) question.add(url);
      const { refused } = question;
      const apply = () => {
        if (refused.size > 0) for (const candidate of candidates) refuse(candidate, refused);
      };
      const asked = question.ask(signal);
      if (asked !== null) return asked.then(apply);
      apply();
      return null;
    },
    async refusalsOf(urls, signal) {
      const question = createQuestion();
      for (const url of urls) question.add(url);
      await question.ask(signal);
      return question.refused;
    },
    lastRefusalOf: (url) => (isStartUrl(url) ? null : (answers.get(url) ?? null)),
  };
}

function refuse(candidate: Candidate, refused: ReadonlyMap<string, string>): void {
  const reason = refused.get(candidate.url);
  if (reason === undefined || !mayBeQueued(candidate.state, candidate.reason)) return;
  candidate.state = Skipped;
  candidate.reason = reason;
  // A followed link would open it.
  candidate.onlyNofollow = false;
}
