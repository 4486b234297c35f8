import { describe, expect, it } from 'vitest';
import { answer, type FakeWeb, type FakeWebOptions } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, page, useBench } from './crawl-site.ts';

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
