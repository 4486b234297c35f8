// A sitemap that cannot be read whole says nothing of what it does not show: no page is gone for it, and what is remembered
// of the look is that it was not whole.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/primitives/clock.ts';
import { answer, type Handler } from '../web/fake-web.ts';
import { cutGzip, indexOf, robotsNaming, sitemapOf } from '../web/sitemap-pages.ts';
import { asked, page, useBench } from './crawl-site.ts';

const bench = useBench();
const AGAIN = { discover: ['sitemap', 'links'], sitemapCacheHours: 0, retries: 0 };

const fixed =
  (found: Parameters<typeof answer>[1]): Handler =>
  (exchange) =>
    answer(exchange, found);
const XML = { 'content-type': 'application/xml' };

/** First a good one; then this. */
const spoilt =
  (good: Handler, bad: Handler): Handler =>
  (exchange) =>
    (exchange.nth === 1 ? good : bad)(exchange);

/** Good, spoilt, and a whole one that names nothing of what was there. */
const inTurn =
  (...turns: Handler[]): Handler =>
  (exchange) =>
    turns[Math.min(exchange.nth, turns.length) - 1](exchange);

const entriesOf = (count: number) => Array.from({ length: count }, (_, n) => `/p${n}`);
const PATHS = entriesOf(40);

const BROKEN: Record<string, Handler> = {
  'cut in the middle': ({ response, url }) =>
    void response.end(`<urlset><url><loc>${url('/p0')}</loc></url><url><loc>${url('/p')}`),
  'a truncated gzip': cutGzip(...PATHS),
  empty: fixed({ headers: XML, body: '' }),
  'a page': fixed({ body: page('maintenance') }),
  'a text': fixed({ headers: { 'content-type': 'text/plain' }, body: 'come back later' }),
  'larger than may be read': sitemapOf(...entriesOf(400).map((path) => `${path}/more`), ...PATHS),
  'shut by 401': fixed({ status: 401 }),
  'shut by 403': fixed({ status: 403 }),
  'not there': fixed({ status: 404 }),
  removed: fixed({ status: 410 }),
  failing: fixed({ status: 500 }),
  dropped: ({ response }) => void response.destroy(),
};

describe('a sitemap that is not read whole', () => {
  it.each(Object.keys(BROKEN))('takes no page for gone: %s, of an index or by itself', async (name) => {
    for (const shape of ['child', 'alone'] as const) {
      const broken = inTurn(sitemapOf(...PATHS), BROKEN[name], sitemapOf('/p0'));
      const web = await bench.web({
        robots: robotsNaming(shape === 'child' ? ['/index.xml'] : ['/s.xml', '/other.xml']),
        pages: {
          '/index.xml': indexOf('/s.xml', '/other.xml'),
          '/s.xml': broken,
          '/other.xml': sitemapOf('/other'),
          '/': page('home'),
          '/other': page('other'),
          '/p*': page('named'),
        },
      });
      const file = bench.file();
      // Over a used connection a request that is dropped would be sent again, and get the next turn's answer.
      const options = { ...AGAIN, maxSitemapBytes: 8000, keepAlive: false };
      await bench.crawl(file, web.origin, options);
      expect(file.rows('SELECT trouble FROM discovery_status')).toEqual([{ trouble: null }]);
      const second = await bench.crawl(file, web.origin, options);
      expect(second.summary).toMatchObject({ status: 'completed', gone: 0 });
      expect(file.rows('SELECT method, trouble FROM discovery_status')).toEqual([
        { method: 'sitemap', trouble: expect.stringMatching(/^(lasting|passing)$/) },
      ]);
      // Read whole again, it is believed again.
      const third = await bench.crawl(file, web.origin, options);
      expect(third.summary.gone).toBeGreaterThanOrEqual(PATHS.length - 1);
    }
  });

  it('takes no page for gone where an index goes too deep', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 6 }, (_, n) => [`/i${n}.xml`, indexOf(`/i${n + 1}.xml`)]),
    );
    const web = await bench.web({
      robots: robotsNaming(['/s.xml', '/other.xml']),
      pages: {
        ...chain,
        '/s.xml': spoilt(sitemapOf('/a'), indexOf('/i0.xml')),
        '/other.xml': sitemapOf('/b'),
        '/': page('home'),
        '/a': page('a'),
        '/b': page('b'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, AGAIN);
    const { summary } = await bench.crawl(file, web.origin, AGAIN);
    expect(summary.gone).toBe(0);
  });

  it('takes no page for gone where a sitemap that was found by trying is not there any more and another one is', async () => {
    const web = await bench.web({
      pages: {
        '/sitemap.xml': spoilt(sitemapOf('/a'), fixed({ body: page('oops') })),
        '/sitemap_index.xml': sitemapOf('/b'),
        '/': page('home'),
        '/a': page('a'),
        '/b': page('b'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, AGAIN);
    const second = await bench.crawl(file, web.origin, AGAIN);
    expect(second.summary.gone).toBe(0);
    // From now on it is the other one that is known.
    const third = await bench.crawl(file, web.origin, AGAIN);
    expect(third.summary.gone).toBe(1);
  });

  it('is not asked for again while the look is believed, an hour only where the trouble may pass', async () => {
    for (const [status, looks] of [
      [404, 1],
      [500, 2],
    ]) {
      const web = await bench.web({
        robots: robotsNaming(['/index.xml']),
        pages: {
          '/index.xml': indexOf('/a.xml', '/bad.xml'),
          '/a.xml': sitemapOf('/a'),
          '/bad.xml': { status },
          '/': page('home'),
          '/a': page('a'),
        },
      });
      const file = bench.file();
      const options = { ...AGAIN, sitemapCacheHours: 24 };
      await bench.crawl(file, web.origin, options);
      await bench.crawl(file, web.origin, options);
      expect(asked(web).filter((path) => path === '/a.xml')).toHaveLength(1);
      const later = { ...systemClock, now: () => systemClock.now() + 2 * 3_600_000 };
      await bench.crawl(file, web.origin, options, { clock: later });
      expect(asked(web).filter((path) => path === '/a.xml')).toHaveLength(looks);
    }
  });
});
