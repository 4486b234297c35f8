/**
 * Whether another host confirms a sitemap: its robots.txt names it (sitemaps.org, "cross submits"). A sitemap that
 * names many hosts cannot cause requests to all of them: beyond a number, none counts.
 */
import type { RobotsRules } from '../politeness/robots-txt.ts';

const MOST_FOREIGN_ORIGINS = 32;
/** A host that does not answer takes many seconds, and dead hosts often come in groups. */
const AT_ONCE = 8;

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

export interface ForeignCheck {
  /** Asks the hosts of these that were not asked before. */
  ask(urls: Iterable<string>): Promise<void>;
  /**
   * Null where the host vouches, which has been asked. `names`: the addresses under which the sitemap, or the index it came
   * from, is known.
   */
  reasonOf(url: string, names: readonly string[]): ForeignReason | null;
}

export function createForeignCheck(
  robotsOf: (url: string) => Promise<RobotsRules | { refused: string }>,
): ForeignCheck {
  /** Null: its robots.txt could not be read. */
  const named = new Map<string, ReadonlySet<string> | null>();
  return {
    async ask(urls) {
      const origins: string[] = [];
      for (const url of urls) {
        const origin = originOf(url);
        if (named.has(origin) || named.size >= MOST_FOREIGN_ORIGINS) continue;
        named.set(origin, null);
        origins.push(origin);
      }
      const work = async () => {
        for (let origin = origins.shift(); origin !== undefined; origin = origins.shift()) {
          const robots = await robotsOf(`${origin}/`);
          if (!('refused' in robots)) named.set(origin, new Set(namedBy(robots, origin)));
        }
      };
      // If one has failed, no more are requested.
      for (const end of await Promise.allSettled(Array.from({ length: AT_ONCE }, work)))
        if (end.status === 'rejected') throw end.reason;
    },
    reasonOf(url, names) {
      const sitemaps = named.get(originOf(url));
      if (sitemaps === undefined) return 'unasked';
      if (sitemaps === null) return 'unread';
      return names.some((name) => sitemaps.has(name)) ? null : 'unnamed';
    },
  };
}

function originOf(url: string): string {
  return url.slice(0, url.indexOf('/', url.indexOf('://') + 3));
}

function namedBy({ sitemaps }: RobotsRules, origin: string): string[] {
  return sitemaps.filter((line) => URL.canParse(line, origin)).map((line) => new URL(line, origin).href);
}
