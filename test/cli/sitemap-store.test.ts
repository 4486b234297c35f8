// What `sumi sitemap` keeps, and what it says when it cannot: looks that were not whole, hosts without sitemaps, runs
// that were cut off, addresses that turn out to be feeds.
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { answer } from '../web/fake-web.ts';
import { indexOf, type Named, robotsNaming, sitemapOf } from '../web/sitemap-pages.ts';
import { type Row, rowsIn, useSitemapBench } from './sitemap-bench.ts';

const start = useSitemapBench();
const DB = ['--db', 'site.db'];
const JSON_ROWS = ['--format', 'json'];
const QUICK = ['--retries', '1', '--retry-delay', '0.02'];
const urlsIn = (stdout: string) => rowsIn(stdout).map(({ url }) => new URL(String(url)).pathname);

describe('what sumi sitemap remembers', () => {
  it('is that not everything could be read, and says so whenever it is given from the store', async () => {
    const { web, run } = await start({
      robots: robotsNaming(['/index.xml']),
      pages: { '/index.xml': indexOf('/a.xml', '/gone.xml'), '/a.xml': sitemapOf('/one', '/two') },
    });
    const first = await run(web.origin, ...DB, ...JSON_ROWS);
    expect(urlsIn(first.stdout)).toEqual(['/one', '/two']);
    expect(first.stderr).toContain('/gone.xml: http 404');
    const second = await run(web.origin, ...DB, ...JSON_ROWS);
    expect(urlsIn(second.stdout)).toEqual(['/one', '/two']);
    expect(second.stderr).toMatch(
      /^as read at \S+, when not everything could be read; --fresh reads again\n$/,
    );
    expect(web.requestsTo('/index.xml')).toHaveLength(1);
  });

  it('is that a host has none, of a look of its own or of a crawl, until --fresh; of a page it is not', async () => {
    const { web, run, also } = await start({ pages: { '/': '<title>home</title>' } });
    const paths = ['--sitemap-paths', '/s.xml'];
    const first = await run(web.origin, ...DB, ...paths);
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining('nobody names one')]);
    const again = await run(web.origin, ...DB, ...paths);
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringMatching(/nobody named one at \S+Z; --fresh looks again/),
    ]);
    expect(web.requestsTo('/s.xml')).toHaveLength(1);
    await run(web.origin, ...DB, ...paths, '--fresh');
    expect(web.requestsTo('/s.xml')).toHaveLength(2);
    const crawl = ['--delay', '0', '--discover', 'sitemap,links', '-q', ...paths];
    await also('crawl', web.origin, '--db', 'crawled.db', ...crawl);
    expect(web.requestsTo('/s.xml')).toHaveLength(3);
    expect((await run(web.origin, '--db', 'crawled.db', ...paths)).code).toBe(1);
    expect(web.requestsTo('/s.xml')).toHaveLength(3);
    for (let time = 0; time < 2; time++) await run(web.url('/page'), '--db', 'page.db', ...paths);
    expect(web.requestsTo('/s.xml')).toHaveLength(5);
  });

  it('is of one sitemap that was given nothing of its site, and of a site nothing of those at other ports', async () => {
    const site = (path: string) => ({
      robots: robotsNaming(['/site.xml']),
      pages: { '/news.xml': sitemapOf('/news'), '/site.xml': sitemapOf(path) },
    });
    const [{ web, run }, { web: other }] = [await start(site('/one')), await start(site('/other'))];
    expect(urlsIn((await run(web.url('/news.xml'), ...DB, ...JSON_ROWS)).stdout)).toEqual(['/news']);
    for (const { origin, url, path } of [
      { ...web, path: '/one' },
      { ...other, path: '/other' },
    ])
      for (let time = 0; time < 2; time++) {
        const { stdout } = await run(origin, ...DB, ...JSON_ROWS);
        expect(rowsIn(stdout).map((row) => row.url)).toEqual([url(path)]);
      }
    expect([web, other].map((each) => each.requestsTo('/site.xml').length)).toEqual([1, 1]);
  });

  it('is what sitemaps of other hosts name, where an index or a redirect leads to them', async () => {
    const { web, run } = await start({
      hosts: 3,
      pages: {
        '0:/robots.txt': robotsNaming(['/index.xml', '/moved.xml']),
        '0:/index.xml': ({ response, url }) =>
          void response.end(`<sitemapindex><sitemap><loc>${url('/a.xml', 1)}</loc></sitemap></sitemapindex>`),
        '1:/a.xml': sitemapOf({ path: '/one', host: 1 }),
        '0:/moved.xml': (exchange) =>
          answer(exchange, { status: 302, headers: { location: exchange.url('/b.xml', 2) } }),
        '2:/b.xml': sitemapOf({ path: '/two', host: 2 }),
      },
    });
    const first = await run(web.origin, ...DB, ...JSON_ROWS);
    expect(urlsIn(first.stdout)).toEqual(['/one', '/two']);
    const second = await run(web.origin, ...DB, ...JSON_ROWS);
    expect([second.stdout, second.stderr]).toEqual([first.stdout, expect.stringMatching(/^as read at/)]);
  });

  it('is the newest date of a page that is named twice, in a crawl as in a list', async () => {
    const dates = ['2024-05-06', '2024-07-08', '2024-06-07'];
    const { web, run, also } = await start({
      robots: robotsNaming(['/s.xml']),
      pages: { '/': 'home', '/s.xml': sitemapOf(...dates.map((lastmod) => ({ path: '/one', lastmod }))) },
    });
    await run(web.origin, ...DB, '-q');
    await also('crawl', web.origin, '--db', 'crawled.db', '--delay', '0', '-q', '--discover', 'sitemap');
    for (const file of ['site.db', 'crawled.db'])
      expect(rowsIn((await run(web.origin, '--db', file, ...JSON_ROWS)).stdout)).toMatchObject([
        { lastmod: '2024-07-08', lastmod_at: '2024-07-08T00:00:00.000Z' },
      ]);
    expect(web.requestsTo('/s.xml')).toHaveLength(2);
  });

  it('is every word of an entry: from the store the same comes as from the site, in each format', async () => {
    const { web, run } = await start({
      robots: robotsNaming(['/sitemap.xml', '/feed']),
      pages: {
        '/sitemap.xml': ({ response, url }) =>
          void response.end(`<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
            xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
            xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
            <url><loc>${url('/a/?z=1&amp;b=2')}</loc><lastmod>2024-05-06T07:08+02:00</lastmod>
              <image:image><image:loc>${url('/a.png')}</image:loc></image:image>
              <video:video><video:title>V</video:title></video:video>
              <news:news><news:title>N</news:title></news:news>
              <xhtml:link rel="alternate" hreflang="de" href="${url('/de')}"/></url>
            <url><loc>${url('/b')}</loc><lastmod>2024-05-06</lastmod><priority>0.3</priority></url>
            <url><loc>${url('/c')}</loc><lastmod>2024</lastmod><changefreq>daily</changefreq></url>
            <url><loc>${url('/d')}</loc><lastmod>2024-05-06T00:00:00Z</lastmod></url>
            <url><loc>${url('/e')}</loc><lastmod>last week</lastmod></url>
            <url><loc>${url('/f')}</loc></url></urlset>`),
        '/feed': ({ response, url }) =>
          void response.end(
            `<rss><channel><item><link>${url('/g')}</link><pubDate>Mon, 06 May 2024 05:08:00 +0200</pubDate></item></channel></rss>`,
          ),
      },
    });
    const listed = async (...args: string[]) => (await run(web.origin, ...args)).stdout;
    const formats = ['table', 'json', 'jsonl', 'csv'];
    for (const format of formats) {
      const read = await listed('--format', format);
      expect(read).toContain('2024-05-06T07:08+02:00');
      expect(await listed('--format', format, ...DB)).toBe(read);
    }
    expect(web.requestsTo('/sitemap.xml')).toHaveLength(formats.length + 1);
  });
});

describe('one sitemap of several', () => {
  const site = (b: (string | Named)[]) =>
    start({
      robots: robotsNaming(['/a.xml', '/index.xml']),
      pages: {
        '/a.xml': sitemapOf('/one', '/two'),
        '/index.xml': indexOf('/b.xml'),
        '/b.xml': sitemapOf(...b),
        '/more.xml': sitemapOf('/four'),
      },
    });

  it('is given from the store, whoever read it, until its time is over or --fresh', async () => {
    const { web, run } = await site(['/three']);
    await run(web.origin, ...DB);
    const listed = async (path: string, ...args: string[]) => {
      const { code, stdout } = await run(web.url(path), ...DB, ...JSON_ROWS, ...args);
      expect(code).toBe(0);
      return urlsIn(stdout);
    };
    for (let time = 0; time < 2; time++) {
      expect(await listed('/a.xml')).toEqual(['/one', '/two']);
      expect(await listed('/b.xml')).toEqual(['/three']);
      expect(await listed('/more.xml')).toEqual(['/four']);
    }
    for (const path of ['/a.xml', '/b.xml', '/more.xml']) expect(web.requestsTo(path)).toHaveLength(1);
    expect(await listed('/a.xml', '--fresh')).toEqual(['/one', '/two']);
    expect(await listed('/a.xml')).toEqual(['/one', '/two']);
    expect(web.requestsTo('/a.xml')).toHaveLength(2);
    expect(await listed('/a.xml', '--sitemap-cache-hours', '0')).toEqual(['/one', '/two']);
    expect(web.requestsTo('/a.xml')).toHaveLength(3);
  });

  it('is read again where another names one of its pages, too: the store tells a page by one of them', async () => {
    const { web, run } = await site([{ path: '/two', lastmod: '2024-05-06' }, '/three']);
    await run(web.origin, ...DB);
    const listed = async (path: string) => {
      const { stdout } = await run(web.url(path), ...DB, ...JSON_ROWS);
      return rowsIn(stdout).map(({ url, lastmod }) => [new URL(String(url)).pathname, lastmod]);
    };
    // In its own words.
    expect(await listed('/a.xml')).toEqual([
      ['/one', null],
      ['/two', null],
    ]);
    expect(await listed('/b.xml')).toEqual([
      ['/two', '2024-05-06'],
      ['/three', null],
    ]);
    expect(['/a.xml', '/b.xml'].map((path) => web.requestsTo(path).length)).toEqual([2, 2]);
  });
});

describe('the entries of a host', () => {
  const counted = (bench: Awaited<ReturnType<typeof start>>) => {
    const db = new Sqlite(join(bench.folder, 'site.db'), { readonly: true });
    try {
      return db.prepare('SELECT entries FROM discovery_status').pluck().all();
    } finally {
      db.close();
    }
  };

  it('are pages, each counted once, however far apart it is named', async () => {
    const many = Array.from({ length: 1500 }, (_, i) => `/page-${i}`);
    const bench = await start({
      robots: robotsNaming(['/a.xml', '/b.xml']),
      pages: { '/a.xml': sitemapOf(...many, '/page-0'), '/b.xml': sitemapOf('/page-1', '/other') },
    });
    expect((await bench.run(bench.web.origin, ...DB)).code).toBe(0);
    expect(counted(bench)).toEqual([1501]);
  });

  it('grow by what a sitemap that is given names beside the others', async () => {
    const bench = await start({
      robots: robotsNaming(['/a.xml']),
      pages: { '/a.xml': sitemapOf('/one', '/two'), '/more.xml': sitemapOf('/two', '/three') },
    });
    await bench.run(bench.web.origin, ...DB);
    for (let time = 0; time < 2; time++) {
      await bench.run(bench.web.url('/more.xml'), ...DB, '--fresh');
      expect(counted(bench)).toEqual([3]);
    }
  });
});

describe('sumi sitemap cut off', () => {
  const site = () =>
    start({
      robots: robotsNaming(['/index.xml']),
      pages: {
        '/index.xml': indexOf('/a.xml', '/b.xml'),
        '/a.xml': sitemapOf('/named'),
        // Not answered the first time.
        '/b.xml': (exchange) => void (exchange.nth > 1 && sitemapOf('/b')(exchange)),
        '/': '<title>home</title>',
        '/named': '<title>named</title>',
        '/b': '<title>b</title>',
      },
    });
  const runsIn = async ({ also }: Awaited<ReturnType<typeof site>>) =>
    rowsIn((await also('runs', ...DB, ...JSON_ROWS)).stdout).map(({ run, status }) => [run, status]);

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends its run, and the next crawl is one of its own',
    async (signal) => {
      const bench = await site();
      const { web, also, begin } = bench;
      const listing = begin('sitemap', web.origin, ...DB, '--delay', '0', ...JSON_ROWS);
      await web.asked('/b.xml');
      listing.child.kill(signal);
      const { code, stdout } = await listing.finished;
      expect([code, urlsIn(stdout)]).toEqual([3, ['/named']]);
      expect(await runsIn(bench)).toEqual([[1, 'interrupted']]);
      expect((await also('resume', ...DB)).stderr).toContain('no unfinished run');
      const crawl = await also(
        'crawl',
        web.origin,
        ...DB,
        '--delay',
        '0',
        '--discover',
        'sitemap,links',
        '-q',
      );
      expect(crawl.code).toBe(0);
      expect(await runsIn(bench)).toEqual([
        [1, 'interrupted'],
        [2, 'completed'],
      ]);
      const changes = await also('changes', ...DB, ...JSON_ROWS);
      expect(urlsIn(changes.stdout).sort()).toEqual(['/', '/b', '/named']);
    },
  );

  it('by kill -9 leaves a run that no crawl goes on with', async () => {
    const bench = await site();
    const { web, also, begin } = bench;
    const listing = begin('sitemap', web.origin, ...DB, '--delay', '0');
    await web.asked('/b.xml');
    listing.child.kill('SIGKILL');
    await listing.finished;
    expect(await runsIn(bench)).toEqual([[1, 'running']]);
    expect((await also('resume', ...DB)).stderr).toContain('no unfinished run');
    await also('crawl', web.origin, ...DB, '--delay', '0', '--discover', 'links', '-q');
    expect(await runsIn(bench)).toEqual([
      [1, 'interrupted'],
      [2, 'completed'],
    ]);
    const changes = await also('changes', ...DB, ...JSON_ROWS);
    expect(urlsIn(changes.stdout)).toContain('/');
  });
});

describe('where sumi sitemap looks', () => {
  const RSS = { 'content-type': 'application/rss+xml' };

  it('is first the address itself, whatever it is called, and one that is a page is not asked for twice', async () => {
    const { web, run } = await start({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': sitemapOf('/named'),
        '/feed/': ({ response, url }) =>
          void response
            .writeHead(200, RSS)
            .end(`<rss><channel><item><link>${url('/news')}</link></item></channel></rss>`),
        '/index.php*': sitemapOf('/by-query'),
        '/page': '<title>a page</title>',
      },
    });
    const listed = async (address: string, ...args: string[]) =>
      urlsIn((await run(address, ...JSON_ROWS, ...args)).stdout);
    expect(await listed(web.url('/feed/'))).toEqual(['/news']);
    expect(await listed(`127.0.0.1:${web.port}/feed/`, ...QUICK)).toEqual(['/news']);
    expect(await listed(web.url('/index.php?route=feed/sitemap'))).toEqual(['/by-query']);
    expect(web.requestsTo('/a.xml')).toEqual([]);
    expect(await listed(web.url('/page'))).toEqual(['/named']);
    expect(web.requestsTo('/page')).toHaveLength(1);
    // The site is remembered, what a page of it is has to be asked.
    for (const path of ['/', '/page', '/feed/']) await listed(web.url(path), ...DB);
    expect(await listed(web.url('/page'), ...DB)).toEqual(['/named', '/news']);
    expect(web.requestsTo('/a.xml')).toHaveLength(2);
  });

  it('is by http, where nobody speaks https, without robots.txt too', async () => {
    const { web, run } = await start({ pages: { '/sitemap.xml': sitemapOf('/a') } });
    const { stdout } = await run(`127.0.0.1:${web.port}`, '--no-robots', ...QUICK, ...JSON_ROWS);
    expect(urlsIn(stdout)).toEqual(['/a']);
    expect(web.log.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /', 'GET /sitemap.xml']);
  });

  it('is again a usual path that failed for now; what stays so is the reason', async () => {
    const { web, run } = await start({
      pages: {
        '/sitemap.xml': (exchange) =>
          exchange.nth === 1 ? answer(exchange, { status: 503 }) : sitemapOf('/a')(exchange),
        '/down.xml': { status: 500 },
        '/large.xml': { headers: { 'content-type': 'application/xml' }, body: ' '.repeat(5000) },
      },
    });
    expect(urlsIn((await run(web.origin, ...QUICK, ...JSON_ROWS)).stdout)).toEqual(['/a']);
    const reasonOf = async (path: string) =>
      (await run(web.origin, ...QUICK, '--sitemap-paths', path, '--max-sitemap-bytes', '4000')).stderr;
    expect(await reasonOf('/down.xml')).toMatch(/No sitemap was found for \S+: \S+\/down\.xml: http 500/);
    expect(await reasonOf('/large.xml')).toMatch(/: \S+\/large\.xml: too-large: more than 4000 bytes/);
    expect(await reasonOf('/none.xml')).toContain('nobody names one');
  });
});

describe('a crawl', () => {
  it('says which of the sitemaps that are named to it cannot be read, and nothing of the others', async () => {
    const { web, also } = await start({
      robots: robotsNaming(['/page.xml', '/good.xml']),
      pages: {
        '/page.xml': '<!DOCTYPE html><title>Oops</title>',
        '/good.xml': sitemapOf('/'),
        '/': '<title>home</title>',
      },
    });
    const { stderr } = await also('crawl', web.origin, '--delay', '0', '--discover', 'sitemap,links');
    expect(stderr).toContain(`sitemap ${web.url('/page.xml')}: html: an HTML page`);
    expect(stderr).not.toContain('good.xml');
    const quiet = await also(
      'crawl',
      web.origin,
      '--fresh',
      '--delay',
      '0',
      '--discover',
      'sitemap,links',
      '-q',
    );
    expect(quiet.stderr).toBe('');
  });
});

describe('entries of many other hosts', () => {
  it('are left out with the number of those that are asked', async () => {
    const hosts = 35;
    const { web, run } = await start({
      hosts,
      pages: {
        '0:/robots.txt': robotsNaming(['/s.xml']),
        '/robots.txt': ({ response, url }) => void response.end(`Sitemap: ${url('/s.xml', 0)}`),
        '0:/s.xml': sitemapOf(...Array.from({ length: hosts }, (_, host) => ({ path: '/page', host }))),
      },
    });
    const { stdout, stderr } = await run(web.origin, ...JSON_ROWS);
    expect((JSON.parse(stdout) as Row[]).length).toBe(33);
    expect(stderr).toContain('2 entries of hosts that were not asked: of at most 32 others');
  });
});
