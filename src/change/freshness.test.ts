import { describe, expect, it } from 'vitest';
import type { LastVisit } from '../frontier/candidate.ts';
import {
  announcesChanges,
  atArrival,
  freshForMs,
  isFresh,
  isNewerThanVisit,
  isOlderThanVisit,
  isOverBefore,
} from './freshness.ts';

const NOW = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;

function visit(more: Partial<LastVisit> = {}): LastVisit {
  return {
    statusCode: 200,
    isGone: false,
    visitedAt: NOW - HOUR,
    hasBody: true,
    contentHash: new Uint8Array(32),
    textHash: null,
    facetHash: null,
    simhash: null,
    etag: null,
    lastModified: null,
    cacheControl: null,
    wireBytes: 100,
    sitemapDate: null,
    sitemapSeenAt: null,
    changeFrequency: 0,
    changesDetected: 0,
    xRobotsTag: null,
    contentType: null,
    ...more,
  };
}

describe('how long an answer is fresh', () => {
  it('is what max-age says, and less where s-maxage says so', () => {
    expect(freshForMs('max-age=60')).toBe(60_000);
    expect(freshForMs('Public, MAX-AGE=60, must-revalidate')).toBe(60_000);
    expect(freshForMs('max-age="60"')).toBe(60_000);
    expect(freshForMs('max-age=60, s-maxage=10')).toBe(10_000);
    expect(freshForMs('s-maxage=10, max-age=60')).toBe(10_000);
    expect(freshForMs('max-age=60, s-maxage=3600')).toBe(60_000);
    expect(freshForMs('s-maxage=3600, max-age=0')).toBe(0);
    expect(freshForMs('s-maxage=3600')).toBe(0);
    expect(freshForMs('max-age=60, max-age=10')).toBe(60_000);
  });

  it('is very long where a number is too large to count with', () => {
    expect(freshForMs('max-age=99999999999999999999')).toBe(2 ** 31 * 1000);
    expect(atArrival('max-age=99999999999999999999', '48')).toBe(`max-age=${2 ** 31 - 48}`);
  });

  it('is less by the time that a cache on the way has kept it', () => {
    expect(atArrival('public, max-age=3600', '3000')).toBe('public, max-age=600');
    expect(atArrival('S-MaxAge = "20", max-age="100"', '30')).toBe('S-MaxAge = "0", max-age="70"');
    expect(atArrival('max-age=60', '61')).toBe('max-age=0');
    for (const age of [null, '', '-5', 'long', '1.5'])
      expect(atArrival('max-age=60', age)).toBe('max-age=60');
    expect(atArrival('no-cache', '5')).toBe('no-cache');
    expect(atArrival(null, '5')).toBeNull();
  });

  it('is no time where nothing is said, it may not be kept, or the number is none', () => {
    for (const value of [
      null,
      '',
      'public',
      'max-age',
      'max-age=',
      'max-age=-1',
      'max-age=1.5',
      'max-age=1e9',
    ])
      expect(freshForMs(value), String(value)).toBe(0);
    expect(freshForMs('max-age=60, no-cache')).toBe(0);
    expect(freshForMs('no-store, max-age=60')).toBe(0);
    expect(freshForMs('no-cache="set-cookie", max-age=60')).toBe(0);
  });
});

describe('a page is fresh', () => {
  const fresh = visit({ cacheControl: 'max-age=7200' });

  it('until its time or the cap is over', () => {
    expect(isFresh(fresh, NOW, 24 * HOUR)).toBe(true);
    expect(isFresh(fresh, NOW + HOUR - 1, 24 * HOUR)).toBe(true);
    expect(isFresh(fresh, NOW + HOUR, 24 * HOUR)).toBe(false);
    expect(isFresh(fresh, NOW, HOUR)).toBe(false);
  });

  it('not after a failure, and not when it was never read', () => {
    for (const statusCode of [null, 404, 500, 304])
      expect(isFresh({ ...fresh, statusCode }, NOW, 24 * HOUR)).toBe(false);
    expect(isFresh({ ...fresh, hasBody: false }, NOW, 24 * HOUR)).toBe(false);
  });

  it('not when the clock was set back since', () => {
    expect(isFresh(fresh, NOW - 2 * HOUR, 24 * HOUR)).toBe(false);
    expect(isFresh({ ...fresh, visitedAt: NOW + 60_000 }, NOW, 24 * HOUR)).toBe(true);
  });

  it('for no time at all where its server gives none, though that server’s clock is ahead', () => {
    const ahead = { ...fresh, visitedAt: NOW + 60_000 };
    for (const cacheControl of [null, 'no-store', 'max-age=0'])
      expect(isFresh({ ...ahead, cacheControl }, NOW, 24 * HOUR), String(cacheControl)).toBe(false);
    expect(isFresh(ahead, NOW, 0)).toBe(false);
  });
});

describe('a date in a sitemap', () => {
  it('spares a page only when it is older than the visit', () => {
    expect(isOlderThanVisit(visit({ sitemapDate: NOW - 2 * HOUR }), NOW)).toBe(true);
    expect(isOlderThanVisit(visit({ sitemapDate: NOW - HOUR }), NOW)).toBe(false);
    expect(isOlderThanVisit(visit({ sitemapDate: NOW }), NOW)).toBe(false);
    expect(isOlderThanVisit(visit(), NOW)).toBe(false);
    expect(isOlderThanVisit(visit({ sitemapDate: 0, statusCode: 500 }), NOW)).toBe(false);
    expect(isOlderThanVisit(visit({ sitemapDate: 0, visitedAt: NOW + HOUR }), NOW)).toBe(false);
  });

  it('that names a day only spares nothing that was visited before that day was over everywhere', () => {
    const day = Date.UTC(2026, 0, 5);
    const visited = (hours: number) => visit({ sitemapDate: day, visitedAt: day + hours * HOUR });
    expect(isOlderThanVisit(visited(10), day + 20 * HOUR)).toBe(false);
    expect(isOlderThanVisit(visited(35), day + 40 * HOUR)).toBe(false);
    expect(isOlderThanVisit(visited(37), day + 40 * HOUR)).toBe(true);
    expect(isOverBefore(day + 1, day + 2)).toBe(true);
  });

  it('is newer than the visit when it lies between that and now', () => {
    expect(isNewerThanVisit(visit({ sitemapDate: NOW - HOUR / 2 }), NOW)).toBe(true);
    expect(isNewerThanVisit(visit({ sitemapDate: NOW - 2 * HOUR }), NOW)).toBe(false);
    expect(isNewerThanVisit(visit({ sitemapDate: NOW + 24 * HOUR }), NOW)).toBe(false);
    expect(isNewerThanVisit(visit(), NOW)).toBe(false);
  });

  it('is trusted after twenty changes that were announced, and hardly one that was not', () => {
    expect(announcesChanges(0, 0)).toBe(false);
    expect(announcesChanges(19, 0)).toBe(false);
    expect(announcesChanges(20, 0)).toBe(true);
    expect(announcesChanges(20, 1)).toBe(false);
    expect(announcesChanges(49, 1)).toBe(false);
    expect(announcesChanges(50, 1)).toBe(true);
    expect(announcesChanges(1000, 200)).toBe(false);
  });
});
