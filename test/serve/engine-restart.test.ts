// What becomes of runs when their service ends: in good order, or killed at any moment. The fake web's log says whether a page
// was asked for twice, the audit whether anybody was asked too often.
import { describe, expect, it } from 'vitest';
import { startProcess } from '../../src/primitives/start-process.ts';
import { auditRuns } from '../../src/project/audit-runs.ts';
import { openReading } from '../../src/project/reading.ts';
import type { EngineOptions } from '../../src/running/engine.ts';
import { asked, page } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { addressOf, ended, newProject, STORES, untilState, useEngines } from './engine-bench.ts';

const bench = useEngines();
const PAGES = 40;
const paths = Array.from({ length: PAGES }, (_, i) => `/p${i}`);

/** A site whose n-th page says so before it answers, and is answered when it is let go. */
async function siteWithMark(markAt: number) {
  let seen = 0;
  let held: (() => void)[] | null = null;
  let reached = () => {};
  const mark = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const respond = (exchange: Exchange) => {
    if (++seen === markAt) reached();
    const give = () => answer(exchange, { body: page(exchange.path) });
    if (held === null) give();
    else held.push(give);
  };
  const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': respond } });
  return {
    web,
    mark,
    /** From now on pages get no answer before `open`. */
    hold() {
      held = [];
    },
    open() {
      for (const give of held ?? []) give();
      held = null;
    },
  };
}

const POLITE = { delay: 0.02, 'per-host': 1 };

describe.each(STORES)('a service that ends (%s)', (store) => {
  it('in good order leaves its runs to go on by themselves', async () => {
    const { web, mark, hold, open } = await siteWithMark(5);
    const place = await bench.place(store);
    const first = await bench.engine(place, { maxRunning: 1 });
    const id = await newProject(first, web.url('/'), POLITE);
    const waiting = await newProject(first, web.url('/'), { ...POLITE, 'max-pages': 2 });
    const { run } = await first.runs.start(id, { type: 'manual' });
    await first.runs.start(waiting, { type: 'manual' });
    await mark;
    await first.close();
    expect(asked(web).length).toBeLessThan(PAGES);
    hold();
    const second = await bench.engine(place, { maxRunning: 1 });
    expect(await second.runs.phase(id)).toMatchObject({ status: 'in_progress', run, type: 'initial' });
    expect(await second.runs.phase(waiting)).toMatchObject({ state: 'queued' });
    open();
    expect(await ended(second, id)).toMatchObject({ state: 'completed', run, pages_crawled: PAGES + 1 });
    expect(await ended(second, waiting)).toMatchObject({ state: 'completed' });
    expect(asked(web).filter((path) => path === '/p20')).toHaveLength(1);
    expect(bench.reports).toEqual([]);
  });

  it('leaves paused runs paused', async () => {
    const { web, mark } = await siteWithMark(5);
    const place = await bench.place(store);
    const first = await bench.engine(place);
    const id = await newProject(first, web.url('/'), POLITE);
    const { run } = await first.runs.start(id, { type: 'manual' });
    await mark;
    await first.runs.pause(id);
    const before = await untilState(first, id, 'paused');
    await first.close();
    const second = await bench.engine(place);
    const phase = await second.runs.phase(id);
    expect(phase).toMatchObject({ state: 'paused', run });
    expect(phase.progress).toBeGreaterThanOrEqual(before.progress);
    await second.runs.adjust(id, { exclude: ['/p39'] });
    expect(await second.runs.phase(id)).toMatchObject({ state: 'paused' });
    await second.runs.resume(id);
    expect(await ended(second, id)).toMatchObject({ state: 'completed', run, pages_crawled: PAGES });
    expect(asked(web)).not.toContain('/p39');
  });

  it('has failed runs where the operator wants that; pages stay, and the next run asks for the rest', async () => {
    const { web, mark } = await siteWithMark(5);
    const place = await bench.place(store);
    const first = await bench.engine(place);
    const id = await newProject(first, web.url('/'), POLITE);
    const { run } = await first.runs.start(id, { type: 'manual' });
    await mark;
    await first.close();
    const second = await bench.engine(place, { onRestart: 'fail' });
    expect(await second.runs.phase(id)).toMatchObject({
      ...{ status: 'failed', state: 'failed', run },
      error: { code: 'run-interrupted', message: 'The service ended while the run was under way.' },
    });
    const rows = await place.rows(`SELECT count(*) AS n FROM pages WHERE state = 'Processed'`);
    expect(Number(rows[0].n)).toBeGreaterThan(3);
    expect(await second.runs.start(id, { type: 'manual' })).toMatchObject({ run: run! + 1, type: 'manual' });
    expect(await ended(second, id)).toMatchObject({ state: 'completed', pages_crawled: PAGES + 1 });
    const waiting = await place.rows(`SELECT count(*) AS n FROM pages WHERE state <> 'Processed'`);
    expect(Number(waiting[0].n)).toBe(0);
  });

  it('killed at any moment loses nothing and asks for no page twice but those in flight', async () => {
    const { web, mark } = await siteWithMark(20);
    const place = await bench.place(store);
    const options: EngineOptions = bench.options(place);
    const child = startProcess(
      { from: import.meta.url, source: './engine-process.ts', built: '' },
      { ...process.env, ENGINE_OPTIONS: JSON.stringify(options), ENGINE_URL: web.url('/') },
    );
    const gone = new Promise((resolve) => child.on('exit', resolve));
    const begun = await new Promise<{ id: string; run: number }>((resolve, reject) => {
      child.on('message', (message) => resolve(message as { id: string; run: number }));
      child.on('exit', () => reject(new Error('the service ended early')));
    });
    await mark;
    child.kill('SIGKILL');
    await gone;
    const kept = await place.rows(`SELECT url FROM pages WHERE state = 'Processed'`);
    const before = asked(web).length;
    const engine = await bench.engine(place);
    const over = await ended(engine, begun.id);
    expect(over).toMatchObject({ state: 'completed', run: begun.run, pages_crawled: PAGES + 1 });
    const all = asked(web);
    expect(new Set(all)).toEqual(new Set(['/', ...paths]));
    // What the store had when the process was killed is not asked for again.
    const known = new Set(kept.map(({ url }) => new URL(url as string).pathname));
    expect(all.slice(before).filter((path) => known.has(path))).toEqual([]);
    expect(known.size).toBeGreaterThan(0);
    await engine.close();
    const reading = await openReading(addressOf(place));
    const audit = await auditRuns(reading, undefined);
    await reading.close();
    expect(audit).toMatchObject({ violations: 0 });
  });
});
