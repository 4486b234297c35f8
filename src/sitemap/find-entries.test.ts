import { gzipSync } from 'node:zlib';
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

  it('gives the entries of a packed sitemap a few at a time, however many a kilobyte has', async () => {
    const packed = gzipSync(`<urlset>${'<url><loc>/</loc></url>'.repeat(400_000)}</urlset>`);
    expect(packed.length).toBeLessThan(32_768);
    let [entries, most] = [0, 0];
    const found = findEntries('http://a.test/s.xml', {
      web: webOf([], async function* () {
        yield packed;
      }),
      paths: [],
      maxBytes: 2 ** 30,
      onSitemap() {},
    });
    for await (const batch of found) {
      entries += batch.length;
      most = Math.max(most, batch.length);
    }
    expect(entries).toBe(400_000);
    expect(most).toBeLessThan(16_384);
  });

  it.each([
    ['a page that does not end', '<html><head><link rel="sitemap" href="/named">'],
    ['bytes that are no text and do not end', '\0\0'],
  ])('reads no more than the head of %s', async (_, first) => {
    let pulled = 0;
    const asked: string[] = [];
    const found = findEntries('http://a.test/page', {
      web: webOf(asked, async function* () {
        yield Buffer.from(first);
        for (;;) {
          pulled += 65_536;
          if (pulled > 2 ** 24) throw new Error('read on');
          yield Buffer.alloc(65_536);
        }
      }),
      paths: [],
      maxBytes: 2 ** 30,
      onSitemap() {},
    });
    for await (const batch of found) expect(batch).toEqual([]);
    expect(asked[0]).toBe('http://a.test/page');
    expect(asked.includes('http://a.test/named')).toBe(first.startsWith('<'));
  });

  it('finds what a page names however small the pieces are in which it comes', async () => {
    const asked: string[] = [];
    const page = `<html><head>${'<meta name="a">'.repeat(20)}<link rel="sitemap" href="/named"></head>`;
    const found = findEntries('http://a.test/page', {
      web: webOf(asked, async function* () {
        for (const letter of page) yield Buffer.from(letter);
      }),
      paths: [],
      maxBytes: 1e6,
      onSitemap() {},
    });
    for await (const batch of found) expect(batch).toEqual([]);
    expect(asked).toContain('http://a.test/named');
  });
});

describe('entries of other hosts', () => {
  it('wait for the robots.txt of several hosts at once, each asked once and 32 in all', async () => {
    const urls = Array.from({ length: 80 }, (_, i) => `http://h${i % 40}.test/${i}`);
    const body = `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`;
    let [open, most] = [0, 0];
    const asked: string[] = [];
    const reports: SitemapReport[] = [];
    const found = findEntries('http://a.test/s.xml', {
      web: {
        ...webOf([], async function* () {
          yield Buffer.from(body);
        }),
        async robots(url) {
          const { hostname } = new URL(url);
          asked.push(hostname);
          most = Math.max(most, ++open);
          await new Promise((resolve) => setImmediate(resolve));
          open--;
          if (hostname === 'h3.test') return { refused: 'dead' };
          return rulesFor(
            parseRobotsTxt(hostname === 'h7.test' ? 'Sitemap: http://a.test/s.xml' : ''),
            'sumi',
          );
        },
      },
      paths: [],
      maxBytes: 1e6,
      onSitemap: (report) => void reports.push(report),
    });
    const counted: string[] = [];
    for await (const batch of found) counted.push(...batch.map(({ entry }) => entry.url));
    expect(counted).toEqual(['http://h7.test/7', 'http://h7.test/47']);
    expect(asked).toEqual(Array.from({ length: 32 }, (_, i) => `h${i}.test`));
    expect(most).toBe(8);
    const problem = expect.stringMatching(
      /60 entries of hosts whose .* name it; .*2 entries .* be had; .*16 entries/,
    );
    expect(reports).toMatchObject([{ foreign: 78, trouble: 'passing', problem }]);
  });
});

/** Everything answers the same. */
function webOf(asked: string[], pieces: () => AsyncGenerator<Uint8Array>): SitemapWeb {
  return {
    robots: async () => rulesFor(parseRobotsTxt(''), 'sumi'),
    async get(url) {
      asked.push(url);
      return { url, contentType: null, link: null, pieces: pieces(), cutBy: async () => null };
    },
  };
}
