// Orders to runs of the service, and whose turn it is. What was asked of the site, and when, is the fake web's log to say.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/primitives/clock.ts';
import { readCounts } from '../../src/running/counts.ts';
import { readRunLog } from '../../src/running/run-log.ts';
import { readRunNote } from '../../src/running/run-notes.ts';
import { openReadSide, openRecords, openStore } from '../../src/store/open-store.ts';
import { asked, page } from '../crawls/crawl-site.ts';
import { crawlInto, type StorePlace } from '../crawls/each-store.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { addressOf, ended, hearAll, newProject, STORES, untilState, useEngines } from './engine-bench.ts';

const bench = useEngines();
const PAGES = 24;
const paths = Array.from({ length: PAGES }, (_, i) => `/${i % 2 === 0 ? 'even' : 'odd'}/p${i}`);

/** A home page with links to all others. What is asked from the n-th page on gets no answer before `open`. */
async function siteThatHolds(heldFrom = 4) {
  let held: (() => void)[] = [];
  let isOpen = false;
  let seen = 0;
  let reached = () => {};
  const holds = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const respond = (exchange: Exchange) => {
    const give = () => answer(exchange, { body: page(exchange.path) });
    if (++seen < heldFrom || isOpen) return give();
    held.push(give);
    reached();
  };
  const web = await bench.web({
    pages: { '/': page('home', ...paths), '/even/*': respond, '/odd/*': respond },
  });
  return {
    web,
    holds,
    open() {
      isOpen = true;
      for (const give of held) give();
      held = [];
    },
  };
}

/** The order is given while the server holds answers; they come when the run has long heard it. */
async function whileHeld(place: StorePlace, status: string, open: () => void, order: Promise<unknown>) {
  const read = async () => (await place.rows('SELECT status FROM runs ORDER BY id DESC LIMIT 1'))[0].status;
  while ((await read()) !== status) await new Promise((resolve) => setImmediate(resolve));
  for (let round = 0; round < 100; round++) {
    await read();
    await new Promise((resolve) => setImmediate(resolve));
  }
  open();
  return order;
}

const twice = (requests: string[]) => requests.filter((path, i) => requests.indexOf(path) !== i);

describe.each(STORES)('orders (%s)', (store) => {
  it('pause and resume a run: the same one, no page twice, progress that never falls', async () => {
    const { web, holds, open } = await siteThatHolds();
    const place = await bench.place(store);
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'));
    const told: number[] = [];
    await engine.listen(id, { pages: false }, (event) => {
      if ('phase' in event) told.push(event.phase.progress);
    });
    const { run } = await engine.runs.start(id, { type: 'manual' });
    await holds;
    const paused = whileHeld(place, 'paused', open, engine.runs.pause(id));
    expect(await paused).toMatchObject({ status: 'in_progress', state: 'paused', run });
    await expect(engine.runs.start(id, { type: 'manual' })).rejects.toMatchObject({ code: 'run-under-way' });
    const before = asked(web).length;
    expect(before).toBeLessThan(PAGES);
    expect(await engine.runs.resume(id)).toMatchObject({ state: 'running', run });
    await expect(engine.runs.resume(id)).rejects.toMatchObject({ httpStatus: 409 });
    expect(await ended(engine, id)).toMatchObject({ state: 'completed', run, pages_crawled: PAGES + 1 });
    expect(twice(asked(web))).toEqual([]);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(bench.reports).toEqual([]);
  });

  it('stop a run for good: what waited is skipped', async () => {
    const { web, holds, open } = await siteThatHolds();
    const place = await bench.place(store);
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'));
    await engine.runs.start(id, { type: 'manual' });
    await holds;
    await whileHeld(place, 'stopped', open, engine.runs.stop(id));
    expect(await ended(engine, id)).toMatchObject({ status: 'completed', state: 'stopped', progress: 100 });
    const skipped = await place.rows(`SELECT count(*) AS n FROM pages WHERE reason = 'limit: stopped'`);
    expect(Number(skipped[0].n)).toBeGreaterThan(0);
    await expect(engine.runs.resume(id)).rejects.toMatchObject({ httpStatus: 409 });
    // The next run asks for what was skipped.
    await engine.runs.start(id, { type: 'manual' });
    expect(await ended(engine, id)).toMatchObject({ state: 'completed', type: 'manual' });
    expect(new Set(asked(web)).size).toBe(PAGES + 1);
  });

  it('reach a run that is just being begun; what it shows meanwhile is not the run before', async () => {
    const { web, open } = await siteThatHolds();
    open();
    const place = await bench.place(store);
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'));
    await engine.runs.start(id, { type: 'manual' });
    const before = await ended(engine, id);
    const records = await openRecords(addressOf(place), systemClock);
    const starting = engine.runs.start(id, { type: 'manual', mode: 'full' });
    while ((await records.get('queued-run', '', id)) === null)
      await new Promise((resolve) => setImmediate(resolve));
    const seen = await engine.runs.phase(id);
    expect([seen.status, seen.run]).not.toEqual(['completed', before.run]);
    await engine.runs.stop(id);
    await starting;
    expect((await engine.runs.phase(id)).status).toBe('completed');
    expect(await records.get('queued-run', '', id)).toBe(null);
    await records.close();
  });

  it('adjust a run: waiting pages are judged anew, and the project keeps the settings', async () => {
    const { web, holds, open } = await siteThatHolds();
    const place = await bench.place(store);
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'));
    await engine.runs.start(id, { type: 'manual' });
    await holds;
    let odd = 0;
    const openNow = () => {
      odd = asked(web).filter((path) => path.startsWith('/odd')).length;
      open();
    };
    await whileHeld(place, 'paused', openNow, engine.runs.adjust(id, { exclude: ['/odd/'] }));
    const over = await ended(engine, id);
    expect(over).toMatchObject({ state: 'completed' });
    // Those that were in flight are finished.
    expect(asked(web).filter((path) => path.startsWith('/odd'))).toHaveLength(odd);
    expect(asked(web).filter((path) => path.startsWith('/even'))).toHaveLength(PAGES / 2);
    const side = await openReadSide(addressOf(place));
    const row = (await side.projectByUid(id))!;
    expect(JSON.parse((await side.projectSettings(row.project))!)).toMatchObject({ exclude: ['/odd/'] });
    await side.close();
    const records = await openRecords(addressOf(place), systemClock);
    expect((await readRunLog(records, id, over.run!)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['started', 'adjusted', 'paused', 'resumed', 'completed']),
    );
    expect(await readRunNote(records, id, over.run!)).toMatchObject({ type: 'initial' });
    expect(await readCounts(records, id)).toMatchObject({ of_run: over.run, known_urls: PAGES + 1 });
    await records.close();
  });

  it('adjust a run that is still finishing what is in flight, also where it is resumed before that', async () => {
    const { web, holds, open } = await siteThatHolds();
    const engine = await bench.engine(await bench.place(store));
    const id = await newProject(engine, web.url('/'), { 'per-host': 1 });
    const { run } = await engine.runs.start(id, { type: 'manual' });
    await holds;
    expect(await engine.runs.pause(id)).toMatchObject({ state: 'paused', run });
    await engine.runs.adjust(id, { exclude: ['/odd/'] });
    const odd = () => asked(web).filter((path) => path.startsWith('/odd/'));
    const before = odd();
    await engine.runs.resume(id);
    open();
    expect(await ended(engine, id)).toMatchObject({ state: 'completed', run });
    expect(odd()).toEqual(before);
    expect(asked(web).filter((path) => path.startsWith('/even/'))).toHaveLength(PAGES / 2);
    expect(bench.reports).toEqual([]);
  });

  it('refuse settings that cannot be taken, and change nothing', async () => {
    const { web, holds, open } = await siteThatHolds();
    const place = await bench.place(store);
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'));
    await engine.runs.start(id, { type: 'manual' });
    await holds;
    await expect(engine.runs.adjust(id, { exclude: ['('] })).rejects.toMatchObject({ httpStatus: 400 });
    await expect(engine.runs.adjust(id, { bodies: 'files:/tmp' })).rejects.toMatchObject({ httpStatus: 400 });
    open();
    expect(await ended(engine, id)).toMatchObject({ state: 'completed', pages_crawled: PAGES + 1 });
  });

  it('keep the order of those that wait, at most so many at once', async () => {
    const { web, holds, open } = await siteThatHolds(1);
    const engine = await bench.engine(await bench.place(store), { maxRunning: 1 });
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push(await newProject(engine, web.url('/'), { 'max-pages': 3 }));
    const begun: string[] = [];
    await engine.listen(null, { pages: false }, (event) => {
      if (event.type === 'started') begun.push(event.project_id);
    });
    const phases = [];
    for (const id of ids) phases.push(await engine.runs.start(id, { type: 'manual' }));
    expect(phases.map(({ state }) => state)).toEqual(['running', 'queued', 'queued', 'queued']);
    expect(phases[3]).toMatchObject({ status: 'in_progress', run: null });
    expect(phases[3].message).toContain('2 go before it');
    expect(await engine.state()).toMatchObject({ running: 1, queued: 3, maxRunning: 1 });
    await holds;
    expect(await engine.runs.stop(ids[1])).toMatchObject({ state: 'pending' });
    expect((await engine.runs.underWay()).map(({ project_id }) => project_id).sort()).toEqual(
      [ids[0], ids[2], ids[3]].sort(),
    );
    open();
    for (const id of [ids[0], ids[2], ids[3]])
      expect(await ended(engine, id)).toMatchObject({ state: 'completed' });
    expect(begun).toEqual([ids[0], ids[2], ids[3]]);
  });

  it('give the place of a paused run to the next one', async () => {
    const { web, holds, open } = await siteThatHolds();
    const place = await bench.place(store);
    const engine = await bench.engine(place, { maxRunning: 1 });
    const first = await newProject(engine, web.url('/'));
    const second = await newProject(engine, web.url('/'), { 'max-pages': 2 });
    await engine.runs.start(first, { type: 'manual' });
    await holds;
    expect((await engine.runs.start(second, { type: 'manual' })).state).toBe('queued');
    await whileHeld(place, 'paused', open, engine.runs.pause(first));
    expect(await ended(engine, second)).toMatchObject({ state: 'completed' });
    expect(await engine.runs.phase(first)).toMatchObject({ state: 'paused' });
    await engine.runs.resume(first);
    expect(await ended(engine, first)).toMatchObject({ state: 'completed', pages_crawled: PAGES + 1 });
  });

  it('are obeyed when they come through the store', async () => {
    const place = await bench.place(store);
    if (store === 'SQLite') return;
    const { web, holds, open } = await siteThatHolds();
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'));
    const { run } = await engine.runs.start(id, { type: 'manual' });
    await holds;
    const other = await openStore({ address: addressOf(place), clock: systemClock, onFailure() {} });
    await whileHeld(place, 'paused', open, other.projects.steer(run!, 'pause', other.clock.now()));
    expect(await untilState(engine, id, 'paused')).toMatchObject({ run });
    await other.projects.steer(run!, 'resume', other.clock.now());
    expect(await ended(engine, id)).toMatchObject({ state: 'completed', pages_crawled: PAGES + 1 });
    await other.close();
  });

  it('reach a run that a command left: it goes on here with its own options', async () => {
    const { web, holds, open } = await siteThatHolds();
    const place = await bench.place(store);
    const { handle } = await crawlInto(place, web.url('/'), { exclude: ['/odd/'] });
    await holds;
    handle.stop();
    open();
    expect((await handle.finished).status).toBe('interrupted');
    const engine = await bench.engine(place);
    const side = await openReadSide(addressOf(place));
    const [{ uid }] = await side.projects();
    await side.close();
    expect(await engine.runs.phase(uid)).toMatchObject({ status: 'failed', state: 'interrupted' });
    expect(await engine.runs.resume(uid)).toMatchObject({ run: handle.runId });
    expect(await ended(engine, uid)).toMatchObject({ state: 'completed', run: handle.runId });
    expect(asked(web).filter((path) => path.startsWith('/odd'))).toEqual([]);
    // A new run has no website_url: it begins where the last one did, as the last one did.
    expect(await engine.runs.start(uid, { type: 'manual' })).toMatchObject({ run: handle.runId + 1 });
    expect(await ended(engine, uid)).toMatchObject({ state: 'completed' });
    expect(asked(web).filter((path) => path.startsWith('/odd'))).toEqual([]);
    expect(web.requestsTo('/')).toHaveLength(2);
  });

  it('start with pages of their own: nothing else is requested', async () => {
    const web = await bench.web({
      pages: { '/': page('home', '/a'), '/a': page('a', '/b'), '/b': page('b') },
    });
    const engine = await bench.engine(await bench.place(store));
    const id = await newProject(engine, web.url('/'));
    await engine.runs.start(id, { type: 'manual', fetchOnlyUrls: [web.url('/a')] });
    expect(await ended(engine, id)).toMatchObject({
      state: 'completed',
      pages_crawled: 1,
      estimated_total: 1,
    });
    expect(asked(web)).toEqual(['/a']);
  });

  it('tell listeners of changes in later runs', async () => {
    let text = 'first';
    const web = await bench.web({
      pages: {
        '/': (exchange) => answer(exchange, { body: `<title>home</title><p>${text} words of the page</p>` }),
      },
    });
    const engine = await bench.engine(await bench.place(store));
    const id = await newProject(engine, web.url('/'));
    const listening = await hearAll(engine, id);
    for (const words of ['first', 'second']) {
      text = words;
      const over = listening.next(({ type }) => type === 'completed');
      await engine.runs.start(id, { type: 'manual' });
      await over;
    }
    const changes = listening.events.filter(({ type }) => type === 'change');
    expect(changes).toMatchObject([{ change: { outcome: 'changed', url: web.url('/') }, left_out: 0 }]);
    const seqs = listening.events.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, i) => listening.seq + 1 + i));
    expect(await engine.missed(id, seqs[2])).toEqual(listening.events.slice(3));
    expect(await engine.missed(id, seqs[0] - 2)).toBeNull();
  });
});
