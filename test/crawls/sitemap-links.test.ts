// Sitemaps that only the start page names (link rel=sitemap), where the run that looks for them did not read that page itself.
import { describe, expect, it } from 'vitest';
import { answer, type Exchange } from '../web/fake-web.ts';
import { sitemapOf } from '../web/sitemap-pages.ts';
import { asked, page, useBench } from './crawl-site.ts';

const bench = useBench();
const BOTH = { discover: ['sitemap', 'links'], sitemapPaths: ['/guess.xml'] };
const HOME = `<link rel="sitemap" href="/maps/all.xml">${page('home')}`;
const MAP = { '/maps/all.xml': sitemapOf('/named'), '/named': page('named') };

/** Answers 304 to whoever has it, and may be fresh for a day. */
const steadyHome =
  (cacheControl: string) =>
  (exchange: Exchange): void => {
    const headers = { etag: '"1"', 'cache-control': cacheControl };
    const isKnown = exchange.request.headers['if-none-match'] === '"1"';
    answer(exchange, isKnown ? { status: 304, headers } : { headers, body: HOME });
  };

describe('the sitemap that the start page names', () => {
  it.each(['/', '/page'])('is read by the run that goes on, though it had read %s before', async (start) => {
    let stop: () => void = () => {};
    const web = await bench.web({
      pages: {
        [start]: HOME,
        '/guess.xml': (exchange) => {
          stop();
          answer(exchange, { status: 404 });
        },
        ...MAP,
      },
    });
    const file = bench.file();
    const begun = await bench.begin(file, web.url(start), BOTH);
    stop = begun.stop;
    expect((await begun.finished).status).toBe('interrupted');
    expect(file.page(start).state).toBe('Processed');
    expect(web.requestsTo('/maps/all.xml')).toEqual([]);
    stop = () => {};
    const { summary, events } = await bench.crawl(file, web.url(start), BOTH);
    expect(events[0]).toMatchObject({ type: 'run', resumed: true });
    expect(summary.status).toBe('completed');
    expect(file.page('/named').state).toBe('Processed');
    // Once more, whatever has to be known of it.
    expect(web.requestsTo(start)).toHaveLength(2);
  });

  it.each(['no-cache', 'max-age=86400'])(
    'is read where that page is as an earlier run without sitemaps left it (%s)',
    async (cacheControl) => {
      const web = await bench.web({ pages: { '/': steadyHome(cacheControl), ...MAP } });
      const file = bench.file();
      await bench.crawl(file, web.origin, { discover: ['links'] });
      const options = { ...BOTH, mode: 'incremental' as const, spotCheck: 0 };
      await bench.crawl(file, web.origin, options);
      expect(file.page('/named').state).toBe('Processed');
      // Known by now: the page is not asked for only to hear it again.
      const before = web.requestsTo('/').length;
      await bench.crawl(file, web.origin, { ...options, sitemapCacheHours: 0 });
      expect(web.requestsTo('/').length - before).toBe(cacheControl === 'no-cache' ? 1 : 0);
      expect(asked(web).filter((path) => path === '/maps/all.xml')).toHaveLength(2);
    },
  );
});
