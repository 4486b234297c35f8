/** What a look keeps of its visits for pages that sitemaps may name, where there are any to be read. */
import { expect, it } from 'vitest';
import { answer, type Exchange } from '../web/fake-web.ts';
import { site } from './small-site.ts';
import { DAY_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

const SITEMAP = (exchange: Exchange) =>
  answer(exchange, {
    headers: { 'content-type': 'application/xml' },
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${exchange.url('/p77')}</loc></url></urlset>`,
  });

it.each([
  ['has no sitemap', '/', {}, 10],
  ['is a page of a site without one', '/p0', {}, 10],
  ['has one', '/', { '/sitemap.xml': SITEMAP }, 9],
])(
  'visits the whole day’s worth, but for what may be named, where the start %s',
  async (_, start, more, visits) => {
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
    // Before the first look nobody knows what a page’s site has.
    expect(perDay.slice(1)).toEqual(Array.from({ length: 5 }, () => visits));
  },
);

it('finds a sitemap that a site gets later, within some days, though every look is full', async () => {
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

it('has what was kept for finds that did not come at the next look', async () => {
  const { pages, state } = site(60);
  state.links.push('/p77');
  const { open, asked, clock, crawl } = await bench(
    { pages: { ...pages, '/sitemap.xml': SITEMAP } },
    { budget: '40/day', discover: ['sitemap', 'links'] },
  );
  await crawl();
  asked();
  const watch = await open();
  const perLook: number[] = [];
  for (let look = 0; look < 12; look++) {
    clock.advance(DAY_MS / 4);
    await watch.tick();
    perLook.push(asked().length);
  }
  await watch.close();
  // Read once a day; within a day there are 40 still, of which the last look of the four keeps one.
  expect(perLook.slice(4)).toEqual([11, 10, 10, 8, 11, 10, 10, 8]);
});
