/**
 * Whether another host vouches for a sitemap: its robots.txt names it (sitemaps.org, "cross submits"). A sitemap that
 * names many hosts cannot make us ask them all: past a number of them none counts.
 */
import type { RobotsRules } from '../politeness/robots-txt.ts';

const MOST_FOREIGN_ORIGINS = 32;

/** The host of an absolute URL without a leading www., which is the same site (docs/decisions/0011). */
export function siteOf(url: string): string {
  const start = url.indexOf('://') + 3;
  const end = url.indexOf('/', start);
  const host = url.slice(url.startsWith('www.', start) ? start + 4 : start, end === -1 ? undefined : end);
  const port = host.lastIndexOf(':');
  // The colons of an IPv6 address are inside brackets.
  return port > host.lastIndexOf(']') ? host.slice(0, port) : host;
}

/** Why entries of another host do not count, for people. */
export const FOREIGN_REASONS = {
  unnamed: 'of hosts whose robots.txt does not name it',
  unread: 'of hosts whose robots.txt could not be had',
  unasked: `of hosts that were not asked: of at most ${MOST_FOREIGN_ORIGINS} others the robots.txt is read`,
} as const;
export type ForeignReason = keyof typeof FOREIGN_REASONS;

/**
 * Answers null where the host vouches. `names`: the addresses under which the sitemap, or the index it came from, is
 * known.
 */
export function createForeignCheck(
  robotsOf: (url: string) => Promise<RobotsRules | { refused: string }>,
): (url: string, names: readonly string[]) => Promise<ForeignReason | null> {
  const named = new Map<string, ReadonlySet<string> | null>();
  return async (url, names) => {
    const origin = url.slice(0, url.indexOf('/', url.indexOf('://') + 3));
    let sitemaps = named.get(origin);
    if (sitemaps === undefined) {
      if (named.size >= MOST_FOREIGN_ORIGINS) return 'unasked';
      const robots = await robotsOf(url);
      sitemaps = 'refused' in robots ? null : new Set(namedBy(robots, origin));
      named.set(origin, sitemaps);
    }
    if (sitemaps === null) return 'unread';
    const found = sitemaps;
    return names.some((name) => found.has(name)) ? null : 'unnamed';
  };
}

function namedBy({ sitemaps }: RobotsRules, origin: string): string[] {
  return sitemaps.filter((line) => URL.canParse(line, origin)).map((line) => new URL(line, origin).href);
}
