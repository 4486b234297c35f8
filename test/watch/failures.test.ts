/** What a watch makes of visits that fail, where the tick they belong to is cut off. */
import { expect, it } from 'vitest';
import { openReadSide } from '../../src/store/open-store.ts';
import { explainRevisit } from '../../src/watch/explain-revisit.ts';
import { numbers, site } from './small-site.ts';
import { DAY_MS, HOUR_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

it.each([
  ['goes on', false],
  ['begins anew', true],
])(
  'learns once from a visit that failed in a tick that was cut off, where the watch %s',
  async (_, isNew) => {
    const { pages, state } = site(6);
    const { open, crawl, clock, web, path } = await bench(
      { pages },
      { budget: '2000/day', every: 3600, concurrency: 1, perHost: 1 },
    );
    await crawl();
    clock.advance(DAY_MS);
    for (const n of numbers(6)) state.failing.add(`/p${n}`);
    let watch = await open();
    const again = async () => {
      if (!isNew) return;
      await watch.close();
      watch = await open();
      await watch.prepare();
    };
    await watch.prepare();
    const before = web.log.length;
    const tick = watch.tick();
    while (web.log.length < before + 3) await new Promise((resolve) => setImmediate(resolve));
    watch.handle!.stop();
    expect(await tick).toMatchObject({ status: 'interrupted' });
    await again();
    const side = await openReadSide(path);
    const nextVisitOf = async (name: string) => {
      const page = (await side.page(1, web.url(name)))!;
      const visits = await side.visits(page.id);
      const question = { page: { id: page.id, projectId: 1 }, visits, now: clock.now(), kind: undefined };
      return (await explainRevisit(side, { ...question, visitsPerDay: 2000 }))!.next_visit;
    };
    const failed = web.log.slice(before).find(({ path: asked }) => asked.startsWith('/p'))!.path;
    const inSixHours = new Date(clock.now() + 6 * HOUR_MS).toISOString();
    expect(await nextVisitOf(failed)).toBe(inSixHours);
    expect(await watch.tick()).toMatchObject({ status: 'completed', failed: 6 });
    expect(await nextVisitOf(failed)).toBe(inSixHours);
    await side.close();
    await again();
    clock.advance(6 * HOUR_MS);
    const asks = web.requestsTo(failed).length;
    await watch.tick();
    expect(web.requestsTo(failed).length).toBe(asks + 1);
    await watch.close();
  },
);
