import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../frontier/candidate.ts';
import type { FoundEntry } from '../../sitemap/find-entries.ts';
import type { SitemapEntry } from '../../sitemap/sitemap-outcome.ts';
import { FindingBatch } from './finding-batch.ts';

const candidate = {} as Candidate;

function found(more: Partial<SitemapEntry> = {}): FoundEntry {
  const url = 'http://a.test/';
  const none = { changefreq: null, priority: null, images: [], videos: [], news: null, alternates: [] };
  return {
    entry: { url, lastmod: null, lastmodAt: null, ...none, ...more },
    sitemap: `${url}s.xml`,
    kind: 'urlset',
  };
}

describe('a batch of entries', () => {
  it('is full by their number, each page counted once, with the newer of its dates', () => {
    const batch = new FindingBatch(2);
    batch.add(found({ lastmod: '1970-01-02', lastmodAt: 86_400_000 }), 'a', () => candidate);
    batch.add(found({ lastmod: '1970-01-03', lastmodAt: 172_800_000 }), 'a', () => candidate);
    batch.add(found({ lastmod: '1970-01-01', lastmodAt: 0 }), 'a', () => candidate);
    expect(batch.isFull).toBe(false);
    batch.add(found(), 'b', () => candidate);
    expect(batch.isFull).toBe(true);
    expect(batch.take()).toMatchObject([
      { lastmod: 172_800_000, lastmodText: '1970-01-03' },
      { lastmod: null },
    ]);
    expect([batch.isFull, batch.take()]).toEqual([false, []]);
  });

  it.each([
    ['images', { images: Array.from({ length: 256 }, () => `http://a.test/${'i'.repeat(1000)}`) }],
    ['what stands for a date', { lastmod: 'x'.repeat(65_536) }],
  ])('is full by what few of them say: %s', (_, more) => {
    const batch = new FindingBatch(500);
    let count = 0;
    for (; !batch.isFull; count++) batch.add(found(more), `p${count}`, () => candidate);
    expect(count).toBeLessThan(20);
    expect(batch.take()).toHaveLength(count);
    expect(batch.isFull).toBe(false);
  });
});
