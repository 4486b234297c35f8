import { describe, expect, it } from 'vitest';
import { answer, type FakeWebOptions } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, type CrawlOptions, fastClock, page, useBench } from './crawl-site.ts';

const bench = useBench();
const terrain: CrawlOptions = { profile: 'terrain', allowHttp: true, delay: 0.1 };

describe('profile terrain', () => {
  it('asks HEAD first, follows nofollow, and fails what robots.txt denies', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': page('Home', '/private/x', '/moved', '/image').replace(
        '</body>',
        '<a rel="nofollow" href="/n">n</a></body>',
      ),
      '/moved': { status: 301, headers: { location: '/private/y' } },
      '/image': misbehaviours.wrongContentType(),
      '/*': page('P'),
    };
    const web = await bench.web({ pages, robots: 'User-agent: *\nDisallow: /private/\n' });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), terrain, { clock: fastClock(10) });
    expect(web.requestsTo('/').map((entry) => entry.method)).toEqual(['HEAD', 'GET']);
    expect(web.requestsTo('/image').map((entry) => entry.method)).toEqual(['HEAD']);
    expect(file.page('/n').state).toBe('Processed');
    for (const path of ['/private/x', '/private/y'])
      expect(file.page(path)).toMatchObject({ state: 'Failed', reason: 'robots: Disallow /private/' });
    expect(file.page('/moved').state).toBe('Failed');
    expect(file.page('/moved').reason).toMatch(/^redirect: .*robots: Disallow \/private\//);
    expect(asked(web).some((path) => path.startsWith('/private/'))).toBe(false);
    expect(
      file.rows("SELECT DISTINCT status FROM crawled_pages WHERE error_message LIKE 'robots:%'"),
    ).toEqual([{ status: 'skipped' }]);
  });

  it('takes a page for one under https and http, www and tracking parameters, and asks for it as first seen', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': (exchange) =>
        answer(exchange, {
          body: page('Home', '/a?utm_source=x', '/a', `https://127.0.0.1:${exchange.port}/a`),
        }),
      '/a': page('A'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), terrain, { clock: fastClock(10) });
    expect(web.log.filter((entry) => entry.method === 'GET' && entry.path.startsWith('/a'))).toHaveLength(1);
    expect(file.pages().map(({ url }) => new URL(url).protocol)).toEqual(['https:', 'https:']);
    expect(file.page('/a?utm_source=x').url).toBe(`https://127.0.0.1:${web.port}/a`);
  });

  it('suspends a host that answers 429, for this run', async () => {
    const pages: FakeWebOptions['pages'] = {
      '0:/': (exchange) => answer(exchange, { body: page('Home', '/a', '/b', exchange.url('/', 1)) }),
      '0:/a': misbehaviours.rateLimitedForSeconds(9, 1),
      '/*': page('P'),
    };
    const web = await bench.web({ hosts: 2, pages });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), terrain, { clock: fastClock(10) });
    expect(summary.status).toBe('completed');
    expect(file.page(web.url('/a')).state).toBe('RateLimited');
    expect(file.page(web.url('/b')).state).toBe('RateLimited');
    expect(file.page(web.url('/', 1)).state).toBe('Processed');
    expect(web.requestsTo('/a')).toHaveLength(1);
    expect(web.requestsTo('/b')).toEqual([]);
  });
});
