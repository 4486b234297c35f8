// Sitemaps while a crawl runs: what is asked, in which order, what becomes of the entries, and what is remembered. The fake
// web's log is the judge of what was asked, the file's views of what was kept.
import { describe, expect, it } from 'vitest';
import type { CrawlEvent, SitemapEvent } from '../../src/events/events.ts';
import { answer } from '../web/fake-web.ts';
import {
  cutGzip,
  indexOf,
  packedZeros,
  robotsNaming,
  sitemapOf,
  sitemapsInTurn,
} from '../web/sitemap-pages.ts';
import { asked, type CrawlFile, fastClock, page, useBench } from './crawl-site.ts';

const bench = useBench();
const BOTH = { discover: ['sitemap', 'links'] };
const ONLY = { discover: ['sitemap'] };

const told = (events: readonly CrawlEvent[]): SitemapEvent[] =>
  events.filter((event) => event.type === 'sitemap');
const inOrder = (paths: readonly string[]) => [...paths].sort();
const discovered = (file: CrawlFile) =>
  file.rows<{ method: string; entries: number; sitemaps: string }>(
    'SELECT method, entries, sitemaps FROM discovery_status',
  );

describe('sitemaps that robots.txt names', () => {
  it('are read at once, indexes followed, and what they name is crawled at depth 1 and kept', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/index.xml']),
      pages: {
        '/index.xml': indexOf('/a.xml', '/index.xml'),
        '/a.xml': sitemapOf('/', {
          path: '/hidden',
          lastmod: '2024-05-06',
          changefreq: 'daily',
          priority: '0.7',
        }),
        '/': page('home', '/linked'),
        '/linked': page('linked'),
        '/hidden': page('hidden', '/deeper'),
        '/deeper': page('deeper'),
      },
    });
    const file = bench.file();
    const { summary, events } = await bench.crawl(file, web.origin, BOTH);
    expect(summary.status).toBe('completed');
    expect(asked(web).slice(0, 2)).toContain('/index.xml');
    expect(inOrder(asked(web))).toEqual(['/', '/a.xml', '/deeper', '/hidden', '/index.xml', '/linked']);
    expect(summary.pages).toBe(4);
    expect(file.page('/hidden')).toMatchObject({ state: 'Processed', depth: 1 });
    expect(file.page('/deeper').depth).toBe(2);
    expect(file.page('/').depth).toBe(0);
    expect(
      file.rows('SELECT url, lastmod, changefreq, priority, sitemap FROM sitemap_entries ORDER BY url'),
    ).toEqual([
      { url: web.url('/'), lastmod: null, changefreq: null, priority: null, sitemap: web.url('/a.xml') },
      {
        url: web.url('/hidden'),
        lastmod: expect.stringContaining('2024-05-06'),
        changefreq: 'daily',
        priority: 0.7,
        sitemap: web.url('/a.xml'),
      },
    ]);
    expect(discovered(file)).toEqual([
      { method: 'sitemap', entries: 2, sitemaps: JSON.stringify([web.url('/index.xml')]) },
    ]);
    expect(told(events)).toMatchObject([
      { url: web.url('/index.xml'), found_by: 'robots', kind: 'index', entries: 2, problem: null },
      { url: web.url('/a.xml'), found_by: 'index', kind: 'urlset', entries: 2, problem: null },
      { url: web.url('/index.xml'), found_by: 'index', problem: expect.stringContaining('named before') },
    ]);
  });

  it('take slots, obey robots.txt, are logged as what they are, and count as no page', async () => {
    const web = await bench.web({
      robots: robotsNaming(
        ['/a.xml', '/private/b.xml'],
        'User-agent: *\nDisallow: /private/\nCrawl-delay: 0.2',
      ),
      pages: { '/a.xml': sitemapOf('/one', '/private/two'), '/': page('home'), '/one': page('one') },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.origin, { ...BOTH, maxPages: 2 });
    expect(asked(web)).toEqual(['/a.xml', '/', '/one']);
    expect(summary.pages).toBe(2);
    for (const gap of web.gapsMs()) expect(gap).toBeGreaterThan(150);
    expect(file.page('/private/two').reason).toMatch(/robots: Disallow \/private\/|limit: max-pages/);
    expect(file.rows('SELECT kind FROM request WHERE kind = 4')).toHaveLength(1);
  });

  it('let pages have their turn when an index names many', async () => {
    const many = Array.from({ length: 12 }, (_, n) => `/s${n}.xml`);
    const web = await bench.web({
      robots: robotsNaming(['/index.xml']),
      pages: {
        '/index.xml': indexOf(...many),
        ...Object.fromEntries(many.map((path, n) => [path, sitemapOf(`/p${n}`)])),
        '/': page('home', ...Array.from({ length: 12 }, (_, n) => `/l${n}`)),
        '/l*': page('linked'),
        '/p*': page('named'),
      },
    });
    await bench.crawl(bench.file(), web.origin, { ...BOTH, perHost: 1 });
    const order = asked(web).map((path) => path.endsWith('.xml'));
    const lastSitemap = order.lastIndexOf(true);
    expect(order.filter(Boolean)).toHaveLength(13);
    expect(order.slice(0, lastSitemap).filter((isSitemap) => !isSitemap).length).toBeGreaterThan(8);
  });
});

describe('where robots.txt names none', () => {
  it('the usual paths are tried up to the first hit, in turn with pages', async () => {
    const web = await bench.web({
      pages: {
        '/': page('home', ...Array.from({ length: 8 }, (_, n) => `/p${n}`)),
        '/p*': page('one of many'),
        '/sitemap.xml': page('not here'),
        '/sitemap_index.xml': sitemapOf('/p1', '/only-here'),
        '/only-here': page('only here'),
      },
    });
    const file = bench.file();
    const { events } = await bench.crawl(file, web.origin, { ...BOTH, perHost: 1 });
    const order = asked(web);
    expect(order.filter((path) => path.startsWith('/sitemap'))).toEqual([
      '/sitemap.xml',
      '/sitemap_index.xml',
    ]);
    // The start page goes first. A guess does not wait until no page is left.
    expect(order[0]).toBe('/');
    expect(order.indexOf('/sitemap_index.xml')).toBeLessThan(order.indexOf('/p5'));
    expect(file.page('/only-here')).toMatchObject({ state: 'Processed', depth: 1 });
    expect(told(events).map(({ url }) => url)).toEqual([web.url('/sitemap_index.xml')]);
    expect(discovered(file)).toMatchObject([{ method: 'sitemap', entries: 2 }]);
  });

  it('the link of the start page is followed, which is not asked for twice', async () => {
    const web = await bench.web({
      pages: {
        '/': `<link rel="sitemap" href="/maps/all.xml">${page('home')}`,
        '/maps/all.xml': sitemapOf('/named'),
        '/named': page('named'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, { ...BOTH, sitemapPaths: ['/none.xml'] });
    expect(inOrder(asked(web))).toEqual(['/', '/maps/all.xml', '/named', '/none.xml']);
    expect(file.page('/named').state).toBe('Processed');
  });

  it('there may be none at all: the crawl goes by links and says so', async () => {
    const web = await bench.web({ pages: { '/': page('home', '/a'), '/a': page('a') } });
    const file = bench.file();
    const { summary, events } = await bench.crawl(file, web.origin, { ...BOTH, sitemapPaths: ['/x.xml'] });
    expect(summary).toMatchObject({ status: 'completed', pages: 2 });
    expect(told(events)).toEqual([]);
    expect(discovered(file)).toEqual([{ method: 'links', entries: 0, sitemaps: '[]' }]);
    const only = bench.file();
    await bench.crawl(only, web.origin, { ...ONLY, sitemapPaths: ['/x.xml'] });
    expect(discovered(only)).toMatchObject([{ method: 'not_found' }]);
    expect(only.states()).toEqual({ '/': 'Processed', '/a': 'Discovered' });
  });

  it('other hosts than those of the start URLs are never guessed at', async () => {
    const web = await bench.web({
      hosts: 2,
      pages: {
        '/': ({ response, url }) => void response.end(page('home', url('/', 1))),
        '1:/': page('other'),
      },
    });
    await bench.crawl(bench.file(), web.origin, { ...BOTH, allowedHosts: ['any'], sitemapPaths: ['/s.xml'] });
    expect(web.requestsTo('/s.xml', 0)).toHaveLength(1);
    expect(web.requestsTo('/s.xml', 1)).toEqual([]);
    expect(web.requestsTo('/', 1)).toHaveLength(1);
  });
});

describe('--discover', () => {
  it('links: asks for no sitemap and keeps nothing of any', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: { '/': page('home'), '/a.xml': sitemapOf('/named') },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, { discover: ['links'] });
    expect(asked(web)).toEqual(['/']);
    expect(discovered(file)).toEqual([]);
  });

  it('sitemap: records links and follows none but to what sitemaps name, in later runs too', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': sitemapOf('/named', '/linked-and-named'),
        '/': page('home', '/linked', '/linked-and-named'),
        '/named': page('named', '/linked'),
        '/linked-and-named': page('both'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, ONLY);
    const pages = ['/', '/linked-and-named', '/named'];
    expect(inOrder(asked(web))).toEqual(inOrder([...pages, '/a.xml']));
    expect(file.page('/linked')).toMatchObject({
      state: 'Discovered',
      reason: 'scope: links are not followed',
    });
    expect(file.links()).toContain('/ → /linked');
    await bench.crawl(file, web.origin, ONLY);
    expect(inOrder(asked(web))).toEqual(inOrder([...pages, ...pages, '/a.xml']));
  });

  it('a start page that only links is opened to what a sitemap names later', async () => {
    const web = await bench.web({
      pages: { '/': page('home', '/a'), '/a': page('a'), '/late.xml': sitemapOf('/a') },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, { ...ONLY, sitemapPaths: ['/late.xml'], perHost: 1 });
    expect(file.page('/a').state).toBe('Processed');
  });

  it('keeps entries within the scope: patterns, hosts and depth decide as for links', async () => {
    const web = await bench.web({
      hosts: 2,
      pages: {
        '0:/robots.txt': robotsNaming(['/a.xml']),
        '1:/robots.txt': ({ response, url }) => void response.end(`Sitemap: ${url('/a.xml', 0)}`),
        '0:/a.xml': sitemapOf('/in', '/cart/1', { path: '/other', host: 1 }),
        '0:/': page('home'),
        '0:/in': page('in'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, { ...BOTH, exclude: ['/cart/'] });
    expect(file.page('/cart/1').reason).toBe('exclude: /cart/');
    expect(file.page(web.url('/other', 1)).reason).toContain('scope: host');
    expect(file.page('/in').state).toBe('Processed');
    const shallow = bench.file();
    await bench.crawl(shallow, web.origin, { ...BOTH, maxDepth: 0 });
    expect(shallow.page('/in')).toMatchObject({ state: 'DepthExceeded', reason: 'depth: 1 > 0' });
  });

  it('counts entries of another host only where that host names the sitemap', async () => {
    const web = await bench.web({
      hosts: 3,
      pages: {
        '0:/robots.txt': robotsNaming(['/a.xml']),
        '1:/robots.txt': ({ response, url }) => void response.end(`Sitemap: ${url('/a.xml', 0)}`),
        '2:/robots.txt': '',
        '0:/a.xml': sitemapOf('/mine', { path: '/friend', host: 1 }, { path: '/stranger', host: 2 }),
        '/': page('home'),
        '/mine': page('mine'),
        '1:/friend': page('friend'),
        '2:/stranger': page('stranger'),
      },
    });
    const file = bench.file();
    const { events } = await bench.crawl(file, web.origin, { ...BOTH, allowedHosts: ['any'] });
    expect(file.page(web.url('/friend', 1)).state).toBe('Processed');
    expect(web.requestsTo('/stranger')).toEqual([]);
    expect(told(events)[0].problem).toContain('1 entry of hosts whose robots.txt does not name it');
  });
});

describe('what may be given to start with', () => {
  const site = () =>
    bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': sitemapOf('/named'),
        '/special.xml': sitemapOf('/special'),
        '/': page('home'),
        '/docs/': page('docs'),
        '/named': page('named'),
        '/special': page('special'),
      },
    });

  it('a bare host, with a path or without, by http where nobody speaks https, and again when it goes on', async () => {
    const web = await site();
    const file = bench.file();
    const options = { ...BOTH, delay: 0, retries: 0 };
    const { summary } = await bench.crawl(file, `127.0.0.1:${web.port}`, options);
    expect(summary).toMatchObject({ status: 'completed', project: `127.0.0.1:${web.port}` });
    expect(file.states()).toEqual({ '/': 'Processed', '/named': 'Processed' });
    await bench.crawl(file, `127.0.0.1:${web.port}/docs/`, options);
    expect(file.page('/docs/')).toMatchObject({ state: 'Processed', depth: 0 });
    const before = web.log.length;
    const links = await bench.crawl(bench.file(), `127.0.0.1:${web.port}`, {
      discover: ['links'],
      retries: 0,
    });
    expect(links.summary.pages).toBe(1);
    expect(web.log.slice(before).map(({ path }) => path)).toEqual(['/robots.txt', '/']);
  });

  it('a sitemap: what it names is crawled, and it is no page; what only looks like one is', async () => {
    const web = await site();
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/special.xml'), BOTH);
    expect(summary).toMatchObject({ status: 'completed', pages: 1 });
    expect(asked(web)).toEqual(['/special.xml', '/special']);
    expect(file.states()).toEqual({ '/special': 'Processed' });
    await bench.crawl(file, web.url('/special.xml'), BOTH);
    expect(asked(web)).toEqual(['/special.xml', '/special', '/special']);
    const html = await bench.web({ pages: { '/about-sitemaps': page('about') } });
    const other = bench.file();
    await bench.crawl(other, html.url('/about-sitemaps'), BOTH);
    expect(other.page('/about-sitemaps')).toMatchObject({ state: 'Processed', depth: 0 });
  });

  it('a page: its site’s sitemaps are looked for, and that there are none is not remembered', async () => {
    const web = await site();
    const file = bench.file();
    await bench.crawl(file, web.url('/docs/'), BOTH);
    expect(inOrder(asked(web))).toEqual(['/a.xml', '/docs/', '/named']);
    expect(discovered(file)).toMatchObject([{ method: 'sitemap', entries: 1 }]);
    const bald = await bench.web({ pages: { '/docs/': page('docs') } });
    const other = bench.file();
    await bench.crawl(other, bald.url('/docs/'), { ...BOTH, sitemapPaths: ['/sitemap.xml', '/map.xml'] });
    expect(inOrder(asked(bald))).toEqual(['/docs/', '/map.xml', '/sitemap.xml']);
    expect(discovered(other)).toEqual([]);
  });

  it('a sitemap that nobody answers for fails the run as a page would', async () => {
    // Nothing listens at port 1.
    const { summary } = await bench.crawl(bench.file(), 'http://127.0.0.1:1/s.xml', {
      ...BOTH,
      delay: 0.05,
      retries: 0,
      robotsRetries: 0,
    });
    expect(summary.status).toBe('failed');
  });
});

describe('what is remembered', () => {
  it('is believed for sitemap-cache-hours and read again after that, with the sitemaps of then tried first', async () => {
    const web = await bench.web({
      pages: {
        '/': page('home'),
        '/*': page('any'),
        '/sitemap.xml': { status: 404 },
        '/sitemap_index.xml': sitemapsInTurn(['/a'], ['/a', '/b']),
      },
    });
    const file = bench.file();
    const options = { ...BOTH, sitemapPaths: ['/sitemap.xml', '/sitemap_index.xml'] };
    const guesses = () => asked(web).filter((path) => path.startsWith('/sitemap'));
    await bench.crawl(file, web.origin, options);
    expect(guesses()).toEqual(['/sitemap.xml', '/sitemap_index.xml']);
    await bench.crawl(file, web.origin, options);
    expect(guesses()).toHaveLength(2);
    expect(asked(web).filter((path) => path === '/a')).toHaveLength(2);
    await bench.crawl(file, web.origin, { ...options, sitemapCacheHours: 0 });
    expect(guesses().slice(2)).toEqual(['/sitemap_index.xml']);
    expect(file.page('/b').state).toBe('Processed');
    const seen = file.rows<{ url: string; first_seen: string; last_seen: string }>(
      'SELECT url, first_seen, last_seen FROM sitemap_entries ORDER BY url',
    );
    expect(seen.map(({ url }) => url)).toEqual([web.url('/a'), web.url('/b')]);
    expect(seen[0].last_seen > seen[0].first_seen).toBe(true);
    expect(seen[1].last_seen).toBe(seen[1].first_seen);
  });

  it('is not that a sitemap could not be had: it is asked for again in the next run', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': (exchange) =>
          exchange.nth === 1 ? answer(exchange, { status: 503 }) : sitemapOf('/a')(exchange),
        '/': page('home'),
        '/a': page('a'),
      },
    });
    const file = bench.file();
    const { events } = await bench.crawl(file, web.origin, { ...BOTH, retries: 0, sitemapPaths: [] });
    expect(told(events)).toMatchObject([{ url: web.url('/a.xml'), kind: null, problem: 'http 503' }]);
    expect(discovered(file)).toEqual([]);
    await bench.crawl(file, web.origin, { ...BOTH, retries: 0 });
    expect(file.page('/a').state).toBe('Processed');
    expect(discovered(file)).toMatchObject([{ method: 'sitemap' }]);
  });

  it('is nothing of a look that was interrupted: the run that goes on looks again', async () => {
    const stopped: { stop?: () => void } = {};
    const web = await bench.web({
      robots: robotsNaming(['/index.xml']),
      pages: {
        '/index.xml': indexOf('/a.xml', '/b.xml'),
        '/a.xml': (exchange) => {
          sitemapOf('/a')(exchange);
          if (exchange.nth === 1) stopped.stop!();
        },
        '/b.xml': sitemapOf('/b'),
        '/': page('home'),
        '/a': page('a'),
        '/b': page('b'),
      },
    });
    const file = bench.file();
    const options = { ...BOTH, perHost: 1 };
    const crawl = await bench.begin(file, web.origin, options);
    stopped.stop = crawl.stop;
    expect((await crawl.finished).status).toBe('interrupted');
    expect(web.requestsTo('/b.xml')).toEqual([]);
    expect(discovered(file)).toEqual([]);
    const { summary, events } = await bench.crawl(file, web.origin, options);
    expect(events[0]).toMatchObject({ type: 'run', resumed: true });
    expect(summary.status).toBe('completed');
    expect(file.page('/b').state).toBe('Processed');
    expect(discovered(file)).toMatchObject([{ method: 'sitemap', entries: 2 }]);
    expect(asked(web).filter((path) => path === '/a')).toHaveLength(1);
  });

  it('is nothing of a look that the limit of pages cut off, which ends the run with it', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/index.xml']),
      pages: {
        '/index.xml': indexOf(...Array.from({ length: 30 }, (_, n) => `/s${n}.xml`)),
        '/s*': sitemapOf('/a', '/b', '/c'),
        '/': page('home'),
        '/*': page('any'),
      },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.origin, { ...BOTH, maxPages: 2, perHost: 1 });
    expect(summary).toMatchObject({ status: 'completed', pages: 2 });
    expect(asked(web).filter((path) => path.endsWith('.xml')).length).toBeLessThan(10);
    expect(discovered(file)).toEqual([]);
  });
});

describe('what sites send for a sitemap', () => {
  it('never ends the crawl, is told, and gives the entries before the trouble', async () => {
    const paths = Array.from({ length: 2000 }, (_, n) => `/p/${(n * 7919) % 104729}`);
    const web = await bench.web({
      robots: robotsNaming(['/cut.gz', '/zeros.gz', '/html.xml', '/large.xml', '/gone.xml', '/loop.xml']),
      pages: {
        '/cut.gz': cutGzip(...paths),
        '/zeros.gz': packedZeros(50_000_000),
        '/html.xml': page('not here'),
        '/large.xml': sitemapOf(...paths),
        '/gone.xml': { status: 410 },
        '/loop.xml': { status: 302, headers: { location: '/loop.xml' } },
        '/': page('home'),
        '/p/*': page('named'),
      },
    });
    const file = bench.file();
    const { summary, events } = await bench.crawl(file, web.origin, {
      ...BOTH,
      maxSitemapBytes: 20_000,
      maxPages: 400,
    });
    expect(summary.status).toBe('completed');
    const problems = Object.fromEntries(
      told(events).map(({ url, problem }) => [new URL(url).pathname, problem]),
    );
    expect(problems).toMatchObject({
      '/cut.gz': expect.stringContaining('more than 20000 bytes'),
      '/zeros.gz': expect.stringContaining('binary'),
      '/html.xml': expect.stringContaining('html'),
      '/large.xml': expect.stringContaining('more than 20000 bytes'),
      '/gone.xml': 'http 410',
      '/loop.xml': 'redirect: more than 5',
    });
    expect(file.rows('SELECT count(*) AS n FROM sitemap_entries')[0]).not.toEqual({ n: 0 });
  });

  it('blocks are waited out, and a site that is given up is not asked for sitemaps either', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': (exchange) =>
          exchange.nth === 1
            ? answer(exchange, { status: 429, headers: { 'retry-after': '30' } })
            : sitemapOf('/a')(exchange),
        '/': page('home'),
        '/a': page('a'),
      },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.origin, BOTH, { clock: fastClock(100) });
    expect(summary).toMatchObject({ status: 'completed', pages: 2 });
    expect(web.requestsTo('/a.xml')).toHaveLength(2);
    const limited = bench.file();
    const shut = await bench.crawl(limited, web.origin, { ...BOTH, maxDomainRequests: 1 });
    expect(told(shut.events)[0].problem).toBe('limit: max-domain-requests 1');
  });
});
