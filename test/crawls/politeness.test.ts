import { describe, expect, it } from 'vitest';
import { earliestArrivals, startBeats } from '../faults/beats.ts';
import { answer, type FakeWeb, type FakeWebOptions, type Handler } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, fastClock, page, seenAs, useBench } from './crawl-site.ts';

const bench = useBench();
const beats = startBeats();

/** A gap counts from when a request can have arrived, not from when this process, which may have stood still, saw it. */
function gapsOf(web: FakeWeb, host: number): number[] {
  const arrivals = earliestArrivals(web.log, beats);
  const own = web.log.flatMap((entry, at) => (entry.host === host ? [at] : []));
  return own.slice(1).map((at, n) => web.log[at].atMs - arrivals[own[n]]);
}

function expectGaps(web: FakeWeb, delayMs: number, host = 0): void {
  const gaps = gapsOf(web, host);
  expect(gaps.length).toBeGreaterThan(0);
  for (const gapMs of gaps) expect(gapMs).toBeGreaterThanOrEqual(seenAs(delayMs));
  // Only the first and the last of many can be seen late by much.
  const spanMs = gaps.reduce((sum, gapMs) => sum + gapMs, 0);
  expect(spanMs).toBeGreaterThanOrEqual(gaps.length * delayMs - seenAs(delayMs));
}

/** Milliseconds from the answer of a path's first request to whatever the host was asked next. */
function pauseAfter(web: FakeWeb, path: string): number {
  const at = web.log.findIndex((entry) => entry.path === path);
  return web.log[at + 1].atMs - web.log[at].atMs;
}

const list = (count: number) => page('Home', ...Array.from({ length: count }, (_, n) => `/p/${n}`));

describe('the delay', () => {
  it('lies between all requests of a host, however many may be open at once', async () => {
    const pages: FakeWebOptions['pages'] = { '/': list(8), '/p/*': misbehaviours.slowHeaders(120) };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { delay: 0.06, perHost: 5 });
    expect(asked(web)).toHaveLength(9);
    expectGaps(web, 60);
    // They did overlap: an answer takes two delays.
    const open = web.log.some((entry, n) => n > 0 && web.log[n - 1].endedMs! > entry.atMs);
    expect(open).toBe(true);
  });

  it('never lets more be open at once than per-host says', async () => {
    const pages: FakeWebOptions['pages'] = { '/': list(12), '/p/*': misbehaviours.slowHeaders(30) };
    const web = await bench.web({ pages });
    await bench.crawl(bench.file(), web.url('/'), { perHost: 3, concurrency: 20 });
    const open = web.log.map(
      ({ atMs }) => web.log.filter((other) => other.atMs <= atMs && other.endedMs! > atMs).length,
    );
    expect(Math.max(...open)).toBe(3);
  });

  it('lets as many be open as per-host says as soon as so many wait', async () => {
    const held: (() => void)[] = [];
    // Nobody is answered before three are open: fewer at once would wait for ever.
    const together: Handler = ({ response }) => {
      held.push(() => response.end('<p>here'));
      if (held.length === 3) for (const end of held.splice(0)) end();
    };
    const web = await bench.web({ pages: { '/': list(3), '/p/*': together } });
    await bench.crawl(bench.file(), web.url('/'), { perHost: 3, retries: 0, headersTimeout: 5 });
    expect(asked(web)).toHaveLength(4);
    expect(web.log.map(({ status }) => status)).toEqual([404, 200, 200, 200, 200]);
  });

  it('never lets more be open at once over all hosts than concurrency says', async () => {
    const pages: FakeWebOptions['pages'] = { '/': misbehaviours.slowHeaders(40) };
    const web = await bench.web({ hosts: 8, pages });
    const starts = web.origins.map((origin) => `${origin}/`);
    await bench.crawl(bench.file(), starts, { concurrency: 3, robots: false });
    expect(asked(web)).toHaveLength(8);
    const open = web.log.map(
      ({ atMs }) => web.log.filter((other) => other.atMs <= atMs && other.endedMs! > atMs).length,
    );
    expect(Math.max(...open)).toBe(3);
  });

  it('of one host does not hold up the others', async () => {
    const web = await bench.web({ graph: { seed: 7, pages: 50, hosts: 10 } });
    const file = bench.file();
    const starts = web.origins.map((origin) => `${origin}/`);
    await bench.crawl(file, starts, { delay: 0.2, concurrency: 40 });
    expect(asked(web)).toHaveLength(50);
    for (let host = 0; host < 10; host++) expectGaps(web, 200, host);
    // Side by side: every host has begun before any is done.
    const slots = web.origins.map((_, host) =>
      web.log.flatMap((entry, at) => (entry.host === host ? [at] : [])),
    );
    const lastBegun = Math.max(...slots.map((own) => own[0]));
    const firstDone = Math.min(...slots.map((own) => own[own.length - 1]));
    expect(lastBegun).toBeLessThan(firstDone);
  });

  it('is not waited for when nothing is left to ask', async () => {
    const web = await bench.web({ pages: { '/': page('Home') } });
    const options = { delay: 3600, robots: false };
    const { summary } = await bench.crawl(bench.file(), web.url('/'), options);
    expect(summary).toMatchObject({ status: 'completed', pages: 1 });
  });

  it('holds from one project to the next in the same file', async () => {
    const web = await bench.web({ pages: { '/': page('Home') } });
    const file = bench.file();
    const options = { delay: 0.3 };
    await bench.crawl(file, web.url('/'), { ...options, project: 'one' });
    await bench.crawl(file, web.url('/'), { ...options, project: 'two' });
    expect(asked(web)).toEqual(['/', '/']);
    expectGaps(web, 300);
  });

  it('holds after a stop and a new start', async () => {
    const web = await bench.web({ pages: { '/': list(3), '/p/*': page('P') } });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'), { delay: 0.2 });
    await web.asked('/');
    begun.stop();
    await begun.finished;
    await bench.crawl(file, web.url('/'), { delay: 0.2 });
    expect(asked(web)).toHaveLength(4);
    expectGaps(web, 200);
  });

  it('of robots.txt is waited for however long, to the end', async () => {
    const web = await bench.web({
      pages: { '/': list(3), '/p/*': page('P') },
      robots: misbehaviours.robotsCrawlDelay(90),
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), {}, { clock: fastClock(1000) });
    expect(summary.by_state).toEqual({ Processed: 4 });
    expectGaps(web, 90);
  });
});

describe('the order of a host’s pages', () => {
  it('is priority, then first seen first; never depth first', async () => {
    const pages = {
      '/': page('Home', '/b/1', '/a/1', '/b/2'),
      '/a/1': page('A1', '/a/2', '/b/3'),
      '/a/2': page('A2', '/a/3'),
      '/*': page('P'),
    };
    const web = await bench.web({ pages });
    await bench.crawl(bench.file(), web.url('/'), {
      include: ['/a/'],
      includeMode: 'prefer',
      perHost: 1,
      concurrency: 1,
    });
    expect(asked(web)).toEqual(['/', '/a/1', '/a/2', '/a/3', '/b/1', '/b/2', '/b/3']);

    const plain = await bench.web({ pages });
    await bench.crawl(bench.file(), plain.url('/'), { perHost: 1, concurrency: 1 });
    expect(asked(plain)).toEqual(['/', '/b/1', '/a/1', '/b/2', '/a/2', '/b/3', '/a/3']);
  });
});

describe('429', () => {
  const limited = (handler: Handler): FakeWebOptions['pages'] => ({
    '/': list(6),
    '/p/0': handler,
    '/p/*': page('P'),
  });

  it('with Retry-After in seconds keeps everybody from the host for so long, then the URL is asked again', async () => {
    const web = await bench.web({ pages: limited(misbehaviours.rateLimitedForSeconds(1, 3)) });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 }, { clock: fastClock(10) });
    expect(pauseAfter(web, '/p/0')).toBeGreaterThanOrEqual(seenAs(300));
    expect(web.requestsTo('/p/0')).toHaveLength(2);
    expect(file.page('/p/0')).toMatchObject({ state: 'Processed', status_code: 200, reason: null });
  });

  it('with Retry-After as a date waits for the date', async () => {
    const clock = fastClock(10);
    const web = await bench.web({ pages: limited(misbehaviours.rateLimitedUntilDate(1, 4)), clock });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 }, { clock });
    // The date has whole seconds only: up to one of them is lost.
    expect(pauseAfter(web, '/p/0')).toBeGreaterThanOrEqual(seenAs(300));
    expect(file.page('/p/0').state).toBe('Processed');
  });

  it('without Retry-After waits one second, then one, then two', async () => {
    const web = await bench.web({ pages: { '/': misbehaviours.rateLimitedSilently(3) } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 }, { clock: fastClock(10) });
    const gaps = web.gapsMs().slice(1);
    expect(gaps).toHaveLength(3);
    expect(gaps[0]).toBeGreaterThanOrEqual(seenAs(100));
    expect(gaps[1]).toBeGreaterThanOrEqual(seenAs(100));
    expect(gaps[2]).toBeGreaterThanOrEqual(seenAs(200));
    expect(file.page('/').state).toBe('Processed');
  });

  it('with Retry-After of a year is believed up to max-retry-after', async () => {
    const web = await bench.web({ pages: limited(misbehaviours.rateLimitedForAYear(1)) });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { perHost: 1, maxRetryAfter: 0.15 });
    expect(summary.by_state).toEqual({ Processed: 7 });
    expect(pauseAfter(web, '/p/0')).toBeGreaterThanOrEqual(seenAs(150));
  });

  it('blocks only its own host', async () => {
    const pages: FakeWebOptions['pages'] = {
      '0:/': misbehaviours.rateLimitedForSeconds(1, 1),
      '1:/': list(5),
      '/p/*': page('P'),
    };
    const web = await bench.web({ hosts: 2, pages });
    const file = bench.file();
    await bench.crawl(file, [web.url('/'), web.url('/', 1)], { perHost: 1 });
    const again = web.requestsTo('/', 0)[1].atMs;
    expect(web.log.filter((entry) => entry.host === 1 && entry.atMs < again)).toHaveLength(7);
  });

  it('is remembered over a stop: the next start waits the block out', async () => {
    const web = await bench.web({ pages: limited(misbehaviours.rateLimitedForSeconds(1, 1)) });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'), { perHost: 1 });
    await web.asked('/p/0');
    while (!begun.events.some((event) => event.type === 'host' && event.what === 'blocked'))
      await new Promise((resolve) => setImmediate(resolve));
    begun.stop();
    expect((await begun.finished).status).toBe('interrupted');
    const [blocked] = file.rows<{ until: string }>('SELECT blocked_until AS until FROM domains');
    expect(Date.parse(blocked.until)).toBeGreaterThan(Date.now());
    const { summary } = await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(pauseAfter(web, '/p/0')).toBeGreaterThanOrEqual(seenAs(1000));
    expect(summary.by_state).toEqual({ Processed: 7 });
    expect(file.rows('SELECT blocked_until, consecutive_429 FROM domains')).toEqual([
      { blocked_until: null, consecutive_429: 0 },
    ]);
  });

  it('suspends the host for the run where the option says so', async () => {
    const pages: FakeWebOptions['pages'] = {
      '0:/': list(5),
      '0:/p/2': misbehaviours.rateLimitedForSeconds(9, 1),
      '1:/': list(3),
      '/p/*': page('P'),
    };
    const web = await bench.web({ hosts: 2, pages });
    const file = bench.file();
    const { summary } = await bench.crawl(file, [web.url('/'), web.url('/', 1)], {
      on429: 'suspend',
      perHost: 1,
    });
    expect(summary.status).toBe('completed');
    expect(asked(web, 0)).toEqual(['/', '/p/0', '/p/1', '/p/2']);
    expect(asked(web, 1)).toHaveLength(4);
    for (const path of ['/p/2', '/p/3', '/p/4']) {
      const row = file.page(web.url(path));
      expect(row.state).toBe('RateLimited');
      expect(row.reason).toMatch(/429/);
    }
    expect(file.rows("SELECT rate_limited FROM domain_states WHERE domain = '127.0.0.1'")).toEqual([
      { rate_limited: 1 },
    ]);
    expect(file.rows('SELECT * FROM frontier')).toEqual([]);
  });

  it('is given up after the retries, and the run ends', async () => {
    const web = await bench.web({ pages: { '/': misbehaviours.rateLimitedForSeconds(99, 1) } });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { retries: 2 }, { clock: fastClock(20) });
    // It was the only page.
    expect(summary).toMatchObject({ status: 'failed', error: expect.stringContaining('answered 429') });
    expect(web.requestsTo('/')).toHaveLength(3);
    expect(file.page('/')).toMatchObject({ state: 'RateLimited', status_code: 429 });
  });

  it('makes the delay longer where it may adapt', async () => {
    const web = await bench.web({ pages: limited(misbehaviours.rateLimitedForSeconds(1, 1)) });
    await bench.crawl(
      bench.file(),
      web.url('/'),
      { delay: 1, perHost: 1, adaptiveDelay: true },
      { clock: fastClock(20) },
    );
    const at = web.log.findIndex((entry) => entry.path === '/p/0');
    const gaps = web.gapsMs().slice(at + 1);
    expect(gaps.length).toBeGreaterThan(3);
    for (const gapMs of gaps) expect(gapMs).toBeGreaterThanOrEqual(seenAs(100));
  });

  it('and 503 with Retry-After of a robots.txt block the host too', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home'),
        '/robots.txt': (exchange) =>
          answer(
            exchange,
            exchange.nth === 1 ? { status: 429, headers: { 'retry-after': '5' } } : { status: 404 },
          ),
      },
    });
    const { summary } = await bench.crawl(bench.file(), web.url('/'), {}, { clock: fastClock(20) });
    expect(summary.by_state).toEqual({ Processed: 1 });
    expect(web.gapsMs()[0]).toBeGreaterThanOrEqual(seenAs(250));
  });
});

describe('a host that only fails', () => {
  it('is probed at growing intervals, then given up, and the run ends', async () => {
    const pages: FakeWebOptions['pages'] = { '/': list(12), '/p/*': misbehaviours.resetsBeforeHead() };
    const web = await bench.web({ pages });
    const file = bench.file();
    const { summary } = await bench.crawl(
      file,
      web.url('/'),
      // Over a used connection the first one would be sent once more.
      { perHost: 1, retries: 0, breakerFailures: 3, breakerProbes: 2, keepAlive: false },
      { clock: fastClock(50) },
    );
    expect(summary.status).toBe('completed');
    const requests = asked(web).slice(1);
    expect(requests).toHaveLength(5);
    const gaps = web.gapsMs().slice(-2);
    expect(gaps[0]).toBeGreaterThanOrEqual(seenAs(100));
    expect(gaps[1]).toBeGreaterThanOrEqual(seenAs(200));
    const rest = file
      .pages()
      .filter(({ fetch_url: url }) => !requests.includes(new URL(url).pathname) && !url.endsWith('/'));
    expect(rest).toHaveLength(7);
    for (const row of rest) {
      expect(row.state).toBe('Unreachable');
      expect(row.reason).toMatch(/^network: /);
    }
    expect(file.rows('SELECT * FROM frontier')).toEqual([]);
  });

  it('is asked again in the next run', async () => {
    let isWell = false;
    const pages: FakeWebOptions['pages'] = {
      '/': list(6),
      '/p/*': (exchange) => {
        if (isWell) answer(exchange, { body: page('P') });
        else exchange.response.socket!.resetAndDestroy();
      },
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    const options = { perHost: 1, retries: 0, breakerFailures: 2, breakerProbes: 0 };
    await bench.crawl(file, web.url('/'), options, { clock: fastClock(50) });
    expect(file.page('/p/5').state).toBe('Unreachable');
    isWell = true;
    const { summary } = await bench.crawl(file, web.url('/'), options, { clock: fastClock(50) });
    expect(summary.by_state).toEqual({ Processed: 7 });
  });

  it('does not starve the others', async () => {
    const pages: FakeWebOptions['pages'] = {
      '0:/*': misbehaviours.resetsBeforeHead(),
      '1:/': list(10),
      '1:/p/*': page('P'),
    };
    const web = await bench.web({ hosts: 2, pages });
    const file = bench.file();
    await bench.crawl(
      file,
      [web.url('/'), web.url('/', 1)],
      { concurrency: 1, perHost: 1, retries: 2, robots: false },
      { clock: fastClock(20) },
    );
    expect(asked(web, 1)).toHaveLength(11);
    expect(file.page(web.url('/', 0)).reason).toMatch(/^network: reset/);
  });
});

describe('more hosts than may be held', () => {
  it('are all crawled to the end, those that rest giving way', async () => {
    const links = (host: number) => ['/a', '/b', '/c'].map((path) => `${path}?${host}`);
    const web = await bench.web({ hosts: 6, pages: { '/': page('Home', ...links(0)), '/*': page('Page') } });
    const file = bench.file();
    const starts = web.origins.map((origin) => `${origin}/`);
    const { summary } = await bench.crawl(file, starts, {
      maxHosts: 2,
      delay: 0.03,
      concurrency: 6,
      perHost: 1,
    });
    expect(summary).toMatchObject({ status: 'completed', pages: 24 });
    for (const origin of web.origins) {
      const gaps = file.rows<{ gap: number }>(
        `SELECT q.sent_at - lag(q.sent_at) OVER (ORDER BY q.sent_at) AS gap FROM request q
         JOIN host h ON h.id = q.host_id WHERE h.name = '${new URL(origin).hostname}'`,
      );
      for (const { gap } of gaps.slice(1)) expect(gap).toBeGreaterThanOrEqual(29.9);
    }
  });
});

describe('the request log', () => {
  it.each([24, -24])(
    'tells how long requests took, also when the clock is set by %d hours meanwhile',
    async (hours) => {
      let setBy = 0;
      const web = await bench.web({
        pages: {
          '/': page('Home', '/a', '/b', '/c'),
          '/a': (exchange) => {
            setBy = hours * 3_600_000;
            answer(exchange, { body: 'A' });
          },
          '/*': page('Other'),
        },
      });
      const file = bench.file();
      const clock = { ...fastClock(1), now: () => Date.now() + setBy };
      await bench.crawl(file, web.url('/'), { perHost: 1 }, { clock });
      const rows = file.rows<{ ms: number }>(
        'SELECT ended_at - sent_at AS ms FROM request WHERE page_id IS NOT NULL',
      );
      expect(rows).toHaveLength(4);
      for (const { ms } of rows) {
        expect(ms).toBeGreaterThan(0);
        expect(ms).toBeLessThan(3_600_000);
      }
    },
  );
});
