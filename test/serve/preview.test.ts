// The preview over HTTP: what it asks, what it says of links, settings and estimate, and what it refuses. It keeps nothing.
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { previewWebsite } from '../../src/project/preview-website.ts';
import { openStore } from '../../src/store/open-store.ts';
import { page, useBench } from '../crawls/crawl-site.ts';
import { type Loose, STORES, useService } from './start-serving.ts';

const start = useService();
const bench = useBench();

const sitemap = (...urls: string[]) => ({
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls
    .map((url) => `<url><loc>${url}</loc></url>`)
    .join('')}</urlset>`,
});

async function previewedSite() {
  const web = await bench.web({
    robots: ({ response, url }) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(`User-agent: *\nDisallow: /private/\nCrawl-delay: 0.1\nSitemap: ${url('/map.xml')}\n`);
    },
    pages: {
      '/': page('Home <b>', '/a', '/private/x', '/account/me', 'http://other.example/', '/a#again'),
      '/map.xml': ({ response, url }: Loose) => {
        const { headers, body } = sitemap(url('/a'), url('/deep/one'), url('/private/y'));
        response.writeHead(200, headers);
        response.end(body);
      },
    },
  });
  return web;
}

describe.each(STORES)('a preview on %s', (store) => {
  it('says what a crawl would do, asks little and keeps nothing', async () => {
    const web = await previewedSite();
    const service = await start({ store });
    const settings = { exclude_patterns: '/account/', delay_seconds: 0.05 };
    const { status, body } = await service.post('preview', { website_url: web.origin, settings });
    expect(status).toBe(200);
    expect(web.log.map(({ path }) => path)).toEqual(['/robots.txt', '/', '/map.xml']);
    expect(body.robots).toEqual({
      ...{ url: web.url('/robots.txt'), status: 200, found: true, allowed: true, rule: null },
      ...{ crawl_delay: 0.1, sitemaps: [web.url('/map.xml')] },
    });
    expect(body.home).toMatchObject({ status_code: 200, title: 'Home <b>', links: 4, problem: null });
    expect(body.sitemaps).toEqual([{ url: web.url('/map.xml'), entries: 3, problem: null }]);
    const verdicts = body.links.map(({ url, found_in, verdict, rule }: Loose) => [
      url,
      found_in,
      verdict,
      rule,
    ]);
    expect(verdicts).toEqual([
      [web.url('/'), 'home', 'fetched', null],
      [web.url('/a'), 'home', 'fetched', null],
      [web.url('/private/x'), 'home', 'skipped', 'robots: Disallow /private/'],
      [web.url('/account/me'), 'home', 'skipped', 'exclude: /account/'],
      ['http://other.example/', 'home', 'skipped', expect.stringMatching(/^scope: host other\.example/)],
      [web.url('/deep/one'), 'sitemap', 'fetched', null],
      [web.url('/private/y'), 'sitemap', 'skipped', 'robots: Disallow /private/'],
    ]);
    // Three pages, at the pace of robots.txt.
    expect(body.estimate).toEqual({ pages: 3, seconds: 0.3, is_lower_bound: true });
    expect(body.problems).toEqual([]);
    expect((await service.get('projects?state=all')).body.items).toEqual([]);
    expect((await service.get('runs')).body.items).toEqual([]);
    const limited = await service.post('preview', { website_url: web.origin, settings: { max_pages: 2 } });
    expect(limited.body.estimate).toMatchObject({ pages: 2, is_lower_bound: false });
  });
});

describe('a preview', () => {
  it('asks nothing more where robots.txt cannot be read or forbids the home page', async () => {
    const service = await start();
    const broken = await bench.web({ robots: ({ response }) => response.writeHead(500).end() });
    const { body } = await service.post('preview', { website_url: broken.origin });
    expect(body).toMatchObject({
      robots: { status: 500, allowed: false },
      links: [],
      estimate: { pages: 0, seconds: 0 },
    });
    expect(body.problems[0]).toMatch(/robots\.txt cannot be read/);
    expect(new Set(broken.log.map(({ path }) => path))).toEqual(new Set(['/robots.txt']));
    const closed = await bench.web({ robots: 'User-agent: *\nDisallow: /', pages: { '/': page('x') } });
    const refused = (
      await service.post('preview', { website_url: closed.origin, settings: { discover: ['links'] } })
    ).body;
    expect(refused).toMatchObject({
      robots: { allowed: false, rule: 'Disallow /' },
      home: { status_code: null, problem: 'robots: Disallow /' },
    });
    expect(closed.log.map(({ path }) => path)).toEqual(['/robots.txt']);
  });

  it('tells of a home page that is not there, and of one that leads elsewhere', async () => {
    const service = await start();
    const web = await bench.web({
      hosts: 2,
      pages: {
        '1:/': { status: 301, headers: { location: 'http://[::1]:1/inner' } },
        '/old': { status: 302, headers: { location: '/new' } },
        '/new': page('New', '/x'),
      },
    });
    const settings = { discover: ['links'] };
    const missing = (await service.post('preview', { website_url: web.origin, settings })).body;
    expect(missing.home).toMatchObject({ status_code: 404, title: null, problem: 'http 404' });
    const moved = (await service.post('preview', { website_url: web.url('/old'), settings })).body;
    expect(moved.home).toMatchObject({
      status_code: 200,
      title: 'New',
      redirects_to: web.url('/new'),
      links: 1,
    });
    const inner = (await service.post('preview', { website_url: web.url('/', 1), settings })).body;
    expect(inner.home.problem).toMatch(/egress/);
  });

  it('refuses what it must not reach, wrong settings, and a second one of the same host', async () => {
    const service = await start();
    for (const url of ['http://10.0.0.1/', 'http://localhost/', 'http://printer.local/', service.url]) {
      const { status, body } = await service.post('preview', { website_url: url });
      expect([url, status, body.errors[0].pointer]).toEqual([url, 422, '/website_url']);
    }
    for (const [body, pointer] of [
      [{ website_url: 'ftp://x.example/' }, '/website_url'],
      [{}, '/website_url'],
      [{ website_url: 'https://example.com', settings: { max_page: 3 } }, '/settings/max_page'],
      [
        { website_url: 'https://example.com', settings: { include_patterns: '(' } },
        '/settings/include_patterns',
      ],
      [{ website_url: 'https://example.com', more: 1 }, '/more'],
    ] as const) {
      const answer = await service.post('preview', body);
      expect([body, answer.status, answer.body.errors?.[0].pointer]).toEqual([body, 400, pointer]);
    }
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const web = await bench.web({
      pages: { '/': ({ response }) => void held.then(() => response.end('<title>late</title>')) },
    });
    const settings = { discover: ['links'] };
    const first = service.post('preview', { website_url: web.origin, settings });
    await web.asked('/');
    const second = await service.post('preview', { website_url: web.origin, settings });
    expect([second.status, second.body.code]).toEqual([409, 'preview-busy']);
    goOn();
    expect((await first).status).toBe(200);
    expect((await service.post('preview', { website_url: web.origin, settings })).status).toBe(200);
  });

  it('answers what it knows when its time is over', async () => {
    const file = bench.file();
    const web = await bench.web({ pages: { '/': page('Home', '/a'), '/sitemap.xml': () => {} } });
    const config = await loadConfig({ env: {}, options: { delay: 0, retries: 0, db: file.path } });
    const store = await openStore({ address: file.path, clock: systemClock, onFailure() {} });
    const time = new AbortController();
    try {
      const asked = previewWebsite(config, web.origin, {
        ...{ store, egress: undefined, signal: time.signal, mostLinks: 200, mostEntries: 1000 },
      });
      await web.asked('/sitemap.xml');
      time.abort();
      expect(await asked).toMatchObject({
        home: { title: 'Home', statusCode: 200 },
        isWhole: false,
        problems: [expect.stringMatching(/time/)],
        estimate: { pages: 2, isLowerBound: true },
      });
    } finally {
      await store.close();
    }
  });
});
