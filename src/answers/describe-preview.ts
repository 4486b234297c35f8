/** A preview by the names of the wire. */
import type { Preview } from '../contract/preview.ts';
import type { WebsitePreview } from '../project/preview-website.ts';

export function describePreview(preview: WebsitePreview): Preview {
  const { websiteUrl, robots, home, sitemaps, links, estimate, problems } = preview;
  return {
    website_url: websiteUrl,
    robots: {
      url: robots.url,
      status: robots.status,
      found: robots.status >= 200 && robots.status < 300,
      allowed: robots.allowed,
      rule: robots.rule,
      crawl_delay: robots.crawlDelay,
      sitemaps: robots.sitemaps,
    },
    home: {
      url: home.url,
      status_code: home.statusCode,
      title: home.title,
      content_type: home.contentType,
      redirects_to: home.redirectsTo,
      links: home.links,
      problem: home.problem,
    },
    sitemaps,
    links: links.map(({ url, foundIn, rule }) => ({
      ...{
        url,
        found_in: foundIn,
        verdict: rule === null ? ('fetched' as const) : ('skipped' as const),
        rule,
      },
    })),
    estimate: { pages: estimate.pages, seconds: estimate.seconds, is_lower_bound: estimate.isLowerBound },
    problems,
  };
}
