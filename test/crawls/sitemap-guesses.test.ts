// Where a start host's sitemap is guessed at: which paths, and when between the pages.
import { expect, it } from 'vitest';
import { sitemapOf } from '../web/sitemap-pages.ts';
import { asked, page, useBench } from './crawl-site.ts';

const bench = useBench();

it('two paths are tried unless the operator asks for the long list, or for none', async () => {
  const web = await bench.web({ pages: { '/': page('home') } });
  const guesses = async (options: Record<string, unknown>) => {
    const from = asked(web).length;
    await bench.crawl(bench.file(), web.origin, { discover: ['sitemap', 'links'], delay: 0, ...options });
    return asked(web)
      .slice(from)
      .filter((path) => path !== '/');
  };
  expect(await guesses({})).toEqual(['/sitemap.xml', '/sitemap_index.xml']);
  expect(await guesses({ sitemapPaths: ['none'] })).toEqual([]);
  const long = await guesses({ sitemapPaths: ['/own.xml', 'long'] });
  expect(long).toHaveLength(12);
  expect(long.slice(0, 2)).toEqual(['/own.xml', '/sitemap.xml']);
});

it('that no guess was right says nothing of paths that were not tried', async () => {
  const web = await bench.web({
    pages: { '/': page('home'), '/wp-sitemap.xml': sitemapOf('/only-here'), '/only-here': page('named') },
  });
  const file = bench.file();
  const options = { discover: ['sitemap', 'links'], delay: 0 };
  await bench.crawl(file, web.origin, options);
  await bench.crawl(file, web.origin, options);
  expect(web.requestsTo('/sitemap.xml')).toHaveLength(1);
  expect(file.rows('SELECT method FROM discovery_status')).toEqual([{ method: 'links' }]);
  await bench.crawl(file, web.origin, { ...options, sitemapPaths: ['long'] });
  expect(web.requestsTo('/wp-sitemap.xml')).toHaveLength(1);
  expect(file.page('/only-here').state).toBe('Processed');
});

it('all start hosts are looked at side by side', async () => {
  // Nobody answers a guess before every host was asked for its first one.
  const hosts = 40;
  const waiting: (() => void)[] = [];
  const web = await bench.web({
    hosts,
    pages: {
      '/': page('home'),
      '/sitemap.xml': ({ response }) => {
        waiting.push(() => void response.writeHead(404).end());
        if (waiting.length === hosts) for (const end of waiting) end();
      },
    },
  });
  const starts = Array.from({ length: hosts }, (_, n) => web.url('/', n));
  const options = {
    discover: ['sitemap', 'links'],
    delay: 0,
    sitemapPaths: ['/sitemap.xml'],
    retries: 0,
    concurrency: 100,
  };
  const { summary } = await bench.crawl(bench.file(), starts, { ...options, headersTimeout: 5 });
  expect(summary.pages).toBe(hosts);
  expect(waiting).toHaveLength(hosts);
});
