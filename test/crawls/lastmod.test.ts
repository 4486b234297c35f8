import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import type { RunStore } from '../../src/store/store-port.ts';
import { createChangingPages, type PageLife } from '../web/changing-pages.ts';
import { answer, type Handler } from '../web/fake-web.ts';
import { type Begun, type CrawlOptions, fastClock, useBench } from './crawl-site.ts';
import { outcomes, visitsOf } from './history-rows.ts';
import { type ChangedVerbs, withVerbs } from './with-verbs.ts';

const bench = useBench();
const PAGES = 60;
const HOUR = 3_600_000;

/** A site whose sitemap gives dates; runs are an hour apart, and what changes does so half an hour before the next. */
async function datedSite(
  life: PageLife = {},
  showDate = (time: number) => new Date(time).toISOString(),
  isNamed = true,
) {
  const paths = Array.from({ length: PAGES }, (_, n) => `/p${n}`);
  const site = createChangingPages({
    '/': { links: paths },
    ...Object.fromEntries(paths.map((path) => [path, life])),
  });
  const began = Date.now();
  const dates = new Map<string, number | 'undated' | 'unnamed'>(
    paths.map((path) => [path, began - 48 * HOUR]),
  );
  let runs = 0;
  const web = await bench.web({
    robots: (exchange) =>
      answer(exchange, {
        headers: { 'content-type': 'text/plain' },
        body: `User-agent: *\nDisallow:\n${isNamed ? `Sitemap: ${exchange.url('/sitemap.xml')}\n` : ''}`,
      }),
    pages: {
      ...site.pages,
      '/sitemap.xml': (exchange) => {
        const entries = paths.map((path) => {
          const date = dates.get(path);
          if (date === 'unnamed') return '';
          const lastmod = date === 'undated' ? '' : `<lastmod>${showDate(date!)}</lastmod>`;
          return `<url><loc>${exchange.url(path)}</loc>${lastmod}</url>`;
        });
        const body = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`;
        answer(exchange, { headers: { 'content-type': 'application/xml' }, body });
      },
    },
  });
  const file = bench.file();
  return {
    paths,
    file,
    async run(
      options: CrawlOptions = {},
      verbs?: (own: RunStore) => ChangedVerbs,
      seeHandle: (handle: Begun) => void = () => {},
    ) {
      const shift = runs++ * HOUR;
      const from = web.log.length;
      const clock = { ...fastClock(1), now: () => Date.now() + shift };
      const own = verbs && (await openStore({ address: file.path, clock, onFailure: () => {} }));
      const discover = ['sitemap', 'links'];
      const given = { discover, sitemapCacheHours: 0, perHost: 1, concurrency: 1, spotCheck: 0 };
      const handle = await bench.begin(
        file,
        web.url('/'),
        { ...given, mode: 'incremental', ...options },
        { clock, ...(own && verbs && { store: withVerbs(own, verbs) }) },
      );
      seeHandle(handle);
      const summary = await handle.finished;
      return { summary, asked: web.log.slice(from).map(({ path }) => path) };
    },
    change(path: string, isAnnounced: boolean) {
      site.change(path);
      if (isAnnounced) dates.set(path, began + runs * HOUR - HOUR / 2);
    },
    /** Its sitemap says no more of it. */
    silence(path: string, as: 'undated' | 'unnamed') {
      dates.set(path, as);
    },
  };
}

describe('the dates of a sitemap', () => {
  it('spare the pages that are older than their last visit where they are always trusted', async () => {
    const { paths, file, run, change } = await datedSite();
    await run();
    change('/p58', true);
    change('/p59', false);
    const { summary, asked } = await run({ trustLastmod: 'always' });
    // The pages that go while the sitemap is being read are asked.
    const spared = visitsOf(file).filter(({ known_by: knownBy }) => knownBy === 'lastmod');
    expect(spared.length).toBeGreaterThan(PAGES / 2);
    for (const { path } of spared) expect(asked).not.toContain(path);
    expect(outcomes(file)).toMatchObject({ '/p58': 'changed content', '/p59': 'unchanged lastmod' });
    expect(summary.ledger.find(({ level }) => level === 'lastmod')).toEqual({
      level: 'lastmod',
      pages: spared.length,
      requests_saved: spared.length,
      bytes_saved: spared.reduce((sum, { bytes_saved: saved }) => sum + saved, 0),
    });
    expect(new Set(visitsOf(file).map(({ path }) => path))).toEqual(new Set(['/', ...paths]));
  });

  it('that are given no more spare nobody: of a page without a date now, or one that is not named', async () => {
    const { file, run, change, silence } = await datedSite();
    await run();
    for (const path of ['/p57', '/p58']) change(path, false);
    silence('/p57', 'undated');
    silence('/p58', 'unnamed');
    await run({ trustLastmod: 'always' });
    expect(outcomes(file)).toMatchObject({
      '/p57': 'changed content',
      '/p58': 'changed content',
      '/p59': 'unchanged lastmod',
    });
  });

  it('are not believed before they have announced twenty changes, and then they are', async () => {
    const { file, run, change } = await datedSite();
    const spared = () => visitsOf(file).filter(({ known_by: knownBy }) => knownBy === 'lastmod').length;
    await run();
    for (let n = 10; n < PAGES; n++) change(`/p${n}`, true);
    await run();
    expect(spared()).toBe(0);
    change('/p59', true);
    await run();
    expect(spared()).toBeGreaterThan(PAGES / 2);
    expect(outcomes(file)['/p59']).toBe('changed content');
  });

  it('are not believed where changes come unannounced, and never where that is the option', async () => {
    const { file, run, change } = await datedSite();
    const spared = () => visitsOf(file).filter(({ known_by: knownBy }) => knownBy === 'lastmod').length;
    await run();
    for (let n = 10; n < PAGES; n++) change(`/p${n}`, n % 10 > 0);
    await run();
    await run();
    expect(spared()).toBe(0);
    await run({ trustLastmod: 'never' });
    expect(spared()).toBe(0);
  });

  it('are checked: a page that would be spared is asked all the same when its turn for that comes', async () => {
    const { file, run, change } = await datedSite();
    await run();
    change('/p59', false);
    await run({ trustLastmod: 'always', spotCheck: 1 });
    expect(outcomes(file)['/p59']).toBe('changed content');
  });

  it.each([
    ['learned', true],
    ['never', false],
  ] as const)(
    'that are newer than the visit are heard before Cache-Control is: %s',
    async (trustLastmod, isAsked) => {
      const { file, run, change } = await datedSite({ cacheControl: 'max-age=86400' });
      await run();
      change('/p58', true);
      change('/p59', false);
      await run({ trustLastmod });
      expect(outcomes(file)).toMatchObject({
        '/p58': isAsked ? 'changed content' : 'unchanged freshness',
        '/p59': 'unchanged freshness',
      });
    },
  );

  it.each([true, false])(
    'are heard before pages are spared by Cache-Control, whichever come first (named by robots.txt: %s)',
    async (isNamed) => {
      const { paths, file, run, change } = await datedSite(
        { cacheControl: 'max-age=86400' },
        undefined,
        isNamed,
      );
      await run();
      const announced = paths.filter((_, n) => n % 7 === 0);
      for (const path of announced) change(path, true);
      const { asked } = await run({ perHost: 8, concurrency: 8 });
      const found = outcomes(file);
      expect(paths.filter((path) => found[path] !== 'unchanged freshness')).toEqual(announced);
      expect(asked.filter((path) => path.startsWith('/p')).sort()).toEqual(announced.sort());
    },
  );

  it.each([
    ['Cache-Control', { cacheControl: 'max-age=86400' }, 'freshness'],
    ['their own dates', {}, 'lastmod'],
  ])(
    'are heard before pages are spared by %s, also where they come while a page is being claimed',
    async (_, life, knownBy) => {
      const { file, run, change } = await datedSite(life);
      await run();
      change('/p0', true);
      const { promise: isLooked, resolve: onLooked } = newPromise();
      await run({ trustLastmod: 'always', perHost: 8, concurrency: 8 }, (own) => ({
        async saveDiscovery(...found) {
          await own.sitemaps.saveDiscovery(...found);
          // Once whoever looks has heard of it, too.
          setImmediate(onLooked);
        },
        // As a store on another machine does, it takes its time.
        async claim(...request) {
          const claimed = await own.frontier.claim(...request);
          if (claimed.claims.some(({ url }) => url.includes('/p'))) await isLooked;
          return claimed;
        },
      }));
      const found = outcomes(file);
      expect(Object.keys(found).filter((path) => found[path] !== `unchanged ${knownBy}`)).toEqual([
        '/',
        '/p0',
      ]);
      expect(found['/p0']).toBe('changed content');
    },
  );

  it('keep only those pages waiting that they may spare: the others are asked for while a sitemap does not come', async () => {
    const [fresh, stale] = [
      ['/f0', '/f1', '/f2'],
      ['/s0', '/s1', '/s2'],
    ];
    const site = createChangingPages({
      '/': { links: fresh, cacheControl: 'max-age=86400' },
      ...Object.fromEntries(fresh.map((path) => [path, { cacheControl: 'max-age=86400', links: stale }])),
      ...Object.fromEntries(stale.map((path) => [path, {}])),
    });
    let changedAt = Date.now() - 48 * HOUR;
    let send: (() => void) | null = null;
    const missing = new Set<string>();
    const sendWhenDue = () => {
      if (missing.size > 0) return;
      send?.();
      send = null;
    };
    const web = await bench.web({
      pages: {
        ...site.pages,
        // It comes when all pages were asked for that need not wait for it.
        '/sitemap.xml': (exchange) => {
          const date = new Date(changedAt).toISOString();
          const body = `<urlset><url><loc>${exchange.url('/f1')}</loc><lastmod>${date}</lastmod></url></urlset>`;
          send = () => answer(exchange, { headers: { 'content-type': 'application/xml' }, body });
          sendWhenDue();
        },
        ...Object.fromEntries(
          stale.map((path) => [
            path,
            (exchange) => {
              missing.delete(path);
              (site.pages[path] as Handler)(exchange);
              sendWhenDue();
            },
          ]),
        ),
      },
    });
    const file = bench.file();
    const options = { discover: ['sitemap', 'links'], sitemapCacheHours: 0, spotCheck: 0, retries: 0 };
    await bench.crawl(file, web.url('/'), options);
    site.change('/f1');
    changedAt = Date.now() + HOUR / 2;
    for (const path of stale) missing.add(path);
    const clock = { ...fastClock(1), now: () => Date.now() + HOUR };
    const again: CrawlOptions = { ...options, mode: 'incremental', headersTimeout: 2 };
    await bench.crawl(file, web.url('/'), again, { clock });
    expect(outcomes(file)).toMatchObject({ '/f0': 'unchanged freshness', '/f1': 'changed content' });
  });

  it('are heard before pages are spared that were being claimed when the run was stopped', async () => {
    const { paths, file, run, change } = await datedSite({ cacheControl: 'max-age=86400' });
    await run();
    for (const path of paths) change(path, true);
    let stop = () => {};
    const verbs = (own: RunStore): ChangedVerbs => ({
      async claim(...request) {
        const claimed = await own.frontier.claim(...request);
        if (claimed.claims.some(({ depth }) => depth > 0)) stop();
        return claimed;
      },
    });
    const stopped = await run({ perHost: 8, concurrency: 8 }, verbs, (handle) => {
      stop = () => handle.stop();
    });
    expect(stopped.summary.status).toBe('interrupted');
    await run();
    const found = outcomes(file);
    for (const path of paths) expect(found[path]).toBe('changed content');
  });

  it('spare pages also where robots.txt does not name the sitemap: one that was read before is no guess', async () => {
    const { file, run, change } = await datedSite({}, undefined, false);
    await run();
    change('/p0', true);
    change('/p59', false);
    const { asked } = await run({ trustLastmod: 'always' });
    expect(outcomes(file)).toMatchObject({ '/p0': 'changed content', '/p59': 'unchanged lastmod' });
    expect(asked.filter((path) => path.startsWith('/p'))).toEqual(['/p0']);
    // Trust is learned from them, too.
    const learned = await datedSite({}, undefined, false);
    await learned.run();
    for (let n = 10; n < PAGES; n++) learned.change(`/p${n}`, true);
    await learned.run();
    expect((await learned.run()).asked.filter((path) => path.startsWith('/p'))).toEqual([]);
  });

  it('that name a day only do not hide what changed later on that day', async () => {
    const { file, run, change } = await datedSite({}, (time) => new Date(time).toISOString().slice(0, 10));
    await run();
    change('/p59', true);
    await run({ trustLastmod: 'always' });
    expect(outcomes(file)).toMatchObject({ '/p58': 'unchanged lastmod', '/p59': 'changed content' });
  });

  it('that name a month only do not hide what changed later in that month', async () => {
    const { file, run, change } = await datedSite({}, (time) => new Date(time).toISOString().slice(0, 7));
    await run();
    change('/p59', true);
    await run({ trustLastmod: 'always' });
    expect(outcomes(file)['/p59']).toBe('changed content');
  });

  it('that were of a year to come, and were put right, announce changes again', async () => {
    let isWrong = true;
    const { file, run, change } = await datedSite({ cacheControl: 'max-age=86400' }, (time) =>
      new Date(isWrong ? Date.UTC(2199, 0) : time).toISOString(),
    );
    await run();
    isWrong = false;
    change('/p59', true);
    await run();
    expect(outcomes(file)).toMatchObject({ '/p58': 'unchanged freshness', '/p59': 'changed content' });
  });

  it('say nothing when they were read before the last visit', async () => {
    const { file, run, change } = await datedSite();
    await run();
    change('/p59', true);
    await run({ trustLastmod: 'always', sitemapCacheHours: 24 });
    expect(outcomes(file)['/p59']).toBe('changed content');
  });
});

function newPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
