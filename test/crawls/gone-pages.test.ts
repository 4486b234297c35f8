import { describe, expect, it } from 'vitest';
import { createChangingPages } from '../web/changing-pages.ts';
import { answer, type FixedAnswer } from '../web/fake-web.ts';
import { robotsNaming, sitemapOf } from '../web/sitemap-pages.ts';
import { asked, type CrawlOptions, page, useBench } from './crawl-site.ts';
import { changedParts, outcomes } from './history-rows.ts';

const bench = useBench();
const INCREMENTAL: CrawlOptions = { mode: 'incremental', spotCheck: 0 };

describe('a page that is not there any more', () => {
  it('is none that only sitemaps name which were not read, as when another one is given', async () => {
    const discover = ['sitemap', 'links'];
    const web = await bench.web({
      robots: robotsNaming(['/a.xml']),
      pages: {
        '/a.xml': sitemapOf('/one', '/two'),
        '/extra.xml': sitemapOf('/three'),
        '/': page('home'),
        '/one': page('one'),
        '/two': page('two'),
        '/three': page('three'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.origin, { discover });
    for (const sitemapCacheHours of [24, 0]) {
      const { summary } = await bench.crawl(file, web.url('/extra.xml'), { discover, sitemapCacheHours });
      expect(summary).toMatchObject({ status: 'completed', gone: 0 });
      const sitemaps = JSON.stringify([web.url('/extra.xml'), web.url('/a.xml')]);
      const [known] = file.rows('SELECT method, entries, sitemaps FROM discovery_status');
      expect(known).toEqual({ method: 'sitemap', entries: 3, sitemaps });
    }
    expect(file.rows('SELECT page_id FROM sitemap_entry WHERE lost_run IS NOT NULL')).toEqual([]);
  });

  it('is gone after a second 404 at the end of the run, or a 410, and keeps what was read of it', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', links: ['/lost', '/removed', '/stays', '/never'] },
      '/lost': { validators: 'etag' },
      '/removed': { validators: 'etag' },
      '/stays': { validators: 'etag' },
      '/never': { isHidden: true },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(outcomes(file)['/never']).toBe('failed status');
    site.vanish('/lost');
    site.vanish('/removed', 410);
    const from = web.log.length;
    const { summary } = await bench.crawl(file, web.url('/'), { ...INCREMENTAL, perHost: 1, concurrency: 1 });
    expect(asked(web).slice(from - 1)).toEqual(['/', '/lost', '/removed', '/stays', '/never', '/lost']);
    expect(outcomes(file)).toEqual({
      '/': 'unchanged 304',
      '/lost': 'gone status',
      '/removed': 'gone status',
      '/stays': 'unchanged 304',
      '/never': 'failed status',
    });
    expect(summary).toMatchObject({ gone: 2, unchanged: 2, failed: 1 });
    expect(file.page('/lost')).toMatchObject({
      state: 'Gone',
      status_code: 404,
      title: 'Page /lost',
      change: 'gone',
    });
    expect(file.text('/lost')).toContain('What /lost says');
  });

  it('is due again after a 404 and not after a 410, and is changed when it comes back', async () => {
    const site = createChangingPages({
      '/': { links: ['/lost', '/removed'] },
      '/lost': { validators: 'etag' },
      '/removed': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.vanish('/lost');
    site.vanish('/removed', 410);
    await bench.crawl(file, web.url('/'));
    expect([file.page('/lost').state, file.page('/removed').state]).toEqual(['Gone', 'Gone']);
    const from = web.log.length;
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(web.log.slice(from).map(({ path }) => path)).toEqual(['/', '/lost']);
    expect(outcomes(file)['/lost']).toBe('unchanged status');
    expect(file.page('/lost').state).toBe('Gone');
    site.appear('/lost');
    site.appear('/removed');
    const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(changedParts(file)).toEqual({ '/lost': 'status' });
    expect(summary).toMatchObject({ changed: 1, unchanged: 1, gone: 0 });
    const { summary: whole } = await bench.crawl(file, web.url('/'), { mode: 'full' });
    expect(outcomes(file)['/removed']).toBe('changed content');
    expect(file.page('/removed')).toMatchObject({ state: 'Processed', status_code: 200 });
    expect(whole).toMatchObject({ changed: 1, unchanged: 2, gone: 0 });
  });

  it('stays gone when visits fail in between: it is told once, and told when it is back', async () => {
    const site = createChangingPages({ '/': { links: ['/a'] }, '/a': { validators: 'etag' } });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    const found: string[] = [];
    for (const status of [200, 404, 503, 404, 503, 200]) {
      if (status === 200) site.appear('/a');
      else site.vanish('/a', status);
      await bench.crawl(file, web.url('/'), { ...INCREMENTAL, retries: 0 });
      found.push(`${outcomes(file)['/a']}, ${file.page('/a').status_code} ${file.page('/a').change}`);
    }
    expect(found).toEqual([
      'new content, 200 new',
      'gone status, 404 gone',
      'failed status, 503 gone',
      'unchanged status, 404 gone',
      'failed status, 503 gone',
      'changed content, 200 changed',
    ]);
    expect(changedParts(file)).toEqual({ '/a': 'status' });
  });

  it.each([404, 410])(
    'with its whole site (%i) is asked again by the next incremental run',
    async (status) => {
      const site = createChangingPages({ '/': { links: ['/a'] }, '/a': {} });
      const web = await bench.web({ pages: site.pages });
      const file = bench.file();
      await bench.crawl(file, web.url('/'));
      for (const path of ['/', '/a']) site.vanish(path, status);
      expect((await bench.crawl(file, web.url('/'), INCREMENTAL)).summary).toMatchObject({ gone: 2 });
      for (const path of ['/', '/a']) site.appear(path);
      const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL);
      expect(summary).toMatchObject({ status: 'completed', changed: status === 404 ? 2 : 1 });
    },
  );

  it('may be back by the second question: then nothing happened', async () => {
    const site = createChangingPages({ '/': { links: ['/a'] }, '/a': { validators: 'etag' } });
    const inner = site.pages['/a'];
    const web = await bench.web({
      pages: {
        ...site.pages,
        '/a': (exchange) => {
          if (exchange.nth === 2) answer(exchange, { status: 404 });
          else if (typeof inner === 'function') inner(exchange);
        },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(web.requestsTo('/a').map(({ status }) => status)).toEqual([200, 404, 200]);
    expect(outcomes(file)['/a']).toBe('unchanged hash');
  });

  it('is an orphan when nothing leads to it any more, and told once', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', links: (version) => (version > 1 ? ['/b'] : ['/a', '/b']) },
      '/a': { validators: 'etag' },
      '/b': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.change('/');
    const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(summary).toMatchObject({ changed: 1, gone: 1 });
    const orphans = () => file.rows("SELECT run_id FROM visits WHERE known_by = 'orphan'").length;
    expect(orphans()).toBe(1);
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(orphans()).toBe(1);
    expect(outcomes(file)['/a']).toBe('unchanged 304');
    expect(file.page('/a')).toMatchObject({ state: 'Processed', change: 'gone' });
  });

  it('is told as changed when it is linked again after it was an orphan', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', links: (version) => (version === 2 ? [] : ['/a']) },
      '/a': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.change('/');
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    site.change('/');
    const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(summary).toMatchObject({ changed: 2, unchanged: 0, gone: 0 });
    expect(outcomes(file)['/a']).toBe('changed orphan');
    expect(changedParts(file)['/a']).toBe('status');
    expect(file.page('/a')).toMatchObject({ state: 'Processed', change: 'changed' });
  });
});

describe('a visit that fails', () => {
  it('leaves what was read, and is no change when the page is well again', async () => {
    let isWell = true;
    const site = createChangingPages({ '/': { links: ['/a'] }, '/a': { validators: 'etag' } });
    const inner = site.pages['/a'];
    const web = await bench.web({
      pages: {
        ...site.pages,
        '/a': (exchange) => {
          if (!isWell) answer(exchange, { status: 503, headers: { etag: '"error"' } });
          else if (typeof inner === 'function') inner(exchange);
        },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { retries: 0 });
    const { title, content_hash, etag } = file.page('/a');
    isWell = false;
    const { summary } = await bench.crawl(file, web.url('/'), { ...INCREMENTAL, retries: 0 });
    expect(summary).toMatchObject({ failed: 1, unchanged: 1 });
    expect(file.page('/a')).toMatchObject({ state: 'Failed', status_code: 503, title, content_hash, etag });
    isWell = true;
    await bench.crawl(file, web.url('/'), { ...INCREMENTAL, retries: 0 });
    expect(outcomes(file)['/a']).toBe('unchanged 304');
    expect(file.page('/a')).toMatchObject({ state: 'Processed', status_code: 200, error: null });
  });

  it.each([
    ['a redirect to itself', { location: '/a' }],
    ['a redirect to nowhere', { location: 'mailto:somebody@example.com' }],
    ['a redirect without a target', {}],
  ])('leaves its validators too when it is %s', async (_, where: Record<string, string>) => {
    let isWell = true;
    const site = createChangingPages({ '/': { links: ['/a'] }, '/a': { validators: 'etag' } });
    const inner = site.pages['/a'];
    const web = await bench.web({
      pages: {
        ...site.pages,
        '/a': (exchange) => {
          if (!isWell) answer(exchange, { status: 301, headers: { etag: '"error"', ...where } });
          else if (typeof inner === 'function') inner(exchange);
        },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const { etag } = file.page('/a');
    isWell = false;
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(outcomes(file)['/a']).toBe('failed status');
    expect(file.page('/a').etag).toBe(etag);
    isWell = true;
    await bench.crawl(file, web.url('/'), { mode: 'full' });
    expect(outcomes(file)['/a']).toBe('unchanged hash');
  });

  it('does not hide that a page became a redirect, or a redirect a page or another one', async () => {
    const moved = (status: number) => ({ status, headers: { location: '/end' } });
    const well: FixedAnswer = { body: page('page') };
    const now: { x: FixedAnswer } = { x: well };
    const web = await bench.web({
      pages: { '/': page('home', '/x', '/end'), '/end': page('end'), '/x': (e) => answer(e, now.x) },
    });
    const file = bench.file();
    const visit = async (x: FixedAnswer) => {
      now.x = x;
      await bench.crawl(file, web.url('/'), { retries: 0 });
      return changedParts(file)['/x'] ?? null;
    };
    const told: (string | null)[] = [];
    for (const next of [well, moved(301), moved(302), moved(302), well, well]) {
      told.push(await visit(next));
      expect(await visit({ status: 503 })).toBeNull();
    }
    expect(told).toEqual([null, 'status,redirect', 'status', null, 'status,redirect', null]);
  });

  it('reads nothing: a page that never was read is not gone when it is not found', async () => {
    let status = 200;
    const web = await bench.web({
      pages: {
        '/': page('home', '/file', '/odd'),
        '/file': (exchange) =>
          answer(exchange, { status, headers: { 'content-type': 'application/zip' }, body: 'PK' }),
        '/odd': (exchange) => answer(exchange, { status: status === 200 ? 301 : status }),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(outcomes(file)).toMatchObject({ '/file': 'failed status', '/odd': 'failed status' });
    status = 404;
    const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(summary).toMatchObject({ gone: 0, failed: 2 });
    expect(web.requestsTo('/file')).toHaveLength(2);
  });
});

describe('a redirect', () => {
  it('is compared by where it leads, and a page that becomes one links no more', async () => {
    let target = '/x';
    let isMoved = false;
    const web = await bench.web({
      pages: {
        '/': page('Home', '/from', '/page'),
        '/from': (exchange) => answer(exchange, { status: 302, headers: { location: target } }),
        '/page': (exchange) =>
          answer(
            exchange,
            isMoved ? { status: 301, headers: { location: '/x' } } : { body: page('P', '/y') },
          ),
        '/*': page('There'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(outcomes(file)['/from']).toBe('new status');
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(outcomes(file)['/from']).toBe('unchanged status');
    target = '/z';
    isMoved = true;
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(outcomes(file)).toMatchObject({
      '/from': 'changed content',
      '/page': 'changed content',
      '/z': 'new content',
    });
    expect(changedParts(file)['/from']).toBe('redirect');
    expect(changedParts(file)['/page'].split(/[ ,]+/).sort()).toEqual(['redirect', 'status']);
    expect(file.links()).not.toContain('/page → /y');
    expect(file.page('/from').final_url).toBe(web.url('/z'));
  });
});
