/** What a tick keeps of its visits for pages that sitemaps may name, where there are any to be read, and what becomes of that. */
import { expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { numbers, site } from './small-site.ts';
import { DAY_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

const SITEMAP = (exchange: Exchange) =>
  answer(exchange, {
    headers: { 'content-type': 'application/xml' },
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${exchange.url('/p77')}</loc></url></urlset>`,
  });

it.each([
  ['has no sitemap', '/', {}],
  ['is a page of a site without one', '/p0', {}],
  ['has one that names nothing new', '/', { '/sitemap.xml': SITEMAP }],
])('visits the whole day’s worth where the start %s', async (_, start, more) => {
  const { pages, state } = site(40);
  const serve = pages!['/'] as (exchange: Exchange) => void;
  state.links.push('/p77');
  // The page that is given leads to all others, too.
  const first = (exchange: Exchange) => serve({ ...exchange, path: '/' });
  const { open, asked, clock, crawl } = await bench(
    { pages: { ...pages, '/p0': first, ...more } },
    { budget: '10/day', discover: ['sitemap', 'links'] },
    start,
  );
  await crawl();
  asked();
  clock.advance(DAY_MS);
  const perDay: number[] = [];
  for (let day = 0; day < 6; day++) {
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
    perDay.push(asked().length);
    clock.advance(DAY_MS);
  }
  // Before the first tick nobody knows what a page’s site has.
  expect(perDay.slice(1)).toEqual(Array.from({ length: 5 }, () => 10));
});

it('finds a sitemap that a site gets later, within some days, though every tick is full', async () => {
  const { pages } = site(40);
  const sitemap = { isThere: false };
  const serve = (exchange: Exchange) =>
    sitemap.isThere ? SITEMAP(exchange) : answer(exchange, { status: 404, body: '' });
  const { open, clock, crawl, changes } = await bench(
    { pages: { ...pages, '/sitemap.xml': serve } },
    { budget: '10/day', discover: ['sitemap', 'links'] },
  );
  await crawl();
  sitemap.isThere = true;
  for (let day = 0; day < 9; day++) {
    clock.advance(DAY_MS);
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
  }
  expect(changes()).toEqual(['new /p77']);
});

it('visits what is named first, and pages of the plan for what that leaves, within the room of a tick', async () => {
  const { pages } = site(60);
  const named = ['/p77'];
  const sitemap = (exchange: Exchange) =>
    answer(exchange, {
      headers: { 'content-type': 'application/xml' },
      body: `<urlset>${named.map((path) => `<url><loc>${exchange.url(path)}</loc></url>`).join('')}</urlset>`,
    });
  const { open, asked, clock, crawl, changes, ticks } = await bench(
    { pages: { ...pages, '/sitemap.xml': sitemap } },
    { budget: '40/day', discover: ['sitemap', 'links'], maxPages: 30 },
  );
  await crawl({ maxPages: 100 });
  asked();
  const perDay: number[] = [];
  for (const news of [0, 1, 3, 5]) {
    named.push(...numbers(news).map((n) => `/pnew${news}-${n}`));
    clock.advance(DAY_MS);
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
    perDay.push(asked().length);
  }
  expect(perDay).toEqual([30, 30, 30, 30]);
  expect(changes().length).toBe(7);
  // One run a tick: 27 pages of the plan, what was named, and further pages of the plan for what that leaves.
  expect(ticks().map(({ due, new: found }) => [due, found])).toEqual([
    [30, 0],
    [29, 1],
    [27, 3],
    [27, 3],
  ]);
});

it('asks a silent host for no second page with what is left', async () => {
  let isDead = false;
  const serve = (exchange: Exchange) => {
    const { host, path, url, request } = exchange;
    if (host === 1 && isDead) return void request.socket.destroy();
    const links = [0, 1].flatMap((of) => numbers(20).map((n) => url(`/p${n}`, of)));
    answer(exchange, { body: path === '/robots.txt' ? '' : page(path, ...(path === '/' ? links : [])) });
  };
  const { open, clock, crawl, web } = await bench(
    { pages: { '/': serve, '/p*': serve, '/robots.txt': serve, '0:/sitemap.xml': SITEMAP }, hosts: 2 },
    {
      ...{ budget: '40/day', discover: ['sitemap', 'links'], allowedHosts: ['any'], robotsTtl: 60 },
      ...{ breakerFailures: 1, breakerProbes: 0, robotsRetries: 0 },
    },
  );
  await crawl();
  isDead = true;
  const asks: number[] = [];
  for (let day = 0; day < 6; day++) {
    clock.advance(DAY_MS);
    const before = web.log.length;
    const watch = await open();
    await watch.prepare();
    await watch.tick();
    await watch.close();
    asks.push(web.log.slice(before).filter(({ host }) => host === 1).length);
  }
  expect(asks.slice(1)).toEqual([1, 1, 1, 1, 1]);
});
