/**
 * Pages that need no request: a page that its server called fresh for a time (RFC 9111 section 4.2), and a page whose
 * trusted sitemap gives no date after the last visit. Pure; times are arguments.
 */
import type { LastVisit } from '../frontier/candidate.ts';

/** A visit further in the future than a server's clock may be wrong means that a clock was set back. */
const MAX_SKEW_MS = 15 * 60 * 1000;
const MOST_SECONDS = 2 ** 31;
const DAY_MS = 24 * 60 * 60 * 1000;
/** From the beginning of the day in Greenwich to its end in the last time zone, twelve hours behind. */
const DAY_EVERYWHERE_MS = 36 * 60 * 60 * 1000;
/** Enough changes of a host to judge its sitemap, and the share of them that may come without a date. */
const ANNOUNCED_AT_LEAST = 20;
const UNANNOUNCED_UNDER = 0.02;

/** For how many milliseconds an answer is fresh; 0 if it must be requested again. */
export function freshForMs(cacheControl: string | null): number {
  if (cacheControl === null) return 0;
  let own: number | null = null;
  let shared = Number.POSITIVE_INFINITY;
  for (const part of cacheControl.toLowerCase().split(',')) {
    const [name, value = ''] = part.split('=', 2).map((text) => text.trim());
    if (name === 'no-cache' || name === 'no-store') return 0;
    if (name !== 'max-age' && name !== 's-maxage') continue;
    const digits = /^"?(\d+)"?$/.exec(value);
    // Section 4.2.1: a number that cannot be read means not fresh. Section 1.2.2: a number that is too large means very
    // long.
    const given = digits === null ? 0 : Math.min(Number(digits[1]), MOST_SECONDS);
    if (name === 's-maxage') shared = Math.min(shared, given);
    else own ??= given;
  }
  // A time for shared caches, which their operator can clear, cannot make ours longer, but may make it shorter.
  return Math.min(own ?? 0, shared) * 1000;
}

/**
 * The Cache-Control of an answer at its arrival: a cache on the way may have kept it for a while (Age), and that time
 * is subtracted.
 */
export function atArrival(cacheControl: string | null, age: string | null): string | null {
  if (cacheControl === null || age === null || !/^\d{1,10}$/.test(age)) return cacheControl;
  return cacheControl.replace(
    /((?:max-age|s-maxage)\s*=\s*"?)(\d+)/gi,
    (_, name: string, seconds: string) =>
      `${name}${Math.max(0, Math.min(Number(seconds), MOST_SECONDS) - Number(age))}`,
  );
}

export function isFresh(last: LastVisit, now: number, maxMs: number): boolean {
  if (!isWell(last)) return false;
  const age = now - last.visitedAt;
  // A visit ahead of our clock (a server's own Date) counts as now: a negative age must not make a page fresh.
  return age >= -MAX_SKEW_MS && Math.max(0, age) < Math.min(freshForMs(last.cacheControl), maxMs);
}

/** The sitemap gives a date, and that date is surely not after the last visit. */
export function isOlderThanVisit(last: LastVisit, now: number): boolean {
  const { sitemapDate, visitedAt } = last;
  if (sitemapDate === null || !isWell(last)) return false;
  return isOverBefore(sitemapDate, visitedAt) && visitedAt <= now + MAX_SKEW_MS;
}

/** A date at midnight is probably a whole day in the site's time zone. It ends when it has ended everywhere. */
export function isOverBefore(sitemapDate: number, visitedAt: number): boolean {
  return (sitemapDate % DAY_MS === 0 ? sitemapDate + DAY_EVERYWHERE_MS : sitemapDate) < visitedAt;
}

/** The sitemap says that the page was modified since. A date in the future says nothing. */
export function isNewerThanVisit({ sitemapDate, visitedAt }: LastVisit, now: number): boolean {
  return sitemapDate !== null && sitemapDate > visitedAt && sitemapDate <= now + MAX_SKEW_MS;
}

/** Whether the sitemap of a host announces its changes, by past visits. */
export function announcesChanges(announced: number, unannounced: number): boolean {
  return announced >= ANNOUNCED_AT_LEAST && unannounced < UNANNOUNCED_UNDER * (announced + unannounced);
}

/** The last visit was answered with what is stored: after a failure a page is asked again in any case. */
function isWell({ statusCode, hasBody }: LastVisit): boolean {
  return hasBody && statusCode !== null && statusCode >= 200 && statusCode < 300;
}
