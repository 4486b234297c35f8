// What runs, services and workers share: requests, hosts, the queue. The fake web's log is the judge of pace and numbers.
import { describe, expect, it } from 'vitest';
import { startProcess } from '../../src/primitives/start-process.ts';
import { auditRuns } from '../../src/project/audit-runs.ts';
import { openReading } from '../../src/project/reading.ts';
import type { Phase } from '../../src/running/phase.ts';
import { startEngine } from '../../src/running/start-engine.ts';
import { asked, page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { addressOf, ended, hearAll, newProject, STORES, untilState, useEngines } from './engine-bench.ts';

const bench = useEngines();
const paths = Array.from({ length: 12 }, (_, i) => `/p${i}`);

describe.each(STORES)('runs of one service (%s)', (store) => {
  it('share the requests that may be open at once', async () => {
    let [open, most] = [0, 0];
    const respond = (exchange: Exchange) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        answer(exchange, { body: page(exchange.path, ...paths) });
      });
    };
    const web = await bench.web({ hosts: 4, pages: { '/*': respond } });
    const engine = await bench.engine(await bench.place(store), { concurrency: 3 });
    const ids: string[] = [];
    for (let host = 0; host < 4; host++) ids.push(await newProject(engine, web.url('/', host)));
    await Promise.all(ids.map((id) => engine.runs.start(id, { type: 'manual' })));
    for (const id of ids) expect(await ended(engine, id)).toMatchObject({ state: 'completed' });
    expect(most).toBeLessThanOrEqual(3);
    expect(asked(web).length).toBeGreaterThanOrEqual(4 * 13);
    expect(await engine.state()).toMatchObject({ running: 0, queued: 0, inFlight: 0 });
  });

  it('stay polite to a host that two projects crawl at once', async () => {
    const place = await bench.place(store);
    const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': page('one') } });
    const engine = await bench.engine(place);
    const settings = { delay: 0.05, 'per-host': 1 };
    const ids = [
      await newProject(engine, web.url('/'), settings),
      await newProject(engine, web.url('/'), settings),
    ];
    await Promise.all(ids.map((id) => engine.runs.start(id, { type: 'manual' })));
    for (const id of ids) expect(await ended(engine, id)).toMatchObject({ pages_crawled: 13 });
    await engine.close();
    const reading = await openReading(addressOf(place));
    expect(await auditRuns(reading, undefined)).toMatchObject({ violations: 0 });
    await reading.close();
  });

  it('keep a project as it is while it is crawled; deleting it ends its run', async () => {
    const held: (() => void)[] = [];
    const web = await bench.web({
      pages: {
        '/': page('home', ...paths),
        '/p*': (exchange) => held.push(() => answer(exchange, { body: 'x' })),
      },
    });
    const place = await bench.place(store);
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'));
    await engine.runs.start(id, { type: 'manual' });
    await web.asked('/p0');
    await expect(engine.projects.change(id, { name: 'another' })).rejects.toMatchObject({ httpStatus: 409 });
    await engine.projects.change(id, { settings: { 'max-depth': 3 } });
    expect(await engine.metrics()).toContain('sumi_requests_in_flight{run="1"');
    const removed = engine.projects.remove(id);
    let isRemoved = false;
    void removed.then(() => {
      isRemoved = true;
    });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    while ((await place.rows('SELECT status FROM runs'))[0].status !== 'stopped') await turn();
    // What is in flight is answered until nothing more comes.
    while (!isRemoved || held.length > 0) {
      for (const give of held.splice(0)) give();
      await turn();
    }
    await removed;
    await expect(engine.runs.start(id, { type: 'manual' })).rejects.toMatchObject({
      code: 'project-unknown',
    });
    await engine.projects.restore(id);
    expect(await ended(engine, id)).toMatchObject({ state: 'stopped' });
    await engine.projects.change(id, { name: 'another' });
    await engine.projects.purge(id);
    await expect(engine.runs.start(id, { type: 'manual' })).rejects.toMatchObject({ httpStatus: 404 });
  });
});

describe('several processes on one PostgreSQL', () => {
  it('a worker takes part in a run of the service, and obeys its orders', async () => {
    const web = await bench.web({ hosts: 3, pages: { '/': sites, '/p*': page('one') } });
    function sites(exchange: Exchange): void {
      const links = [0, 1, 2].flatMap((host) => paths.map((path) => exchange.url(path, host)));
      answer(exchange, { body: page('home', ...links) });
    }
    const place = await bench.place('PostgreSQL');
    const engine = await bench.engine(place);
    const id = await newProject(engine, web.url('/'), {
      delay: 0.3,
      'per-host': 1,
      'allowed-hosts': ['any'],
    });
    const worker = startProcess(
      { from: import.meta.url, source: './worker-process.ts', built: '' },
      { ...process.env, WORKER_STORE: addressOf(place) },
    );
    const gone = new Promise((resolve) => worker.on('exit', resolve));
    const joined = new Promise<void>((resolve) => worker.on('message', () => resolve()));
    const { run } = await engine.runs.start(id, { type: 'manual' });
    await joined;
    await engine.runs.pause(id);
    await untilState(engine, id, 'paused');
    const workers = async () =>
      Number(
        (await place.rows(`SELECT count(*) AS n FROM worker WHERE run_id = ${run} AND ended_at IS NULL`))[0]
          .n,
      );
    while ((await workers()) > 0) await new Promise((resolve) => setImmediate(resolve));
    const atRest = asked(web).length;
    await engine.runs.adjust(id, { 'max-pages': 10 });
    expect(asked(web)).toHaveLength(atRest);
    await engine.runs.resume(id);
    const phase = await ended(engine, id);
    expect(phase).toMatchObject({ state: 'completed', run });
    expect(phase.pages_crawled).toBeLessThanOrEqual(Math.max(10, atRest));
    worker.kill('SIGKILL');
    await gone;
  });

  it('of two services one gives a run of the other new settings', async () => {
    let reached = () => {};
    const third = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let seen = 0;
    const respond = (exchange: Exchange) => {
      if (++seen === 3) reached();
      answer(exchange, { body: page(exchange.path) });
    };
    const web = await bench.web({
      pages: { '/': page('home', ...paths, '/z/1', '/z/2', '/z/3'), '/p*': respond, '/z/*': respond },
    });
    const place = await bench.place('PostgreSQL');
    const [first, second] = [await bench.engine(place), await bench.engine(place)];
    const id = await newProject(first, web.url('/'), { delay: 0.5, 'per-host': 1 });
    const { run } = await first.runs.start(id, { type: 'manual' });
    await third;
    await second.runs.adjust(id, { exclude: ['/z/'] });
    expect(await ended(second, id)).toMatchObject({ state: 'completed', run });
    expect(asked(web).filter((path) => path.startsWith('/z/'))).toEqual([]);
    expect(bench.reports).toEqual([]);
  });

  it('whoever listens hears of a run that waited and could not begin; the next one begins', async () => {
    const held: Exchange[] = [];
    let reached = () => {};
    const holds = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const hold = (exchange: Exchange) => {
      held.push(exchange);
      reached();
    };
    const web = await bench.web({ pages: { '/': page('home', '/held'), '/held': hold, '/p*': page('one') } });
    const place = await bench.place('PostgreSQL');
    const engine = await bench.engine(place, { maxRunning: 1 });
    const [first, broken, last] = [
      await newProject(engine, web.url('/')),
      await newProject(engine, web.url('/')),
      await newProject(engine, web.url('/p1')),
    ];
    await engine.runs.start(first, { type: 'manual' });
    await holds;
    for (const id of [broken, last])
      expect(await engine.runs.start(id, { type: 'manual' })).toMatchObject({ state: 'queued' });
    const failed = (await hearAll(engine, broken)).next(({ type }) => type === 'failed');
    await place.change(`UPDATE project SET website_url = NULL WHERE uid = '${broken}'`);
    for (const exchange of held) answer(exchange, { body: page('held') });
    expect(await failed).toMatchObject({ run: null, phase: { state: 'failed', project_id: broken } });
    expect(await ended(engine, last)).toMatchObject({ state: 'completed' });
    expect(await engine.runs.phase(broken)).toMatchObject({ status: 'failed' });
    bench.reports.length = 0;
  });

  it('of two services one purges a project that the other crawls', async () => {
    const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': page('one') } });
    const place = await bench.place('PostgreSQL');
    const [first, second] = [await bench.engine(place), await bench.engine(place)];
    const id = await newProject(first, web.url('/'), { delay: 0.3, 'per-host': 1 });
    await first.runs.start(id, { type: 'manual' });
    await web.asked('/p1');
    await second.projects.purge(id);
    await expect(first.runs.phase(id)).rejects.toMatchObject({ code: 'project-unknown' });
    expect(asked(web).length).toBeLessThan(paths.length);
  });

  it('whoever listens to one service hears of runs of another', async () => {
    const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': page('one') } });
    const place = await bench.place('PostgreSQL');
    const [first, second] = [await bench.engine(place), await bench.engine(place)];
    const id = await newProject(first, web.url('/'), { delay: 0.2, 'per-host': 1 });
    const { events, next } = await hearAll(second, id);
    const told = next(({ type }) => type === 'completed');
    const started = next(({ type }) => type === 'started' || type === 'progress');
    const { run } = await first.runs.start(id, { type: 'manual' });
    expect(await started).toMatchObject({ project_id: id, run });
    expect(await told).toMatchObject({
      run,
      phase: { state: 'completed', progress: 100, pages_crawled: 13 },
    });
    expect(events.filter(({ type }) => type === 'completed')).toHaveLength(1);
    const seqs = events.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, i) => seqs[0] + i));
    await first.runs.start(id, { type: 'manual', mode: 'full' });
    await next(({ type }) => type === 'started');
  });

  it('of two services each queued run is begun once', async () => {
    const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': page('one') } });
    const place = await bench.place('PostgreSQL');
    const [first, second] = [
      await bench.engine(place, { maxRunning: 1 }),
      await bench.engine(place, { maxRunning: 1 }),
    ];
    const settings = { delay: 0.02, 'per-host': 1 };
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push(await newProject(first, web.url('/'), settings));
    const phases = await Promise.allSettled(
      ids.flatMap((id) => [first, second].map((engine) => engine.runs.start(id, { type: 'manual' }))),
    );
    expect(phases.filter(({ status }) => status === 'rejected')).toHaveLength(4);
    for (const id of ids)
      expect(await ended(second, id)).toMatchObject({ state: 'completed', pages_crawled: 13 });
    const rows = await place.rows('SELECT project, count(*) AS n FROM runs GROUP BY project');
    expect(rows.map(({ n }) => Number(n))).toEqual([1, 1, 1, 1]);
  });
});

describe('the thread of the engine', () => {
  it('tells every caller why it is gone', async () => {
    const place = await bench.place('SQLite');
    const engine = await startEngine(bench.options(place));
    await expect(startEngine(bench.options(place))).rejects.toMatchObject({ code: 'db-locked' });
    const state = engine.state();
    const closed = engine.close();
    await state;
    await closed;
    expect(await engine.ended).toBeNull();
    await expect(engine.state()).rejects.toMatchObject({ code: 'engine-ended' });
  });

  it('shares one subscription among all that listen to a project', async () => {
    const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': page('one') } });
    const engine = await bench.engine(await bench.place('SQLite'), {}, { isThread: true });
    const id = await newProject(engine, web.url('/'));
    const all = await Promise.all(Array.from({ length: 5 }, () => hearAll(engine, id)));
    const over = all.map(({ next }) => next(({ type }) => type === 'completed'));
    await engine.runs.start(id, { type: 'manual' });
    const last = (await Promise.all(over)) as { phase: Phase }[];
    expect(last[0].phase).toMatchObject({ state: 'completed', pages_crawled: 13 });
    for (const { events } of all) expect(events).toEqual(all[0].events);
    const { events, seq, phase, end } = await hearAll(engine, id);
    expect(phase).toMatchObject({ state: 'completed' });
    expect(seq).toBe(all[0].events[all[0].events.length - 1].seq);
    expect(events).toEqual([]);
    end();
    for (const one of all) one.end();
  });
});
