import { describe, expect, it } from 'vitest';
import { parseRobotsTxt, rulesFor } from '../politeness/robots-txt.ts';
import { findEntries, type SitemapReport, type SitemapWeb } from './find-entries.ts';

/** Every sitemap is an index of twenty more: 160,000 within the depth that is followed. */
const endlessWeb = (asked: string[]): SitemapWeb => ({
  robots: async () => rulesFor(parseRobotsTxt(''), 'sumi'),
  async get(url) {
    asked.push(url);
    const names = Array.from({ length: 20 }, (_, i) => `<sitemap><loc>${url}-${i}</loc></sitemap>`);
    return {
      url,
      contentType: null,
      link: null,
      pieces: (async function* () {
        yield Buffer.from(`<sitemapindex>${names.join('')}</sitemapindex>`);
      })(),
      cutBy: async () => null,
    };
  },
});

describe('findEntries', () => {
  it('comes to an end in a web of indexes without one', async () => {
    const asked: string[] = [];
    let last: SitemapReport | null = null;
    const found = findEntries('http://a.test/sitemap', {
      web: endlessWeb(asked),
      paths: [],
      maxBytes: 1e6,
      onSitemap: (report) => {
        last = report;
      },
    });
    for await (const batch of found) expect(batch).toEqual([]);
    expect(asked).toHaveLength(50_000);
    expect(last).toMatchObject({ kind: null, problem: expect.stringMatching(/^too many: 50000 /) });
  }, 60_000);
});
