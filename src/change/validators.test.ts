import { describe, expect, it } from 'vitest';
import type { LastVisit } from '../frontier/candidate.ts';
import { conditionsFor, isEntityTag, modifiedBefore } from './validators.ts';

const VISITED = Date.UTC(2026, 0, 1);
const OLD = 'Wed, 31 Dec 2025 10:00:00 GMT';

function visit(more: Partial<LastVisit>): LastVisit {
  return {
    statusCode: 200,
    isGone: false,
    visitedAt: VISITED,
    hasBody: true,
    contentHash: new Uint8Array(32),
    textHash: null,
    facetHash: null,
    simhash: null,
    etag: null,
    lastModified: null,
    cacheControl: null,
    wireBytes: 0,
    sitemapDate: null,
    sitemapSeenAt: null,
    changeFrequency: 0,
    changesDetected: 0,
    xRobotsTag: null,
    contentType: null,
    ...more,
  };
}

describe('an entity tag', () => {
  it('is what RFC 9110 says', () => {
    for (const tag of ['""', '"x"', 'W/"x"', '"!#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~"'])
      expect(isEntityTag(tag), tag).toBe(true);
  });

  it('is nothing that could end a header line, or reach into the next', () => {
    for (const tag of ['"a\r\nx: y"', '"a\nb"', '"a\0b"', '"a\tb"', '"a\u007fb"', '"\u0130"', '"\u010a"'])
      expect(isEntityTag(tag), JSON.stringify(tag)).toBe(false);
    for (const tag of ['', 'x', '"', 'W/', '"x', 'x"', 'w/"x"', '"x" ', ' "x"', '"a"b"', '"a", "b"'])
      expect(isEntityTag(tag), tag).toBe(false);
    expect(isEntityTag(`"${'x'.repeat(1022)}"`)).toBe(true);
    expect(isEntityTag(`"${'x'.repeat(1023)}"`)).toBe(false);
  });
});

describe('a date of modification', () => {
  it('says something only when it is one, and before the visit', () => {
    expect(modifiedBefore(OLD, VISITED)).toBe(Date.UTC(2025, 11, 31, 10));
    expect(modifiedBefore('Wed, 31 Dec 2025 23:59:59 GMT', VISITED)).not.toBeNull();
    for (const date of ['Thu, 01 Jan 2026 00:00:00 GMT', 'Thu, 01 Jan 2026 01:00:00 GMT', 'soon', ''])
      expect(modifiedBefore(date, VISITED), date).toBeNull();
  });
});

describe('the conditions of a request', () => {
  it('are both validators where both are sound, one where one is, none where none is', () => {
    expect(conditionsFor(visit({ etag: '"a"', lastModified: OLD }))).toEqual({
      'if-none-match': '"a"',
      'if-modified-since': OLD,
    });
    expect(conditionsFor(visit({ etag: 'a', lastModified: OLD }))).toEqual({ 'if-modified-since': OLD });
    expect(conditionsFor(visit({ etag: '"a"', lastModified: 'soon' }))).toEqual({ 'if-none-match': '"a"' });
    expect(conditionsFor(visit({ etag: 'a', lastModified: 'soon' }))).toBeUndefined();
    expect(conditionsFor(visit({}))).toBeUndefined();
  });

  // Whether Apache matches them is asked of Apache in test/crawls/server-tags.test.ts.
  it('name the tag of a compressed answer without its suffix, too', () => {
    const tags = (etag: string) => conditionsFor(visit({ etag }))?.['if-none-match'];
    expect(tags('"e27-647-gzip"')).toBe('"e27-647-gzip", "e27-647"');
    expect(tags('W/"e27-br"')).toBe('W/"e27-br", W/"e27"');
    for (const tag of ['"gzip"', '"-gzip"', '"e27-gzip-1"', '"e27gzip"']) expect(tags(tag), tag).toBe(tag);
  });

  it('are none for a page that was never read, or was gone; a failure in between does not matter', () => {
    const tagged = visit({ etag: '"a"' });
    expect(conditionsFor({ ...tagged, hasBody: false })).toBeUndefined();
    expect(conditionsFor({ ...tagged, isGone: true })).toBeUndefined();
    for (const statusCode of [500, null]) expect(conditionsFor({ ...tagged, statusCode })).toBeDefined();
  });
});
