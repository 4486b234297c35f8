// HEAD before GET at hosts that answer HEAD badly, and at those that answer it well.
import { describe, expect, it } from 'vitest';
import { sumi } from '../cli/run-sumi.ts';
import { answer, type FakeWeb, type FixedAnswer, type Handler } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { type CrawlOptions, fastClock, page, useBench } from './crawl-site.ts';

const bench = useBench();
const HEAD_FIRST: CrawlOptions = { headFirst: true, perHost: 1, retries: 0 };
const PATHS = ['/a', '/b', '/c', '/d', '/e'];

/** Answers HEAD and GET each in its own way. */
const split =
  (toHead: Handler | FixedAnswer, toGet: FixedAnswer | string): Handler =>
  (exchange) => {
    const isHead = exchange.request.method === 'HEAD';
    const own = isHead ? toHead : typeof toGet === 'string' ? { body: toGet } : toGet;
    if (typeof own === 'function') own(exchange);
    else answer(exchange, own);
  };

/** A home page and five more, whose HEAD and GET are answered so. */
function siteOf(toHead: Handler | FixedAnswer, toGet: FixedAnswer | string = page('Here')) {
  return bench.web({
    pages: { '/': page('Home', ...PATHS), '/*': split(toHead, toGet), '/robots.txt': { status: 404 } },
  });
}

const methods = (web: FakeWeb) =>
  web.log.filter(({ path }) => path !== '/robots.txt').map(({ method, path }) => `${method} ${path}`);

const HOME = ['HEAD /', 'GET /'];
const BY_GET = PATHS.slice(1).map((path) => `GET ${path}`);

describe('a host that answers HEAD and GET differently', () => {
  it.each<[string, Handler | FixedAnswer, CrawlOptions?]>([
    ['404', { status: 404 }],
    ['410', { status: 410 }],
    ['a closed connection', misbehaviours.resetsBeforeHead()],
    ['silence', misbehaviours.neverAnswers(), { headersTimeout: 0.1 }],
    ['405', { status: 405 }],
    ['500', { status: 500 }],
  ])('is asked by GET from then on, and loses no page: %s to HEAD', async (_, toHead, more) => {
    const web = await siteOf(toHead);
    const file = bench.file();
    const { events } = await bench.crawl(file, web.url('/'), { ...HEAD_FIRST, ...more });
    expect(Object.values(file.states())).toEqual(Array(6).fill('Processed'));
    // A HEAD over a used connection that is closed may have been lost there, and is sent once more.
    const asked = methods(web).filter((line, at, all) => line !== all[at - 1]);
    expect(asked).toEqual([...HOME, 'HEAD /a', 'GET /a', ...BY_GET]);
    expect(file.rows('SELECT head_checks, failures FROM host')).toEqual([{ head_checks: -1, failures: 0 }]);
    const told = events.filter((event) => event.type === 'host' && event.what === 'head-differs');
    expect(told).toHaveLength(1);
  });

  it('is so too where GET finds nothing of what HEAD promised', async () => {
    const web = await siteOf({ status: 200, headers: { 'content-type': 'text/html' } }, { status: 404 });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), HEAD_FIRST);
    expect(methods(web)).toEqual([...HOME, 'HEAD /a', 'GET /a', ...BY_GET]);
    expect(file.page('/a')).toMatchObject({ state: 'DeadLink', reason: 'http: 404' });
  });

  it('is known by the next run', async () => {
    const web = await siteOf({ status: 404 });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), HEAD_FIRST);
    web.log.length = 0;
    await bench.crawl(file, web.url('/'), HEAD_FIRST);
    expect(methods(web)).toEqual(['GET /', 'GET /a', ...BY_GET]);
  });

  it('is told by why, request by request', async () => {
    const web = await siteOf({ status: 404 });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), HEAD_FIRST);
    const { stdout: text } = await sumi(['why', web.url('/a'), '--db', file.path]);
    expect(text).toMatch(
      /HEAD 404 .*\(asked by GET, too: it is not known yet whether this host answers HEAD well\)/,
    );
    expect(text).toMatch(/GET 200/);
  });
});

describe('a host that answers HEAD well', () => {
  it.each<[string, Handler | FixedAnswer, FixedAnswer, string, string]>([
    ['404', { status: 404 }, { status: 404 }, 'DeadLink', 'http: 404'],
    ['410', { status: 410 }, { status: 410 }, 'Gone', 'http: 410'],
  ])(
    'is asked by GET for the first three pages that HEAD does not find: %s',
    async (_, toHead, toGet, state, reason) => {
      const web = await siteOf(toHead, toGet);
      const file = bench.file();
      await bench.crawl(file, web.url('/'), HEAD_FIRST);
      expect(methods(web)).toEqual([
        ...HOME,
        ...['HEAD /a', 'GET /a', 'HEAD /b', 'GET /b', 'HEAD /c', 'GET /c'],
        ...['HEAD /d', 'HEAD /e'],
      ]);
      for (const path of PATHS) expect(file.page(path)).toMatchObject({ state, reason });
      expect(file.rows('SELECT head_checks FROM host')).toEqual([{ head_checks: 3 }]);
    },
  );

  it.each([429, 503])('is not suspected because GET is refused for now: %i', async (status) => {
    const web = await siteOf({ status: 200, headers: { 'content-type': 'text/html' } }, { status });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { ...HEAD_FIRST, maxRetryAfter: 0.01, on429: 'suspend' });
    expect(file.rows('SELECT head_checks FROM host')).toEqual([{ head_checks: 0 }]);
  });
});

describe('a host that answers HEAD badly and refuses GET for now', () => {
  it.each([503, 500, 429])(
    'loses no page: a GET answered %i does not confirm what HEAD said',
    async (status) => {
      const askedBy = new Map<string, number>();
      const busyAtFirst: Handler = (exchange) => {
        const { method, url: path = '' } = exchange.request;
        if (method === 'HEAD') return void answer(exchange, { status: 404 });
        const nth = (askedBy.get(path) ?? 0) + 1;
        askedBy.set(path, nth);
        answer(exchange, nth === 1 ? { status } : { body: page('Here') });
      };
      const pages = { '/': page('Home', ...PATHS), '/*': busyAtFirst, '/robots.txt': { status: 404 } };
      const web = await bench.web({ pages });
      const file = bench.file();
      const options = { ...HEAD_FIRST, retries: 3, retryDelay: 2 };
      await bench.crawl(file, web.url('/'), options, { clock: fastClock(20) });
      expect(Object.values(file.states())).toEqual(Array(6).fill('Processed'));
      expect(file.rows('SELECT head_checks FROM host')).toEqual([{ head_checks: -1 }]);
    },
  );
});

describe('a host that does not answer at all', () => {
  it('is asked twice for three pages, and its failures to answer GET count', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', ...PATHS),
        '/*': misbehaviours.resetsBeforeHead(),
        '/robots.txt': { status: 404 },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { ...HEAD_FIRST, breakerFailures: 100 });
    const heads = web.log.filter(({ method }) => method === 'HEAD').map(({ path }) => path);
    expect([...new Set(heads)]).toEqual(['/', ...PATHS]);
    const gets = web.log.filter(({ method, path }) => method === 'GET' && path !== '/robots.txt');
    expect([...new Set(gets.map(({ path }) => path))]).toEqual(['/', '/a', '/b', '/c']);
    for (const path of PATHS) expect(file.page(path).state).toBe('Failed');
  });
});
