/** crawls(): the CRAWL statements of the session, as they stand now. */
import type { CrawlList } from '../crawls/crawl-list.ts';
import type { FeedMaker } from '../thread/feed.ts';

export function crawlsFeed(list: CrawlList): FeedMaker {
  return async function* ({ id: wanted }: { id: number | null }) {
    const rows = list.rows().filter(([id]) => wanted === null || id === wanted);
    if (rows.length > 0) yield rows;
  };
}
