// A program's own word on found URLs, asked beside the crawl: what it refuses is never requested, however it is found.
import { describe, expect, it } from 'vitest';
import type { JudgeUrls } from '../../src/crawl/discover/judge-urls.ts';
import type { CrawlEvent } from '../../src/events/events.ts';
import { answer } from '../web/fake-web.ts';
import { sitemapOf } from '../web/sitemap-pages.ts';
import { asked, page, useBench } from './crawl-site.ts';
import { crawlInto, eachStore } from './each-store.ts';

const bench = useBench();

const REASON = "where: url NOT LIKE '%/no%'";
const pathOf = (url: string) => new URL(url).pathname;

/** Refuses every path that begins with /no, after some turns of the loop; keeps the questions. */
function useJudge() {
  const questions: string[][] = [];
  const judgeUrls: JudgeUrls = async (urls) => {
    questions.push(urls.map(pathOf));
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    return urls.map((url) => (pathOf(url).startsWith('/no') ? REASON : null));
  };
  return { judgeUrls, questions };
}

const SITE = {
  '/': page('Home', '/a', '/no1', '/b', '/no2', '/a#again', 'https://elsewhere.test/'),
  '/a': page('A', '/no1', '/b', '/', '/no3'),
  '/b': page('B', '/no1', '/c'),
  '/c': page('C', '/no2', '/'),
  '/no1': page('No'),
  '/no2': page('No'),
  '/no3': page('No'),
};

describe('a judge of found URLs', () => {
  it.each(Object.entries(eachStore(bench)))(
    'keeps what it refuses from being requested, with its reason: %s',
    async (_, place) => {
      const web = await bench.web({ pages: SITE });
      const store = await place();
      const { judgeUrls, questions } = useJudge();
      const { handle } = await crawlInto(store, web.url('/'), {}, { judgeUrls });
      expect((await handle.finished).status).toBe('completed');
      expect(asked(web).sort()).toEqual(['/', '/a', '/b', '/c']);
      const refused = await store.rows(
        "SELECT url, reason, depth FROM pages WHERE state = 'Skipped' AND host = '127.0.0.1' ORDER BY url",
      );
      expect(refused).toEqual([
        { url: web.url('/no1'), reason: REASON, depth: 1 },
        { url: web.url('/no2'), reason: REASON, depth: 1 },
        { url: web.url('/no3'), reason: REASON, depth: 2 },
      ]);
      // All of the first page at once, each URL once, and no start URL.
      expect(questions[0]).toEqual(['/a', '/no1', '/b', '/no2']);
      expect(questions.flat().sort()).toEqual(['/a', '/b', '/c', '/no1', '/no2', '/no3']);
    },
  );

  it('leaves the links of each page as they are without it', async () => {
    const web = await bench.web({ pages: SITE });
    const [plain, file] = [bench.file(), bench.file()];
    const options = { perHost: 3, concurrency: 3 };
    await bench.crawl(plain, web.url('/'), options);
    await bench.crawl(file, web.url('/'), options, { judgeUrls: useJudge().judgeUrls });
    const judged = plain.links().filter((link) => !link.startsWith('/no'));
    expect(file.links()).toEqual(judged);
  });

  it('is asked about targets of redirects, and a chain to a refused one fails', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', '/moved', '/gone'),
        '/moved': { status: 301, headers: { location: '/no1' } },
        '/gone': { status: 302, headers: { location: '/ok' } },
        '/ok': page('OK'),
        '/no1': page('No'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), {}, useJudge());
    expect(web.requestsTo('/no1')).toEqual([]);
    expect(file.page('/no1')).toMatchObject({ state: 'Skipped', reason: REASON });
    expect(file.page('/moved')).toMatchObject({
      state: 'Failed',
      reason: `redirect: to ${web.url('/no1')} refused, ${REASON}`,
    });
    expect(file.page('/ok').state).toBe('Processed');
  });

  it('is asked about what sitemaps name', async () => {
    const web = await bench.web({
      pages: {
        ...SITE,
        '/': page('Home'),
        '/sitemap.xml': sitemapOf('/', '/a', '/no1', '/no2', '/b'),
      },
    });
    const file = bench.file();
    const { judgeUrls, questions } = useJudge();
    await bench.crawl(file, web.url('/'), { discover: ['sitemap'] }, { judgeUrls });
    const paths = ['/', '/a', '/b'];
    expect([...new Set(asked(web))].filter((path) => !path.includes('sitemap')).sort()).toEqual(paths);
    expect(questions).toContainEqual(['/a', '/no1', '/no2', '/b']);
    expect(file.page('/no2')).toMatchObject({ state: 'Skipped', reason: REASON });
  });

  it('has the last word on what a shorter way, or a followed link, would open', async () => {
    let settled = () => {};
    const isSettled = new Promise<void>((resolve) => {
      settled = resolve;
    });
    const hear = (event: CrawlEvent) => {
      if (event.type === 'page' && event.url.endsWith('/two')) settled();
    };
    const web = await bench.web({
      pages: {
        '/': page('Home', '/one', '/hub'),
        '/one': page('One', '/two'),
        // Too deep from here, near enough from the hub, which answers last.
        '/two': `${page('Two', '/no-deep', '/deep')}<a rel="nofollow" href="/no-follow">x</a><a rel="nofollow" href="/follow">y</a>`,
        '/hub': async (exchange) => {
          await isSettled;
          answer(exchange, { body: page('Hub', '/no-deep', '/deep', '/no-follow', '/follow') });
        },
        '/deep': page('Deep'),
        '/follow': page('Follow'),
      },
    });
    const file = bench.file();
    const options = { maxDepth: 2, perHost: 2, concurrency: 2 };
    await bench.crawl(file, web.url('/'), options, { ...useJudge(), listeners: [hear] });
    expect(asked(web).sort()).toEqual(['/', '/deep', '/follow', '/hub', '/one', '/two']);
    expect(file.page('/no-deep')).toMatchObject({ state: 'Skipped', reason: REASON, depth: 2 });
    expect(file.page('/no-follow')).toMatchObject({ state: 'Skipped', reason: REASON, depth: 2 });
  });

  it.each(Object.entries(eachStore(bench)))(
    'is asked about known pages when a new run begins: %s',
    async (_, place) => {
      const web = await bench.web({ pages: SITE });
      const store = await place();
      const plain = await crawlInto(store, web.url('/'));
      await plain.handle.finished;
      const before = asked(web).length;
      const judge = useJudge();
      const { handle } = await crawlInto(store, web.url('/'), { mode: 'full' }, judge);
      await handle.finished;
      expect(asked(web).slice(before).sort()).toEqual(['/', '/a', '/b', '/c']);
      const rows = await store.rows(`SELECT count(*) AS n FROM pages WHERE reason LIKE 'where:%'`);
      expect(Number(rows[0].n)).toBe(3);
      // A run without the judge opens them again.
      const again = await crawlInto(store, web.url('/'), { mode: 'full' });
      await again.handle.finished;
      expect(asked(web).length).toBe(before * 2 + 4);
    },
  );

  it('lets other pages go on while it has not answered, more than there are connections', async () => {
    const pages = {
      '/': page('Home', '/a', '/b', '/c'),
      ...{ '/a': page('A', '/a1'), '/b': page('B', '/b1'), '/c': page('C', '/c1') },
      ...{ '/a1': page('1'), '/b1': page('1'), '/c1': page('1') },
    };
    const web = await bench.web({ pages });
    const [plain, file] = [bench.file(), bench.file()];
    await bench.crawl(plain, web.url('/'));
    const waiting: (() => void)[] = [];
    const judgeUrls: JudgeUrls = async (urls) => {
      if (urls.length !== 3) await new Promise<void>((resolve) => waiting.push(resolve));
      return urls.map(() => null);
    };
    const begun = await bench.begin(file, web.url('/'), { perHost: 1, concurrency: 1 }, { judgeUrls });
    while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve));
    // The last first: each page still has its own links.
    for (const answer of waiting.reverse()) answer();
    expect((await begun.finished).status).toBe('completed');
    expect(file.links()).toEqual(plain.links());
  });

  it('ends the run by what it throws, and the same command goes on', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const judgeUrls: JudgeUrls = async (urls) => {
      if (urls.some((url) => url.endsWith('/no3'))) throw new Error('no database');
      return urls.map(() => null);
    };
    await expect(bench.crawl(file, web.url('/'), {}, { judgeUrls })).rejects.toMatchObject({
      code: 'extension-failed',
      message: expect.stringMatching(/judge of found URLs.*no database/),
    });
    expect(file.page('/a').state).toBe('Queued');
    const { summary } = await bench.crawl(file, web.url('/'), {}, useJudge());
    expect(summary.status).toBe('completed');
    expect(web.requestsTo('/no3')).toEqual([]);
    expect(web.requestsTo('/').length).toBe(1);
  });

  it('that throws about a sitemap ends the run, too, and its URLs are asked about again', async () => {
    const web = await bench.web({
      pages: { ...SITE, '/': page('Home'), '/sitemap.xml': sitemapOf('/a', '/no1') },
    });
    const file = bench.file();
    const judgeUrls: JudgeUrls = async () => {
      throw new Error('no database');
    };
    const options = { discover: ['sitemap'] };
    await expect(bench.crawl(file, web.url('/'), options, { judgeUrls })).rejects.toThrow(/no database/);
    await bench.crawl(file, web.url('/'), options, useJudge());
    expect(file.states()).toMatchObject({ '/a': 'Processed', '/no1': 'Skipped' });
  });

  it.each([
    ['too few answers', async () => []],
    ['an answer that is neither null nor a reason', async (urls: readonly string[]) => urls.map(() => true)],
  ])('that gives %s ends the run with its name', async (_, judgeUrls) => {
    const web = await bench.web({ pages: SITE });
    const crawled = bench.crawl(bench.file(), web.url('/'), {}, { judgeUrls: judgeUrls as never });
    await expect(crawled).rejects.toMatchObject({ code: 'extension-failed' });
  });

  it('that never answers is given up when the drain time is over: its page is requested again', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    let isAsked = false;
    const judgeUrls: JudgeUrls = (_, signal) => {
      isAsked = true;
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('given up'))),
      );
    };
    const begun = await bench.begin(file, web.url('/'), { drainSeconds: 0 }, { judgeUrls });
    while (!isAsked) await new Promise((resolve) => setImmediate(resolve));
    begun.stop();
    expect((await begun.finished).status).toBe('interrupted');
    expect(file.page('/')).toMatchObject({ state: 'Queued', retry_count: 0 });
    await bench.crawl(file, web.url('/'), {}, useJudge());
    expect(web.requestsTo('/').length).toBe(2);
    expect(web.requestsTo('/no1')).toEqual([]);
  });
});
