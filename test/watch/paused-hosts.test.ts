/** A host that asks to be left alone for long is left alone for so long, and holds up no look at the others. */
import { expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { numbers, site } from './small-site.ts';
import { HOUR_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

const QUARTER_MS = HOUR_MS / 4;

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
  /** Asks of each host; the clock stands still: a look that waited would never end. */
  const look = async () => {
    clock.advance(QUARTER_MS);
    const before = web.log.length;
    expect(await watch.tick()).toMatchObject({ status: 'completed' });
    const asked = web.log.slice(before).map(({ host, path }) => `${host}:${path}`);
    return [0, 1].map((host) => asked.filter((name) => name.startsWith(`${host}:/p`)));
  };
  await look();
  Object.assign(state, trouble);
  const asks: string[][] = [];
  for (let quarter = 0; quarter < 9; quarter++) {
    const before = web.log.length;
    const [own] = await look();
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
  for (let quarter = 0; quarter < 8; quarter++) found.push(...(await look())[1]);
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
  const { open, clock, crawl, web, changes } = await bench(
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
  const looked = watch.tick().finally(() => {
    over.is = true;
  });
  while (!over.is) {
    await new Promise((resolve) => setImmediate(resolve));
    if (isRefused) clock.advance(1000);
  }
  expect(await looked).toMatchObject({ status: 'completed', failed: 0 });
  expect(web.log.slice(before).filter(({ host, path }) => host === 1 && path.startsWith('/p')).length).toBe(
    5,
  );
  await watch.close();
});
