/**
 * Whether the whole machine keeps a site as fresh as its scheduler alone would: 300 pages that change at known rates,
 * watched for 60 days on a clock of our own. The judge is the server's log of what was asked when.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createRevisitPlan } from '../../src/change/revisit/create-revisit-plan.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import type { WatchEvent } from '../../src/watch/watch-event.ts';
import { openWatch } from '../../src/watch/watch-project.ts';
import { settingsOf } from '../../src/watch/watch-settings.ts';
import { FakeClock } from '../fake-clock.ts';
import { seededRandom } from '../seeded-random.ts';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import {
  type ChangingPage,
  createChangingSite,
  DAY_MS,
  freshnessOf,
  serveChanging,
  type Visit,
  versionAt,
} from './changing-site.ts';

const DAYS = 60;
const TICKS_A_DAY = 3;
const TICK_MS = DAY_MS / TICKS_A_DAY;
const PER_TICK = 30;

let web: FakeWeb | null = null;
let folder: string | null = null;
afterEach(async () => {
  await web?.close();
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
});

/** The judge's way: the plan alone, told of every page and every visit. */
function driveAlone(site: readonly ChangingPage[], from: number): Visit[] {
  const visits: Visit[] = [];
  const plan = createRevisitPlan({
    kind: 'value',
    visitsPerDay: PER_TICK * TICKS_A_DAY,
    random: seededRandom(1).next,
  });
  plan.load({
    host: site.map(() => 0),
    weight: site.map(({ depth }) => 1 / (1 + depth)),
    depth: site.map(({ depth }) => depth),
    lastVisit: site.map(() => Number.NaN),
  });
  const seen = site.map((page) => versionAt(page, from));
  const visit = (page: number, at: number) => visits.push({ path: site[page].path, at });
  site.forEach((_, page) => {
    plan.observe(page, 'new', from);
    visit(page, from);
  });
  for (let tick = 1; tick <= DAYS * TICKS_A_DAY; tick++) {
    const now = from + tick * TICK_MS;
    for (const page of plan.next(now, PER_TICK)) {
      const version = versionAt(site[page], now);
      plan.observe(page, version === seen[page] ? 'unchanged' : 'changed', now);
      seen[page] = version;
      visit(page, now);
    }
  }
  return visits;
}

/** All pages in turn. */
function visitInTurn(site: readonly ChangingPage[], from: number): Visit[] {
  const visits = site.map(({ path }) => ({ path, at: from }));
  for (let n = 0; n < DAYS * TICKS_A_DAY * PER_TICK; n++) {
    const at = from + (Math.floor(n / PER_TICK) + 1) * TICK_MS;
    visits.push({ path: site[n % site.length].path, at });
  }
  return visits;
}

/** The best that anybody can do: the true rates are known, and each visit goes where it buys the most freshness. */
function visitByRates(site: readonly ChangingPage[], from: number): Visit[] {
  const visits = site.map(({ path }) => ({ path, at: from }));
  const last = site.map(() => 0);
  for (let tick = 1; tick <= DAYS * TICKS_A_DAY; tick++) {
    const worth = ({ ratePerDay, depth }: ChangingPage, n: number) => {
      const changes = (ratePerDay * (tick - last[n])) / TICKS_A_DAY;
      return (1 - (1 + changes) * Math.exp(-changes)) / ratePerDay / (1 + depth);
    };
    const byWorth = site.map((page, n) => ({ n, worth: worth(page, n) })).sort((a, b) => b.worth - a.worth);
    for (const { n } of byWorth.slice(0, PER_TICK)) {
      last[n] = tick;
      visits.push({ path: site[n].path, at: from + tick * TICK_MS });
    }
  }
  return visits;
}

it('keeps a site of known rates as fresh for 60 days as its scheduler alone, and fresher than visits in turn', async () => {
  const clock = new FakeClock();
  const from = clock.now();
  const site = createChangingSite(seededRandom(11), { sections: 20, pagesEach: 14, from, days: DAYS + 1 });
  const log: Visit[] = [];
  web = await startFakeWeb({ pages: serveChanging(site, clock, log), clock });
  folder = mkdtempSync(join(tmpdir(), 'sumi-watch-'));
  const config = await loadConfig({
    env: {},
    options: {
      db: join(folder, 'sumi.db'),
      delay: 0,
      adaptiveDelay: false,
      discover: ['links'],
      budget: `${PER_TICK * TICKS_A_DAY}/day`,
      every: TICK_MS / 1000,
    },
  });
  const project = 'ground truth';
  const begun = { config: { ...config, project }, startUrls: [web.origin], extensions: { clock } };
  const first = await (await startCrawl(begun)).finished;
  expect(first.pages).toBe(site.length);
  const events: WatchEvent[] = [];
  const watch = openWatch({
    config,
    startUrls: [web.origin],
    project,
    settings: settingsOf(config),
    extensions: { clock },
    random: seededRandom(1).next,
    onEvent: (event) => void events.push(event),
  });
  for (let tick = 1; tick <= DAYS * TICKS_A_DAY; tick++) {
    clock.advance(TICK_MS);
    await watch.tick();
  }
  await watch.close();

  const to = from + DAYS * DAY_MS;
  const watched = freshnessOf(site, log, from, to);
  const alone = freshnessOf(site, driveAlone(site, from), from, to);
  const inTurn = freshnessOf(site, visitInTurn(site, from), from, to);
  const best = freshnessOf(site, visitByRates(site, from), from, to);
  console.log(
    `freshness over ${DAYS} days: watch ${watched.toFixed(4)}, its scheduler alone ${alone.toFixed(4)}, in turn ${inTurn.toFixed(4)}, with known rates ${best.toFixed(4)}`,
  );
  expect(watched / alone).toBeGreaterThan(0.98);
  expect(watched).toBeGreaterThan(1.01 * inTurn);
  // A scheduler that learned nothing would be as bad alone as here: known rates are the measure that it cannot move.
  expect(watched / best).toBeGreaterThan(0.98);
  // All of the budget was spent, and no more.
  expect(log.length).toBe(site.length + DAYS * TICKS_A_DAY * PER_TICK);

  // Everything that was told is true: a page told as changed had another version than at the visit before.
  const changed = events.filter((event) => event.type === 'change');
  const versions = new Map(site.map((page) => [page.path, versionAt(page, from)]));
  let different = 0;
  for (const { path, at } of log.slice(site.length)) {
    const version = versionAt(site.find((page) => page.path === path)!, at);
    if (version !== versions.get(path)) different++;
    versions.set(path, version);
  }
  expect(changed.every((event) => event.outcome === 'changed')).toBe(true);
  expect(changed.length).toBe(different);
});
