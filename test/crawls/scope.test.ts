import { describe, expect, it } from 'vitest';
import { answer, type FakeWebOptions } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, page, useBench } from './crawl-site.ts';

const bench = useBench();

const shop = {
  '/': page('Home', '/blog/1', '/cart/1', '/blog/cart/', '/about'),
  '/*': page('Page'),
};

describe('patterns', () => {
  it('fetches only what an include pattern matches, and the home page', async () => {
    const web = await bench.web({ pages: shop });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { include: ['/blog/'] });
    expect(asked(web).sort()).toEqual(['/', '/blog/1', '/blog/cart/']);
    expect(file.page('/about')).toMatchObject({ state: 'Skipped', reason: 'include: no pattern matches' });
  });

  it('lets exclude win over include and names the pattern', async () => {
    const web = await bench.web({ pages: shop });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { include: ['/blog/'], exclude: ['/cart/'] });
    expect(asked(web).sort()).toEqual(['/', '/blog/1']);
    expect(file.page('/blog/cart/')).toMatchObject({ state: 'Skipped', reason: 'exclude: /cart/' });
  });

  it('fetches the rest after what matches when include is a preference', async () => {
    const web = await bench.web({ pages: shop });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { include: ['/about'], includeMode: 'prefer', perHost: 1 });
    expect(asked(web)).toEqual(['/', '/about', '/blog/1', '/cart/1', '/blog/cart/']);
    expect(file.page('/').priority).toBe(0);
    expect(file.page('/about').priority).toBe(1);
    expect(file.page('/cart/1').priority).toBe(2);
  });

  it('exempts start URLs, and only them', async () => {
    const web = await bench.web({ pages: { ...shop, '/cart/1': page('Cart', '/cart/2', '/about') } });
    const file = bench.file();
    await bench.crawl(file, web.url('/cart/1'), { include: ['/blog/'], exclude: ['/cart/'] });
    expect(asked(web)).toEqual(['/cart/1']);
    expect(file.page('/cart/2').reason).toBe('exclude: /cart/');
    expect(file.page('/about').reason).toBe('include: no pattern matches');
  });

  it('adds the patterns of a preset', async () => {
    const pages = {
      '/': page('Shop', '/collections/all', '/pages/about', '/products/1', '/blog'),
      '/*': page('P', '/cart/'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { preset: ['shopify'] });
    expect(asked(web).sort()).toEqual(['/', '/collections/all', '/pages/about']);
    expect(file.page('/products/1').reason).toBe('exclude: /products/');
    expect(file.page('/cart/').reason).toBe('exclude: /cart/');
    expect(file.page('/blog').reason).toBe('include: no pattern matches');
  });

  it('matches the URL as it would be fetched, query and all, without its fragment', async () => {
    const pages = { '/': page('Home', '/a?b=2&a=1#part', '/b#part'), '/*': page('P') };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { include: ['a\\?b=2&a=1$', 'part'] });
    expect(asked(web)).toEqual(['/', '/a?b=2&a=1']);
  });
});

describe('other limits of the scope', () => {
  it('stays on the start host, and says so of the others', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': (exchange) => answer(exchange, { body: page('Home', exchange.url('/x', 1), '/a') }),
      '/*': page('P'),
    };
    const web = await bench.web({ hosts: 2, pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(web.log.every((entry) => entry.host === 0)).toBe(true);
    expect(file.page(web.url('/x', 1))).toMatchObject({
      state: 'Skipped',
      reason: `scope: host 127.0.0.2:${web.port} is not one of 127.0.0.1:${web.port}`,
    });
  });

  it('follows links to hosts that are allowed', async () => {
    const pages: FakeWebOptions['pages'] = {
      '0:/': (exchange) =>
        answer(exchange, { body: page('Home', exchange.url('/x', 1), exchange.url('/y', 2)) }),
      '/*': page('P'),
    };
    const web = await bench.web({ hosts: 3, pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { allowedHosts: ['127.0.0.2'] });
    expect(web.requestsTo('/x', 1)).toHaveLength(1);
    expect(web.log.some((entry) => entry.host === 2)).toBe(false);
  });

  it('keeps to a path and leaves file extensions out', async () => {
    const web = await bench.web({ pages: { '/*': page('P', '/docs/b', '/other', '/docs/file.zip') } });
    const file = bench.file();
    await bench.crawl(file, web.url('/docs/'), { path: ['/docs/'], skipExtensions: ['zip'] });
    expect(asked(web).sort()).toEqual(['/docs/', '/docs/b']);
    expect(file.page('/other').reason).toBe('path: outside /docs/');
    expect(file.page('/docs/file.zip').reason).toBe('type: extension .zip');
  });
});

describe('depth', () => {
  it('goes no deeper than max-depth and records what lies beyond', async () => {
    const pages = { '/': page('0', '/1'), '/1': page('1', '/2'), '/2': page('2', '/3'), '/3': page('3') };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { maxDepth: 2 });
    expect(asked(web)).toEqual(['/', '/1', '/2']);
    expect(file.page('/3')).toMatchObject({ state: 'DepthExceeded', reason: 'depth: 3 > 2', depth: 3 });
    expect(file.pages().map(({ depth }) => depth)).toEqual([0, 1, 2, 3]);
  });

  // The long road is walked first: its pages are preferred, the short cut is not.
  const longRoadFirst = {
    '/': page('Home', '/long/1', '/short'),
    '/long/1': page('L1', '/long/2'),
    '/long/2': page('L2', '/long/3'),
    '/long/3': page('L3', '/long/target'),
    '/long/target': page('Target', '/long/beyond'),
    '/long/beyond': page('Beyond', '/long/end'),
    '/long/end': page('End'),
    '/short': page('Short', '/long/target'),
  };
  const preferLong = { include: ['/long/'], includeMode: 'prefer', perHost: 1, concurrency: 1 } as const;

  it('is lowered for a page and what it links to when a shorter path appears', async () => {
    const web = await bench.web({ pages: longRoadFirst });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), preferLong);
    expect(asked(web).at(-1)).toBe('/short');
    const depths = Object.fromEntries(
      file.pages().map(({ fetch_url: url, depth }) => [new URL(url).pathname, depth]),
    );
    expect(depths).toEqual({
      '/': 0,
      '/long/1': 1,
      '/short': 1,
      '/long/2': 2,
      '/long/3': 3,
      '/long/target': 2,
      '/long/beyond': 3,
      '/long/end': 4,
    });
  });

  it('opens a page that was too deep when a shorter path appears', async () => {
    const web = await bench.web({ pages: longRoadFirst });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { ...preferLong, maxDepth: 3 });
    expect(file.states()).toMatchObject({
      '/long/target': 'Processed',
      '/long/beyond': 'Processed',
      '/long/end': 'DepthExceeded',
    });
    expect(asked(web).slice(-3)).toEqual(['/short', '/long/target', '/long/beyond']);
    expect(file.page('/long/end').reason).toBe('depth: 4 > 3');
  });

  it('is lowered behind a redirect too', async () => {
    const pages = {
      ...longRoadFirst,
      '/long/target': { status: 302, headers: { location: '/long/moved' } },
      '/long/moved': page('Moved', '/long/beyond'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), preferLong);
    expect(file.page('/long/target').depth).toBe(2);
    expect(file.page('/long/moved').depth).toBe(2);
    expect(file.page('/long/beyond').depth).toBe(3);
  });

  it('is right in the end though max-pages ends the crawl', async () => {
    const web = await bench.web({ pages: longRoadFirst });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { ...preferLong, maxPages: 8 });
    expect(asked(web)).toHaveLength(8);
    expect(file.page('/long/target').depth).toBe(2);
    expect(file.page('/long/end').depth).toBe(4);
  });

  it('counts beyond 255', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/n/*': (exchange) => {
        const n = Number(exchange.path.slice(3));
        const hrefs = n === 0 ? ['/n/1', '/last'] : n < 280 ? [`/n/${n + 1}`] : [];
        answer(exchange, { body: page(`${n}`, ...hrefs) });
      },
      '/last': page('Last', '/n/270'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/n/0'), { include: ['/n/'], includeMode: 'prefer', perHost: 1 });
    const depths = file
      .rows<{ depth: number }>('SELECT depth FROM page_depths ORDER BY depth')
      .map((row) => row.depth);
    expect(depths).toHaveLength(282);
    expect(file.page('/n/260').depth).toBe(260);
    expect(file.page('/n/270').depth).toBe(2);
    expect(file.page('/n/280').depth).toBe(12);
  });
});

describe('nofollow', () => {
  it('is obeyed on links, recorded, and undone by a link that is followed', async () => {
    const pages = {
      '/': `<a rel="nofollow" href="/a">a</a> <a rel="nofollow" href="/b">b</a> <a href="/c">c</a>`,
      '/c': page('C', '/b'),
      '/*': page('P'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(asked(web)).toEqual(['/', '/c', '/b']);
    expect(file.page('/a')).toMatchObject({ state: 'Skipped', reason: 'nofollow: link' });
    expect(file.page('/b').depth).toBe(2);
    expect(
      file.rows(
        `SELECT b.fetch_url AS url, l.nofollow FROM links l JOIN pages b ON b.id = l.to_page_id
         JOIN pages a ON a.id = l.from_page_id WHERE a.depth = 0 ORDER BY b.fetch_url`,
      ),
    ).toEqual([
      { url: web.url('/a'), nofollow: 1 },
      { url: web.url('/b'), nofollow: 1 },
      { url: web.url('/c'), nofollow: 0 },
    ]);
  });

  it('is no path for depth: a page that comes nearer does not open what it marks nofollow', async () => {
    const pages = {
      '/': page('Home', '/long/1', '/short'),
      '/long/1': page('L1', '/long/2'),
      '/long/2': page('L2', '/long/target'),
      '/long/target': '<a rel="nofollow" href="/shut">shut</a> <a href="/open">open</a>',
      '/short': page('Short', '/long/target'),
      '/*': page('P'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), {
      include: ['/long/'],
      includeMode: 'prefer',
      perHost: 1,
      concurrency: 1,
    });
    expect(file.page('/open').depth).toBe(3);
    expect(file.page('/shut')).toMatchObject({ state: 'Skipped', reason: 'nofollow: link' });
    expect(asked(web)).not.toContain('/shut');
  });

  it('of a whole page is obeyed, by meta element and by header', async () => {
    const pages = {
      '/': page('Home', '/meta', '/tag'),
      '/meta': misbehaviours.metaNofollow('/x'),
      '/tag': misbehaviours.robotsTagHeader('nofollow', '/y'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(asked(web).sort()).toEqual(['/', '/meta', '/tag']);
    expect(file.page('/x').reason).toMatch(/^nofollow/);
    expect(file.page('/y').reason).toMatch(/^nofollow/);
    expect(file.page('/meta').nofollow).toBe(1);
  });

  it('is only recorded when it need not be respected', async () => {
    const pages = {
      '/': misbehaviours.relNofollow('/x'),
      '/x': misbehaviours.metaNofollow('/y'),
      '/y': page('Y'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { respectNofollow: false });
    expect(asked(web)).toEqual(['/', '/x', '/y']);
    expect(file.rows('SELECT nofollow FROM links ORDER BY id')).toEqual([{ nofollow: 1 }, { nofollow: 1 }]);
    expect(file.page('/y').depth).toBe(2);
  });
});
