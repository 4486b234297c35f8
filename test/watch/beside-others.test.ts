/** What others do to a project while a watch sleeps: it is cleared, or watched by another. */
import { expect, it } from 'vitest';
import { answer, type Exchange } from '../web/fake-web.ts';
import { site } from './small-site.ts';
import { DAY_MS, HOUR_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

it('begins anew when somebody cleared the project meanwhile, and what it visited stays paid', async () => {
  const { pages, state } = site(9);
  const { open, crawl, clock, changes, asked } = await bench({ pages }, { budget: '10/day' });
  const watch = await open();
  await watch.prepare();
  clock.advance(DAY_MS);
  await watch.tick();
  state.links = state.links.slice(2);
  await crawl({ fresh: true });
  const made: number[] = [];
  for (const days of [1 / 4, 1, 1]) {
    asked();
    clock.advance(days * DAY_MS);
    await watch.tick();
    made.push(asked().length);
    state.versions.set('/p5', 1);
  }
  expect(made).toEqual([0, 8, 8]);
  expect(changes()).toEqual(['changed /p5']);
  await watch.close();
});

it('has what it visited paid, too, where somebody cleared the project and could visit nothing', async () => {
  const { pages } = site(9);
  let isDown = false;
  const robotsTxt = (exchange: Exchange) =>
    answer(exchange, { status: isDown ? 503 : 200, headers: { 'content-type': 'text/plain' }, body: '' });
  const { open, crawl, clock, asked } = await bench(
    { pages: { ...pages, '/robots.txt': robotsTxt } },
    { budget: '10/day', robotsRetries: 0, robotsTtl: 60 },
  );
  const watch = await open();
  await watch.prepare();
  await watch.tick();
  expect(asked().length).toBe(10);
  clock.advance(2 * HOUR_MS);
  isDown = true;
  await crawl({ fresh: true });
  isDown = false;
  await watch.tick();
  const made: number[] = [];
  for (const hours of [2, 24]) {
    clock.advance(hours * HOUR_MS);
    await watch.prepare();
    await watch.tick();
    made.push(asked().length);
  }
  expect(made).toEqual([0, 10]);
  await watch.close();
});

it('knows what another watch did while it slept', async () => {
  const { pages, state } = site(9);
  const { open, clock, changes, asked, ticks } = await bench({ pages }, { budget: '10/day' });
  const sleeper = await open();
  await sleeper.prepare();
  await sleeper.tick();
  asked();
  clock.advance(DAY_MS);
  state.versions.set('/p5', 1);
  const other = await open();
  await other.tick();
  await other.close();
  clock.advance(HOUR_MS);
  await sleeper.tick();
  expect(asked().length).toBe(10);
  expect(ticks().map(({ skipped }) => skipped)).toEqual(['nothing due', null, 'budget']);
  expect(changes()).toEqual(['changed /p5']);
  await sleeper.close();
});
