// Start URLs that may be sitemaps or pages: by their names, by what they answer, and by hosts without a scheme.
import { describe, expect, it } from 'vitest';
import type { SitemapEvent } from '../../src/events/events.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { answer, type Exchange, type Handler } from '../web/fake-web.ts';
import { robotsNaming, sitemapOf } from '../web/sitemap-pages.ts';
import { asked, fastClock, page, useBench } from './crawl-site.ts';
import { withVerbs } from './with-verbs.ts';

const bench = useBench();
const BOTH = { discover: ['sitemap', 'links'] };
const TEXT = { headers: { 'content-type': 'text/plain' }, body: 'remember the milk' };
const inOrder = (paths: readonly string[]) => [...paths].sort();

describe('a start URL that has the name of a sitemap and is a page', () => {
  it.each(['/sitemap.html', '/blog/how-to-write-a-sitemap', '/about-sitemaps', '/sitemap'])(
    'is crawled as any page, asked for once: %s',
    async (path) => {
      const pages = { [path]: page('a page', '/linked'), '/linked': page('linked'), '/named': page('named') };
      const named = await bench.web({
        robots: robotsNaming(['/a.xml']),
        pages: { ...pages, '/a.xml': sitemapOf('/named') },
      });
      const file = bench.file();
      await bench.crawl(file, named.url(path), BOTH);
      expect(inOrder(asked(named))).toEqual(inOrder(['/a.xml', path, '/linked', '/named']));
      expect(file.page(path)).toMatchObject({ state: 'Processed', depth: 0 });
      const guessed = await bench.web({ pages: { ...pages, '/sitemap.xml': sitemapOf('/named') } });
      const other = bench.file();
      await bench.crawl(other, guessed.url(path), BOTH);
      expect(inOrder(asked(guessed))).toEqual(inOrder(['/sitemap.xml', path, '/linked', '/named']));
      expect(other.page('/named').state).toBe('Processed');
    },
  );

  it.each([
    ['/notes.txt', TEXT, 'ContentMismatch'],
    ['/page.xml', { body: page('a page', '/linked') }, 'Processed'],
  ] as const)(
    'is found out by asking, and then is one, its site looked at: %s',
    async (path, found, state) => {
      for (const robots of [robotsNaming(['/a.xml']), undefined]) {
        const place = robots === undefined ? '/sitemap.xml' : '/a.xml';
        const web = await bench.web({
          robots,
          pages: {
            [path]: found,
            [place]: sitemapOf('/named'),
            '/named': page('named'),
            '/linked': page('linked'),
          },
        });
        const file = bench.file();
        await bench.crawl(file, web.url(path), BOTH);
        expect(file.page(path)).toMatchObject({ state, depth: 0 });
        expect(file.page('/named').state).toBe('Processed');
        expect(web.requestsTo(path)).toHaveLength(2);
        expect(file.rows('SELECT trouble FROM discovery_status')).toEqual([{ trouble: null }]);
      }
    },
  );
});

it('has its site looked at, too, where a sitemap is given beside it, in whichever order', async () => {
  for (const starts of [
    ['/page.xml', '/given.xml'],
    ['/given.xml', '/page.xml'],
  ]) {
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/page.xml': { body: page('a page') },
        '/given.xml': sitemapOf('/one'),
        '/a.xml': sitemapOf('/two'),
        '/one': page('one'),
        '/two': page('two'),
      },
    });
    const file = bench.file();
    await bench.crawl(
      file,
      starts.map((path) => web.url(path)),
      BOTH,
    );
    expect([file.page('/one').state, file.page('/two').state]).toEqual(['Processed', 'Processed']);
  }
});

describe('a start URL that is a sitemap or a feed by what it answers', () => {
  it.each(['/feed/', '/index.php?route=feed/sitemap'])('has its entries read: %s', async (path) => {
    let isDown = false;
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': sitemapOf('/named'),
        [`${path.split('?')[0]}*`]: (exchange) =>
          isDown ? answer(exchange, { status: 404 }) : sitemapOf('/news')(exchange),
        '/named': page('named'),
        '/news': page('news'),
      },
    });
    const file = bench.file();
    const { summary, events } = await bench.crawl(file, web.url(path), BOTH);
    expect(summary.status).toBe('completed');
    expect(file.page('/news')).toMatchObject({ state: 'Processed', depth: 1 });
    expect(file.page('/named').state).toBe('Processed');
    // As a page, which its head refuses, and as what it is.
    expect(web.requestsTo(path)).toHaveLength(2);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'sitemap', url: web.url(path), found_by: 'given', kind: 'urlset' }),
    );
    const row = { state: 'ContentMismatch', reason: 'type: application/xml', status_code: 200 };
    expect(file.page(path)).toMatchObject(row);
    await bench.crawl(file, web.url(path), BOTH);
    expect(web.requestsTo(path)).toHaveLength(3);
    expect(file.page(path)).toMatchObject(row);
    // What is not there any more takes no page with it.
    isDown = true;
    await bench.crawl(file, web.url(path), { ...BOTH, sitemapCacheHours: 0 });
    expect(file.rows("SELECT page_id FROM visits WHERE known_by = 'orphan'")).toEqual([]);
  });
});

describe('a feed that is asked for as a page', () => {
  const RSS = 'application/rss+xml; charset=utf-8';
  const rss =
    (...paths: string[]): Handler =>
    (exchange) => {
      const items = paths.map((path) => `<item><link>${exchange.url(path, exchange.host)}</link></item>`);
      const body = `<rss version="2.0"><channel><title>f</title>${items.join('')}</channel></rss>`;
      answer(exchange, { headers: { 'content-type': RSS, etag: '"1"' }, body });
    };
  const news = { '/news': page('news') };

  it('is read once where robots.txt names it too, and then nothing is guessed', async () => {
    const web = await bench.web({
      robots: robotsNaming(['/feed']),
      pages: { '/feed': rss('/news'), ...news },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/feed'), BOTH);
    expect(asked(web)).toEqual(['/feed', '/feed', '/news']);
    expect(file.rows('SELECT entries FROM discovery_status')).toEqual([{ entries: 1 }]);
  });

  it.each([
    ['a redirect', { '/feed': { status: 301, headers: { location: '/feed/rss' } } }],
    [
      'two',
      {
        '/feed': { status: 302, headers: { location: '/f' } },
        '/f': { status: 301, headers: { location: '/feed/rss' } },
      },
    ],
  ])('is read behind %s', async (_, hops) => {
    const items = ['/news'];
    const pages = { ...hops, '/feed/rss': (exchange: Exchange) => rss(...items)(exchange), ...news };
    const web = await bench.web({ pages: { ...pages, '/later': page('later') } });
    const file = bench.file();
    await bench.crawl(file, web.url('/feed'), BOTH);
    expect(web.requestsTo('/feed/rss')).toHaveLength(2);
    expect(file.page('/feed/rss').reason).toBe(`type: ${RSS}`);
    expect(file.page('/feed').state).toBe('Processed');
    expect(file.page('/news').state).toBe('Processed');
    // In a later run what redirects lead to is asked for beside them.
    items.push('/later');
    await bench.crawl(file, web.url('/feed'), { ...BOTH, sitemapCacheHours: 0 });
    expect(file.page('/later').state).toBe('Processed');
  });

  it('is read where its host was given without a scheme', async () => {
    const web = await bench.web({ pages: { '/feed': rss('/news'), ...news } });
    const file = bench.file();
    await bench.crawl(file, `127.0.0.1:${web.port}/feed`, { ...BOTH, retries: 0 });
    expect(web.requestsTo('/feed')).toHaveLength(2);
    expect(file.page('/news').state).toBe('Processed');
  });

  it('is waited for, too, where the store takes its time to be told of such a start', async () => {
    const web = await bench.web({ pages: { '/feed': rss('/news'), ...news } });
    const file = bench.file();
    const own = await openStore({ address: file.path, clock: systemClock, onFailure: () => {} });
    const store = withVerbs(own, ({ frontier }) => ({
      async offer(candidates) {
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
        return frontier.offer(candidates);
      },
    }));
    await bench.crawl(file, `127.0.0.1:${web.port}/feed`, { ...BOTH, retries: 0 }, { store });
    expect(file.page('/news').state).toBe('Processed');
  });

  it('is asked for by one HEAD and one GET where HEAD goes first', async () => {
    const web = await bench.web({ pages: { '/feed': rss('/news'), ...news } });
    const file = bench.file();
    await bench.crawl(file, web.url('/feed'), { ...BOTH, headFirst: true });
    expect(web.requestsTo('/feed').map(({ method }) => method)).toEqual(['HEAD', 'GET']);
    expect(file.page('/news').state).toBe('Processed');
  });

  it('may be longer than a page may', async () => {
    const paths = Array.from({ length: 200 }, (_, n) => `/news/${n}`);
    const web = await bench.web({ pages: { '/feed': rss(...paths), '/news/*': page('news') } });
    const file = bench.file();
    await bench.crawl(file, web.url('/feed'), { ...BOTH, maxBodyBytes: 2000 });
    expect(file.rows("SELECT id FROM pages WHERE url LIKE '%/news/%'")).toHaveLength(200);
  });

  it.each([
    ['short', 0],
    ['longer than is held in memory', 2_000_000],
  ])(
    'is read on one connection, though another host has to be asked whether it vouches: %s',
    async (_, padding) => {
      const web = await bench.web({
        hosts: 2,
        pages: {
          '/feed': (exchange) =>
            answer(exchange, {
              headers: { 'content-type': RSS },
              body: `<rss><channel><item><link>${exchange.url('/there', 1)}</link></item>${' '.repeat(padding)}<item><link>${exchange.url('/news', 0)}</link></item></channel></rss>`,
            }),
          ...news,
        },
      });
      const file = bench.file();
      const options = { ...BOTH, concurrency: 1, perHost: 1 };
      const { summary } = await bench.crawl(file, web.url('/feed'), options, { clock: fastClock(50) });
      expect(summary.status).toBe('completed');
      expect(file.page('/news').state).toBe('Processed');
    },
  );

  it.each([
    ['as a page', 1],
    ['as what it is', 2],
  ])(
    'is no reason to wait when the run is stopped while it is asked for %s, and is read when it goes on',
    async (_, nth) => {
      let isAsked: () => void = () => {};
      const stopped = new Promise<void>((resolve) => {
        isAsked = resolve;
      });
      const held: (() => void)[] = [];
      const web = await bench.web({
        pages: {
          '/feed': (exchange) => {
            if (exchange.nth !== nth) return rss('/news')(exchange);
            held.push(() => rss('/news')(exchange));
            isAsked();
          },
          ...news,
        },
      });
      const file = bench.file();
      const begun = await bench.begin(file, web.url('/feed'), BOTH);
      await stopped;
      begun.stop();
      for (const answerNow of held) answerNow();
      expect((await begun.finished).status).toBe('interrupted');
      expect((await bench.crawl(file, web.url('/feed'), BOTH)).summary.status).toBe('completed');
      expect(file.page('/news').state).toBe('Processed');
    },
  );

  it('is read once where another start URL leads to it, whichever is asked for first', async () => {
    for (const starts of [
      ['/feed', '/old'],
      ['/old', '/feed'],
    ]) {
      const moved = { status: 301, headers: { location: '/feed' } };
      const web = await bench.web({ pages: { '/old': moved, '/feed': rss('/news'), ...news } });
      await bench.crawl(
        bench.file(),
        starts.map((path) => web.url(path)),
        { ...BOTH, concurrency: 1 },
      );
      expect(asked(web).filter((path) => path === '/feed')).toHaveLength(2);
    }
  });

  it('does not wait for another that names it, and that it names', async () => {
    const indexOf =
      (path: string): Handler =>
      (exchange) =>
        answer(exchange, {
          headers: { 'content-type': 'application/xml' },
          body: `<sitemapindex><sitemap><loc>${exchange.url(path)}</loc></sitemap><sitemap><loc>${exchange.url('/c')}</loc></sitemap></sitemapindex>`,
        });
    const web = await bench.web({
      pages: { '/a': indexOf('/b'), '/b': indexOf('/a'), '/c': rss('/news'), ...news },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, [web.url('/a'), web.url('/b')], BOTH);
    expect([summary.status, file.page('/news').state]).toEqual(['completed', 'Processed']);
  });

  it('is a type that nobody wants where it is other XML', async () => {
    const headers = { 'content-type': 'application/xml' };
    const web = await bench.web({ pages: { '/data': { headers, body: '<invoice><no>1</no></invoice>' } } });
    const file = bench.file();
    await bench.crawl(file, web.url('/data'), { ...BOTH, sitemapPaths: [] });
    expect(file.page('/data')).toMatchObject({ state: 'ContentMismatch', reason: 'type: application/xml' });
  });
});

it('has each usual path guessed once, however many pages of it are given without a scheme', async () => {
  const web = await bench.web({ pages: { '/a': page('a'), '/b': page('b'), '/c': page('c') } });
  const file = bench.file();
  const starts = ['/a', '/b', '/c'].map((path) => `127.0.0.1:${web.port}${path}`);
  await bench.crawl(file, starts, { ...BOTH, retries: 0, sitemapPaths: ['/x.xml', '/y.xml'] });
  expect(inOrder(asked(web))).toEqual(['/a', '/b', '/c', '/x.xml', '/y.xml']);
});

describe('a bare host where robots.txt is not asked for', () => {
  it('is asked by http where nobody speaks https', async () => {
    const web = await bench.web({ pages: { '/': page('home'), '/sitemap.xml': sitemapOf('/') } });
    for (const options of [BOTH, { discover: ['links'] }]) {
      const file = bench.file();
      const { summary } = await bench.crawl(file, `127.0.0.1:${web.port}`, {
        ...options,
        robots: false,
        retries: 0,
      });
      expect(summary.status).toBe('completed');
      expect(file.page('/')).toMatchObject({ state: 'Processed', url: web.url('/') });
    }
    expect(web.requestsTo('/robots.txt')).toEqual([]);
    expect(web.requestsTo('/').map(({ method }) => method)).toEqual(['HEAD', 'GET', 'HEAD', 'GET']);
  });
});

describe('a guess that fails for now', () => {
  it.each([
    ['http 503', 503],
    ['a dropped connection', null],
  ])('is tried again: %s', async (_, status) => {
    const web = await bench.web({
      pages: {
        '/': page('home'),
        '/named': page('named'),
        '/sitemap.xml': (exchange) => {
          if (exchange.nth > 1) sitemapOf('/named')(exchange);
          else if (status === null) exchange.response.destroy();
          else answer(exchange, { status });
        },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, BOTH);
    expect(file.page('/named').state).toBe('Processed');
  });

  it('is told when it stays so, and the others are asked once each', async () => {
    const web = await bench.web({
      pages: { '/': page('home'), '/one.xml': { status: 500 }, '/two.xml': { status: 500 } },
    });
    const file = bench.file();
    const { events } = await bench.crawl(file, web.origin, {
      ...BOTH,
      retries: 2,
      sitemapPaths: ['/one.xml', '/two.xml'],
    });
    expect(inOrder(asked(web))).toEqual(['/', '/one.xml', '/one.xml', '/one.xml', '/two.xml']);
    const told = events.filter((event): event is SitemapEvent => event.type === 'sitemap');
    expect(told.map(({ problem }) => problem)).toEqual(['http 500', 'http 500']);
    // It may be there another time.
    expect(file.rows('SELECT method FROM discovery_status')).toEqual([]);
  });
});

it('is read once where it is given and robots.txt names it', async () => {
  const web = await bench.web({
    robots: robotsNaming(['/given.xml']),
    pages: { '/given.xml': sitemapOf('/news'), '/': page('home'), '/news': page('news') },
  });
  const file = bench.file();
  await bench.crawl(file, [web.url('/given.xml'), web.url('/')], BOTH);
  expect(inOrder(asked(web))).toEqual(['/', '/given.xml', '/news']);
  expect(file.rows('SELECT entries FROM discovery_status')).toEqual([{ entries: 1 }]);
});

it('says nothing of the others of its site: whoever crawls that next looks for them', async () => {
  const web = await bench.web({
    robots: robotsNaming(['/site.xml']),
    pages: {
      '/news.xml': sitemapOf('/news'),
      '/site.xml': sitemapOf('/named'),
      '/': page('home'),
      '/news': page('news'),
      '/named': page('named'),
    },
  });
  const file = bench.file();
  await bench.crawl(file, web.url('/news.xml'), BOTH);
  expect(web.requestsTo('/site.xml')).toHaveLength(0);
  await bench.crawl(file, web.url('/'), BOTH);
  expect(file.page('/named').state).toBe('Processed');
  // From then on it is known.
  await bench.crawl(file, web.url('/'), BOTH);
  expect(web.requestsTo('/site.xml')).toHaveLength(1);
});

it('has the sitemaps of each port looked for, at once and one after another', async () => {
  const pages = { '/': page('home'), '/sitemap.xml': sitemapOf('/named'), '/named': page('named') };
  const none = await bench.web({ pages: { '/': page('home') } });
  const [one, other] = [await bench.web({ pages }), await bench.web({ pages })];
  const together = bench.file();
  const starts = [one.url('/'), other.url('/')];
  for (let time = 0; time < 2; time++) await bench.crawl(together, starts, BOTH);
  expect([one, other].map((web) => web.requestsTo('/sitemap.xml').length)).toEqual([1, 1]);
  expect([one, other].map((web) => web.requestsTo('/named').length)).toEqual([2, 2]);
  const apart = bench.file();
  for (const web of [none, one, other]) await bench.crawl(apart, web.url('/'), BOTH);
  expect([one, other].map((web) => web.requestsTo('/sitemap.xml').length)).toEqual([2, 2]);
});

it('stays a sitemap when it cannot be read for once', async () => {
  let isWell = true;
  const web = await bench.web({
    pages: {
      '/sitemap.xml': (exchange) =>
        isWell ? sitemapOf('/named')(exchange) : answer(exchange, { status: 404, body: 'no' }),
      '/named': page('named'),
    },
  });
  const file = bench.file();
  const again = { ...BOTH, sitemapCacheHours: 0 };
  await bench.crawl(file, web.url('/sitemap.xml'), again);
  isWell = false;
  await bench.crawl(file, web.url('/sitemap.xml'), again);
  isWell = true;
  const from = web.log.length;
  await bench.crawl(file, web.url('/sitemap.xml'), again);
  const paths = web.log.slice(from).map(({ path }) => path);
  expect(paths.filter((path) => path === '/sitemap.xml')).toHaveLength(1);
  expect(file.rows('SELECT url FROM pages')).toEqual([{ url: web.url('/named') }]);
});

it('is not waited for when the run is stopped, though a page is', async () => {
  const late: { page?: Exchange } = {};
  const web = await bench.web({
    robots: robotsNaming(['/endless.xml']),
    pages: {
      // Begun, and never ended.
      '/endless.xml': ({ response }) => void response.writeHead(200).write('<urlset>'),
      '/': (exchange) => {
        late.page = exchange;
      },
    },
  });
  const file = bench.file();
  const patient = { drainSeconds: 600, bodyTimeout: 600, timeout: 600 };
  const handle = await bench.begin(file, web.origin, { ...BOTH, ...patient });
  await Promise.all([web.asked('/'), web.asked('/endless.xml')]);
  handle.stop();
  answer(late.page!, { body: page('home') });
  expect((await handle.finished).status).toBe('interrupted');
  expect(file.page('/').state).toBe('Processed');
  expect(file.rows('SELECT method FROM discovery_status')).toEqual([]);
});
