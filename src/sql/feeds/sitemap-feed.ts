/** sitemap(): what the sitemaps of sites name, asked for under the clocks of the session's store, kept nowhere. */
import { loadConfig } from '../../config/load-config.ts';
import { listSiteEntries, type SiteEntryRow } from '../../project/list-site-entries.ts';
import type { FeedHouse } from './feed-surroundings.ts';

export interface SitemapFeedArgs {
  urls: readonly string[];
  /** As the query gave them. */
  options: Readonly<Record<string, unknown>>;
}

export type SitemapRow = Pick<SiteEntryRow, 'url' | 'lastmod' | 'changefreq' | 'priority' | 'sitemap'>;

const NOBODY = { onSitemap() {}, onWait() {}, onStored() {} };

export async function* sitemapFeed(
  { urls, options: given }: SitemapFeedArgs,
  house: FeedHouse,
  signal: AbortSignal,
): AsyncGenerator<SitemapRow[], void> {
  const { config: options } = await house.resolve(given);
  const config = await loadConfig({ env: {}, profile: 'sql', options });
  const store = await house.openStore();
  for (const url of urls) {
    const { rows } = listSiteEntries(config, url, { listener: NOBODY, signal, limit: undefined, store });
    for await (const batch of rows)
      yield batch.map(({ url: page, lastmod, changefreq, priority, sitemap }) => ({
        ...{ url: page, lastmod, changefreq, priority, sitemap },
      }));
    if (signal.aborted) return;
  }
}
