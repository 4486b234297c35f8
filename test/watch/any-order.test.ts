/** The promises of the budget under any order of ticks, restarts, kills, other budgets and crawls by hand; the web's log is the judge. */
import { cpSync, existsSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { Watch } from '../../src/watch/watch-project.ts';
import { page } from '../crawls/crawl-site.ts';
import type { FakeClock } from '../fake-clock.ts';
import { seededRandom } from '../seeded-random.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { numbers } from './small-site.ts';
import { DAY_MS, useWatches } from './watch-bench.ts';

const bench = useWatches();

/** Visits of one tick, all and by host, under the budgets that it was given. */
interface Ticked {
  at: number;
  all: number;
  hosts: number[];
  budget: number;
  hostBudget: number | null;
}

/** Never more than N: what the ticks of the last day visited is taken off, but for a twentieth of a day that may be missing. */
function excessOf(rounds: readonly Ticked[]): string[] {
  return rounds.flatMap((tick, i) => {
    const before = rounds.slice(0, i).filter(({ at }) => at > tick.at - 0.95 * DAY_MS);
    const made = before.reduce((sum, { all }) => sum + all, 0);
    const found: string[] = [];
    if (tick.all > Math.max(0, tick.budget - made))
      found.push(`tick ${i}: ${tick.all} after ${made} of ${tick.budget}`);
    for (const [host, visits] of tick.hosts.entries()) {
      if (tick.hostBudget === null) continue;
      const paid = before.filter(({ hostBudget }) => hostBudget !== null);
      const ofHost = paid.reduce((sum, { hosts }) => sum + hosts[host], 0);
      if (visits > Math.max(0, tick.hostBudget - ofHost))
        found.push(`tick ${i}: ${visits} of host ${host} after ${ofHost} of ${tick.hostBudget}`);
    }
    return found;
  });
}

/** Until it is over, time goes by. */
async function passing(clock: FakeClock, work: () => Promise<unknown>): Promise<void> {
  const over = { is: false };
  const done = work().finally(() => {
    over.is = true;
  });
  while (!over.is) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(20);
  }
  await done;
}

/** Two hosts that grow, and of which the second may be dead; `onAsk` hears of each page that is asked for. */
function growingSite() {
  const state = {
    links: numbers(10).map((n) => ({ path: `/p${n}`, host: n % 2 })),
    isDead: false,
    version: 0,
    onAsk: () => {},
  };
  const serve = (exchange: Exchange) => {
    const { host, path, url, request } = exchange;
    const isRobots = path === '/robots.txt';
    if (!isRobots) state.onAsk();
    if (host === 1 && state.isDead) return void request.socket.destroy();
    const links = path === '/' ? state.links.map((link) => url(link.path, link.host)) : [];
    answer(exchange, { body: isRobots ? '' : page(`${path} ${state.version}`, ...links) });
  };
  return { state, pages: { '/': serve, '/p*': serve, '/robots.txt': serve } };
}

/** The database as it was in a moment: what a kill in that moment leaves behind. */
function snapshotOf(path: string) {
  const copy = (from: string, to: string) => {
    for (const end of ['', '-wal', '-shm']) {
      rmSync(to + end, { force: true });
      if (existsSync(from + end)) cpSync(from + end, to + end);
    }
  };
  copy(path, `${path}.copy`);
  return {
    putBack() {
      copy(`${path}.copy`, path);
      const db = new Sqlite(path);
      // This process lives, which was to be killed.
      db.exec(`UPDATE project SET revisit_plan = json_set(revisit_plan, '$.watcher', NULL)
        WHERE revisit_plan IS NOT NULL`);
      db.close();
    },
  };
}

const nameOf = ({ host, path }: { host: number; path: string }) => `${host}${path}`;

it.each([1, 2, 3])(
  'keeps to the budgets in any order of events, seed %d',
  async (seed) => {
    const random = seededRandom(seed).next;
    const upTo = (most: number) => Math.floor(random() * most);
    const { state, pages } = growingSite();
    const { open, crawl, clock, web, path, ticks } = await bench(
      { pages, hosts: 2 },
      { ...{ breakerFailures: 2, breakerProbes: 0, robotsRetries: 0, robotsTtl: 60 }, allowedHosts: ['any'] },
    );
    const rounds: Ticked[] = [];
    let budgets = { budget: 12, hostBudget: null as number | null };
    let watch: Watch | null = null;
    /** What killed ticks asked for: their rest may ask once more for some of it, and nothing else changes until it is done. */
    let killed: ReadonlySet<string> | null = null;
    for (let step = 0; step < 40; step++) {
      const { budget, hostBudget } = budgets;
      const given = {
        budget: `${budget}/day`,
        ...(hostBudget !== null && { hostBudget: `${hostBudget}/day` }),
      };
      const current: Watch = watch ?? (await open(given));
      const killAt = random() < 0.15 ? 1 + upTo(8) : 0;
      let [asks, until] = [0, web.log.length];
      let snapshot: ReturnType<typeof snapshotOf> | null = null;
      state.onAsk = () => {
        if (++asks !== killAt) return;
        snapshot = snapshotOf(path);
        until = web.log.length;
      };
      const [at, seen] = [clock.now(), web.log.length];
      await passing(clock, async () => {
        if (!current.isPrepared) await current.prepare();
        if (snapshot === null) await current.tick();
      });
      state.onAsk = () => {};
      const left = snapshot as ReturnType<typeof snapshotOf> | null;
      const log = web.log.slice(seen, left === null ? web.log.length : until);
      const asked = log.filter((entry) => entry.path !== '/robots.txt');
      const counted = asked.filter((entry) => !killed?.has(nameOf(entry)));
      const hosts = [0, 1].map((n) => counted.filter(({ host }) => host === n).length);
      rounds.push({ at, all: counted.length, hosts, budget, hostBudget });
      left?.putBack();
      watch = left === null ? current : null;
      if (left !== null) killed = new Set([...(killed ?? []), ...asked.map(nameOf)]);
      else if (ticks().at(-1)?.status === 'completed') killed = null;
      clock.advance(Math.max(3_600_000, random() * DAY_MS * (random() < 0.3 ? 1.3 : 0.2)));
      const what = random();
      if (what < 0.1) {
        state.version++;
        state.links.push(...numbers(upTo(25)).map((n) => ({ path: `/pnew${step}-${n}`, host: n % 2 })));
      }
      if (what > 0.7) {
        await watch?.close();
        watch = null;
      }
      if (killed !== null) continue;
      if (what > 0.8) budgets = { budget: 1 + upTo(24), hostBudget: random() < 0.5 ? null : 1 + upTo(10) };
      else if (what > 0.7) await passing(clock, () => crawl({ ...given, maxPages: 1 + upTo(30) }));
      else if (what > 0.65) state.isDead = !state.isDead;
    }
    await watch?.close();
    expect(rounds.some(({ all }) => all > 0)).toBe(true);
    expect(excessOf(rounds)).toEqual([]);
  },
  60_000,
);
