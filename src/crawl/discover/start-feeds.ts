/**
 * Start URLs that are requested as pages and answer as feeds or sitemaps do, wherever redirects led to them: whoever waits
 * for one hears of it. Such an answer is refused by its head, as any type that is no page; it is read by a request of its own.
 *
 * Before: read-answer.ts, which tells what a page answered. After: discover-sitemaps.ts, which reads the feed. It requests nothing itself.
 */
import type { ResponseHead } from '../../fetch/fetcher.ts';
import { essenceOf } from '../../parse/mime-type.ts';
import { isSitemapType } from '../../sitemap/find-entries.ts';

/** unasked: it is not requested here any more, and may have been elsewhere. */
export type StartFeed = 'feed' | 'none' | 'unasked';

/** Types that are no pages and may be sitemaps. */
export function isFeedHead(
  head: ResponseHead | null,
  wantsType: (essence: string | null) => boolean,
): boolean {
  const type = head?.status === 200 ? essenceOf(head.contentType) : null;
  return type !== null && !wantsType(type) && isSitemapType(type);
}

/** `onWait`: somebody waits. */
export function createStartFeeds(onWait: () => void) {
  const known = new Map<string, 'feed' | 'none'>();
  const moved = new Map<string, string>();
  const waiting = new Map<string, (found: StartFeed) => void>();
  /** Two that lead to one place: the first reads it. */
  const taken = new Set<string>();

  function take(url: string): StartFeed {
    if (known.get(url) !== 'feed' || taken.has(url)) return 'none';
    taken.add(url);
    return 'feed';
  }

  /** Where redirects lead as far as is known. */
  function endOf(url: string): string {
    const passed = new Set<string>();
    let end = url;
    for (let next = moved.get(end); next !== undefined && !passed.has(next); next = moved.get(end)) {
      passed.add(next);
      end = next;
    }
    return end;
  }

  function tell(url: string, found: StartFeed): void {
    waiting.get(url)?.(found);
    waiting.delete(url);
  }

  return {
    of: (start: string): Promise<StartFeed> =>
      new Promise((resolve) => {
        const url = endOf(start);
        if (known.has(url) || waiting.has(url)) return resolve(take(url));
        waiting.set(url, resolve);
        onWait();
      }),

    /** The first answer counts. */
    see(url: string, found: 'feed' | 'none'): void {
      if (known.has(url)) return;
      known.set(url, found);
      if (waiting.has(url)) tell(url, take(url));
    },

    move(from: string, to: string): void {
      if (moved.has(from)) return;
      moved.set(from, to);
      const waits = waiting.get(from);
      waiting.delete(from);
      const end = endOf(from);
      if (waits === undefined) return;
      if (known.has(end) || end === from || waiting.has(end)) waits(take(end));
      else waiting.set(end, waits);
    },

    /** Somebody was led here from a start URL. */
    isAwaited: (url: string) => waiting.has(url),

    /** No more pages are requested. */
    giveUp(): void {
      for (const url of [...waiting.keys()]) tell(url, 'unasked');
    },
  };
}
