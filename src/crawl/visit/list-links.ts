/**
 * The links of a page as URLs, for output sinks and for the comparison of a page that changed. The crawl itself works
 * with ids and never makes these strings; they are what the store keeps: each target once, in document order.
 */

import type { ToldLink } from '../../events/events.ts';
import type { Candidate } from '../../frontier/candidate.ts';
import { pageStateName } from '../../frontier/page-state.ts';
import { LINK_FLAGS, type LinkList } from '../../parse/parsed-page.ts';
import type { NormalizedUrl } from '../../url/normalize.ts';
import { linkKindOf } from '../discover/discover-links.ts';
import type { CrawlParts } from '../parts.ts';

type LinkParts = Pick<CrawlParts, 'normalizer' | 'discovery'>;

export function linksToTell(
  list: LinkList,
  baseUrl: string,
  depth: number,
  pageIsNofollow: boolean,
  parts: LinkParts,
): ToldLink[] {
  const told: ToldLink[] = [];
  eachTarget(list, baseUrl, parts, (found, flags) => {
    const isNofollow = pageIsNofollow || (flags & LINK_FLAGS.nofollow) !== 0;
    const { state } = parts.discovery.judge(found, depth, linkKindOf(flags), isNofollow, false);
    told.push({ to: found.url, state: pageStateName(state) });
  });
  return told;
}

/** The same with what the rules say of each. */
export function judgeLinks(
  list: LinkList,
  baseUrl: string,
  depth: number,
  pageIsNofollow: boolean,
  parts: LinkParts,
): Candidate[] {
  const judged: Candidate[] = [];
  eachTarget(list, baseUrl, parts, (found, flags) => {
    const isNofollow = pageIsNofollow || (flags & LINK_FLAGS.nofollow) !== 0;
    judged.push(parts.discovery.judge(found, depth, linkKindOf(flags), isNofollow, false));
  });
  return judged;
}

/** The identities of a page's links. */
export function linkIdentities(list: LinkList, baseUrl: string, parts: LinkParts): string[] {
  const urls: string[] = [];
  eachTarget(list, baseUrl, parts, ({ url }) => urls.push(url));
  return urls;
}

function eachTarget(
  list: LinkList,
  baseUrl: string,
  { normalizer, discovery }: LinkParts,
  call: (found: NormalizedUrl, flags: number) => void,
): void {
  const seen = new Set<string>();
  for (let i = 0; i < list.count; i++) {
    const flags = list.flags[i];
    if (flags & LINK_FLAGS.canonical && !discovery.followsCanonical) continue;
    const found = normalizer.normalize(list.hrefText(i), baseUrl);
    if (found === null || seen.has(found.url)) continue;
    seen.add(found.url);
    call(found, flags);
  }
}
