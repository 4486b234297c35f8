import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Row, rowsIn, useSitemapBench } from './sitemap-bench.ts';

const start = useSitemapBench();
const XML = { 'content-type': 'application/xml' };

const urlset = (...urls: string[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls
    .map((url) => `<url><loc>${url}</loc></url>`)
    .join('')}</urlset>`;
const index = (...urls: string[]) =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;

describe('sumi sitemap', () => {
  it('lists what the Sitemap lines of robots.txt lead to, indexes followed, every column in place', async () => {
    const { web, run } = await start({
      pages: {
        '/robots.txt': ({ response, url }) =>
          void response.end(`Sitemap: ${url('/index.xml')}\nSitemap: /feed\nUser-agent: *\nDisallow: /no/`),
        '/index.xml': ({ response, url }) =>
          void response.end(index(url('/a.xml.gz'), url('/index.xml'), url('/no/b.xml'), url('/gone.xml'))),
        '/a.xml.gz': ({ response, url }) =>
          void response.end(
            gzipSync(`<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
              xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><loc>${url('/one?a=1&amp;b=2')}</loc>
              <lastmod>2024-05-06T07:08+02:00</lastmod><changefreq>Weekly</changefreq><priority>1.5</priority>
              <image:image><image:loc>${url('/one.png')}</image:loc></image:image>
              <xhtml:link rel="alternate" hreflang="de" href="${url('/eins')}"/></url></urlset>`),
          ),
        '/feed': ({ response, url }) =>
          void response.end(
            `<rss version="2.0"><channel><link>${url('/')}</link><item><link>${url('/news')}</link>
             <pubDate>Mon, 06 May 2024 05:08:00 GMT</pubDate></item></channel></rss>`,
          ),
      },
    });
    const { code, stdout, stderr } = await run(web.origin, '--format', 'json');
    expect(code).toBe(0);
    expect(rowsIn(stdout)).toEqual([
      {
        url: web.url('/one?a=1&b=2'),
        lastmod: '2024-05-06T07:08+02:00',
        changefreq: 'weekly',
        priority: 1,
        sitemap: web.url('/a.xml.gz'),
        kind: 'urlset',
        lastmod_at: '2024-05-06T05:08:00.000Z',
        images: [web.url('/one.png')],
        videos: [],
        news: null,
        alternates: [{ hreflang: 'de', url: web.url('/eins') }],
      },
      {
        url: web.url('/news'),
        lastmod: 'Mon, 06 May 2024 05:08:00 GMT',
        changefreq: null,
        priority: null,
        sitemap: web.url('/feed'),
        kind: 'rss',
        lastmod_at: '2024-05-06T05:08:00.000Z',
        images: [],
        videos: [],
        news: null,
        alternates: [],
      },
    ]);
    expect(stderr).toContain(`${web.url('/index.xml')}: named before`);
    expect(stderr).toContain(`${web.url('/no/b.xml')}: robots: Disallow /no/`);
    expect(stderr).toContain(`${web.url('/gone.xml')}: http 404`);
    expect(web.requestsTo('/no/b.xml')).toEqual([]);
    expect(web.requestsTo('/index.xml').length).toBe(1);
  });

  it('tries the usual paths in order up to the first hit, past pages that only look like one', async () => {
    const { web, run } = await start({
      pages: {
        '/sitemap.xml': '<!DOCTYPE html><title>Not here</title>',
        '/sitemap-index.xml': { headers: XML, body: 'http://127.0.0.1/x\nhttp://127.0.0.1/y\n' },
      },
    });
    // Two paths unless more are asked for; the error says how.
    const short = await run(web.origin);
    expect(short.code).toBe(1);
    expect(short.stderr).toContain('--sitemap-paths long');
    expect(web.log.map(({ path }) => path)).toEqual([
      '/robots.txt',
      '/sitemap.xml',
      '/sitemap_index.xml',
      '/',
    ]);
    web.log.length = 0;
    const { code, stdout } = await run(web.origin, '--format', 'jsonl', '--sitemap-paths', 'long');
    expect(code).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Row).url),
    ).toEqual(['http://127.0.0.1/x', 'http://127.0.0.1/y']);
    expect(web.log.map(({ path }) => path)).toEqual([
      '/sitemap.xml',
      '/sitemap_index.xml',
      '/sitemap-index.xml',
    ]);
  });

  it('takes the link of the page, then of the home page, and paths of the operator', async () => {
    const { web, run } = await start({
      pages: {
        '/': '<!-- <link rel="sitemap" href="/no.xml"> --><link title=x href="/map/all.xml" rel="Sitemap">',
        '/map/all.xml': ({ response, url }) => void response.end(urlset(url('/z'))),
      },
    });
    const { stdout } = await run(
      `${web.origin}/deep/page`,
      '--sitemap-paths',
      '/only.xml',
      '--format',
      'csv',
    );
    const [head, line] = stdout.split('\n');
    expect(head.startsWith('url,lastmod,changefreq,priority,sitemap,kind')).toBe(true);
    expect(line.startsWith(`${web.url('/z')},,,,${web.url('/map/all.xml')},urlset`)).toBe(true);
    expect(web.log.map(({ path }) => path)).toEqual([
      '/robots.txt',
      '/deep/page',
      '/only.xml',
      '/',
      '/map/all.xml',
    ]);
  });

  it('reads a sitemap that is given, follows its redirects, and takes a page for a page', async () => {
    const { web, run } = await start({
      pages: {
        '/old.xml': { status: 301, headers: { location: '/new/s.xml' } },
        '/new/s.xml': ({ response, url }) => void response.end(urlset(url('/a'), '/b')),
        '/about-sitemaps': '<title>About</title>',
        '/sitemap.xml': ({ response, url }) => void response.end(urlset(url('/c'))),
        '/loop.xml': { status: 302, headers: { location: '/loop.xml' } },
      },
    });
    const urls = async (address: string) =>
      rowsIn((await run(address, '--format', 'json')).stdout).map(({ url }) => url);
    expect(await urls(web.url('/old.xml'))).toEqual([web.url('/a'), web.url('/b')]);
    expect(await urls(web.url('/about-sitemaps'))).toEqual([web.url('/c')]);
    const looped = await run(web.url('/loop.xml'), '--format', 'json');
    expect([looped.code, looped.stdout, looped.stderr]).toEqual([
      1,
      '[]\n',
      expect.stringContaining('more than 5'),
    ]);
    expect(web.requestsTo('/loop.xml').length).toBe(6);
  });

  it('takes a bare host, by http where nobody speaks https, with a path or without', async () => {
    const { web, run } = await start({
      pages: { '/sitemap.xml': ({ response, url }) => void response.end(urlset(url('/a'))) },
    });
    for (const address of [`127.0.0.1:${web.port}`, `127.0.0.1:${web.port}/some/page`]) {
      const { stdout } = await run(address, '--format', 'json');
      expect(rowsIn(stdout).map(({ url }) => url)).toEqual([web.url('/a')]);
    }
  });

  it('counts entries of another host only where that host names the sitemap, or the index it came from', async () => {
    const { web, run } = await start({
      hosts: 3,
      pages: {
        '0:/robots.txt': ({ response, url }) => void response.end(`Sitemap: ${url('/index.xml')}`),
        '1:/robots.txt': ({ response, url }) => void response.end(`Sitemap: ${url('/index.xml', 0)}`),
        '2:/robots.txt': ({ response, url }) => void response.end(`Sitemap: ${url('/other.xml', 0)}`),
        '0:/index.xml': ({ response, url }) => void response.end(index(url('/s.xml'))),
        '0:/s.xml': ({ response, url }) =>
          void response.end(urlset(url('/mine'), url('/friend', 1), url('/stranger', 2))),
      },
    });
    const { stdout, stderr } = await run(web.origin, '--format', 'json');
    expect(rowsIn(stdout).map(({ url }) => url)).toEqual([web.url('/mine'), web.url('/friend', 1)]);
    expect(stderr).toContain('1 entry of hosts whose robots.txt does not name it');
  });

  it('keeps the delay between all requests to a host, that of robots.txt included', async () => {
    const { web, run } = await start({
      robots: 'User-agent: *\nCrawl-delay: 0.3\n',
      pages: {
        '/sitemap_index.xml': ({ response, url }) => void response.end(index(url('/a.xml'), url('/b.xml'))),
        '/a.xml': ({ response, url }) => void response.end(urlset(url('/a'))),
        '/b.xml': { status: 301, headers: { location: '/c.xml' } },
        '/c.xml': ({ response, url }) => void response.end(urlset(url('/c'))),
      },
    });
    const { stdout } = await run(web.origin, '--format', 'json', '--delay', '0.1');
    expect(rowsIn(stdout).length).toBe(2);
    expect(web.log.length).toBe(6);
    // Arrivals are seen by a server that may itself be late for the one before.
    for (const gap of web.gapsMs()) expect(gap).toBeGreaterThan(250);
  });

  it('shares the clock of its hosts with crawls of the same database, and their robots.txt', async () => {
    const { web, run } = await start({
      robots: 'User-agent: *\nCrawl-delay: 0.4\n',
      pages: { '/s.xml': ({ response, url }) => void response.end(urlset(url('/a'))) },
    });
    await run(web.url('/s.xml'), '--db', 'shared.db');
    await run(web.url('/s.xml'), '--db', 'shared.db', '--fresh');
    expect(web.log.map(({ path }) => path)).toEqual(['/robots.txt', '/s.xml', '/s.xml']);
    for (const gap of web.gapsMs()) expect(gap).toBeGreaterThan(350);
  });

  it('says why there is none: nothing found, robots.txt against it, no host', async () => {
    const { web, run } = await start({ robots: 'User-agent: *\nDisallow: /\n' });
    const shut = await run(web.url('/sitemap.xml'), '--format', 'json');
    expect([shut.code, shut.stdout]).toEqual([1, '[]\n']);
    expect(shut.stderr).toContain('robots: Disallow /');
    expect(web.log.map(({ path }) => path)).toEqual(['/robots.txt']);
    expect((await run('mailto:me@example.com')).code).toBe(2);
    expect((await run(web.origin, '--sitemap-paths', 'sitemap.xml')).stderr).toContain(
      'paths that begin with /',
    );
  });

  it('gives the entries before the trouble, with its name, of a sitemap that is cut or never ends', async () => {
    const { web, run } = await start({
      pages: {
        '/cut.xml.gz': ({ response, url }) => {
          const many = Array.from({ length: 5000 }, (_, n) => url(`/${(n * 7919) % 104729}`));
          const packed = gzipSync(urlset(...many));
          response.end(packed.subarray(0, packed.length >> 1));
        },
        '/zeros.gz': ({ response }) => void response.end(gzipSync(Buffer.alloc(50_000_000))),
        '/spaces.gz': ({ response }) => void response.end(gzipSync(Buffer.alloc(20_000_000, 32))),
      },
    });
    const cut = await run(web.url('/cut.xml.gz'), '--format', 'jsonl');
    expect(cut.code).toBe(0);
    expect(cut.stdout.split('\n').length).toBeGreaterThan(1000);
    expect(cut.stderr).toContain('broken gzip: unexpected end of file');
    expect((await run(web.url('/zeros.gz'))).stderr).toContain('binary: bytes that are no text');
    const spaces = await run(web.url('/spaces.gz'), '--max-sitemap-bytes', '1MB');
    expect([spaces.code, spaces.stderr]).toEqual([1, expect.stringContaining('more than 1048576 bytes')]);
  });

  it('stops after --limit rows and asks for nothing more', async () => {
    const { web, run } = await start({
      pages: {
        '/i.xml': ({ response, url }) => void response.end(index(url('/a.xml'), url('/b.xml'))),
        '/a.xml': ({ response, url }) => void response.end(urlset(url('/1'), url('/2'), url('/3'))),
      },
    });
    const { stdout } = await run(web.url('/i.xml'), '--limit', '2', '--format', 'json');
    expect(rowsIn(stdout).length).toBe(2);
    expect(web.requestsTo('/b.xml')).toEqual([]);
    const { code, stderr, ...one } = await run(web.url('/a.xml'), '--limit', '1', '--format', 'json');
    expect([code, stderr]).toEqual([0, '']);
    expect(rowsIn(one.stdout).length).toBe(1);
  });

  const DB = ['--db', 'site.db'];

  it('keeps entries where a store is named, and gives them from there until they are old or --fresh is asked', async () => {
    const { web, run, also } = await start({
      robots: 'Sitemap: /index.xml',
      pages: {
        '/index.xml': ({ response, url }) => void response.end(index(url('/a.xml'))),
        '/a.xml': ({ response, url }) =>
          void response.end(
            `<urlset><url><loc>${url('/one')}</loc><lastmod>2024-05-06</lastmod><changefreq>daily</changefreq>
             <priority>0.5</priority></url><url><loc>${url('/two')}</loc></url></urlset>`,
          ),
      },
    });
    const facts = (stdout: string) =>
      rowsIn(stdout).map(({ url, lastmod_at, changefreq, priority, sitemap }) => ({
        ...{ url, lastmod_at, changefreq, priority, sitemap },
      }));
    const first = await run(web.origin, ...DB, '--format', 'json');
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(web.log.length).toBe(3);
    const second = await run(web.origin, ...DB, '--format', 'json');
    expect(second.code).toBe(0);
    expect(facts(second.stdout)).toEqual(facts(first.stdout));
    expect(facts(first.stdout)).toHaveLength(2);
    expect(second.stderr).toMatch(/^as read at .*; --fresh reads again\n$/);
    expect(web.log.length).toBe(3);
    await run(web.origin, ...DB, '--fresh');
    await run(web.origin, ...DB, '--sitemap-cache-hours', '0');
    expect(web.requestsTo('/a.xml')).toHaveLength(3);
    expect(facts((await run(web.url('/a.xml'), ...DB, '--format', 'json')).stdout)).toEqual(
      facts(first.stdout),
    );
    expect(web.requestsTo('/a.xml')).toHaveLength(3);
    const audit = await also('audit', ...DB);
    expect([audit.code, audit.stdout]).toEqual([0, expect.stringContaining('0 violations')]);
  });

  it('gives from the store what the sitemaps of that host named last, nothing older and of no other host', async () => {
    let count = 3;
    const { web, run } = await start({
      hosts: 2,
      robots: 'Sitemap: /s.xml',
      pages: {
        '/s.xml': ({ response, url }) =>
          void response.end(urlset(...Array.from({ length: count }, (_, i) => url(`/${i}`)))),
        '1:/s.xml': ({ response, url }) => void response.end(urlset(url('/other', 1))),
        '/t.xml': ({ response, url }) => void response.end(urlset(url('/more'))),
      },
    });
    const listed = async (...args: string[]) =>
      rowsIn((await run(args[0], ...DB, '--project', 'p', '--format', 'json', ...args.slice(1))).stdout).map(
        ({ url }) => url,
      );
    await listed(web.origin);
    await listed(web.url('/', 1));
    count = 1;
    await listed(web.origin, '--fresh');
    expect(await listed(web.origin)).toEqual([web.url('/0')]);
    expect(await listed(web.url('/', 1))).toEqual([web.url('/other', 1)]);
    expect(await listed(web.url('/t.xml'))).toEqual([web.url('/more')]);
    expect(await listed(web.origin)).toEqual([web.url('/0'), web.url('/more')]);
    expect(web.requestsTo('/s.xml', 0)).toHaveLength(2);
  });

  it('obeys what the project keeps, and flags still win', async () => {
    const { web, run, also } = await start({
      pages: { '/own.xml': ({ response, url }) => void response.end(urlset(url('/a'))) },
    });
    const project = new URL(web.origin).host;
    await also('project', project, '--set', 'sitemap-paths=/own.xml', '--set', 'user-agent=Own/1', ...DB);
    expect(rowsIn((await run(web.origin, ...DB, '--format', 'json')).stdout)).toHaveLength(1);
    expect(web.log.map(({ path, headers }) => [path, headers['user-agent']])).toEqual([
      ['/robots.txt', 'Own/1'],
      ['/own.xml', 'Own/1'],
    ]);
    expect((await run(web.origin, ...DB, '--fresh', '--sitemap-paths', '/none.xml')).code).toBe(1);
  });

  it('is no crawl of which other commands tell', async () => {
    const { web, run, also } = await start({
      hosts: 2,
      pages: {
        '/': '<title>home</title>',
        '1:/s.xml': ({ response, url }) => void response.end(urlset(url('/other', 1))),
      },
    });
    await also('crawl', web.origin, ...DB, '--discover', 'links', '--delay', '0', '-q');
    await run(web.url('/s.xml', 1), ...DB);
    const { stdout } = await also('changes', ...DB, '--format', 'json');
    expect(rowsIn(stdout)).toMatchObject([{ url: web.url('/'), outcome: 'new' }]);
  });

  it('without a store named keeps nothing and asks every time', async () => {
    const { web, run, also } = await start({
      pages: { '/s.xml': ({ response, url }) => void response.end(urlset(url('/a'))) },
    });
    await run(web.url('/s.xml'));
    await run(web.url('/s.xml'));
    expect(web.requestsTo('/s.xml')).toHaveLength(2);
    expect((await also('runs', '--format', 'json')).stdout).toBe('[]\n');
  });

  it('leaves the pages to the next crawl, which finds them without asking again', async () => {
    const { web, run, also } = await start({
      robots: 'Sitemap: /a.xml',
      pages: {
        '/a.xml': ({ response, url }) => void response.end(urlset(url('/named'), url('/cart/1'))),
        '/': '<title>home</title>',
        '/named': '<title>named</title>',
      },
    });
    await run(web.origin, ...DB);
    const how = ['--delay', '0', '--exclude', '/cart/', '--discover', 'sitemap'];
    const crawl = await also('crawl', `127.0.0.1:${web.port}`, ...DB, ...how);
    expect(crawl.code).toBe(0);
    expect(web.requestsTo('/a.xml')).toHaveLength(1);
    const pages = await also('pages', ...DB, '--format', 'json');
    const states = rowsIn(pages.stdout).map(({ url, state }) => `${new URL(String(url)).pathname} ${state}`);
    expect(states.sort()).toEqual(['/ Processed', '/cart/1 Skipped', '/named Processed']);
    expect((await also('audit', ...DB)).code).toBe(0);
  });

  it('does not end, change or take over a run that waits to go on', async () => {
    const { web, run, also, begin } = await start({
      robots: 'Sitemap: /a.xml',
      pages: {
        '/a.xml': ({ response, url }) => void response.end(urlset(url('/named'))),
        '/': '<title>home</title><a href="/next">next</a>',
        // Not answered while the first part of the run lasts.
        '/next': ({ response, nth }) => void (nth > 1 && response.end('<title>next</title>')),
        '/named': '<title>named</title>',
      },
    });
    const crawling = begin(
      'crawl',
      web.origin,
      ...DB,
      '--delay',
      '0',
      '--discover',
      'links',
      '--drain-seconds',
      '0.1',
    );
    await web.asked('/next');
    crawling.child.kill('SIGINT');
    expect((await crawling.finished).code).toBe(3);
    const listed = await run(web.origin, ...DB, '--format', 'json');
    expect([listed.code, rowsIn(listed.stdout).length]).toEqual([0, 1]);
    const [last] = rowsIn((await also('runs', ...DB, '--format', 'json')).stdout);
    expect(last).toMatchObject({ run: 1, status: 'interrupted' });
    await also('resume', ...DB);
    const [ended] = rowsIn((await also('runs', ...DB, '--format', 'json')).stdout);
    expect(ended).toMatchObject({ run: 1, status: 'completed' });
    expect(web.requestsTo('/named')).toEqual([]);
  });
});
