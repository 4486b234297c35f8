/** What start URLs answer that are requested as pages, for the searches that wait for it: what a start page names, and whether one is a feed. */
import { sitemapLinks } from '../../sitemap/sitemap-links.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';
import type { PageLinks } from './search-state.ts';
import { createAwaited } from './start-answers.ts';
import { createStartFeeds, type StartFeed } from './start-feeds.ts';

/** What a start URL answered that was requested as a page. */
export type StartAnswer =
  | { body: Uint8Array; link: string | null }
  | { movedTo: string }
  | 'feed'
  /** As it was read before: by a 304, or because it was not requested. */
  | 'unchanged'
  | 'other';

export interface StartHearing {
  /** A start URL was answered: a page may name sitemaps, a feed is one. */
  see(start: Pick<StartUrl, 'url' | 'host'>, found: StartAnswer): void;
  /** What the start page of the host names, once it was read. */
  pageLinks(host: string): Promise<PageLinks>;
  /** Whether a start URL is a feed, once it was answered. */
  feedOf(url: string): Promise<StartFeed>;
  /** No more pages are requested: whoever waits hears that nothing comes. */
  giveUp(): void;
}

/** `mayBeUnheard`: what was not told here may have been answered elsewhere. `onWait`: somebody waits. */
export function createStartHearing(
  { isStartUrl }: Pick<CrawlParts, 'isStartUrl'>,
  mayBeUnheard: boolean,
  onWait: () => void,
): StartHearing {
  const pages = createAwaited<PageLinks>(mayBeUnheard ? 'unread' : [], onWait);
  const feeds = createStartFeeds(onWait);
  return {
    see({ url, host }, found) {
      if (typeof found === 'object' && 'body' in found)
        pages.see(siteName(host), sitemapLinks(found.body, found.link));
      if (isStartUrl(url) && typeof found === 'string')
        // One that is no page names none.
        pages.see(siteName(host), found === 'unchanged' ? 'unchanged' : []);
      // A start URL may be heard to lead here later.
      if (found === 'feed') feeds.see(url, 'feed');
      // At depth 0 there may be many more than those that were given.
      else if (!isStartUrl(url) && !feeds.isAwaited(url)) return;
      else if (typeof found === 'object' && 'movedTo' in found) feeds.move(url, found.movedTo);
      else feeds.see(url, 'none');
    },
    pageLinks: (host) => pages.of(siteName(host)),
    feedOf: (url) => feeds.of(url),
    giveUp() {
      pages.giveUp();
      feeds.giveUp();
    },
  };
}

/** Home pages often lead to the same name with or without www (docs/decisions/0011). */
function siteName(host: string): string {
  return host.replace(/^www\./, '');
}
