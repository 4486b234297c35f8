/** What a crawl with these options would do with a site, as programs are told: verdicts, and how long it would take. */
import type { Config } from '../config/load-config.ts';
import { type PreviewRequest, previewSite, type SitePreview } from '../sitemap/list/preview-site.ts';

export interface WebsitePreview extends SitePreview {
  estimate: {
    pages: number;
    seconds: number;
    /** More is found on the way, or was not counted. */
    isLowerBound: boolean;
  };
}

export async function previewWebsite(
  config: Config,
  url: string,
  request: PreviewRequest,
): Promise<WebsitePreview> {
  const preview = await previewSite(config, url, request);
  return { ...preview, estimate: estimateOf(preview, config) };
}

/** What an answer takes where nothing has to be waited for. */
const SECONDS_AN_ANSWER = 0.1;

function estimateOf(
  { wanted, robots, sitemaps, isWhole }: SitePreview,
  config: Config,
): WebsitePreview['estimate'] {
  const pages = robots.allowed ? Math.min(wanted, config.maxPages ?? Number.POSITIVE_INFINITY) : 0;
  const pause = Math.max(config.delay, robots.crawlDelay ?? 0);
  const seconds = pages * Math.max(pause, SECONDS_AN_ANSWER / config.perHost);
  const isLimited = config.maxPages !== null && wanted >= config.maxPages;
  // A site with sitemaps names most of its pages there; what only links lead to comes on top.
  const isKnown = isWhole && !config.discover.includes('links') && sitemaps.length > 0;
  return {
    pages,
    seconds: Math.round(seconds * 10) / 10,
    isLowerBound: robots.allowed && !isLimited && !isKnown,
  };
}
