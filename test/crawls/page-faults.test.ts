// What a stage throws on one page ends that page and nothing else, on both stores. The throws are real ones: a parser or
// fetcher that a program gave answers with something that a later stage cannot work with.
import { describe, expect, it } from 'vitest';
import type { Extensions } from '../../src/crawl/wire.ts';
import type { FaultEvent } from '../../src/events/events.ts';
import type { FetchedBody, Fetcher } from '../../src/fetch/fetcher.ts';
import { createHttpFetcher } from '../../src/fetch/http-fetcher.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import type { FakeWebOptions } from '../web/fake-web.ts';
import { type CrawlOptions, page, useBench } from './crawl-site.ts';
import { crawlInto, eachStore, type StorePlace } from './each-store.ts';

const bench = useBench();
const ODD = { headers: { 'content-type': 'application/x-odd' }, body: 'odd' };

/** Its answer passes for one, until a later stage takes the title for a text. */
const PARSERS: Extensions['parsers'] = {
  'application/x-odd': () => ({ title: 5 as unknown as string }),
};

const STORES = eachStore(bench);

async function crawl(at: StorePlace, url: string, extensions: Extensions, more: CrawlOptions = {}) {
  const { handle, events } = await crawlInto(at, url, more, extensions);
  return {
    handle,
    faults: () => events.filter((event): event is FaultEvent => event.type === 'fault'),
  };
}

const odd = (count: number): NonNullable<FakeWebOptions['pages']> => ({
  '/': page('Home', ...Array.from({ length: count }, (_, i) => `/odd/${i}`), '/last'),
  '/odd/*': ODD,
  '/last': page('Last'),
});

/** The real fetcher, whose body for one path is such that reading it throws. */
function fetcherThat(spoils: (path: string, body: FetchedBody) => FetchedBody, throwsAt = ''): Fetcher {
  const real = createHttpFetcher({
    ...{ userAgent: 'sumi-test/1', perHost: 4, clock: systemClock },
    ...{ compress: true, keepAlive: true, http2: false, resolve: new Map(), proxy: {} },
    ...{ connectTimeoutMs: 5000, headersTimeoutMs: 5000, bodyTimeoutMs: 5000, totalTimeoutMs: 5000 },
  });
  return {
    ...real,
    abortAll: () => real.abortAll(),
    forgetHost: (name) => real.forgetHost(name),
    close: () => real.close(),
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const isSpoiled = path === '/robots.txt' || path === '/sitemap.xml';
      const outcome = await real.fetch(isSpoiled ? { ...request, onPiece: undefined } : request);
      if (path === throwsAt) throw new RangeError(`bang at ${path}`);
      return outcome.body === null ? outcome : { ...outcome, body: spoils(path, outcome.body) };
    },
  };
}

const whole = (_path: string, body: FetchedBody) => body;

for (const [name, place] of Object.entries(STORES)) {
  describe(`what a stage throws on one page, on ${name}`, () => {
    it('is the outcome of that page, with its request in the log, and the run goes on', async () => {
      const web = await bench.web({ pages: odd(3) });
      const at = await place();
      const { handle, faults } = await crawl(at, web.url('/'), { parsers: PARSERS }, { concurrency: 1 });
      const summary = await handle.finished;
      expect(summary).toMatchObject({
        status: 'completed',
        by_state: { Processed: 2, Failed: 3 },
        waiting: 0,
      });
      const failed = await at.rows(
        "SELECT fetch_url, reason, status_code FROM pages WHERE state = 'Failed' ORDER BY fetch_url",
      );
      expect(failed).toEqual(
        [0, 1, 2].map((i) => ({
          fetch_url: web.url(`/odd/${i}`),
          reason: 'internal: text?.replace is not a function',
          status_code: 200,
        })),
      );
      const logged = await at.rows(
        "SELECT r.status_code FROM request r JOIN pages p ON p.id = r.page_id WHERE p.state = 'Failed'",
      );
      expect(logged).toEqual([{ status_code: 200 }, { status_code: 200 }, { status_code: 200 }]);
      expect(faults()).toHaveLength(3);
      expect(faults()[0].stack).toMatch(/TypeError: text\?\.replace is not a function\n +at .*read-content/);
      // Settled for good: nothing of it is left to go on with.
      expect(await at.rows("SELECT id FROM pages WHERE state IN ('Queued', 'Fetching')")).toEqual([]);
    });

    it('stops the run after 20 of them, which says so, and goes on when it is called again', async () => {
      const web = await bench.web({ pages: odd(25) });
      const at = await place();
      const one = await crawl(at, web.url('/'), { parsers: PARSERS }, { concurrency: 1 });
      await expect(one.handle.finished).rejects.toMatchObject({
        code: 'internal-failures',
        exitCode: 1,
        message: expect.stringMatching(
          /^20 pages of this run failed because of a defect of sumi; the first was \S+\/odd\/\d+, with the reason "internal: text\?\.replace is not a function"\.$/,
        ),
      });
      expect(await at.rows('SELECT status FROM runs')).toEqual([{ status: 'interrupted' }]);
      const failed = async () => (await at.rows("SELECT id FROM pages WHERE state = 'Failed'")).length;
      expect(await failed()).toBe(20);
      const two = await crawl(at, web.url('/'), { parsers: PARSERS }, { concurrency: 1 });
      expect(await two.handle.finished).toMatchObject({ status: 'completed', run: one.handle.runId });
      expect(await failed()).toBe(25);
      expect(web.log.filter(({ path }) => path.startsWith('/odd/'))).toHaveLength(25);
      expect(await at.rows("SELECT state FROM pages WHERE title = 'Last'")).toEqual([{ state: 'Processed' }]);
    });

    it('is that of a page whose request threw: its slot is free again, and the next page is asked', async () => {
      const web = await bench.web({
        pages: { '/': page('Home', '/a', '/b'), '/a': page('A'), '/b': page('B') },
      });
      const at = await place();
      const more = { concurrency: 1, perHost: 1, maxPages: 3 };
      const { handle, faults } = await crawl(at, web.url('/'), { fetcher: fetcherThat(whole, '/a') }, more);
      const summary = await handle.finished;
      expect(summary).toMatchObject({ status: 'completed', by_state: { Processed: 2, Failed: 1 } });
      expect(faults()).toMatchObject([{ url: web.url('/a'), reason: 'internal: bang at /a' }]);
      const logged = await at.rows(
        'SELECT r.status_code, r.failure FROM request r JOIN pages p ON p.id = r.page_id ORDER BY r.id',
      );
      expect(logged).toHaveLength(3);
      expect(logged.filter(({ failure }) => failure === 'other')).toHaveLength(1);
    });

    it('is no end of the run either for a robots.txt or a sitemap', async () => {
      const pages = { '/': page('Home', '/a'), '/a': page('A') };
      const unreadable = (path: string) => (asked: string, body: FetchedBody) => {
        if (asked !== path) return body;
        const bytes = {
          slice: () => 7,
          subarray: () => {
            throw new RangeError('no such bytes');
          },
        };
        return { ...body, bytes: bytes as unknown as Uint8Array };
      };
      const web = await bench.web({
        pages: { ...pages, '/sitemap.xml': '<urlset/>' },
        robots: 'User-agent: *',
      });
      const bySitemap = await place();
      const found: CrawlOptions = { discover: ['sitemap', 'links'], sitemapPaths: ['/sitemap.xml'] };
      const one = await crawl(
        bySitemap,
        web.url('/'),
        { fetcher: fetcherThat(unreadable('/sitemap.xml')) },
        found,
      );
      expect(await one.handle.finished).toMatchObject({ status: 'completed', by_state: { Processed: 2 } });
      expect(one.faults()).toMatchObject([{ reason: 'internal: no such bytes' }]);

      const byRobots = await place();
      const two = await crawl(byRobots, web.url('/'), { fetcher: fetcherThat(unreadable('/robots.txt')) });
      expect(await two.handle.finished).toMatchObject({ status: 'completed', by_state: { Failed: 1 } });
      expect(two.faults()).toMatchObject([{ url: web.url('/robots.txt') }]);
      expect(await byRobots.rows('SELECT state, reason FROM pages')).toEqual([
        { state: 'Failed', reason: expect.stringMatching(/^internal: .* \(reading .*\/robots\.txt\)$/) },
      ]);
    });
  });
}

describe('a page in an encoding that no browser decodes', () => {
  it('is read as the replacement character, and the crawl goes on', async () => {
    const labels = [
      'hz-gb-2312',
      'iso-2022-kr',
      'iso-2022-cn',
      'iso-2022-cn-ext',
      'csiso2022kr',
      'replacement',
    ];
    const pages: FakeWebOptions['pages'] = {
      '/': page('Home', ...labels.flatMap((label) => [`/header/${label}`, `/meta/${label}`]), '/last'),
      '/last': page('Last'),
    };
    for (const label of labels) {
      const body = page('Title');
      pages[`/header/${label}`] = { headers: { 'content-type': `text/html; charset=${label}` }, body };
      pages[`/meta/${label}`] = {
        headers: { 'content-type': 'text/html' },
        body: `<meta charset="${label}">${body}`,
      };
    }
    const web = await bench.web({ pages });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary).toMatchObject({ status: 'completed', by_state: { Processed: 14 } });
    expect(file.rows('SELECT charset, count(*) AS n FROM pages WHERE title IS NULL GROUP BY 1')).toEqual([
      { charset: 'replacement', n: 12 },
    ]);
    expect(file.text('/header/iso-2022-kr')).toBe('\ufffd');
  });
});
