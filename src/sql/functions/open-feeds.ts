/**
 * Feeds by the connection whose statement reads them. DuckDB does not tell a table function that nobody wants more of it,
 * as after a LIMIT: whoever runs statements says when one is over.
 */
import type { Feed, FeedRequest, MainThread } from '../thread/feed.ts';

export interface OpenFeeds {
  open(connectionId: number, request: FeedRequest): Feed;
  closeOf(connectionId: number): void;
}

export function trackFeeds(main: MainThread): OpenFeeds {
  const open = new Map<number, Set<Feed>>();
  return {
    open(connectionId, request) {
      const feed = main.open(request);
      const ofConnection = open.get(connectionId);
      if (ofConnection === undefined) open.set(connectionId, new Set([feed]));
      else ofConnection.add(feed);
      return feed;
    },
    closeOf(connectionId) {
      const feeds = open.get(connectionId) ?? [];
      open.delete(connectionId);
      for (const feed of feeds) feed.close();
    },
  };
}
