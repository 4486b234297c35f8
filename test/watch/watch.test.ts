/** A project under watch on the fake web: what is asked when, what is told, and what survives a restart. */
import { describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { numbers, site } from './small-site.ts';
import { DAY_MS, HOUR_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

describe('a watch', () => {
  it('goes on after every restart as if it had stayed', async () => {
    const { pages } = site(40);
    const { open, asked, clock, crawl } = await bench({ pages }, { budget: '20/day' });
    await crawl();
    const first = asked();
    const again: string[] = [];
    for (let tick = 0; tick < 12; tick++) {
      clock.advance(DAY_MS / 4);
      const watch = await open();
      expect(await watch.prepare()).toBeNull();
      await watch.tick();
      await watch.close();
      again.push(...asked());
    }
    expect(again.length).toBe(60);
    // Nobody is forgotten: 60 visits are enough for each of 41 pages.
    expect(new Set(again)).toEqual(new Set(first));
  });

  it('begins anew, its budget too, when its first crawl could visit nothing', async () => {
    const { pages } = site(5);
    let robots: { status?: number; body: string } = { status: 503, body: '' };
    const robotsTxt = (exchange: Exchange) =>
      answer(exchange, { headers: { 'content-type': 'text/plain' }, ...robots });
    const { open, asked, ticks, clock } = await bench(
      { pages: { ...pages, '/robots.txt': robotsTxt } },
      { budget: '10/day', robotsRetries: 0, robotsTtl: 3600 },
    );
    const down = await open();
    expect(await down.prepare()).toMatchObject({ pages: 0, by_state: { Unreachable: 1 } });
    await down.close();
    robots = { body: 'User-agent: *\nDisallow: /' };
    const watch = await open();
    expect(await watch.prepare()).toMatchObject({ status: 'failed', pages: 0 });
    await watch.tick();
    expect(ticks().at(-1)).toMatchObject({ run: null, skipped: 'nothing due' });
    expect(watch.isPrepared).toBe(false);
    robots = { body: '' };
    clock.advance(2 * HOUR_MS);
    expect(await watch.prepare()).toMatchObject({ status: 'completed', new: 6 });
    expect(asked().length).toBe(6);
    await watch.tick();
    expect(watch.isPrepared).toBe(true);
    clock.advance(DAY_MS);
    await watch.tick();
    expect(asked().length).toBe(6);
    await watch.close();
  });

  it('visits pages that the first crawl gave up with their host, ever more rarely while nobody answers', async () => {
    const { pages } = site(8);
    let answersLeft = 3;
    const serve = (exchange: Exchange) => {
      if (--answersLeft < 0) return void exchange.request.socket.destroy();
      (pages!['/'] as (exchange: Exchange) => void)(exchange);
    };
    const options = { budget: '1000/day', perHost: 1, breakerFailures: 2, breakerProbes: 0 };
    const { open, asked, clock, read, ticks } = await bench({ pages: { '/': serve, '/p*': serve } }, options);
    const watch = await open();
    await watch.prepare();
    await watch.close();
    expect(new Set(asked()).size).toBe(5);
    const unvisited = () =>
      read(async (side) => {
        let count = 0;
        for await (const { visited_at } of side.pages({ states: ['Unreachable'] }))
          if (visited_at === null) count++;
        return count;
      });
    expect(await unvisited()).toBe(4);
    const tick = async (hours: number) => {
      clock.advance(hours * HOUR_MS);
      const again = await open();
      await again.prepare();
      await again.tick();
      await again.close();
      return ticks().at(-1)!.due;
    };
    expect(await tick(12)).toBe(9);
    // All are left alone for six hours now, those that were tried and those that were given up with them.
    expect(await tick(1)).toBe(0);
    answersLeft = 100;
    // One page, to see whether anybody answers, and then the others.
    expect(await tick(12)).toBe(1);
    expect(await tick(1)).toBeGreaterThanOrEqual(8);
    expect(asked()).toEqual(expect.arrayContaining(numbers(8).map((n) => `/p${n}`)));
    expect(await unvisited()).toBe(0);
  });

  it('tells what changed, what came and what went, once', async () => {
    const { pages, state } = site(5);
    const { open, clock, changes, ticks, asked } = await bench({ pages }, { budget: '100/day' });
    const watch = await open();
    await watch.prepare();
    clock.advance(DAY_MS);
    await watch.tick();
    expect(changes()).toEqual([]);
    state.versions.set('/p1', 1);
    state.gone.add('/p2');
    state.links.push('/p99');
    clock.advance(DAY_MS);
    await watch.tick();
    expect(changes().sort()).toEqual(['changed /', 'changed /p1', 'gone /p2', 'new /p99']);
    expect(ticks().at(-1)).toMatchObject({ changed: 2, gone: 1, new: 1, unchanged: 3 });
    asked();
    clock.advance(DAY_MS / 2);
    await watch.tick();
    expect(asked()).not.toContain('/p2');
    clock.advance(10 * DAY_MS);
    await watch.tick();
    // It was asked again, and is gone still.
    expect(asked()).toContain('/p2');
    expect(changes().length).toBe(4);
    await watch.close();
  });

  it('learns from a crawl by hand, tells what that found, and leaves its pages alone for a while', async () => {
    const { pages, state } = site(9);
    const { open, crawl, clock, changes, asked } = await bench({ pages }, { budget: '20/day' });
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    clock.advance(DAY_MS);
    state.versions.set('/p3', 1);
    await crawl();
    expect(asked().length).toBe(20);
    clock.advance(60_000);
    await watch.tick();
    expect(changes()).toEqual(['changed /p3']);
    // All were visited a minute ago.
    expect(asked()).toEqual([]);
    await watch.close();
  });

  it('loses nothing when it dies between a run and what it would have kept of it', async () => {
    const { pages, state } = site(9);
    const { open, crawl, clock, changes, read } = await bench({ pages }, { budget: '100/day' });
    const watch = await open();
    await watch.prepare();
    clock.advance(DAY_MS);
    await watch.tick();
    await watch.close();
    clock.advance(DAY_MS);
    state.versions.set('/p4', 1);
    await crawl({ mode: 'incremental' });
    const other = await open();
    await other.prepare();
    clock.advance(DAY_MS);
    await other.tick();
    expect(changes()).toEqual(['changed /p4']);
    await other.close();
    const { learnedRun } = await read((side) => side.revisitPlan(1));
    expect(learnedRun).toBe(4);
  });

  it('is refused while another one watches the project, and not after that has ended', async () => {
    const { pages } = site(2);
    const { open } = await bench({ pages });
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    const other = await open();
    await expect(other.prepare()).rejects.toMatchObject({ code: 'watch-in-use' });
    await watch.close();
    expect(await (await open()).prepare()).toBeNull();
  });

  it('takes over from one that was not heard of for long enough', async () => {
    const { pages } = site(2);
    const { open, clock } = await bench({ pages });
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    clock.advance(DAY_MS);
    expect(await (await open()).prepare()).toBeNull();
  });

  it('goes on with a tick that was cut off, as a tick', async () => {
    const { pages } = site(30);
    const { open, clock, asked, web, ticks, crawl } = await bench(
      { pages },
      { budget: '20/day', concurrency: 1, perHost: 1 },
    );
    await crawl();
    asked();
    const watch = await open();
    const before = web.log.length;
    clock.advance(DAY_MS);
    const tick = watch.tick();
    while (web.log.length < before + 4) await new Promise((resolve) => setImmediate(resolve));
    watch.handle!.stop();
    expect((await tick).status).toBe('interrupted');
    await watch.close();
    const other = await open();
    expect(await other.prepare()).toBeNull();
    expect(await other.tick()).toMatchObject({ run: 2, status: 'completed', unchanged: 20 });
    expect(ticks().map(({ status }) => status)).toEqual(['interrupted', 'completed']);
    const pagesAsked = asked();
    expect(pagesAsked.length).toBe(20);
    expect(new Set(pagesAsked).size).toBe(20);
    await other.close();
  });

  it('keeps to the budget when a tick is cut off and goes on, whatever it finds, and loses no page', async () => {
    const { pages, state } = site(30);
    const { open, clock, asked, changes, web, crawl } = await bench(
      { pages },
      { budget: '20/day', concurrency: 1, perHost: 1 },
    );
    await crawl();
    asked();
    const watch = await open();
    state.links.push(...numbers(25).map((n) => `/pnew${n}`));
    clock.advance(DAY_MS);
    const before = web.log.length;
    const tick = watch.tick();
    while (web.log.length < before + 4) await new Promise((resolve) => setImmediate(resolve));
    watch.handle!.stop();
    await tick;
    await watch.close();
    const perDay: number[] = [];
    for (let day = 0; day < 8; day++) {
      const other = await open();
      await other.prepare();
      await other.tick();
      await other.close();
      perDay.push(asked().length);
      clock.advance(DAY_MS);
    }
    expect(perDay).toEqual(Array.from(perDay, () => 20));
    const found = changes().filter((line) => line.startsWith('new '));
    expect([found.length, new Set(found).size]).toEqual([25, 25]);
  });

  it('visits at once what was crawled by hand, with the visits of one tick, and then no sooner than it should', async () => {
    const { pages, state } = site(9);
    const { open, crawl, asked, changes, clock, ticks } = await bench({ pages }, { budget: '480/day' });
    await crawl();
    asked();
    for (const { path } of numbers(9).map((n) => ({ path: `/p${n}` }))) state.versions.set(path, 1);
    const tick = async () => {
      const watch = await open();
      await watch.prepare();
      await watch.tick();
      await watch.close();
      return asked().length;
    };
    // A quarter of an hour of 480 a day.
    expect(await tick()).toBe(5);
    expect(changes().length).toBeGreaterThan(3);
    expect(await tick()).toBe(0);
    expect(ticks().at(-1)?.skipped).toBe('budget');
    clock.advance(HOUR_MS / 4);
    expect(await tick()).toBe(5);
  });

  it('keeps a page in its plan whose answers all carry one date, as those of a cache do', async () => {
    const date = new Date(2026, 2, 4).toUTCString();
    const serve = (exchange: Exchange) => answer(exchange, { body: page('home'), headers: { date } });
    const options = { budget: '1440/day', every: 60 };
    const { open, asked, clock, crawl } = await bench({ pages: { '/': serve } }, options);
    await crawl();
    asked();
    const watch = await open();
    for (let minute = 0; minute < 8; minute++) {
      clock.advance(60_000);
      await watch.tick();
    }
    expect(asked().length).toBe(8);
    await watch.close();
  });

  it('visits nothing outside of its hours', async () => {
    const { pages } = site(10);
    const { open, clock, asked, ticks, crawl } = await bench({ pages }, { budget: '24/day', hours: '22-6' });
    await crawl();
    asked();
    const watch = await open();
    const perHour: number[] = [];
    for (let hour = 0; hour < 48; hour++) {
      clock.advance(HOUR_MS);
      await watch.tick();
      perHour.push(asked().length);
    }
    // Midnight is where it began: the tick of 1 o'clock is the first.
    const open22to6 = (index: number) => [22, 23, 0, 1, 2, 3, 4, 5].includes((index + 1) % 24);
    for (const [index, count] of perHour.entries()) if (!open22to6(index)) expect(count).toBe(0);
    expect(perHour.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(40);
    expect(ticks().filter(({ skipped }) => skipped === 'hours').length).toBe(32);
    await watch.close();
  });

  it('asks a page that fails again after six hours, then ever more rarely, also over restarts', async () => {
    const { pages, state } = site(2);
    const { open, clock, web } = await bench({ pages }, { budget: '2000/day', every: 3600 });
    await (await open()).prepare();
    state.failing.add('/p1');
    const start = clock.now();
    const hours: number[] = [];
    for (let hour = 3; hour <= 72; hour += 3) {
      clock.advance(3 * HOUR_MS);
      const before = web.requestsTo('/p1').length;
      const watch = await open();
      await watch.prepare();
      await watch.tick();
      await watch.close();
      if (web.requestsTo('/p1').length > before) hours.push((clock.now() - start) / HOUR_MS);
    }
    const gaps = hours.slice(1).map((hour, n) => hour - hours[n]);
    expect(gaps.slice(0, 3)).toEqual([6, 12, 24]);
  });
});

describe('sitemaps and feeds under watch', () => {
  const xml = { 'content-type': 'application/xml' };

  it('are read again when their time is over: new pages are visited, newer dates bring a visit forward', async () => {
    const { pages, state } = site(30);
    const entries = new Map<string, string>([['/p25', '2026-01-01']]);
    const sitemap = (exchange: Exchange) =>
      answer(exchange, {
        headers: xml,
        body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${[...entries]
          .map(([path, date]) => `<url><loc>${exchange.url(path)}</loc><lastmod>${date}</lastmod></url>`)
          .join('')}</urlset>`,
      });
    const { open, clock, asked, changes, web, crawl } = await bench(
      { pages: { ...pages, '/sitemap.xml': sitemap } },
      { budget: '4/day', discover: ['sitemap', 'links'] },
    );
    await crawl();
    asked();
    const watch = await open();
    expect(web.requestsTo('/sitemap.xml').length).toBe(1);
    clock.advance(12 * HOUR_MS);
    await watch.tick();
    expect(web.requestsTo('/sitemap.xml').length).toBe(1);
    entries.set('/pnew', '2026-03-04');
    clock.advance(36 * HOUR_MS);
    await watch.tick();
    expect(web.requestsTo('/sitemap.xml').length).toBe(2);
    clock.advance(DAY_MS);
    await watch.tick();
    expect(changes()).toEqual(['new /pnew']);
    state.versions.set('/p25', 1);
    entries.set('/p25', new Date(clock.now()).toISOString());
    // What the date leaves of the visits that were kept goes to its page, before all that have waited longer.
    asked();
    clock.advance(DAY_MS);
    await watch.tick();
    expect(asked().length).toBe(4);
    expect(changes()).toEqual(['new /pnew', 'changed /p25']);
    await watch.close();
  });

  it('are all read again, a feed beside the sitemap that the site has', async () => {
    const { pages } = site(1);
    const state = { feed: ['/pnews0'], sitemap: ['/plisted0'] };
    const feed = (exchange: Exchange) =>
      answer(exchange, {
        headers: { 'content-type': 'application/rss+xml' },
        body: `<rss version="2.0"><channel>${state.feed
          .map((path) => `<item><link>${exchange.url(path)}</link></item>`)
          .join('')}</channel></rss>`,
      });
    const sitemap = (exchange: Exchange) =>
      answer(exchange, {
        headers: xml,
        body: `<urlset>${state.sitemap.map((path) => `<url><loc>${exchange.url(path)}</loc></url>`).join('')}</urlset>`,
      });
    const started = await bench(
      { pages: { ...pages, '/feed': feed, '/sitemap.xml': sitemap } },
      { budget: '100/day', discover: ['sitemap', 'links'] },
    );
    const { clock, web, changes } = started;
    const watch = await started.open({ feed: [web.url('/feed')] });
    await watch.prepare();
    for (let day = 1; day <= 3; day++) {
      state.feed.push(`/pnews${day}`);
      state.sitemap.push(`/plisted${day}`);
      clock.advance(DAY_MS);
      await watch.tick();
      expect(changes().slice(-2).sort()).toEqual([`new /plisted${day}`, `new /pnews${day}`]);
    }
    expect([web.requestsTo('/feed').length, web.requestsTo('/sitemap.xml').length]).toEqual([4, 4]);
    await watch.close();
  });

  it.each([
    ['what they name is known', {}],
    ['there are none', { '/sitemap.xml': { status: 404 } }],
  ])('are all that a tick reads where no page is due, and %s: that is no failure', async (_, more) => {
    const { pages } = site(1);
    const sitemap = (exchange: Exchange) =>
      answer(exchange, {
        headers: xml,
        body: `<urlset><url><loc>${exchange.url('/p0')}</loc></url></urlset>`,
      });
    const { open, clock, asked, read } = await bench(
      { pages: { ...pages, '/sitemap.xml': sitemap, ...more } },
      { budget: '1000/day', discover: ['sitemap', 'links'], sitemapCacheHours: 0.01 },
    );
    const watch = await open();
    await watch.prepare();
    asked();
    clock.advance(DAY_MS);
    expect(await watch.tick()).toMatchObject({ status: 'completed', due: 2 });
    asked();
    // Pages that were read just now are left alone.
    clock.advance(HOUR_MS / 20);
    expect(await watch.tick()).toMatchObject({ status: 'completed', due: 0, failed: 0 });
    expect(asked()).toEqual([]);
    expect(await read((side) => side.lastRun(1))).toMatchObject({ run: 3, status: 'completed', error: null });
    await watch.close();
  });

  it('may be named by the operator, whatever they are called', async () => {
    const { pages } = site(1);
    const feed = (exchange: Exchange) =>
      answer(exchange, {
        headers: { 'content-type': 'application/rss+xml' },
        body: `<rss version="2.0"><channel><item><link>${exchange.url('/pnews')}</link></item></channel></rss>`,
      });
    const started = await bench(
      { pages: { ...pages, '/feed': feed } },
      { budget: '10/day', discover: ['sitemap', 'links'] },
    );
    const watch = await started.open({ feed: [started.web.url('/feed')] });
    await watch.prepare();
    expect(started.asked().sort()).toEqual(['/', '/p0', '/pnews']);
    await watch.close();
  });
});
