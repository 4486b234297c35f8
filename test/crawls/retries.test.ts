import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Fetcher } from '../../src/fetch/fetcher.ts';
import { createHttpFetcher } from '../../src/fetch/http-fetcher.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { answer, type FakeWebOptions } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, fastClock, page, seenAs, useBench } from './crawl-site.ts';
import { withVerbs } from './with-verbs.ts';

const bench = useBench();

/** A port where nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The real fetcher; while `isAway()` the host's name is one that the system's resolver does not know. */
function fetcherWith(isAway: () => boolean): Fetcher {
  const real = createHttpFetcher({
    ...{ userAgent: 'sumi-test/1', perHost: 4, clock: systemClock },
    ...{ compress: true, keepAlive: true, http2: false, resolve: new Map(), proxy: {} },
    ...{ connectTimeoutMs: 5000, headersTimeoutMs: 5000, bodyTimeoutMs: 5000, totalTimeoutMs: 5000 },
  });
  return {
    ...{ abortAll: () => real.abortAll(), forgetHost: (name) => real.forgetHost(name) },
    close: () => real.close(),
    fetch: (request) => real.fetch(isAway() ? { ...request, url: 'http://-no-such-host.example/' } : request),
  };
}

describe('retries', () => {
  it.each([true, false])(
    'are for a host that answered, too, when its name is not found for a while (adaptive delay: %s)',
    async (adaptiveDelay) => {
      const web = await bench.web({
        pages: { '/': page('Home', '/1', '/2', '/3'), '/*': page('P') },
      });
      const file = bench.file();
      let requests = 0;
      // robots.txt and the home page are answered; then the network is away for two requests.
      const fetcher = fetcherWith(() => [3, 4].includes(++requests));
      await bench.crawl(file, web.url('/'), { perHost: 1, adaptiveDelay }, { fetcher });
      expect(file.states()).toEqual({
        '/': 'Processed',
        '/1': 'Processed',
        '/2': 'Processed',
        '/3': 'Processed',
      });
      expect(requests).toBe(7);
    },
  );

  it('ask again after a 503 until it gets better', async () => {
    const web = await bench.web({ pages: { '/': misbehaviours.unavailableAtFirst(2) } });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(web.requestsTo('/')).toHaveLength(3);
    expect(file.page('/')).toMatchObject({
      state: 'Processed',
      status_code: 200,
      reason: null,
      retry_count: 2,
    });
    expect(summary.pages).toBe(1);
  });

  it.each([429, 503])('are a pause apart, though a %i says that they may come at once', async (status) => {
    const web = await bench.web({
      pages: { '/': { status, headers: { 'retry-after': '0' } } },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { retries: 2, retryDelay: 30 }, { clock: fastClock(100) });
    const sent = file.rows<{ sent_at: number }>(
      'SELECT sent_at FROM request WHERE page_id IS NOT NULL ORDER BY id',
    );
    expect(sent).toHaveLength(3);
    expect(sent[1].sent_at - sent[0].sent_at).toBeGreaterThanOrEqual(30_000);
    expect(sent[2].sent_at - sent[1].sent_at).toBeGreaterThanOrEqual(60_000);
  });

  it('hold up no page that is queued while the store is asked for what waits', async () => {
    const clock = new FakeClock();
    const web = await bench.web({
      hosts: 2,
      clock,
      pages: {
        '0:/': (exchange) =>
          answer(exchange, { body: page('home', exchange.url('/a'), exchange.url('/x', 1)) }),
        '0:/a': { status: 500 },
        '0:/b': page('b'),
        '1:/x': (exchange) => answer(exchange, { body: page('x', exchange.url('/b', 0)) }),
      },
    });
    const file = bench.file();
    const own = await openStore({ address: file.path, clock, onFailure: () => {} });
    let tell = () => {};
    const isFound = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const store = withVerbs(own, ({ frontier }) => ({
      async claim(...request) {
        const claimed = await frontier.claim(...request);
        // Nothing waits but the page that failed; then another is found, before the answer is here.
        if (claimed.nextRetryAt !== null) await isFound;
        return claimed;
      },
      async settle(lease, settlement) {
        const settled = await frontier.settle(lease, settlement);
        if (lease.host === '127.0.0.2') setImmediate(tell);
        return settled;
      },
    }));
    const options = { allowedHosts: ['any'], retryDelay: 600, perHost: 1 };
    const handle = await bench.begin(file, web.url('/'), options, { clock, store });
    // The clock stands still: nobody waits for the retry.
    await web.asked('/b');
    handle.stop();
    await handle.finished;
  });

  it('end, and the page is Failed with the last answer', async () => {
    const web = await bench.web({
      pages: { '/': page('Home', '/broken'), '/broken': misbehaviours.serverError() },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { retries: 2 });
    expect(web.requestsTo('/broken')).toHaveLength(3);
    expect(file.page('/broken')).toMatchObject({ state: 'Failed', status_code: 500, reason: 'http: 500' });
    expect(summary).toMatchObject({ status: 'completed', pages: 2 });
  });

  it('pause longer each time', async () => {
    const web = await bench.web({ pages: { '/': misbehaviours.unavailableAtFirst(3) } });
    await bench.crawl(bench.file(), web.url('/'), { retryDelay: 0.05, retryBackoff: 'exponential' });
    const gaps = web.gapsMs().slice(1);
    expect(gaps).toHaveLength(3);
    for (const [n, pauseMs] of [50, 100, 200].entries())
      expect(gaps[n]).toBeGreaterThanOrEqual(seenAs(pauseMs));
  });

  it('do not hold up the other pages', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': page('Home', '/busy', '/1', '/2'),
      '/busy': misbehaviours.unavailableAtFirst(1),
      '/*': page('P'),
    };
    const web = await bench.web({ pages });
    await bench.crawl(bench.file(), web.url('/'), { retryDelay: 0.3, perHost: 1 });
    expect(asked(web)).toEqual(['/', '/busy', '/1', '/2', '/busy']);
  });

  it('are counted over a stop and a new start', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', '/broken', '/slow'),
        '/broken': misbehaviours.serverError(),
        '/slow': misbehaviours.slowHeaders(100),
      },
    });
    const file = bench.file();
    const options = { retries: 3, retryDelay: 0.05, retryBackoff: 'constant' } as const;
    const begun = await bench.begin(file, web.url('/'), options);
    await web.asked('/broken', 2);
    begun.stop();
    await begun.finished;
    const before = web.requestsTo('/broken').length;
    expect(before).toBeLessThan(4);
    expect(file.page('/broken').retry_count).toBe(before);
    await bench.crawl(file, web.url('/'), options);
    expect(web.requestsTo('/broken')).toHaveLength(4);
    expect(file.page('/broken')).toMatchObject({ state: 'Failed', reason: 'http: 500' });
  });

  it('are for resets, time-outs and cut bodies too', async () => {
    const onceBad = (bad: (exchange: Parameters<ReturnType<typeof misbehaviours.neverAnswers>>[0]) => void) =>
      ((exchange) =>
        exchange.nth === 1 ? bad(exchange) : answer(exchange, { body: page('Well') })) satisfies ReturnType<
        typeof misbehaviours.neverAnswers
      >;
    const pages: FakeWebOptions['pages'] = {
      '/': page('Home', '/reset', '/half', '/silent', '/long'),
      '/reset': onceBad(misbehaviours.resetsBeforeHead()),
      '/half': onceBad(misbehaviours.resetsMidBody()),
      '/silent': onceBad(misbehaviours.neverAnswers()),
      '/long': onceBad(misbehaviours.contentLengthTooLong()),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    // Over a used connection a reset is no try: silent-closes.test.ts.
    await bench.crawl(file, web.url('/'), { headersTimeout: 0.2, keepAlive: false });
    for (const path of ['/reset', '/half', '/silent', '/long']) {
      expect(file.page(path), path).toMatchObject({ state: 'Processed', title: 'Well', retry_count: 1 });
      expect(web.requestsTo(path)).toHaveLength(2);
    }
  });
});

describe('a connection that is refused', () => {
  it('makes the page Unreachable after the retries, and the run fails when nobody answered at all', async () => {
    const port = await closedPort();
    const file = bench.file();
    const { summary } = await bench.crawl(
      file,
      `http://127.0.0.1:${port}/`,
      { retries: 1, robots: false },
      { clock: fastClock(20) },
    );
    expect(summary).toMatchObject({ status: 'failed', pages: 0 });
    expect(summary.error).not.toBeNull();
    const [row] = file.pages();
    expect(row.state).toBe('Unreachable');
    expect(row.reason).toMatch(/^network: refused/);
    expect(row.retry_count).toBe(1);
    expect(file.rows('SELECT status FROM runs')).toEqual([{ status: 'failed' }]);
  });

  it('of the start host ends the run also where robots.txt would be asked first', async () => {
    const port = await closedPort();
    const file = bench.file();
    const { summary } = await bench.crawl(
      file,
      `http://127.0.0.1:${port}/`,
      { retries: 1 },
      { clock: fastClock(50) },
    );
    expect(summary.status).toBe('failed');
    expect(file.pages()[0].state).toBe('Unreachable');
  });

  it('is final at once where refused connections are not retried', async () => {
    const port = await closedPort();
    const web = await bench.web({
      pages: { '/': page('Home', `http://127.0.0.1:${port}/x`, '/a'), '/a': page('A') },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), {
      ...{ retryRefused: false, perHost: 1, allowedHosts: ['127.0.0.1'] },
    });
    expect(summary.status).toBe('completed');
    expect(file.page('/a').state).toBe('Processed');
    const dead = file.page(`http://127.0.0.1:${port}/x`);
    expect(dead).toMatchObject({ state: 'Unreachable', retry_count: 0 });
  });

  it('in profile terrain is final at once', async () => {
    const port = await closedPort();
    const file = bench.file();
    const { summary } = await bench.crawl(file, `http://127.0.0.1:${port}/`, {
      profile: 'terrain',
      allowHttp: true,
      delay: 0.1,
      robots: false,
      headFirst: false,
    });
    expect(summary.status).toBe('failed');
    expect(file.pages()[0]).toMatchObject({ state: 'Unreachable', retry_count: 0 });
  });
});

describe('pages that are gone', () => {
  it('are DeadLink for 404 and Gone for 410, and not asked again', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', '/404', '/410', '/403'),
        '/410': misbehaviours.gone(),
        '/403': { status: 403 },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(file.page('/404')).toMatchObject({ state: 'DeadLink', status_code: 404, reason: 'http: 404' });
    expect(file.page('/410')).toMatchObject({ state: 'Gone', status_code: 410, reason: 'http: 410' });
    expect(file.page('/403')).toMatchObject({ state: 'Failed', status_code: 403, reason: 'http: 403' });
    for (const path of ['/404', '/410', '/403']) expect(web.requestsTo(path)).toHaveLength(1);
    expect(file.rows("SELECT url, status FROM crawled_pages WHERE status <> 'success' ORDER BY id")).toEqual([
      { url: web.url('/404'), status: 'skipped' },
      { url: web.url('/410'), status: 'skipped' },
      { url: web.url('/403'), status: 'failed' },
    ]);
  });

  it('and answers that make no sense are Failed, not asked again', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', '/304', '/300', '/204'),
        '/304': { status: 304 },
        '/300': { status: 300 },
        '/204': { status: 204 },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(file.page('/304')).toMatchObject({ state: 'Failed', status_code: 304, reason: 'http: 304' });
    expect(file.page('/300')).toMatchObject({ state: 'Failed', status_code: 300, reason: 'http: 300' });
    expect(file.page('/204')).toMatchObject({ state: 'Processed', status_code: 204 });
    for (const path of ['/304', '/300', '/204']) expect(web.requestsTo(path)).toHaveLength(1);
  });

  it('after having been there are asked once more at the end of the run, then Gone', async () => {
    let isThere = true;
    const web = await bench.web({
      pages: {
        '/': page('Home', '/a', '/b', '/c'),
        '/a': (exchange) => answer(exchange, isThere ? { body: page('A') } : { status: 404 }),
        '/*': page('P'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    isThere = false;
    const from = web.log.length;
    const { summary } = await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(web.log.slice(from).map((entry) => entry.path)).toEqual(['/', '/a', '/b', '/c', '/a']);
    expect(file.page('/a')).toMatchObject({ state: 'Gone', status_code: 404, change: 'gone' });
    expect(summary.pages).toBe(4);
  });

  it('for a moment only stay Processed', async () => {
    let asks = 0;
    const web = await bench.web({
      pages: {
        '/': page('Home', '/a'),
        '/a': (exchange) => answer(exchange, ++asks === 2 ? { status: 404 } : { body: page('A') }),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    await bench.crawl(file, web.url('/'));
    expect(web.requestsTo('/a')).toHaveLength(3);
    expect(file.page('/a')).toMatchObject({ state: 'Processed', status_code: 200, title: 'A' });
  });
});
