/**
 * What needs no request: a page that its server called fresh for a time (RFC 9111 section 4.2), and a page whose
 * sitemap, where it can be trusted, gives no newer date than the last visit. Pure; times come in.
 */
import type { LastVisit } from '../frontier/candidate.ts';

/** A visit that lies further ahead than a server's clock may be off says that a clock was set back. */
const MAX_SKEW_MS = 15 * 60 * 1000;
const MOST_SECONDS = 2 ** 31;
const DAY_MS = 24 * 60 * 60 * 1000;
/** From its beginning in Greenwich to its end in the last zone, which is twelve hours behind. */
const DAY_EVERYWHERE_MS = 36 * 60 * 60 * 1000;
/** Enough changes of a host to judge its sitemap by, and the share of them that may come unannounced. */
const ANNOUNCED_AT_LEAST = 20;
const UNANNOUNCED_UNDER = 0.02;

/** How long an answer may be taken as it was, in milliseconds; 0 when it must be asked for again. */
export function freshForMs(cacheControl: string | null): number {
  if (cacheControl === null) return 0;
  let own: number | null = null;
  let shared = Number.POSITIVE_INFINITY;
  for (const part of cacheControl.toLowerCase().split(',')) {
    const [name, value = ''] = part.split('=', 2).map((text) => text.trim());
    if (name === 'no-cache' || name === 'no-store') return 0;
    if (name !== 'max-age' && name !== 's-maxage') continue;
    const digits = /^"?(\d+)"?$/.exec(value);
    // Section 4.2.1: a number that cannot be read means not fresh. Section 1.2.2: one that is too large means very long.
    const given = digits === null ? 0 : Math.min(Number(digits[1]), MOST_SECONDS);
    if (name === 's-maxage') shared = Math.min(shared, given);
    else own ??= given;
  }
  // What is said to shared caches, which their operator can clear, gives us no time, but may take some.
  return Math.min(own ?? 0, shared) * 1000;
}

/**
 * The Cache-Control of an answer as it stands when it arrives: a cache on the way may have kept it for a while (Age), and
 * that time is over.
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
  // A visit ahead of our clock (a server's own Date) was just now: no age below 0 makes fresh what has no time at all.
  return age >= -MAX_SKEW_MS && Math.max(0, age) < Math.min(freshForMs(last.cacheControl), maxMs);
}

/** The sitemap gives a date, and nothing that it may mean is later than the last visit. */
export function isOlderThanVisit(last: LastVisit, now: number): boolean {
  const { sitemapDate, visitedAt } = last;
  if (sitemapDate === null || !isWell(last)) return false;
  return isOverBefore(sitemapDate, visitedAt) && visitedAt <= now + MAX_SKEW_MS;
}

/** A date at midnight is a day, most of all, and that of the site: it ends when it has ended everywhere. */
export function isOverBefore(sitemapDate: number, visitedAt: number): boolean {
  return (sitemapDate % DAY_MS === 0 ? sitemapDate + DAY_EVERYWHERE_MS : sitemapDate) < visitedAt;
}

/** The sitemap says that the page was modified since; a date that is still to come says nothing. */
export function isNewerThanVisit({ sitemapDate, visitedAt }: LastVisit, now: number): boolean {
  return sitemapDate !== null && sitemapDate > visitedAt && sitemapDate <= now + MAX_SKEW_MS;
}

/** Whether a host's sitemap announces its changes, by what was seen of it. */
export function announcesChanges(announced: number, unannounced: number): boolean {
  return announced >= ANNOUNCED_AT_LEAST && unannounced < UNANNOUNCED_UNDER * (announced + unannounced);
}

/** The last visit was answered with what is stored: after a failure a page is asked again in any case. */
function isWell({ statusCode, hasBody }: LastVisit): boolean {
  return hasBody && statusCode !== null && statusCode >= 200 && statusCode < 300;
}
