// Runs of the service, on both stores, in this process and in the engine's thread: the same suite.
import { describe, expect, it } from 'vitest';
import { asked, page } from '../crawls/crawl-site.ts';
import { ended, hearAll, newProject, STORES, useEngines } from './engine-bench.ts';

const bench = useEngines();
const WAYS = STORES.flatMap((store) => [
  { store, isThread: false, name: `${store}, in this process` },
  { store, isThread: true, name: `${store}, in its thread` },
]);

describe.each(WAYS)('the engine ($name)', ({ store, isThread }) => {
  it('crawls a project from its website_url to the end', async () => {
    const web = await bench.web({
      pages: { '/': page('home', '/a', '/b'), '/a': page('a'), '/b': page('b') },
    });
    const engine = await bench.engine(await bench.place(store), {}, { isThread });
    const id = await newProject(engine, web.url('/'));
    expect(await engine.runs.phase(id)).toMatchObject({ status: 'pending', state: 'pending', run: null });
    const listening = await hearAll(engine, id);
    const over = listening.next(({ type }) => type === 'completed');
    const begun = await engine.runs.start(id, { type: 'manual' });
    expect(begun).toMatchObject({ status: 'in_progress', state: 'running', type: 'initial' });
    await over;
    const phase = await engine.runs.phase(id);
    expect(phase).toMatchObject({
      ...{ status: 'completed', state: 'completed', progress: 100, pages_crawled: 3, estimated_total: 3 },
      ...{ run: begun.run, waiting: 0, type: 'initial' },
    });
    expect(phase.statistics).toMatchObject({ pages: 3, new: 3, known_urls: 3 });
    expect(asked(web).sort()).toEqual(['/', '/a', '/b']);
    expect(bench.reports).toEqual([]);
  });

  it('refuses a second start, and orders at wrong moments', async () => {
    const web = await bench.web({ pages: { '/': page('home', '/a'), '/a': page('a') } });
    const engine = await bench.engine(await bench.place(store), {}, { isThread });
    const id = await newProject(engine, web.url('/'), { delay: 0.5 });
    for (const order of ['pause', 'resume', 'stop'] as const)
      await expect(engine.runs[order](id)).rejects.toMatchObject({
        code: 'run-not-under-way',
        httpStatus: 409,
      });
    await expect(engine.runs.adjust(id, { delay: 1 })).rejects.toMatchObject({ httpStatus: 409 });
    await expect(engine.runs.start('no such', { type: 'manual' })).rejects.toMatchObject({ httpStatus: 404 });
    const both = await Promise.allSettled([
      engine.runs.start(id, { type: 'manual' }),
      engine.runs.start(id, { type: 'manual' }),
    ]);
    const refused = both.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'run-under-way', httpStatus: 409 } }]);
    expect(await ended(engine, id)).toMatchObject({ state: 'completed' });
  });
});
