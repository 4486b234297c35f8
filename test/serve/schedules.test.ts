/** Schedules of the service: what is due begins, once, whatever happened meanwhile. */
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../src/running/engine.ts';
import { UNSET } from '../../src/running/schedule/check-schedule.ts';
import { openReadSide, openRecords } from '../../src/store/open-store.ts';
import { asked, page } from '../crawls/crawl-site.ts';
import type { StorePlace } from '../crawls/each-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { addressOf, newProject, STORES, useEngines } from './engine-bench.ts';
import { useReceivers } from './webhook-receiver.ts';

const bench = useEngines();
const newReceiver = useReceivers();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Time goes by, a little at a time, until it is so. */
async function passing(clock: FakeClock, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1);
  }
}

async function during<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  await passing(clock, () => isOver);
  return done;
}

async function runsOf(place: StorePlace) {
  const side = await openReadSide(addressOf(place));
  try {
    const found = [];
    for await (const run of side.runs({})) found.push(run);
    return found.sort((a, b) => a.run - b.run);
  } finally {
    await side.close();
  }
}

const isAt = async (engine: Engine, id: string, run: number) => {
  const phase = await engine.runs.phase(id);
  return phase.run === run && phase.status === 'completed';
};

async function setUp(wall = Date.UTC(2026, 2, 28, 12)) {
  const clock = new FakeClock(wall);
  const web = await bench.web({ pages: { '/': page('home', '/a'), '/a': page('a') }, clock });
  const place = await bench.place('SQLite');
  const open = () => during(clock, bench.engine(place, {}, { clock }));
  const engine = await open();
  const id = await during(clock, newProject(engine, web.url('/')));
  return { clock, web, place, open, engine, id };
}

describe('a schedule', () => {
  it('begins when it is due, on the day on which clocks skip the hour, too', async () => {
    const { clock, place, engine, id } = await setUp();
    const set = await engine.schedules.set(id, {
      ...UNSET,
      ...{ enabled: true, time: '02:30', timezone: 'Europe/Berlin', mode: 'full' },
    });
    expect(set.next_runs.slice(0, 2)).toEqual(['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']);
    expect(await engine.schedules.next([id, 'other'])).toEqual(['2026-03-29T01:30:00.000Z', null]);
    for (const [i, next] of set.next_runs.slice(0, 2).entries()) {
      clock.advance(Date.parse(next) - clock.now());
      await passing(clock, () => isAt(engine, id, i + 1));
    }
    const runs = await runsOf(place);
    expect(runs.map(({ started_at }) => started_at.slice(0, 16))).toEqual([
      ...['2026-03-29T01:30', '2026-03-30T00:30'],
    ]);
    expect(await engine.runs.phase(id)).toMatchObject({ type: 'scheduled', mode: 'full' });
    expect((await engine.schedules.get(id)).last_run_at?.slice(0, 16)).toBe('2026-03-30T00:30');
    expect(bench.reports).toEqual([]);
  });

  it('begins one run for all that was missed while the service was off', async () => {
    const { clock, place, open, engine, id } = await setUp();
    await engine.schedules.set(id, { ...UNSET, enabled: true });
    await during(clock, engine.close());
    clock.advance(10 * DAY_MS);
    const second = await open();
    await passing(clock, () => isAt(second, id, 1));
    await during(clock, second.close());
    // Once more: nothing was missed.
    const third = await open();
    clock.advance(HOUR_MS);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect((await runsOf(place)).length).toBe(1);
    clock.advance(DAY_MS);
    await passing(clock, () => isAt(third, id, 2));
  });

  it('counts as done where a run of the project is under way, or rests', async () => {
    const { clock, web, place, engine } = await setUp();
    const id = await during(clock, newProject(engine, web.url('/'), { delay: 60 }));
    const { next_runs } = await engine.schedules.set(id, { ...UNSET, enabled: true, time: '13:00' });
    await during(clock, engine.runs.start(id, { type: 'manual' }));
    await during(clock, engine.runs.pause(id));
    clock.advance(Date.parse(next_runs[0]) - clock.now());
    const records = await openRecords(addressOf(place), clock);
    const skipped = () => records.get<{ lastSkippedAt: number | null }>('schedule', id, 'begun');
    await passing(clock, async () => ((await skipped())?.value.lastSkippedAt ?? null) !== null);
    await records.close();
    await during(clock, engine.runs.resume(id));
    clock.advance(60_000);
    await passing(clock, () => isAt(engine, id, 1));
    expect((await runsOf(place)).length).toBe(1);
    expect(await engine.schedules.get(id)).toMatchObject({ last_run_at: null });
    expect((await engine.schedules.get(id)).next_runs[0]).toBe('2026-03-29T13:00:00.000Z');
  });

  it('rests while its project is deleted, and makes up for nothing then', async () => {
    const { clock, place, engine, id } = await setUp();
    await engine.schedules.set(id, { ...UNSET, enabled: true });
    await during(clock, engine.projects.remove(id));
    clock.advance(3 * DAY_MS);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    await during(clock, engine.projects.restore(id));
    clock.advance(HOUR_MS);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(await runsOf(place)).toEqual([]);
    clock.advance(DAY_MS);
    await passing(clock, () => isAt(engine, id, 1));
  });

  it('begins at once on request, without being set', async () => {
    const { clock, engine, id } = await setUp();
    await during(clock, engine.schedules.runNow(id));
    await passing(clock, () => isAt(engine, id, 1));
    await during(clock, engine.schedules.runNow(id));
    await passing(clock, () => isAt(engine, id, 2));
    expect(await engine.runs.phase(id)).toMatchObject({ type: 'scheduled' });
  });

  it('is set only where nobody else was faster, and not for a deleted project', async () => {
    const { clock, engine, id } = await setUp();
    expect(await engine.schedules.get(id)).toMatchObject({ ...UNSET, version: 0, next_runs: [] });
    expect(await engine.schedules.set(id, { ...UNSET, enabled: true }, 0)).toMatchObject({ version: 1 });
    await expect(engine.schedules.set(id, UNSET, 0)).rejects.toMatchObject({
      ...{ code: 'record-changed', httpStatus: 412 },
    });
    expect(await engine.schedules.set(id, UNSET, 1)).toMatchObject({ version: 2, next_runs: [] });
    await expect(engine.schedules.set(id, { ...UNSET, timezone: 'Nowhere' })).rejects.toMatchObject({
      errors: [{ pointer: '/timezone' }],
    });
    await during(clock, engine.projects.remove(id));
    await expect(engine.schedules.set(id, UNSET)).rejects.toMatchObject({ code: 'project-unknown' });
  });
});

/** As if it had been set ten days ago, to begin each day in twelve hours from now. */
async function missedForDays(place: StorePlace, id: string, begun: object | null = null): Promise<void> {
  const records = await openRecords(addressOf(place));
  const time = new Date(Date.now() + DAY_MS / 2).toISOString().slice(11, 16);
  const settings = { ...UNSET, enabled: true, time };
  await records.put('schedule', id, 'settings', { settings, setAt: Date.now() - 10 * DAY_MS });
  if (begun !== null) await records.put('schedule', id, 'begun', begun);
  await records.close();
}

const completed = async (engine: Engine, id: string) => {
  while ((await engine.runs.phase(id)).status !== 'completed')
    await new Promise((resolve) => setImmediate(resolve));
};

describe('several services on one PostgreSQL', () => {
  it('begin what is due once', async () => {
    const web = await bench.web({ pages: { '/': page('home') } });
    const place = await bench.place('PostgreSQL');
    const first = await bench.engine(place);
    const ids = [await newProject(first, web.url('/')), await newProject(first, web.url('/a'))];
    const engines = [first, await bench.engine(place), await bench.engine(place)];
    const other = await newProject(first, web.url('/b'));
    for (const id of ids) await missedForDays(place, id);
    // Whoever sets one looks at all.
    await Promise.all(engines.map((engine) => engine.schedules.set(other, UNSET)));
    for (const id of ids) await completed(first, id);
    for (const engine of engines) await engine.close();
    const runs = await runsOf(place);
    expect(runs.map(({ project }) => project).sort()).toHaveLength(2);
    expect(new Set(runs.map(({ project }) => project)).size).toBe(2);
  });
});

describe.each(STORES)('after a crash, on %s', (store) => {
  it('a begin that was claimed and has no run is made up for', async () => {
    const web = await bench.web({ pages: { '/': page('home') } });
    const place = await bench.place(store);
    const first = await bench.engine(place);
    const id = await newProject(first, web.url('/'));
    await first.close();
    const claim = { owner: 'gone.example:1:1:aa', at: Date.now() - 120_000 };
    const begun = { until: Date.now(), lastRunAt: null, lastSkippedAt: null, claim };
    await missedForDays(place, id, begun);
    const second = await bench.engine(place);
    await completed(second, id);
    await second.close();
    const [run] = await runsOf(place);
    // The same claim, with its run: it has begun.
    await missedForDays(place, id, { ...begun, claim: { ...claim, at: Date.parse(run.started_at) - 1 } });
    const third = await bench.engine(place);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    await third.close();
    expect((await runsOf(place)).length).toBe(1);
  });
});

describe('a continuous schedule', () => {
  it('crawls the project, visits it again and tells what changed, until it is switched off', async () => {
    const clock = new FakeClock(Date.UTC(2026, 2, 4));
    const receiver = await newReceiver();
    const state = { version: 1 };
    const serve = (exchange: Exchange) =>
      answer(exchange, { body: page(`${exchange.path} in version ${state.version}`, '/a', '/b') });
    const web = await bench.web({ pages: { '/': serve, '/a': serve, '/b': serve }, clock });
    const place = await bench.place('SQLite');
    const keyFile = `${place.options.db}.key`;
    const open = () => during(clock, bench.engine(place, { keyFile }, { clock, random: () => 0.5 }));
    const engine = await open();
    const id = await during(clock, newProject(engine, web.url('/')));
    const events = ['crawl.completed', 'page.changed'] as const;
    await engine.webhooks.create(id, { url: receiver.url, events });
    const settings = { ...UNSET, enabled: true, kind: 'continuous' as const, time: null, budget: '1000/day' };
    await engine.schedules.set(id, settings);
    await passing(clock, () => isAt(engine, id, 1));
    expect(await engine.runs.phase(id)).toMatchObject({ type: 'initial', pages_crawled: 3 });
    await passing(clock, () => receiver.received.length >= 1);
    state.version = 2;
    const changed = () =>
      new Set(
        receiver.received
          .filter(({ body }) => body.type === 'page.changed')
          .map(({ body }) => new URL((body.data as { url: string }).url).pathname),
      );
    let days = 0;
    while (changed().size < 3 && days++ < 60) {
      clock.advance(DAY_MS / 4);
      const { run } = await engine.runs.phase(id);
      const hasBegun = async () => (await engine.runs.phase(id)).run !== run;
      for (let turn = 0; turn < 200 && !(await hasBegun()); turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        clock.advance(10);
      }
      // A tick ends before the next one begins, lest it seems to take hours.
      await passing(clock, async () => (await engine.runs.phase(id)).status === 'completed');
    }
    await passing(clock, () => changed().size === 3);
    expect(await engine.runs.phase(id)).toMatchObject({ type: 'scheduled', mode: 'incremental' });
    await engine.schedules.set(id, { ...settings, enabled: false });
    for (let turn = 0; turn < 200; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(20);
    }
    const before = asked(web).length;
    clock.advance(5 * DAY_MS);
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(asked(web).length).toBe(before);
    expect(bench.reports).toEqual([]);
  });
});
