/**
 * The links of a page as URLs, for output sinks. The crawl itself works with ids and never makes these strings, so
 * this is only called when a sink wants them; it gives what the store keeps: each target once, in document order.
 */
import { pageStateName } from '../frontier/page-state.ts';
import { LINK_FLAGS, type LinkList } from '../parse/parsed-page.ts';
import type { ToldLink } from '../report/events.ts';
import type { CrawlParts } from './parts.ts';

export function linksToTell(
  list: LinkList,
  baseUrl: string,
  depth: number,
  pageIsNofollow: boolean,
  { normalizer, discovery }: Pick<CrawlParts, 'normalizer' | 'discovery'>,
): ToldLink[] {
  const told = new Map<string, ToldLink>();
  for (let i = 0; i < list.count; i++) {
    const flags = list.flags[i];
    const isCanonical = (flags & LINK_FLAGS.canonical) !== 0;
    if (isCanonical && !discovery.followsCanonical) continue;
    const found = normalizer.normalize(list.hrefText(i), baseUrl);
    if (found === null || told.has(found.url)) continue;
    const isNofollow = pageIsNofollow || (flags & LINK_FLAGS.nofollow) !== 0;
    const { state } = discovery.judge(found, depth, isCanonical ? 'canonical' : 'link', isNofollow, false);
    told.set(found.url, { to: found.url, state: pageStateName(state) });
  }
  return [...told.values()];
}
