import { describe, expect, it } from 'vitest';
import { listedEntry, wordsOf } from './entry-words.ts';
import type { SitemapEntry, SitemapKind } from './sitemap-outcome.ts';

const PLAIN: SitemapEntry = {
  url: 'https://a.test/x',
  lastmod: null,
  lastmodAt: null,
  changefreq: 'daily',
  priority: 0.5,
  images: [],
  videos: [],
  news: null,
  alternates: [],
};
const SITEMAP = 'https://a.test/s.xml';

function keptAndTold(entry: SitemapEntry, kind: SitemapKind = 'urlset', identity = entry.url) {
  const { lastmodText, details } = wordsOf(entry, kind, identity);
  const { changefreq, priority, lastmodAt } = entry;
  const lastmod = lastmodAt === null ? null : new Date(lastmodAt).toISOString();
  const row = { url: identity, lastmod, lastmod_text: lastmodText, changefreq, priority, details };
  return listedEntry({ ...row, sitemap: SITEMAP });
}

describe('an entry that was kept', () => {
  it.each([
    [null, null],
    ['2024', Date.UTC(2024, 0, 1)],
    ['2024-05', Date.UTC(2024, 4, 1)],
    ['2024-05-06', Date.UTC(2024, 4, 6)],
    ['2024-05-06T00:00:00Z', Date.UTC(2024, 4, 6)],
    ['2024-05-06T07:08+02:00', Date.UTC(2024, 4, 6, 5, 8)],
    ['2024-05-06T07:08:09.5Z', Date.UTC(2024, 4, 6, 7, 8, 9, 500)],
    ['Mon, 06 May 2024 05:08:00 GMT', Date.UTC(2024, 4, 6, 5, 8)],
    ['yesterday', null],
  ])('is told with its date as it was written: %s', (lastmod, lastmodAt) => {
    const entry = { ...PLAIN, lastmod, lastmodAt };
    expect(keptAndTold(entry)).toEqual({ entry, sitemap: SITEMAP, kind: 'urlset' });
  });

  it('is told with its own address, kind and extensions', () => {
    const entry: SitemapEntry = {
      ...PLAIN,
      images: ['https://a.test/x.png'],
      videos: [{ title: 't', url: null, thumbnail: null }],
      news: { publication: 'P', language: 'de', title: 'T', published: '2024' },
      alternates: [{ hreflang: 'de', url: 'https://a.test/de' }],
    };
    expect(keptAndTold(entry, 'atom', 'https://a.test/')).toEqual({ entry, sitemap: SITEMAP, kind: 'atom' });
    for (const name of ['images', 'videos', 'news', 'alternates'] as const) {
      const one = { ...PLAIN, [name]: entry[name] };
      expect(keptAndTold(one)).toEqual({ entry: one, sitemap: SITEMAP, kind: 'urlset' });
    }
    expect(keptAndTold(PLAIN, 'rss').kind).toBe('rss');
  });

  it('says of what an older version did not keep that nobody knows', () => {
    const row = { url: PLAIN.url, lastmod_text: null, changefreq: null, priority: null, sitemap: SITEMAP };
    const told = listedEntry({ ...row, lastmod: '2024-05-06T00:00:00.000Z', details: null });
    expect(told).toMatchObject({ kind: null, entry: { lastmod: '2024-05-06', images: null, news: null } });
  });
});
