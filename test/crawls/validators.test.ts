import { describe, expect, it } from 'vitest';
import { createChangingPages, type PageLife } from '../web/changing-pages.ts';
import { answer, type FakeWeb } from '../web/fake-web.ts';
import { asked, type CrawlOptions, useBench } from './crawl-site.ts';
import { outcomes, visitsOf } from './history-rows.ts';

const bench = useBench();
const INCREMENTAL: CrawlOptions = { mode: 'incremental', spotCheck: 0 };

/** Crawls a page with such a life twice, and answers the conditions that came the second time. */
async function conditionsOf(life: PageLife): Promise<{ tag: unknown; since: unknown }> {
  const site = createChangingPages({ '/': life });
  const web = await bench.web({ pages: site.pages });
  const file = bench.file();
  await bench.crawl(file, web.url('/'));
  const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL);
  expect(summary).toMatchObject({ status: 'completed', unchanged: 1 });
  const { headers } = web.log.at(-1)!;
  return { tag: headers['if-none-match'], since: headers['if-modified-since'] };
}

const statuses = (web: FakeWeb, path: string) => web.requestsTo(path).map(({ status }) => status);

describe('validators that are none', () => {
  it('are never sent back: an ETag without quotes, with blanks or quotes inside, too long, or beyond ASCII', async () => {
    for (const etag of [
      'plain',
      '"open',
      'w/"small"',
      '"in "side"',
      '"a b"',
      `"${'x'.repeat(1100)}"`,
      '"caf\u00e9"',
      '""x',
    ])
      expect(await conditionsOf({ etag }), etag).toEqual({ tag: undefined, since: undefined });
    for (const etag of ['""', '"a"', 'W/"a"', `"${'x'.repeat(1000)}"`])
      expect(await conditionsOf({ etag }), etag).toEqual({ tag: etag, since: undefined });
  });

  it('are dates that are no HTTP dates, or lie in the future, or in the very second of the visit', async () => {
    const future = new Date(Date.now() + 3_600_000).toUTCString();
    const now = new Date(Date.now() + 2000).toUTCString();
    for (const lastModified of ['yesterday', '2026-01-05', '0', future, now])
      expect(await conditionsOf({ lastModified }), lastModified).toEqual({
        tag: undefined,
        since: undefined,
      });
    const lastModified = 'Sunday, 06-Nov-94 08:49:37 GMT';
    expect(await conditionsOf({ lastModified })).toEqual({ tag: undefined, since: lastModified });
  });

  it('do not keep the others from being sent', async () => {
    const date = 'Mon, 05 Jan 2026 12:00:00 GMT';
    expect(await conditionsOf({ validators: 'both', etag: 'broken' })).toEqual({
      tag: undefined,
      since: date,
    });
    const lives: PageLife = { validators: 'both', lastModified: 'never' };
    expect(await conditionsOf(lives)).toEqual({ tag: '"/-1"', since: undefined });
  });
});

describe('validators that a whole answer brings no more', () => {
  it('are forgotten, and so is freshness, though the body is the same', async () => {
    const site = createChangingPages({
      '/': { links: ['/both', '/fresh'] },
      '/both': { validators: 'both' },
      '/fresh': { cacheControl: 'max-age=3600' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.alter('/both', { validators: 'date' });
    site.alter('/fresh', { cacheControl: undefined });
    await bench.crawl(file, web.url('/'), { ...INCREMENTAL, obeyFreshness: false });
    expect(file.page('/both')).toMatchObject({ etag: null, last_modified: 'Mon, 05 Jan 2026 12:00:00 GMT' });
    expect(file.page('/fresh').cache_control).toBeNull();
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    // A tag that the page has no more would keep its date from being heard (RFC 9110 section 13.1.3).
    expect(web.requestsTo('/both').at(-1)).toMatchObject({ status: 304 });
    expect(web.requestsTo('/both').at(-1)!.headers['if-none-match']).toBeUndefined();
    expect(outcomes(file)).toMatchObject({ '/both': 'unchanged 304', '/fresh': 'unchanged hash' });
  });
});

describe('a 304 that nobody asked for', () => {
  it('says nothing of a page that was never read', async () => {
    const site = createChangingPages({ '/': { links: ['/a'] }, '/a': { alwaysNotModified: true } });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    for (const options of [{}, INCREMENTAL]) {
      await bench.crawl(file, web.url('/'), options);
      expect(file.page('/a')).toMatchObject({ state: 'Failed', reason: 'http: 304', content_hash: null });
      expect(outcomes(file)['/a']).toBe('failed status');
    }
    expect(statuses(web, '/a')).toEqual([304, 304]);
  });

  it('is asked once more of a page that was, and a second one leaves what was read as it is', async () => {
    const site = createChangingPages({ '/': { links: ['/a'] }, '/a': {} });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const before = file.page('/a');
    site.alter('/a', { alwaysNotModified: true });
    for (const options of [{ mode: 'full' } as const, INCREMENTAL]) {
      const from = web.log.length;
      await bench.crawl(file, web.url('/'), options);
      expect(web.log.slice(from).map(({ path }) => path)).toEqual(['/', '/a', '/a']);
      expect(outcomes(file)['/a']).toBe('failed status');
      const { title, content_hash } = before;
      expect(file.page('/a')).toMatchObject({ state: 'Failed', reason: 'http: 304', title, content_hash });
    }
    site.alter('/a', { alwaysNotModified: false });
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(outcomes(file)['/a']).toBe('unchanged hash');
    expect(file.page('/a')).toMatchObject({
      state: 'Processed',
      status_code: 200,
      error: null,
      reason: null,
    });
  });

  it('may be a slip: the second answer counts', async () => {
    let isOdd = false;
    const site = createChangingPages({ '/': { links: ['/a'] }, '/a': {} });
    const inner = site.pages['/a'];
    const web = await bench.web({
      pages: {
        ...site.pages,
        '/a': (exchange) => {
          isOdd = !isOdd;
          if (exchange.nth > 1 && !isOdd) exchange.response.writeHead(304).end();
          else if (typeof inner === 'function') inner(exchange);
        },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.change('/a');
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(statuses(web, '/a')).toEqual([200, 304, 200]);
    expect(outcomes(file)['/a']).toBe('changed content');
  });
});

describe('a server that fails conditions with 412', () => {
  it('is asked for the page without them', async () => {
    const now = { text: 'words' };
    const web = await bench.web({
      pages: {
        '/': (exchange) => {
          const isAsked = exchange.request.headers['if-none-match'] !== undefined;
          const body = `<title>home</title><main>${now.text}</main>`;
          answer(exchange, isAsked ? { status: 412 } : { body, headers: { etag: `"${now.text}"` } });
        },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect((await bench.crawl(file, web.url('/'), INCREMENTAL)).summary).toMatchObject({ unchanged: 1 });
    expect(statuses(web, '/')).toEqual([200, 412, 200]);
    expect(outcomes(file)).toEqual({ '/': 'unchanged hash' });
    now.text = 'other';
    expect((await bench.crawl(file, web.url('/'), INCREMENTAL)).summary).toMatchObject({ changed: 1 });
    expect(file.page('/')).toMatchObject({ state: 'Processed', status_code: 200, etag: '"other"' });
  });

  it('says nothing else where nobody set any', async () => {
    const web = await bench.web({ pages: { '/': (exchange) => answer(exchange, { status: 412 }) } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(statuses(web, '/')).toEqual([412, 412]);
    expect(outcomes(file)).toEqual({ '/': 'failed status' });
  });
});

describe('spot checks', () => {
  const lives = {
    '/': { validators: 'etag', links: ['/a', '/b'] },
    '/a': { validators: 'etag' },
    '/b': { validators: 'etag' },
  } as const;

  it('ask a 304 again in full, and find an honest host honest', async () => {
    const site = createChangingPages(lives);
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const { summary, events } = await bench.crawl(file, web.url('/'), { mode: 'incremental', spotCheck: 1 });
    for (const path of ['/', '/a', '/b']) {
      expect(statuses(web, path)).toEqual([200, 304, 200]);
      expect(web.requestsTo(path)[2].headers['if-none-match']).toBeUndefined();
    }
    // Really read, so nothing was saved.
    expect(summary).toMatchObject({ unchanged: 3, not_transferred: 0, bytes_saved: 0, pages: 3 });
    expect(new Set(visitsOf(file).map(({ known_by: knownBy }) => knownBy))).toEqual(new Set(['hash']));
    expect(events.filter((event) => event.type === 'host' && event.what === 'distrusted')).toEqual([]);
  });

  it('find a host that lies, which is then fetched in full for a while, also by the next run', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', lies: true, links: ['/a', '/b', '/c'] },
      '/a': { validators: 'etag', lies: true },
      '/b': { validators: 'date', lies: true, cacheControl: 'max-age=600' },
      '/c': { validators: 'both', lies: true },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    const options: CrawlOptions = { mode: 'incremental', perHost: 1, concurrency: 1, distrustHours: 1 };
    await bench.crawl(file, web.url('/'));
    site.change('/', '/a', '/c');
    const { summary, events } = await bench.crawl(file, web.url('/'), { ...options, spotCheck: 1 });
    // Found out by the first page; nobody asks conditionally after that.
    expect(statuses(web, '/')).toEqual([200, 304, 200]);
    for (const path of ['/a', '/b', '/c']) expect(statuses(web, path)).toEqual([200, 200]);
    expect(summary).toMatchObject({ changed: 3, unchanged: 1 });
    const told = events.filter((event) => event.type === 'host' && event.what === 'distrusted');
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ host: '127.0.0.1' });
    const from = web.log.length;
    await bench.crawl(file, web.url('/'), { ...options, spotCheck: 0 });
    for (const { headers } of web.log.slice(from)) {
      expect(headers['if-none-match']).toBeUndefined();
      expect(headers['if-modified-since']).toBeUndefined();
    }
    expect(web.log.length - from).toBe(4);
  });

  it('end distrust with its time', async () => {
    const site = createChangingPages({ '/': { validators: 'etag', lies: true } });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.change('/');
    await bench.crawl(file, web.url('/'), { mode: 'incremental', spotCheck: 1, distrustHours: 0 });
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(statuses(web, '/')).toEqual([200, 304, 200, 304]);
  });

  it('do not take a noisy page for a lie', async () => {
    const site = createChangingPages({ '/': { etag: '"kept"', isNoisy: true } });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    const options = { exclude: ['/logout'] };
    await bench.crawl(file, web.url('/'), options);
    const { events } = await bench.crawl(file, web.url('/'), {
      ...options,
      mode: 'incremental',
      spotCheck: 1,
    });
    expect(outcomes(file)['/']).toBe('unchanged text');
    expect(events.filter((event) => event.type === 'host' && event.what === 'distrusted')).toEqual([]);
  });

  it('are few unless more are wanted', async () => {
    const paths = Array.from({ length: 300 }, (_, n) => `/p${n}`);
    const site = createChangingPages({
      '/': { validators: 'etag', links: paths },
      ...Object.fromEntries(paths.map((path) => [path, { validators: 'etag' } as const])),
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    await bench.crawl(file, web.url('/'), { mode: 'incremental' });
    const checked = asked(web).length - 602;
    // Of 301 at 2 %: none is as unlikely as one in 437, more than 30 as one in thousands of millions.
    expect(checked).toBeLessThan(30);
  });
});

describe('head-first', () => {
  it('asks conditionally already by HEAD, and 304 spares the GET', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', links: ['/a'] },
      '/a': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { headFirst: true });
    site.change('/a');
    const from = web.log.length;
    await bench.crawl(file, web.url('/'), { ...INCREMENTAL, headFirst: true });
    expect(web.log.slice(from).map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'HEAD / 304',
      'HEAD /a 200',
      'GET /a 200',
    ]);
    expect(outcomes(file)).toEqual({ '/': 'unchanged 304', '/a': 'changed content' });
  });
});
