/**
 * The makers of rows for SQL functions that ask the web, one table for a session. All of them work on the session's one
 * store, so that they and the CRAWL statements keep the same clocks of hosts.
 */
import type { CrawlFeedArgs } from './crawl-feed.ts';
import { createFeedHouse, type FeedHouse, type FeedSurroundings } from './feed-surroundings.ts';
import type { FetchFeedArgs } from './fetch-feed.ts';
import type { RobotsFeedArgs } from './robots-feed.ts';
import type { FeedMakers, MakerOnDemand } from './serve-feeds.ts';
import type { SitemapFeedArgs } from './sitemap-feed.ts';

export interface Feeds {
  makers: FeedMakers;
  /** Resolves when every crawl of a feed has ended; feeds that are open have to be closed first. */
  rest(): Promise<void>;
}

type Make<Args> = (args: Args, house: FeedHouse, signal: AbortSignal) => AsyncIterable<unknown[]>;

export function createFeeds(surroundings: FeedSurroundings): Feeds {
  const house = createFeedHouse(surroundings);

  /** Each batch costs somebody's server requests: none is made before it is asked for, and nothing is loaded for it. */
  function onDemand<Args>(load: () => Promise<Make<Args>>): MakerOnDemand {
    async function* make(args: Args, signal: AbortSignal): AsyncGenerator<unknown[], void> {
      yield* (await load())(args, house, signal);
    }
    return { makeOnDemand: (args, signal) => house.watch(make(args as Args, signal)) };
  }

  return {
    makers: {
      crawl: onDemand<CrawlFeedArgs>(async () => (await import('./crawl-feed.ts')).crawlFeed),
      fetch: onDemand<FetchFeedArgs>(async () => (await import('./fetch-feed.ts')).fetchFeed),
      sitemap: onDemand<SitemapFeedArgs>(async () => (await import('./sitemap-feed.ts')).sitemapFeed),
      robots: onDemand<RobotsFeedArgs>(async () => (await import('./robots-feed.ts')).robotsFeed),
    },
    rest: () => house.rest(),
  };
}
