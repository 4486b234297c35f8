import { describe, expect, it } from 'vitest';
import { answer, type FakeWeb, type FakeWebOptions } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, fastClock, page, useBench } from './crawl-site.ts';

const bench = useBench();

/** Requests that were answered for good: what max-pages counts. */
function finalAnswers(web: FakeWeb): number {
  return new Set(
    web.log.filter((entry) => entry.path !== '/robots.txt').map((entry) => entry.host + entry.path),
  ).size;
}

describe('max-pages', () => {
  it('is reached and never exceeded, and what is left says why', async () => {
    const web = await bench.web({ graph: { seed: 3, pages: 200 } });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { maxPages: 37, concurrency: 20, perHost: 20 });
    expect(asked(web)).toHaveLength(37);
    expect(summary).toMatchObject({ status: 'completed', pages: 37, waiting: 0 });
    expect(summary.by_state.Processed).toBe(37);
    const left = file.rows<{ state: string; reason: string }>(
      "SELECT DISTINCT state, reason FROM pages WHERE state <> 'Processed'",
    );
    expect(left).toEqual([{ state: 'Skipped', reason: 'limit: max-pages 37' }]);
    expect(file.rows('SELECT * FROM frontier')).toEqual([]);
  });

  it('is never exceeded by many hosts at once', async () => {
    const web = await bench.web({ graph: { seed: 3, pages: 200, hosts: 20 } });
    const file = bench.file();
    const starts = web.origins.map((origin) => `${origin}/`);
    const { summary } = await bench.crawl(file, starts, {
      maxPages: 7,
      concurrency: 40,
      perHost: 2,
      robots: false,
    });
    expect(asked(web)).toHaveLength(7);
    expect(summary.pages).toBe(7);
  });

  it('counts redirects and failures that are final, not the tries before them', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': page(
        'Home',
        ...Array.from({ length: 10 }, (_, n) => [`/r/${n}`, `/busy/${n}`, `/p/${n}`, `/gone/${n}`]).flat(),
      ),
      '/r/*': (exchange) =>
        answer(exchange, { status: 302, headers: { location: exchange.path.replace('/r/', '/target/') } }),
      '/busy/*': misbehaviours.unavailableAtFirst(1),
      '/gone/*': misbehaviours.gone(),
      '/target/*': page('Target'),
      '/p/*': page('P'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { maxPages: 20, concurrency: 20, perHost: 20 });
    const retried = file.rows<{ url: string }>(
      "SELECT fetch_url AS url FROM pages WHERE reason LIKE 'limit%'",
    );
    const unfinished = new Set(retried.map(({ url }) => new URL(url).pathname));
    const settled = new Set(asked(web).filter((path) => !unfinished.has(path)));
    expect(settled.size).toBe(20);
    expect(summary.pages).toBe(20);
    expect(finalAnswers(web)).toBeLessThanOrEqual(20 + unfinished.size);
  });

  it('does not count robots.txt', async () => {
    const web = await bench.web({
      pages: { '/*': page('P', '/a', '/b') },
      robots: 'User-agent: *\nAllow: /\n',
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { maxPages: 1 });
    expect(web.log.map((entry) => entry.path)).toEqual(['/robots.txt', '/']);
  });

  it('lets a later call with a larger number take up what was left', async () => {
    const web = await bench.web({ pages: { '/': page('Home', '/1', '/2', '/3', '/4'), '/*': page('P') } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { maxPages: 2 });
    expect(file.page('/4')).toMatchObject({ state: 'Skipped', reason: 'limit: max-pages 2' });
    await bench.crawl(file, web.url('/'), { maxPages: 100 });
    expect(new Set(asked(web))).toEqual(new Set(['/', '/1', '/2', '/3', '/4']));
    expect(Object.values(file.states())).toEqual(Array(5).fill('Processed'));
    expect(file.rows('SELECT url FROM pages WHERE reason IS NOT NULL')).toEqual([]);
  });

  it('counts the pages from before a stop', async () => {
    const web = await bench.web({ graph: { seed: 5, pages: 100 } });
    const file = bench.file();
    const options = { maxPages: 12, delay: 0.01 };
    const begun = await bench.begin(file, web.url('/'), options);
    await web.asked('/guide/');
    begun.stop();
    const first = await begun.finished;
    expect(first.status).toBe('interrupted');
    const { summary } = await bench.crawl(file, web.url('/'), options);
    expect(summary).toMatchObject({ status: 'completed', pages: 12, run: first.run });
    expect(asked(web)).toHaveLength(12);
  });
});

describe('max-domain-requests', () => {
  it('ends a host for the run and leaves the others alone', async () => {
    const web = await bench.web({ graph: { seed: 3, pages: 60, hosts: 2 } });
    const file = bench.file();
    const { summary } = await bench.crawl(file, [web.url('/'), web.url('/', 1)], {
      maxDomainRequests: 5,
      concurrency: 20,
      perHost: 20,
    });
    expect(summary.status).toBe('completed');
    for (const host of [0, 1]) {
      expect(asked(web, host).length).toBeLessThanOrEqual(5);
      expect(asked(web, host).length).toBeGreaterThanOrEqual(4);
    }
    expect(file.rows("SELECT DISTINCT state, reason FROM pages WHERE state <> 'Processed'")).toEqual([
      { state: 'RequestLimitHit', reason: 'limit: max-domain-requests 5' },
    ]);
    expect(file.rows('SELECT * FROM frontier')).toEqual([]);
  });

  it('begins again with a new run, and with a larger number in a run that goes on', async () => {
    const web = await bench.web({ graph: { seed: 3, pages: 30 } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { maxDomainRequests: 5 });
    const { summary } = await bench.crawl(file, web.url('/'), { maxDomainRequests: 500 });
    expect(summary.by_state).toEqual({ Processed: 30 });

    const other = bench.file();
    const slow = await bench.web({
      pages: {
        '0:/': page('Home', '/1', '/2', '/3', '/4'),
        '1:/': (exchange) => void exchange.clock.after(150, () => answer(exchange, { body: page('Slow') })),
        '/*': page('P'),
      },
      hosts: 2,
    });
    const starts = [slow.url('/'), slow.url('/', 1)];
    const begun = await bench.begin(other, starts, { maxDomainRequests: 2, perHost: 1 });
    while (!begun.events.some((event) => event.type === 'host' && event.what === 'closed'))
      await new Promise((resolve) => setImmediate(resolve));
    begun.stop();
    await begun.finished;
    await bench.crawl(other, starts, { maxDomainRequests: 50 });
    expect(other.page('/4').state).toBe('Processed');
  });
});

describe('every known URL', () => {
  it('has a state, and a reason when it was not fetched', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': (exchange) =>
        answer(exchange, {
          body: page(
            'Home',
            '/a',
            '/private/x',
            '/cart/1',
            '/missing',
            '/broken',
            '/image',
            'mailto:x@example.com',
            'javascript:void(0)',
            exchange.url('/elsewhere', 1),
          ),
        }),
      '/a': page('A', '/b'),
      '/b': page('B', '/c'),
      '/broken': misbehaviours.serverError(),
      '/image': misbehaviours.wrongContentType(),
    };
    const web = await bench.web({ hosts: 2, pages, robots: 'User-agent: *\nDisallow: /private/\n' });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { exclude: ['/cart/'], maxDepth: 2, retries: 1 });
    const reasons = Object.fromEntries(
      file
        .pages()
        .map((row) => [new URL(row.fetch_url).pathname, [row.state, row.reason?.split(':')[0] ?? null]]),
    );
    expect(reasons).toEqual({
      '/': ['Processed', null],
      '/a': ['Processed', null],
      '/b': ['Processed', null],
      '/c': ['DepthExceeded', 'depth'],
      '/private/x': ['Skipped', 'robots'],
      '/cart/1': ['Skipped', 'exclude'],
      '/missing': ['DeadLink', 'http'],
      '/broken': ['Failed', 'http'],
      '/image': ['ContentMismatch', 'type'],
      '/elsewhere': ['Skipped', 'scope'],
    });
  });
});

describe('a smaller run after a whole one', () => {
  const FACTS = `SELECT p.url, p.state, p.reason, p.status_code, p.title, p.depth, p.visited_at, p.change, p.content_hash,
    (SELECT group_concat(l.to_page_id) FROM links l WHERE l.from_page_id = p.id) AS links
    FROM pages p WHERE p.url NOT LIKE '%/' ORDER BY p.id`;
  const pages: FakeWebOptions['pages'] = {
    '/': page('Home', '/1', '/2', '/missing', '/gone', '/private/x', '/picture', '/moved'),
    '/missing': (exchange) => answer(exchange, { status: 404 }),
    '/gone': misbehaviours.gone(),
    '/picture': (exchange) => answer(exchange, { headers: { 'content-type': 'image/png' }, body: 'png' }),
    '/moved': (exchange) => answer(exchange, { status: 301, headers: { location: '/2' } }),
    '/*': page('P', '/', '/1', '/2'),
  };
  const robots = 'User-agent: *\nDisallow: /private/\n';

  it('leaves everything that is known of other pages as it was, and counts them as left out', async () => {
    const web = await bench.web({ pages, robots });
    const file = bench.file();
    const whole = await bench.crawl(file, web.url('/'));
    expect(whole.summary.left_out).toBe(0);
    const before = file.rows(FACTS);
    expect(before).toHaveLength(7);
    expect(new Set(before.map((row) => (row as { state: string }).state))).toEqual(
      new Set(['Processed', 'DeadLink', 'Gone', 'Skipped', 'ContentMismatch']),
    );
    const smaller = await bench.crawl(file, web.url('/'), { maxPages: 1 });
    expect(file.rows(FACTS)).toEqual(before);
    expect(smaller.summary).toMatchObject({ pages: 1, left_out: 7, waiting: 0, changed: 0, gone: 0 });
    expect(smaller.summary.by_state).toEqual(whole.summary.by_state);
    expect(file.rows('SELECT outcome, count(*) AS n FROM visits WHERE run_id = 2 GROUP BY outcome')).toEqual([
      { outcome: 'unchanged', n: 1 },
    ]);
    expect(file.rows('SELECT left_out FROM runs ORDER BY id')).toEqual([{ left_out: 0 }, { left_out: 7 }]);
    const third = await bench.crawl(file, web.url('/'));
    expect(third.summary).toMatchObject({ left_out: 0, status: 'completed', gone: 0 });
    expect(third.summary.by_state).toEqual(whole.summary.by_state);
    expect(new Set(asked(web).slice(-6))).toEqual(
      new Set(['/', '/1', '/2', '/missing', '/gone', '/picture', '/moved'].filter((path) => path !== '/')),
    );
  });

  it('does so where a host takes no more, and new URLs are left over as before', async () => {
    let hasNew = false;
    const web = await bench.web({
      pages: {
        ...pages,
        '/': (exchange) => answer(exchange, { body: page('Home', ...(hasNew ? ['/new'] : []), '/1', '/2') }),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { robots: false });
    const before = file.rows(FACTS);
    hasNew = true;
    const { summary } = await bench.crawl(file, web.url('/'), { robots: false, maxDomainRequests: 1 });
    expect(summary).toMatchObject({ left_out: 2, gone: 0 });
    expect(file.page('/new')).toMatchObject({
      state: 'RequestLimitHit',
      reason: 'limit: max-domain-requests 1',
    });
    expect(file.rows(FACTS).slice(0, 2)).toEqual(before);
  });

  it('does so where the host answers no more, or refuses to go on', async () => {
    let isBusy = false;
    const web = await bench.web({
      pages: {
        ...pages,
        '/': (exchange) =>
          isBusy ? answer(exchange, { status: 429 }) : answer(exchange, { body: page('Home', '/1', '/2') }),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    const before = file.rows(FACTS);
    isBusy = true;
    const { summary } = await bench.crawl(file, web.url('/'), { on429: 'suspend', perHost: 1 });
    expect(file.page('/')).toMatchObject({ state: 'RateLimited', title: 'Home' });
    expect(summary).toMatchObject({ left_out: 2 });
    expect(file.rows(FACTS)).toEqual(before);
  });

  it('does so where robots.txt cannot be had', async () => {
    let status = 404;
    const web = await bench.web({ pages, robots: (exchange) => answer(exchange, { status }) });
    const file = bench.file();
    const options = { robotsTtl: 0, robotsRetries: 0 };
    await bench.crawl(file, web.url('/'), options);
    const [all, known] = [file.states(), file.rows(FACTS)];
    status = 503;
    const { summary } = await bench.crawl(file, web.url('/'), options, { clock: fastClock(50) });
    expect(summary.left_out).toBe(8);
    expect(file.states()).toEqual(all);
    expect(file.rows(FACTS)).toEqual(known);
  });
});
