/**
 * What needs no request: a page that its server called fresh for a time (RFC 9111 section 4.2), and a page whose
 * sitemap, where it can be trusted, gives no newer date than the last visit. Pure; times come in.
 */
import type { LastVisit } from '../frontier/candidate.ts';

/** A visit that lies further ahead than a server's clock may be off says that a clock was set back. */
const MAX_SKEW_MS = 15 * 60 * 1000;
/** Enough changes of a host to judge its sitemap by, and the share of them that may come unannounced. */
const ANNOUNCED_AT_LEAST = 20;
const UNANNOUNCED_UNDER = 0.02;

/** How long an answer may be taken as it was, in milliseconds; 0 when it must be asked for again. */
export function freshForMs(cacheControl: string | null): number {
  if (cacheControl === null) return 0;
  let seconds: number | null = null;
  let isForShared = false;
  for (const part of cacheControl.toLowerCase().split(',')) {
    const [name, value = ''] = part.split('=', 2).map((text) => text.trim());
    if (name === 'no-cache' || name === 'no-store') return 0;
    if (name !== 'max-age' && name !== 's-maxage') continue;
    const digits = /^"?(\d{1,10})"?$/.exec(value);
    // Section 4.2.1: a number that cannot be read means not fresh.
    const given = digits === null ? 0 : Number(digits[1]);
    const isShared = name === 's-maxage';
    // We keep pages for many: what is said to shared caches goes first, and of two of a kind the first.
    if (seconds === null || (isShared && !isForShared)) seconds = given;
    isForShared ||= isShared;
  }
  return (seconds ?? 0) * 1000;
}

export function isFresh(last: LastVisit, now: number, maxMs: number): boolean {
  if (!isWell(last)) return false;
  const age = now - last.visitedAt;
  return age >= -MAX_SKEW_MS && age < Math.min(freshForMs(last.cacheControl), maxMs);
}

/** The sitemap gives a date, and it is not newer than the last visit. */
export function isOlderThanVisit(last: LastVisit, now: number): boolean {
  const { sitemapDate, visitedAt } = last;
  return isWell(last) && sitemapDate !== null && sitemapDate < visitedAt && visitedAt <= now + MAX_SKEW_MS;
}

/** Whether a host's sitemap announces its changes, by what was seen of it. */
export function announcesChanges(announced: number, unannounced: number): boolean {
  return announced >= ANNOUNCED_AT_LEAST && unannounced < UNANNOUNCED_UNDER * (announced + unannounced);
}

/** The last visit was answered with what is stored: after a failure a page is asked again in any case. */
function isWell({ statusCode, hasBody }: LastVisit): boolean {
  return hasBody && statusCode !== null && statusCode >= 200 && statusCode < 300;
}
