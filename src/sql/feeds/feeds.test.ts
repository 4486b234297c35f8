// The makers in the main thread, against the fake web and a store in a fresh folder: no DuckDB here.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { page } from '../../../test/crawls/crawl-site.ts';
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../../../test/web/fake-web.ts';
import { systemClock } from '../../primitives/clock.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store-port.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import type { FeedMaker } from '../thread/feed.ts';
import { createFeeds, type Feeds } from './create-feeds.ts';
import type { FetchedRow } from './fetch-feed.ts';

const WANTS = { body: true, text: false, headers: false };

let folder: string;
let store: Store;
let feeds: Feeds;
const webs: FakeWeb[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-feeds-'));
  store = await openStore({
    address: join(folder, 'x.sumi'),
    clock: systemClock,
    onFailure(error) {
      throw error;
    },
  });
  feeds = createFeeds({
    openStore: async () => store,
    settings: async () => ({ threads: 4 }),
    fixed: { delay: 0, adaptiveDelay: false, retryDelay: 0.01, robotsRetries: 0 },
  });
});

afterEach(async () => {
  await feeds.rest();
  await store.close();
  for (const web of webs.splice(0)) await web.close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(options: FakeWebOptions): Promise<FakeWeb> {
  const web = await startFakeWeb(options);
  webs.push(web);
  return web;
}

function make(kind: string, args: object, signal = new AbortController().signal) {
  const maker = feeds.makers[kind];
  const rows: FeedMaker = 'makeOnDemand' in maker ? maker.makeOnDemand : maker;
  return rows(args as never, signal);
}

async function all<Row>(kind: string, args: object): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of make(kind, args)) rows.push(...(batch as Row[]));
  return rows;
}

const crawl = (urls: string | (string | null)[], options: object = {}, wants: object = WANTS) =>
  all<CrawlRow>('crawl', { urls: [urls].flat(), options, wants });
const bodyOf = ({ body }: CrawlRow) => (body === null ? null : Buffer.from(body).toString());
const byUrl = (rows: CrawlRow[]) => [...rows].sort((a, b) => (a.url < b.url ? -1 : 1));

const chain = (count: number) =>
  Object.fromEntries([
    ['/', page('0', ...Array.from({ length: count }, (_, at) => `/${at + 1}`))],
    ...Array.from({ length: count }, (_, at) => [`/${at + 1}`, page(String(at + 1))]),
  ]);

describe('crawl()', () => {
  it('gives a row for each page, with what was asked for', async () => {
    const web = await serve({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
    const rows = byUrl(
      await crawl(web.url('/'), { follow_links: true }, { ...WANTS, headers: true, text: true }),
    );
    expect(rows).toMatchObject([
      { url: web.url('/'), httpStatus: 200, title: 'Home', depth: 0, inputUrl: web.url('/'), h1: 'Home' },
      {
        url: web.url('/a'),
        httpStatus: 200,
        title: 'A',
        depth: 1,
        inputUrl: null,
        error: null,
        errorType: null,
      },
    ]);
    expect(bodyOf(rows[1])).toContain('<h1>A</h1>');
    expect(rows[1].headers).toContainEqual(['content-type', 'text/html; charset=utf-8']);
    expect(Buffer.from(rows[1].text!).toString()).toContain('A');
    expect(rows[1].contentHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has no body where nobody asked, nor of a page that says noindex', async () => {
    const hidden = '<meta name="robots" content="noindex"><p>x';
    const web = await serve({ pages: { '/a': page('A'), '/b': hidden } });
    const urls = [web.url('/a'), web.url('/b')];
    const without = await crawl(urls, {}, { body: false, text: false, headers: false });
    expect(without.map(({ body, text, headers }) => [body, text, headers])).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
    expect(byUrl(await crawl(urls)).map((row) => bodyOf(row)?.length ?? null)).toEqual([
      expect.any(Number),
      null,
    ]);
    const all = await crawl(urls, { respect_noindex: false });
    expect(byUrl(all).map(bodyOf)[1]).toBe(hidden);
  });

  it('tells what went wrong by one word', async () => {
    const web = await serve({
      robots: 'User-agent: *\nDisallow: /private',
      pages: {
        '/500': { status: 500 },
        '/429': { status: 429, headers: { 'retry-after': '0' } },
        '/image': { headers: { 'content-type': 'image/png' }, body: 'x' },
        '/large': 'x'.repeat(2000),
        '/loop': { status: 302, headers: { location: '/loop' } },
        '/moved': { status: 301, headers: { location: '/image' } },
      },
    });
    const paths = ['/404', '/500', '/429', '/image', '/large', '/loop', '/moved', '/private/x'];
    const rows = await crawl(
      [...paths.map((path) => web.url(path)), 'no url', null, '', 'http://127.0.0.1:1/'],
      {
        max_retries: 0,
        max_response_bytes: 1000,
        reject_content_types: ['image/*'],
        sitemaps: 'never',
      },
    );
    const told = Object.fromEntries(
      rows.map(({ url, errorType, error, httpStatus, inputUrl }) => [
        url.replace(web.origin, ''),
        `${httpStatus} ${errorType} ${error} ${inputUrl === null ? '' : '*'}`.trim(),
      ]),
    );
    expect(told).toMatchObject({
      '/404': '404 http_client_error http: 404 *',
      '/500': '500 http_server_error http: 500 *',
      '/429': '429 http_rate_limited http: 429 Too Many Requests *',
      '/image': '200 content_type_rejected type: image/png *',
      '/large': '200 content_too_large size: over 1000 bytes *',
      '/loop': expect.stringContaining('redirect_error'),
      '/moved': '301 null null *',
      '/private/x': 'null robots_disallowed robots: Disallow /private *',
      'no url': expect.stringContaining('null invalid_url'),
      'http://127.0.0.1:1/': expect.stringContaining('network_connection_refused'),
    });
    expect(rows.length).toBe(10);
    const quiet = await crawl(web.url('/private/x'), { log_skipped: false, sitemaps: 'never' });
    expect(quiet).toEqual([]);
  });

  it('reads what a site stands for, as CRAWL does', async () => {
    const web = await serve({
      pages: {
        '/': page('Home'),
        '/a': page('A'),
        '/sitemap.xml': ({ response, url }) => {
          response.writeHead(200, { 'content-type': 'application/xml' });
          response.end(
            `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${url('/a')}</loc></url></urlset>`,
          );
        },
      },
    });
    const urlsOf = async (path: string, options: object) =>
      byUrl(await crawl(web.url(path), options)).map(({ url }) => url.replace(web.origin, ''));
    expect(await urlsOf('/', {})).toEqual(['/a']);
    expect(await urlsOf('/', { sitemaps: 'never' })).toEqual(['/']);
    expect(await urlsOf('/x', {})).toEqual(['/x']);
  });

  it('refuses an option that there is none of, before any request', async () => {
    const web = await serve({ pages: {} });
    await expect(crawl(web.url('/'), { max_crawl_page: 1 })).rejects.toMatchObject({ code: 'sql-failed' });
    expect(web.log).toEqual([]);
  });

  it('requests no further than what is taken allows, and ends when it is closed', async () => {
    const web = await serve({ pages: chain(60) });
    const stop = new AbortController();
    const args = {
      urls: [web.url('/')],
      options: { follow_links: true, sitemaps: 'never', threads: 4 },
      wants: WANTS,
    };
    let taken = 0;
    for await (const batch of make('crawl', args, stop.signal)) {
      taken += batch.length;
      // Nothing has been asked for since; whatever could be under way has time to arrive.
      await new Promise((resolve) => setImmediate(resolve));
      if (taken >= 3) break;
    }
    stop.abort();
    await feeds.rest();
    const pages = web.log.filter(({ path }) => path !== '/robots.txt').length;
    expect(pages).toBeLessThanOrEqual(3 + 4);
    expect(pages).toBeGreaterThanOrEqual(3);
  });

  it('forgets its pages and keeps what hosts taught', async () => {
    const web = await serve({ pages: chain(3), robots: 'User-agent: *\nCrawl-delay: 0.01' });
    await crawl(web.url('/'), { follow_links: true, sitemaps: 'never' });
    await feeds.rest();
    const side = await store.openSide();
    const pages = [];
    for await (const rows of side.pages({})) pages.push(rows);
    expect(pages.flat()).toEqual([]);
    expect((await side.robots(web.origin))?.status).toBe(200);
    await side.close();
    // Again: the page is requested once more, its robots.txt is not.
    expect((await crawl(web.url('/1'), {})).length).toBe(1);
    expect(web.requestsTo('/robots.txt').length).toBe(1);
  });

  it('leaves a host that it holds to another feed, though nobody takes its rows', async () => {
    const web = await serve({ pages: chain(40) });
    const args = { urls: [web.url('/')], options: { follow_links: true, sitemaps: 'never' }, wants: WANTS };
    const stop = new AbortController();
    const held = make('crawl', args, stop.signal)[Symbol.asyncIterator]();
    await held.next();
    const other = await all<FetchedRow>('fetch', { urls: [web.url('/7')], options: {}, wants: WANTS });
    expect(other[0].row.httpStatus).toBe(200);
    stop.abort();
    await held.return?.();
  });
});

describe('fetch()', () => {
  const fetch = (urls: string[]) => all<FetchedRow>('fetch', { urls, options: {}, wants: WANTS });

  it('answers each text with the end of its redirects', async () => {
    const web = await serve({
      hosts: 2,
      robots: 'User-agent: *\nDisallow: /no',
      pages: {
        '1:/a': page('A'),
        '0:/b': ({ response, url }) => response.writeHead(302, { location: url('/c', 1) }).end(),
        '1:/c': { status: 301, headers: { location: '/a' } },
        '/n': '<meta name=robots content=nofollow>',
      },
    });
    const urls = [web.url('/b'), web.url('/a', 1), web.url('/gone'), web.url('/no'), 'x y', web.url('/n')];
    const answers = new Map((await fetch(urls)).map((one) => [one.given, one]));
    expect([...answers.keys()].sort()).toEqual([...urls].sort());
    const tell = (url: string) => {
      const { httpStatus, url: own, finalUrl, redirectCount, errorType, title } = answers.get(url)!.row;
      return [own, httpStatus, finalUrl, redirectCount, errorType, title];
    };
    expect(tell(urls[0])).toEqual([urls[0], 200, web.url('/a', 1), 2, null, 'A']);
    expect(tell(urls[1])).toEqual([urls[1], 200, urls[1], 0, null, 'A']);
    expect(tell(urls[2])).toEqual([urls[2], 404, urls[2], 0, 'http_client_error', null]);
    expect(tell(urls[3])).toEqual([urls[3], null, null, null, 'robots_disallowed', null]);
    expect(tell('x y').slice(4)).toEqual(['invalid_url', null]);
    expect([...answers.values()].map(({ isNofollow }) => isNofollow)).toContain(true);
    expect(web.requestsTo('/a', 1).length).toBe(1);
  });
});

describe('sitemap() and robots_check()', () => {
  it('are asked for on the same store, under the same clocks', async () => {
    const web = await serve({
      robots: 'User-agent: other\nDisallow: /x\nCrawl-delay: 3\n\nUser-agent: *\nDisallow: /y',
      pages: {
        '/sitemap.xml': ({ response, url }) => {
          response.writeHead(200, { 'content-type': 'application/xml' });
          response.end(
            `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${url('/a')}</loc>
            <lastmod>2026-01-02</lastmod><priority>0.5</priority></url></urlset>`,
          );
        },
      },
    });
    const check = (urls: string[], agent: string | null) => all('robots', { urls, agent });
    expect(await check([web.url('/x'), web.url('/y')], null)).toMatchObject([
      { allowed: true, rule: null, crawlDelay: null, agent: 'SumiRipple' },
      { allowed: false, rule: 'Disallow /y' },
    ]);
    expect(await check([web.url('/x')], 'other')).toMatchObject([
      { url: web.url('/x'), allowed: false, rule: 'Disallow /x', crawlDelay: 3, agent: 'other' },
    ]);
    expect(await all('sitemap', { urls: [web.origin], options: {} })).toEqual([
      {
        ...{ url: web.url('/a'), lastmod: '2026-01-02', changefreq: null, priority: 0.5 },
        sitemap: web.url('/sitemap.xml'),
      },
    ]);
    expect(web.requestsTo('/robots.txt').length).toBe(1);
  });

  it('say that a robots.txt which cannot be read allows nothing', async () => {
    const web = await serve({ robots: ({ response }) => response.writeHead(503).end() });
    expect(await all('robots', { urls: [web.url('/'), 'http://127.0.0.1:1/'], agent: null })).toMatchObject([
      { allowed: false, rule: 'unreachable: 503' },
      { allowed: false, rule: 'unreachable: no answer' },
    ]);
  });
});
