/** The plan as it comes out of the store: what is saved is only a shortcut, the history of visits is the truth. */
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { loadPlan } from '../../src/watch/load-plan.ts';
import { readState } from '../../src/watch/watch-state.ts';
import { page } from '../crawls/crawl-site.ts';
import { seededRandom } from '../seeded-random.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { DAY_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();
const OPTIONS = { kind: 'value', visitsPerDay: 10, random: seededRandom(1).next } as const;

/** Twelve pages, of which every third changes every day. */
async function watchForAWeek() {
  const paths = Array.from({ length: 12 }, (_, n) => `/p${n}`);
  const started = await bench(
    {
      pages: {
        '/': page('home', ...paths),
        '/p*': (exchange: Exchange) => {
          const isRestless = Number(exchange.path.slice(2)) % 3 === 0;
          const day = isRestless ? Math.floor(exchange.clock.now() / DAY_MS) : 0;
          answer(exchange, { body: page(`${exchange.path} of day ${day}`) });
        },
      },
    },
    { budget: '10/day' },
  );
  await started.crawl();
  const watch = await started.open();
  for (let day = 0; day < 7; day++) {
    started.clock.advance(DAY_MS);
    await watch.tick();
  }
  await watch.close();
  return started;
}

/** As if nothing had ever been kept but the history. */
function forgetPlan(path: string): void {
  const db = new Sqlite(path);
  db.exec('DELETE FROM revisit; UPDATE project SET revisit_plan = NULL, learned_run = 0');
  db.close();
}

describe('a plan that is loaded', () => {
  it('knows from the history alone what the one that was saved knows', async () => {
    const { read, clock, path } = await watchForAWeek();
    const numbers = Array.from({ length: 13 }, (_, n) => n);
    const knowledge = ({ book }: Awaited<ReturnType<typeof loadPlan>>) => ({
      ids: numbers.map((n) => book.pageIdOf(n)),
      visits: numbers.map((n) => book.plan.lastVisit(n)),
      rates: numbers.map((n) => book.plan.explain(n, clock.now()).ratePerDay),
    });
    const saved = await read(async (side) => {
      const { plan, learnedRun } = await side.revisitPlan(1);
      return knowledge(await loadPlan(side, 1, { state: readState(plan), learnedRun }, OPTIONS, clock.now()));
    });
    forgetPlan(path);
    const anew = await read(async (side) =>
      knowledge(await loadPlan(side, 1, { state: null, learnedRun: 0 }, OPTIONS, clock.now())),
    );
    expect(anew.ids).toEqual(saved.ids);
    expect(anew.visits).toEqual(saved.visits);
    // Not to the last digit: what a change says of a rate depends on what was usual at the time.
    for (const [n, rate] of saved.rates.entries()) {
      expect(anew.rates[n]).toBeGreaterThan(0.6 * rate);
      expect(anew.rates[n]).toBeLessThan(1.6 * rate);
    }
    const restless = saved.rates.filter((_, n) => n % 3 === 1);
    const calm = saved.rates.filter((_, n) => n % 3 !== 1);
    expect(Math.min(...restless)).toBeGreaterThan(2 * Math.max(...calm));
  });

  it('passes over visits that a page was saved with, though the run was not', async () => {
    const { read, clock } = await watchForAWeek();
    await read(async (side) => {
      const kept = await side.revisitPlan(1);
      const state = readState(kept.plan);
      const before = await loadPlan(side, 1, { state, learnedRun: kept.learnedRun }, OPTIONS, clock.now());
      const again = await loadPlan(side, 1, { state, learnedRun: kept.learnedRun - 3 }, OPTIONS, clock.now());
      const numbers = Array.from({ length: 13 }, (_, n) => n);
      expect(again.book.plan.savePages(numbers).rateDays).toEqual(
        before.book.plan.savePages(numbers).rateDays,
      );
      expect(again.book.learnedRun).toBe(before.book.learnedRun);
    });
  });

  it('knows when pages were visited whose history was cleared', async () => {
    const { read, clock, path } = await watchForAWeek();
    const lastVisits = await read(async (side) => {
      const found = new Map<number, number | null>();
      for await (const rows of side.revisitPages(1))
        for (const { pageId, visitedAt } of rows) found.set(pageId, visitedAt);
      return found;
    });
    const store = await openStore({ address: path, clock, onFailure: () => {} });
    await store.projects.forget(null, clock.now() + 1);
    await store.close();
    forgetPlan(path);
    await read(async (side) => {
      const { book } = await loadPlan(side, 1, { state: null, learnedRun: 0 }, OPTIONS, clock.now());
      for (const [pageId, visitedAt] of lastVisits)
        expect(book.plan.lastVisit(book.pageOf(pageId))).toBe(visitedAt);
    });
  });
});
