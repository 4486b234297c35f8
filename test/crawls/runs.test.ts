import { describe, expect, it } from 'vitest';
import { answer, type FakeWeb, type FakeWebOptions } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, page, seenAs, useBench } from './crawl-site.ts';

const bench = useBench();

/** Paths asked more than once. */
function twice(web: FakeWeb): string[] {
  const paths = asked(web);
  return paths.filter((path, n) => paths.indexOf(path) !== n);
}

describe('stopping and going on', () => {
  it('finishes what is in flight, goes on where it was, and fetches no page twice', async () => {
    const web = await bench.web({ graph: { seed: 11, pages: 120 } });
    const file = bench.file();
    const runs: { run: number; status: string }[] = [];
    for (const stopAfter of [1, 20, 50, 51]) {
      const begun = await bench.begin(file, web.url('/'));
      while (web.log.length < stopAfter) await new Promise((resolve) => setImmediate(resolve));
      begun.stop();
      runs.push(await begun.finished);
      expect(file.rows("SELECT count(*) AS n FROM queue WHERE status = 'Fetching'")).toEqual([{ n: 0 }]);
    }
    runs.push((await bench.crawl(file, web.url('/'))).summary);
    expect(new Set(runs.map(({ run }) => run)).size).toBe(1);
    expect(runs.at(-1)!.status).toBe('completed');
    expect(twice(web)).toEqual([]);
    expect(asked(web)).toHaveLength(120);
    expect(file.rows('SELECT status, pages FROM runs')).toEqual([{ status: 'completed', pages: 120 }]);
  });

  it('leaves the same rows as a crawl that was never stopped', async () => {
    const web = await bench.web({ graph: { seed: 12, pages: 80 } });
    const [whole, parts] = [bench.file(), bench.file()];
    const options = { perHost: 1, concurrency: 1 };
    await bench.crawl(whole, web.url('/'), options);
    for (const more of [7, 30, 1]) {
      const from = web.log.length;
      const begun = await bench.begin(parts, web.url('/'), options);
      while (web.log.length < from + more) await new Promise((resolve) => setImmediate(resolve));
      begun.stop();
      await begun.finished;
    }
    await bench.crawl(parts, web.url('/'), options);
    const sql =
      'SELECT url, state, reason, status_code, title, depth, content_hash, redirect_count FROM pages ORDER BY url';
    expect(parts.rows(sql)).toEqual(whole.rows(sql));
    expect(parts.links()).toEqual(whole.links());
  });

  it('says that the run was interrupted, and how many pages wait', async () => {
    const web = await bench.web({ graph: { seed: 11, pages: 60 } });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'), { delay: 0.05 });
    await web.asked('/');
    begun.stop();
    const summary = await begun.finished;
    expect(summary.status).toBe('interrupted');
    expect(summary.waiting).toBeGreaterThan(0);
    expect(file.rows('SELECT status FROM runs')).toEqual([{ status: 'interrupted' }]);
    expect(file.rows('SELECT count(*) AS n FROM frontier')).toEqual([{ n: summary.waiting }]);
  });

  it('in the middle of the pauses of an unreachable robots.txt ends at once and goes on later', async () => {
    const web = await bench.web({ pages: { '/': page('Home') }, robots: misbehaviours.robotsUnavailable(1) });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'));
    await web.asked('/robots.txt');
    begun.stop();
    expect((await begun.finished).status).toBe('interrupted');
    expect(asked(web)).toEqual([]);
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary.by_state).toEqual({ Processed: 1 });
  });
});

describe('the next run', () => {
  it('fetches every known page again, under a new number', async () => {
    const web = await bench.web({ graph: { seed: 13, pages: 40 } });
    const file = bench.file();
    const first = await bench.crawl(file, web.url('/'));
    const second = await bench.crawl(file, web.url('/'));
    expect(second.summary.run).toBeGreaterThan(first.summary.run);
    expect(asked(web)).toHaveLength(80);
    expect(twice(web)).toHaveLength(40);
    expect(file.pages()).toHaveLength(40);
    expect(file.rows('SELECT status, pages FROM runs ORDER BY id')).toEqual([
      { status: 'completed', pages: 40 },
      { status: 'completed', pages: 40 },
    ]);
    expect(file.rows('SELECT run_id, count(*) AS n FROM visits GROUP BY run_id')).toHaveLength(2);
  });

  it('gives what failed another chance', async () => {
    let isWell = false;
    const web = await bench.web({
      pages: {
        '/': page('Home', '/a', '/b'),
        '/a': (exchange) => answer(exchange, isWell ? { body: page('A') } : { status: 500 }),
        '/b': (exchange) => answer(exchange, isWell ? { body: page('B') } : { status: 404 }),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { retries: 0 });
    expect(file.states()).toMatchObject({ '/a': 'Failed', '/b': 'DeadLink' });
    isWell = true;
    await bench.crawl(file, web.url('/'), { retries: 0 });
    expect(file.states()).toMatchObject({ '/a': 'Processed', '/b': 'Processed' });
    expect(file.page('/a')).toMatchObject({ reason: null, error: null });
  });

  it('starts anew with --fresh, but keeps the host’s clock and robots.txt', async () => {
    const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A', '/b') } });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'), { delay: 0.3 });
    await web.asked('/a');
    begun.stop();
    await begun.finished;
    const { summary, events } = await bench.crawl(file, web.url('/'), { delay: 0.3, fresh: true });
    expect(events.find((event) => event.type === 'run')).toMatchObject({ resumed: false, known_urls: 0 });
    expect(summary.by_state).toEqual({ Processed: 2, DeadLink: 1 });
    expect(web.log.map((entry) => entry.path)).toEqual(['/robots.txt', '/', '/a', '/', '/a', '/b']);
    for (const gapMs of web.gapsMs()) expect(gapMs).toBeGreaterThanOrEqual(seenAs(300));
    expect(file.rows('SELECT status FROM runs ORDER BY id')).toHaveLength(2);
    expect(file.rows("SELECT * FROM runs WHERE status = 'running'")).toEqual([]);
  });

  it('leaves other projects in the file alone', async () => {
    const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { project: 'one' });
    await bench.crawl(file, web.url('/'), { project: 'two', maxPages: 1 });
    expect(file.rows('SELECT project_id, count(*) AS n FROM pages GROUP BY project_id')).toEqual([
      { project_id: 1, n: 2 },
      { project_id: 2, n: 2 },
    ]);
    await bench.crawl(file, web.url('/'), { project: 'two', fresh: true });
    const states = file.rows('SELECT project_id, state FROM pages ORDER BY project_id, id');
    expect(states).toEqual([
      { project_id: 1, state: 'Processed' },
      { project_id: 1, state: 'Processed' },
      { project_id: 2, state: 'Processed' },
      { project_id: 2, state: 'Processed' },
    ]);
  });
});

describe('a changed configuration', () => {
  const pages = { '/': page('Home', '/a', '/cart/1', '/cart/2'), '/*': page('P', '/deep') };

  it('is told, and an unfinished run judges its pages again', async () => {
    const web = await bench.web({ pages });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'), { exclude: ['/cart/'], delay: 0.1 });
    await web.asked('/');
    begun.stop();
    await begun.finished;
    expect(file.states()).toMatchObject({ '/cart/1': 'Skipped', '/a': 'Queued' });
    const { events, summary } = await bench.crawl(file, web.url('/'), { exclude: ['/a$'], delay: 0.05 });
    expect(events.find((event) => event.type === 'run')).toMatchObject({
      resumed: true,
      config_changed: true,
    });
    expect(summary.status).toBe('completed');
    expect(file.states()).toMatchObject({ '/a': 'Skipped', '/cart/1': 'Processed', '/cart/2': 'Processed' });
    expect(file.page('/a').reason).toBe('exclude: /a$');
    expect(asked(web).filter((path) => path === '/')).toHaveLength(1);
  });

  it('is not told when nothing changed', async () => {
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const { events } = await bench.crawl(file, web.url('/'));
    expect(events.find((event) => event.type === 'run')).toMatchObject({
      config_changed: false,
      resumed: false,
    });
  });

  it('opens and shuts pages in a new run, and keeps the rows', async () => {
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { maxDepth: 1 });
    expect(file.page('/deep').state).toBe('DepthExceeded');
    await bench.crawl(file, web.url('/'), { maxDepth: 2, exclude: ['/cart/'] });
    expect(file.states()).toMatchObject({ '/deep': 'Processed', '/cart/1': 'Skipped' });
    expect(file.page('/cart/1')).toMatchObject({ reason: 'exclude: /cart/', title: 'P' });
  });

  it('loses neither the tries of a page nor the redirects that wait for it', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', '/old'),
        '/old': { status: 302, headers: { location: '/busy' } },
        '/busy': misbehaviours.unavailableAtFirst(2),
      },
    });
    const file = bench.file();
    const options = { retryDelay: 0.1, retryBackoff: 'constant' } as const;
    const begun = await bench.begin(file, web.url('/'), options);
    await web.asked('/busy', 1);
    begun.stop();
    await begun.finished;
    expect(file.page('/busy')).toMatchObject({ state: 'Queued', retry_count: 1 });
    await bench.crawl(file, web.url('/'), { ...options, exclude: ['/nothing'] });
    expect(file.page('/busy')).toMatchObject({ state: 'Processed', retry_count: 2 });
    expect(file.page('/old')).toMatchObject({ final_url: web.url('/busy'), redirect_count: 1 });
  });

  it('can name a start URL that was skipped before', async () => {
    const web = await bench.web({ pages });
    const file = bench.file();
    const options = { exclude: ['/cart/'], project: 'p', delay: 0.05 };
    const begun = await bench.begin(file, web.url('/'), options);
    await web.asked('/');
    begun.stop();
    await begun.finished;
    expect(file.page('/cart/1').state).toBe('Skipped');
    await bench.crawl(file, [web.url('/'), web.url('/cart/1')], options);
    expect(file.page('/cart/1')).toMatchObject({ state: 'Processed', depth: 0 });
    expect(file.page('/cart/2').state).toBe('Skipped');
  });

  it('that raises max-depth in an unfinished run opens what was too deep', async () => {
    const web = await bench.web({ pages });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'), { maxDepth: 1, delay: 0.05, perHost: 1 });
    await web.asked('/a');
    await web.asked('/cart/1');
    begun.stop();
    await begun.finished;
    expect(file.page('/deep').state).toBe('DepthExceeded');
    await bench.crawl(file, web.url('/'), { maxDepth: 2 });
    expect(file.page('/deep').state).toBe('Processed');
    expect(twice(web)).toEqual([]);
  });
});

describe('links', () => {
  it('in the view are exactly those of the site', async () => {
    const web = await bench.web({ graph: { seed: 21, pages: 150, hosts: 3 } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { allowedHosts: ['127.0.0.2', '127.0.0.3'], concurrency: 20 });
    const { graph } = web;
    const name = (index: number) => {
      const path = graph!.pathOf(index);
      return graph!.hostOf(index) === 0 ? path : web.url(path, graph!.hostOf(index));
    };
    const real: string[] = [];
    for (let index = 0; index < graph!.pages; index++)
      for (const target of graph!.linksOf(index)) real.push(`${name(index)} → ${name(target)}`);
    expect(file.links()).toEqual(real.sort());
    const [row] = file.rows<{ links_found: string }>(
      'SELECT links_found FROM crawled_pages WHERE url = ?',
      web.url('/'),
    );
    const found = JSON.parse(row.links_found) as string[];
    expect(found.sort()).toEqual(
      graph!
        .linksOf(0)
        .map((target) => web.url(graph!.pathOf(target), graph!.hostOf(target)))
        .sort(),
    );
  });

  it('follow the pages from run to run, and each says which run saw it first', async () => {
    const web = await bench.web({
      pages: {
        '/': (exchange) =>
          answer(exchange, { body: page('Home', '/stays', exchange.nth === 1 ? '/goes' : '/comes') }),
        '/*': page('P'),
      },
    });
    const file = bench.file();
    const first = (await bench.crawl(file, web.url('/'))).summary.run;
    expect(file.links()).toEqual(['/ → /goes', '/ → /stays']);
    const second = (await bench.crawl(file, web.url('/'))).summary.run;
    expect(file.links()).toEqual(['/ → /comes', '/ → /stays']);
    expect(
      file.rows(
        `SELECT b.fetch_url AS url, l.discovered_run AS run FROM links l JOIN pages b ON b.id = l.to_page_id ORDER BY url`,
      ),
    ).toEqual([
      { url: web.url('/comes'), run: second },
      { url: web.url('/stays'), run: first },
    ]);
  });
});

describe('the same answers every time', () => {
  it('a page is fetched once, whichever way its URL is written', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': (exchange) =>
        answer(exchange, {
          body: page(
            'Home',
            '/a',
            '/a#part',
            './a',
            '/x/../a',
            `HTTP://127.0.0.1:${exchange.port}/a`,
            '/a?',
            '/q?b=2&a=1',
            '/q?a=1&b=2',
          ),
        }),
      '/*': page('P', '/a', 'a', '/'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(asked(web).filter((path) => path.startsWith('/a'))).toHaveLength(1);
    expect(asked(web).filter((path) => path.startsWith('/q'))).toHaveLength(1);
    expect(twice(web)).toEqual([]);
  });

  it('every page of a large graph is fetched once, by many hands', async () => {
    const web = await bench.web({ graph: { seed: 31, pages: 1500, hosts: 5 } });
    const file = bench.file();
    const allowedHosts = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
    const { summary } = await bench.crawl(file, web.url('/'), { allowedHosts, concurrency: 50, perHost: 10 });
    expect(summary.by_state).toEqual({ Processed: 1500 });
    const pages = web.log.filter((entry) => entry.path !== '/robots.txt');
    expect(pages).toHaveLength(1500);
    expect(new Set(pages.map((entry) => `${entry.host}${entry.path}`)).size).toBe(1500);
    for (const index of [0, 77, 1499]) {
      const { host, path, title, h1, description } = web.graph!.page(index);
      expect(file.page(web.url(path, host))).toMatchObject({ title, h1, meta_description: description });
    }
  });
});

describe('a run without an answer', () => {
  it('fails although robots.txt answered, when no page did', async () => {
    const web = await bench.web({ pages: { '/': misbehaviours.resetsBeforeHead() } });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { retries: 0 });
    expect(summary).toMatchObject({ status: 'failed', pages: 0 });
  });

  it('has failed when robots.txt refused all it was asked for', async () => {
    const web = await bench.web({ pages: {}, robots: 'User-agent: *\nDisallow: /\n' });
    const { summary } = await bench.crawl(bench.file(), web.url('/'));
    expect(summary).toMatchObject({
      status: 'failed',
      pages: 0,
      error: expect.stringContaining('forbids / for SumiRipple (Disallow: / in line 2)'),
    });
  });
});
