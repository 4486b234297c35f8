/** A host that asks to be left alone for long is left alone for so long, and holds up no visit of the others. */
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import { openStore } from '../../src/store/open-store.ts';
import { page } from '../crawls/crawl-site.ts';
import { withVerbs } from '../crawls/with-verbs.ts';
import { answer, type Exchange, startFakeWeb } from '../web/fake-web.ts';
import { numbers, site } from './small-site.ts';
import { HOUR_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

const QUARTER_MS = HOUR_MS / 4;

/** Whatever has come is heard. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Two hosts of which the first leads to all pages; the second may say of some paths that it is to be left alone. */
function twoHosts() {
  const state = { status: 429, retryAfter: '3600', isBusy: (_: string) => false, more: [] as string[] };
  const serve = (exchange: Exchange) => {
    const { host, path, url } = exchange;
    if (host === 1 && state.isBusy(path))
      return answer(exchange, {
        status: state.status,
        headers: { 'retry-after': state.retryAfter },
        body: '',
      });
    if (path === '/robots.txt') return answer(exchange, { body: '' });
    if (path === '/sitemap.xml') return answer(exchange, { status: 404, body: '' });
    const names = [...numbers(4).map((n) => `/p${n}`), ...state.more];
    const links = [0, 1].flatMap((of) => names.map((name) => url(name, of)));
    answer(exchange, { body: page(path, ...(host === 0 && path === '/' ? links : [])) });
  };
  const paths = ['/', '/p*', '/robots.txt', '/sitemap.xml'];
  return { state, pages: Object.fromEntries(paths.map((path) => [path, serve])) };
}

it.each([
  ['its pages', { isBusy: (path: string) => path.startsWith('/p') }],
  ['its pages, by 503,', { isBusy: (path: string) => path.startsWith('/p'), status: 503 }],
  ['its robots.txt', { isBusy: (path: string) => path === '/robots.txt', status: 503 }],
  ['all that is new', { isBusy: (path: string) => path.startsWith('/pnew'), more: ['/pnew0', '/pnew1'] }],
])('waits for no pause of an hour that is asked for by %s, and keeps it', async (_, trouble) => {
  const { state, pages } = twoHosts();
  const { open, clock, crawl, web } = await bench(
    { pages, hosts: 2 },
    { budget: '4000/day', allowedHosts: ['any'], every: 900, retries: 3, robotsTtl: 60, perHost: 1 },
  );
  await crawl();
  const watch = await open();
  /** Asks of each host; the clock stands still: a tick that waited would never end. */
  const tick = async () => {
    clock.advance(QUARTER_MS);
    const before = web.log.length;
    expect(await watch.tick()).toMatchObject({ status: 'completed' });
    const asked = web.log.slice(before).map(({ host, path }) => `${host}:${path}`);
    return [0, 1].map((host) => asked.filter((name) => name.startsWith(`${host}:/p`)));
  };
  await tick();
  Object.assign(state, trouble);
  const asks: string[][] = [];
  for (let quarter = 0; quarter < 9; quarter++) {
    const before = web.log.length;
    const [own] = await tick();
    expect(own.length).toBeGreaterThanOrEqual(4);
    const all = web.log.slice(before).filter(({ host }) => host === 1);
    asks.push(all.map(({ path }) => path));
  }
  // Once, and again when the hour is over.
  const refused = asks.map((paths) => paths.filter(state.isBusy).length);
  expect(refused.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(3);
  const first = refused.indexOf(1);
  expect(asks.slice(first + 1, first + 4)).toEqual([[], [], []]);
  expect(refused[first + 4]).toBe(1);
  state.isBusy = () => false;
  const found: string[] = [];
  for (let quarter = 0; quarter < 8; quarter++) found.push(...(await tick())[1]);
  for (const name of [...numbers(4).map((n) => `/p${n}`), ...state.more])
    expect(found).toContain(`1:${name}`);
  await watch.close();
});

it('waits for no pause of an hour that is asked for by a sitemap, and reads that when it is over', async () => {
  const { pages } = site(3);
  const state = { isBusy: false, names: ['/p0'] };
  const sitemap = (exchange: Exchange) => {
    if (state.isBusy) return answer(exchange, { status: 429, headers: { 'retry-after': '3600' }, body: '' });
    const entries = state.names.map((name) => `<url><loc>${exchange.url(name)}</loc></url>`);
    answer(exchange, {
      headers: { 'content-type': 'text/xml' },
      body: `<urlset>${entries.join('')}</urlset>`,
    });
  };
  const { open, clock, crawl, web, changes, ticks } = await bench(
    { pages: { ...pages, '/sitemap.xml': sitemap } },
    { budget: '4000/day', every: 900, discover: ['sitemap', 'links'], sitemapCacheHours: 0.1, perHost: 1 },
  );
  await crawl();
  Object.assign(state, { isBusy: true, names: ['/p0', '/pnew'] });
  const asks: number[] = [];
  const watch = await open();
  for (let quarter = 0; quarter < 6; quarter++) {
    clock.advance(QUARTER_MS);
    const before = web.log.length;
    await watch.tick();
    asks.push(web.log.length - before);
    state.isBusy = quarter < 2;
  }
  expect(asks.slice(1, 4)).toEqual([0, 0, 0]);
  expect(changes()).toEqual(['new /pnew']);
  // To ask for a pause is to answer; while it lasts there is nothing to make a run for.
  expect(ticks().map(({ status, skipped }) => status ?? skipped)).toEqual([
    ...['completed', 'nothing due', 'nothing due', 'nothing due', 'completed', 'completed'],
  ]);
  await watch.close();
});

it('waits for a short pause, as a crawl does', async () => {
  const { state, pages } = twoHosts();
  const { open, clock, crawl, web } = await bench(
    { pages, hosts: 2 },
    { budget: '4000/day', allowedHosts: ['any'], every: 900, retries: 3, perHost: 1 },
  );
  await crawl();
  const watch = await open();
  clock.advance(QUARTER_MS);
  state.retryAfter = '30';
  let isRefused = false;
  state.isBusy = (path) => {
    const isNow = path.startsWith('/p') && !isRefused;
    isRefused ||= isNow;
    return isNow;
  };
  const before = web.log.length;
  const over = { is: false };
  const ticked = watch.tick().finally(() => {
    over.is = true;
  });
  while (!over.is) {
    await new Promise((resolve) => setImmediate(resolve));
    if (isRefused) clock.advance(1000);
  }
  expect(await ticked).toMatchObject({ status: 'completed', failed: 0 });
  expect(web.log.slice(before).filter(({ host, path }) => host === 1 && path.startsWith('/p')).length).toBe(
    5,
  );
  await watch.close();
});

it('waits for no pause of an hour of the host that a robots.txt leads to', async () => {
  const { state, pages } = twoHosts();
  const robots = (exchange: Exchange) => {
    if (exchange.host === 1) return answer(exchange, { body: '' });
    answer(exchange, { status: 301, headers: { location: exchange.url('/robots.txt', 1) }, body: '' });
  };
  const { open, clock, crawl, web, asked, read } = await bench(
    { pages: { ...pages, '/robots.txt': robots }, hosts: 2 },
    { budget: '4000/day', allowedHosts: ['any'], every: 900, robotsTtl: 60, perHost: 1 },
  );
  await crawl();
  const watch = await open();
  clock.advance(QUARTER_MS);
  await watch.tick();
  state.isBusy = (path) => path.startsWith('/p');
  clock.advance(QUARTER_MS);
  await watch.tick();
  expect(web.log.filter(({ host, path }) => host === 1 && state.isBusy(path)).length).toBeGreaterThan(5);
  asked();
  const statesOfFirst = () =>
    read(async (side) => {
      const found = new Set<string>();
      for await (const { host, state } of side.pages({ project: 'watched' }))
        if (host === '127.0.0.1') found.add(state);
      return [...found];
    });
  for (let quarter = 0; quarter < 3; quarter++) {
    clock.advance(QUARTER_MS);
    // Its pages may not be asked for: nobody knows what its robots.txt says.
    expect((await watch.tick()).status).not.toBe('failed');
    expect(asked()).toEqual([]);
    expect(await statesOfFirst()).toEqual(['RateLimited']);
  }
  state.isBusy = () => false;
  const found = new Set<string>();
  for (let quarter = 0; quarter < 24; quarter++) {
    clock.advance(QUARTER_MS);
    await watch.tick();
    for (const path of asked()) found.add(path);
  }
  expect([...found].sort()).toEqual(
    ['/', ...[0, 1].flatMap((host) => numbers(4).map((n) => `${host === 0 ? '' : '1:'}/p${n}`))].sort(),
  );
  await watch.close();
});

it.each([
  ['is to be asked for again', 503, 2],
  ['waits for its turn', 503, 1],
  ['comes while the host is paused, before the sitemap that it allows', 200, 2],
])('waits for no pause of an hour with a robots.txt of another port that %s', async (_, status, perHost) => {
  const links: string[] = [];
  const state = { isBusy: false };
  const later: Record<'page' | 'robots', (() => void)[]> = { page: [], robots: [] };
  const serve = (exchange: Exchange) => {
    if (!state.isBusy || exchange.path !== '/last')
      return answer(exchange, { body: page(exchange.path, ...(exchange.path === '/' ? links : [])) });
    later.page.push(() => answer(exchange, { status: 429, headers: { 'retry-after': '3600' }, body: '' }));
  };
  const naming = (exchange: Exchange) =>
    answer(exchange, {
      headers: { 'content-type': 'text/plain' },
      body: `Sitemap: ${links[0].replace('/p', '/s.xml')}`,
    });
  const { open, clock, crawl, web } = await bench(
    { pages: { '/': serve, '/last': serve, '/robots.txt': naming } },
    {
      ...{ budget: '4000/day', allowedHosts: ['any'], every: 900, robotsTtl: 60, perHost },
      ...(status === 200 && { discover: ['sitemap', 'links'], sitemapCacheHours: 0.1 }),
    },
  );
  const robots = (exchange: Exchange) => {
    if (!state.isBusy) return answer(exchange, { body: '' });
    const say = () => answer(exchange, { status, body: '' });
    if (status === 200) later.robots.push(say);
    else say();
  };
  const other = await startFakeWeb({ clock, pages: { '/robots.txt': robots, '/p': page('p') } });
  links.push(other.url('/p'), web.url('/last'));
  // The plan asks for the last that was found first.
  if (perHost === 1) links.reverse();
  await crawl();
  const watch = await open();
  clock.advance(QUARTER_MS);
  state.isBusy = true;
  const over = { is: false };
  const ticked = watch.tick().finally(() => {
    over.is = true;
  });
  await Promise.all([other.asked('/robots.txt', 2), web.asked('/last', 2)]);
  await turns(100);
  // Its time comes while the only request that may be under way is.
  if (perHost === 1) clock.advance(2000);
  await turns(100);
  for (const answers of [later.page, later.robots]) {
    for (const say of answers) say();
    await turns(100);
  }
  for (let second = 0; second < 200 && !over.is; second++) {
    await turns(20);
    clock.advance(1000);
  }
  const isOver = over.is;
  watch.stop();
  await ticked;
  await watch.close();
  await other.close();
  expect(isOver).toBe(true);
});

it('gives up the pages of a paused host that was leased to ask for its sitemaps', async () => {
  const { state, pages } = site(3);
  const { clock, crawl, web, path } = await bench({ pages }, { discover: ['sitemap', 'links'] });
  await crawl();
  state.links.push('/pnew');
  const config = await loadConfig({
    env: {},
    options: { db: path, project: 'watched', delay: 0, discover: ['sitemap', 'links'], sitemapCacheHours: 0 },
  });
  const own = await openStore({ address: path, clock, onFailure: () => {} });
  const leased: { now?: () => void } = {};
  const isLeased = new Promise<void>((resolve) => {
    leased.now = resolve;
  });
  const store = withVerbs(own, ({ frontier }) => ({
    lease: (...request) => isLeased.then(() => frontier.lease(...request)),
    async leaseHost(...request) {
      const lease = await frontier.leaseHost(...request);
      if (lease !== null) lease.state.blockedUntil = clock.now() + HOUR_MS;
      leased.now!();
      return lease;
    },
  }));
  const allowance = { hostPages: () => Number.POSITIVE_INFINITY, patienceMs: 60_000, pausesAt: [] };
  const before = web.log.length;
  const handle = await startCrawl({
    config,
    startUrls: [web.url('/')],
    allowance,
    extensions: { clock, store },
  });
  // It read nothing, and its start URL is refused for now.
  expect(await handle.finished).toMatchObject({ status: 'failed', by_state: { RateLimited: 4 } });
  expect(web.log.length).toBe(before);
});

it('calls a host that does not answer so, however long the pause before it would be asked again', async () => {
  const { state, pages } = twoHosts();
  const gone = { is: false };
  const serve = (exchange: Exchange) => {
    if (gone.is && exchange.host === 1) return void exchange.response.destroy();
    (pages[exchange.path] ?? pages['/p*'])(exchange);
  };
  const all = Object.fromEntries(Object.keys(pages).map((path) => [path, serve]));
  const { open, clock, crawl, read } = await bench(
    { pages: all, hosts: 2 },
    { budget: '4000/day', allowedHosts: ['any'], every: 900, perHost: 1, maxCrawlDelay: 600, retries: 9 },
  );
  await crawl();
  state.isBusy = () => false;
  gone.is = true;
  const watch = await open();
  clock.advance(QUARTER_MS);
  const over = { is: false };
  const ticked = watch.tick().finally(() => {
    over.is = true;
  });
  while (!over.is) {
    await turns(20);
    clock.advance(1000);
  }
  await ticked;
  const states = await read(async (side) => {
    const found: string[] = [];
    for await (const { host, state } of side.pages({ project: 'watched' }))
      if (host === '127.0.0.2') found.push(state);
    return found;
  });
  expect(states).toEqual(numbers(4).map(() => 'Unreachable'));
  await watch.close();
});
