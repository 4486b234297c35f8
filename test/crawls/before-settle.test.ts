// A stage between comparing and settling, given by a program: what it has not kept is not settled.
import { describe, expect, it } from 'vitest';
import type { BeforeSettle, SettlingVisit } from '../../src/crawl/parts.ts';
import type { Handler } from '../web/fake-web.ts';
import { page, useBench } from './crawl-site.ts';

const bench = useBench();

const SITE = {
  '/': page('Home', '/a', '/b', '/moved', '/missing'),
  '/a': page('A'),
  '/b': page('B'),
  '/moved': { status: 301, headers: { location: '/a' } },
};

const pathOf = ({ url }: SettlingVisit) => new URL(url).pathname;

describe('a stage before settling', () => {
  it('gets each final visit once, with its body, and before the page is stored', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const seen: string[] = [];
    const beforeSettle: BeforeSettle = async (visit) => {
      const body = visit.body === null ? '' : Buffer.from(visit.body).toString();
      seen.push(
        `${pathOf(visit)} ${visit.state} ${visit.statusCode} ${body.includes('<h1>')} ${visit.redirectTo}`,
      );
      await new Promise((resolve) => setImmediate(resolve));
      return 'settle' as const;
    };
    const { events } = await bench.crawl(file, web.url('/'), {}, { beforeSettle });
    expect(seen.sort()).toEqual([
      '/ Processed 200 true null',
      '/a Processed 200 true null',
      '/b Processed 200 true null',
      '/missing DeadLink 404 false null',
      `/moved Processed 301 false ${web.url('/a')}`,
    ]);
    expect(events.filter(({ type }) => type === 'page').length).toBe(5);
  });

  it('lets other pages go on while it has not answered, more than there are connections', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const waiting: (() => void)[] = [];
    const beforeSettle: BeforeSettle = (visit) =>
      pathOf(visit) === '/' ? 'settle' : new Promise((resolve) => waiting.push(() => resolve('settle')));
    const begun = await bench.begin(file, web.url('/'), { perHost: 1, concurrency: 1 }, { beforeSettle });
    while (waiting.length < 4) await new Promise((resolve) => setImmediate(resolve));
    for (const answer of waiting) answer();
    expect((await begun.finished).status).toBe('completed');
  });

  it('has a page visited again that it did not keep', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const refused = new Set<string>();
    const beforeSettle: BeforeSettle = async (visit) => {
      if (pathOf(visit) !== '/a' || refused.has(visit.url)) return 'settle' as const;
      refused.add(visit.url);
      return 'again' as const;
    };
    await bench.crawl(file, web.url('/'), {}, { beforeSettle });
    expect(web.requestsTo('/a').length).toBe(2);
    expect(file.pages().filter(({ state }) => state === 'Queued')).toEqual([]);
  });

  it('ends the run by what it throws, and the same command goes on', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const beforeSettle: BeforeSettle = async (visit) => {
      if (pathOf(visit) === '/b') throw new Error('disk full');
      return 'settle' as const;
    };
    await expect(bench.crawl(file, web.url('/'), {}, { beforeSettle })).rejects.toThrow(/disk full/);
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary.status).toBe('completed');
    expect(file.pages().filter(({ state }) => state === 'Processed').length).toBe(4);
    expect(web.requestsTo('/').length).toBe(1);
  });
});

describe('start URLs that stand for a site, or for themselves', () => {
  const urlset = (url: string) =>
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${url}</loc></url></urlset>`;

  it('request what the sitemaps name and not the page, a page without its sitemaps', async () => {
    const web = await bench.web({ pages: SITE });
    const sitemap: Handler = ({ response, url }) => {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(urlset(url('/a')));
    };
    const withMap = await bench.web({ pages: { ...SITE, '/sitemap.xml': sitemap } });
    const crawlAs = async (site: typeof web, meaning: 'site' | 'page') => {
      const file = bench.file();
      const start = site.url('/');
      const request = { discover: ['sitemap' as const] };
      await bench.crawl(file, start, request, { meanings: new Map([[start, meaning]]) });
      return file
        .pages()
        .filter(({ state }) => state === 'Processed')
        .map(({ url }) => new URL(url as string).pathname);
    };
    expect(await crawlAs(withMap, 'site')).toEqual(['/a']);
    expect(await crawlAs(web, 'site')).toEqual(['/']);
    expect(await crawlAs(withMap, 'page')).toEqual(['/']);
    expect(withMap.requestsTo('/sitemap.xml').length).toBe(1);
  });
});

describe('a page that is refused without a request', () => {
  const robots = 'User-agent: *\nDisallow: /b';

  it('is told to the stage before it is settled, with what refused it', async () => {
    const web = await bench.web({ pages: SITE, robots });
    const file = bench.file();
    const seen: SettlingVisit[] = [];
    const beforeSettle: BeforeSettle = async (visit) => {
      seen.push(visit);
      await new Promise((resolve) => setImmediate(resolve));
      return 'settle' as const;
    };
    await bench.crawl(file, web.url('/'), {}, { beforeSettle });
    expect(seen.map(pathOf).sort()).toEqual(['/', '/a', '/b', '/missing', '/moved']);
    expect(seen.find((visit) => pathOf(visit) === '/b')).toMatchObject({
      ...{ url: web.url('/b'), fetchUrl: web.url('/b'), depth: 1, pageId: expect.any(Number) },
      ...{ state: 'Skipped', reason: 'robots: Disallow /b', outcome: null, knownBy: null, failure: null },
      ...{ statusCode: null, hasFacts: false, body: null, text: null, redirectTo: null, headers: null },
    });
    expect(file.page('/b')).toMatchObject({ state: 'Skipped', reason: 'robots: Disallow /b' });
    expect(web.requestsTo('/b')).toEqual([]);
  });

  it('comes again where it was not kept, and holds up no other page of its host', async () => {
    const pages = { '/': page('Home', '/b1', '/b2', '/b3', '/a'), '/a': page('A') };
    const web = await bench.web({ pages, robots });
    const file = bench.file();
    const waiting: (() => void)[] = [];
    let refused = 0;
    const beforeSettle: BeforeSettle = (visit) => {
      if (pathOf(visit) === '/b1' && refused++ === 0) return 'again';
      if (visit.outcome !== null) return 'settle';
      return new Promise((resolve) => waiting.push(() => resolve('settle')));
    };
    const begun = await bench.begin(file, web.url('/'), { perHost: 1, concurrency: 1 }, { beforeSettle });
    while (waiting.length < 3 || web.requestsTo('/a').length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    for (const answer of waiting) answer();
    expect((await begun.finished).status).toBe('completed');
    expect(refused).toBe(2);
    expect(file.pages().map(({ state }) => state)).toEqual([
      'Processed',
      'Skipped',
      'Skipped',
      'Skipped',
      'Processed',
    ]);
  });

  it('ends the run where the stage throws, and is refused again when it goes on', async () => {
    const web = await bench.web({ pages: SITE, robots });
    const file = bench.file();
    const beforeSettle: BeforeSettle = (visit) => {
      if (visit.reason?.startsWith('robots:')) throw new Error('disk full');
      return 'settle';
    };
    await expect(bench.crawl(file, web.url('/'), {}, { beforeSettle })).rejects.toThrow(/disk full/);
    expect(file.page('/b').state).toBe('Queued');
    await bench.crawl(file, web.url('/'));
    expect(file.page('/b').state).toBe('Skipped');
  });
});

describe('the header fields of answers', () => {
  const withFields: Handler = ({ response }) => {
    response.writeHead(200, [
      ...['Content-Type', 'text/html', 'X-Two', 'a', 'X-Two', 'b'],
      ...['X-Powered-By', 'tea ', 'Connection', 'close'],
    ]);
    response.end(page('Home', '/a'));
  };
  const crawlWith = async (more: { wantsHeaders?: boolean }) => {
    const web = await bench.web({ pages: { '/': withFields, '/a': page('A') } });
    const headers = new Map<string, SettlingVisit['headers']>();
    const beforeSettle: BeforeSettle = (visit) => {
      headers.set(pathOf(visit), visit.headers);
      return 'settle';
    };
    await bench.crawl(bench.file(), web.url('/'), {}, { beforeSettle, ...more });
    return headers;
  };

  it('are given in their order, where they are wanted', async () => {
    const headers = await crawlWith({ wantsHeaders: true });
    expect(headers.get('/')!.filter(([name]) => name !== 'date')).toEqual([
      ['content-type', 'text/html'],
      ['x-two', 'a'],
      ['x-two', 'b'],
      ['x-powered-by', 'tea'],
      ['connection', 'close'],
      ['transfer-encoding', 'chunked'],
    ]);
    expect(Object.fromEntries(headers.get('/a')!)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
    });
  });

  it('are not kept where nobody wants them', async () => {
    expect([...(await crawlWith({})).values()]).toEqual([null, null]);
  });
});
