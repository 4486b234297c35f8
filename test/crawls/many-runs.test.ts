/** Several runs on one opened store, as real crawls: the fake web's own log says whether they were polite together. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CrawlHandle } from '../../src/crawl/run/crawl-handle.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store-port.ts';
import { startBeats } from '../faults/beats.ts';
import { expectPolite } from '../faults/judge.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import { type CrawlOptions, seenAs, useBench } from './crawl-site.ts';
import { eachStore, type StorePlace } from './each-store.ts';

const bench = useBench();
const beats = startBeats();
const stores = eachStore(bench);
const opened: { store: Store; handles: CrawlHandle[] }[] = [];
afterEach(async () => {
  for (const { store, handles } of opened.splice(0)) {
    for (const handle of handles) handle.stop();
    await Promise.allSettled(handles.map(({ finished }) => finished));
    await store.close();
  }
});

const QUICK: CrawlOptions = { delay: 0, retryDelay: 0.02, adaptiveDelay: false, discover: ['links'] };
const addressOf = ({ options }: StorePlace) => String(options.store ?? options.db);

interface OpenedPlace {
  store: Store;
  /** Each project says who it is, so that the web's log can tell whose request was whose. */
  begin(project: string, url: string, options?: CrawlOptions): Promise<CrawlHandle>;
}

async function open(place: StorePlace): Promise<OpenedPlace> {
  const store = await openStore({ address: addressOf(place), clock: systemClock, onFailure: () => {} });
  const handles: CrawlHandle[] = [];
  opened.push({ store, handles });
  return {
    store,
    async begin(project, url, more = {}) {
      const options = { ...QUICK, ...place.options, project, userAgent: project, ...more };
      const config = await loadConfig({ env: {}, options });
      const handle = await startCrawl({ config, startUrls: [url], extensions: { store } });
      handles.push(handle);
      return handle;
    },
  };
}

interface ThreeRuns {
  address: string;
  crawls: (CrawlOptions & { startUrls: string[] })[];
}

/** With several runs open on one store, in a process of its own. */
function startProgram(request: ThreeRuns) {
  const stdio: ('ignore' | 'inherit' | 'pipe')[] = ['ignore', 'inherit', 'pipe'];
  return spawn(process.execPath, ['test/crawls/three-runs.mjs', JSON.stringify(request)], { stdio });
}

const requestsOf = (web: FakeWeb, project: string) =>
  web.log.filter(({ userAgent }) => userAgent === project);
const pathsOf = (web: FakeWeb, project: string) =>
  requestsOf(web, project)
    .map(({ path, host }) => `${host}${path}`)
    .filter((path) => !path.endsWith('/robots.txt'));
const until = async (is: () => boolean) => {
  while (!is()) await new Promise((resolve) => setImmediate(resolve));
};

function expectEachOnce(web: FakeWeb, project: string, pages: number): void {
  const paths = pathsOf(web, project);
  expect(new Set(paths).size, project).toBe(pages);
  expect(paths, project).toHaveLength(pages);
}

const PAGES = 60;
const ALL_HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

describe.each(Object.entries(stores))('several runs on one store: %s', (_, newPlace) => {
  it('of two projects on the same hosts keep one gap between them', async () => {
    const pages = 36;
    const web = await bench.web({ graph: { seed: 7, pages, hosts: 3 } });
    const place = await newPlace();
    const { begin } = await open(place);
    const polite = { delay: 0.2, leaseSeconds: 3, allowedHosts: ALL_HOSTS };
    const handles = await Promise.all(['one', 'two'].map((project) => begin(project, web.url('/'), polite)));
    const summaries = await Promise.all(handles.map(({ finished }) => finished));
    for (const summary of summaries) expect(summary).toMatchObject({ status: 'completed', pages });
    for (const project of ['one', 'two']) expectEachOnce(web, project, pages);
    expectPolite(web, beats, 200);
    // What arrives may be seen late; the slots that were taken lie apart to the millisecond.
    const slots = await place.rows('SELECT host_id, slot_at FROM request ORDER BY host_id, slot_at');
    expect(slots.length).toBe(web.log.length);
    for (const [i, { host_id, slot_at }] of slots.entries())
      if (host_id === slots[i - 1]?.host_id)
        expect(Number(slot_at) - Number(slots[i - 1].slot_at)).toBeGreaterThanOrEqual(199);
  });

  it('of two projects on one host that has pages for both all the time take turns', async () => {
    const pages = 20;
    const web = await bench.web({ graph: { seed: 9, pages } });
    const { begin } = await open(await newPlace());
    const polite = { delay: 0.15, leaseSeconds: 3 };
    const handles = await Promise.all(['one', 'two'].map((project) => begin(project, web.url('/'), polite)));
    for (const { finished } of handles) expect(await finished).toMatchObject({ status: 'completed', pages });
    expectPolite(web, beats, 150);
    // Neither waited until the other had all its pages.
    const lastOf = (project: string) => requestsOf(web, project).at(-1)!.atMs;
    for (const [project, other] of [
      ['one', 'two'],
      ['two', 'one'],
    ])
      expect(requestsOf(web, project)[0].atMs).toBeLessThan(lastOf(other));
  });

  it('begin while another is in flight; one is stopped, the other goes on, and it goes on later', async () => {
    const web = await bench.web({ graph: { seed: 8, pages: PAGES, hosts: 2 } });
    const { begin } = await open(await newPlace());
    const first = await begin('first', web.url('/', 0), { delay: 0.02 });
    await until(() => requestsOf(web, 'first').length > 5);
    const second = await begin('second', web.url('/', 1), { delay: 0.02 });
    await until(() => requestsOf(web, 'second').length > 5);
    first.stop();
    expect(await first.finished).toMatchObject({ status: 'interrupted' });
    const settled = pathsOf(web, 'first').length;
    expect(await second.finished).toMatchObject({ status: 'completed' });
    const again = await begin('first', web.url('/', 0), { delay: 0.02 });
    expect(again.runId).toBe(first.runId);
    expect(await again.finished).toMatchObject({ status: 'completed' });
    expect(settled).toBeLessThan(pathsOf(web, 'first').length);
    for (const project of ['first', 'second']) {
      const paths = pathsOf(web, project);
      expect(paths.length).toBeGreaterThan(10);
      expect(new Set(paths).size, project).toBe(paths.length);
    }
  });

  it('leave the verbs of projects to whoever calls them, without a run', async () => {
    const web = await bench.web({ graph: { seed: 9, pages: PAGES } });
    const place = await newPlace();
    const { store, begin } = await open(place);
    const handle = await begin('crawled', web.url('/'), { delay: 0.01 });
    let isOver = false;
    void handle.finished.then(() => {
      isOver = true;
    });
    let rounds = 0;
    while (!isOver) {
      rounds++;
      await store.projects.saveSettings('another', `{"delay":${rounds}}`);
      await store.projects.saveSettings('crawled', `{"delay":${rounds}}`);
      expect(await store.projects.settings('another')).toBe(`{"delay":${rounds}}`);
      await store.projects.saveLook('crawled', 'reader', { run: handle.runId, at: systemClock.now() });
      await store.projects.forget('another', systemClock.now());
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(rounds).toBeGreaterThan(3);
    expect(await handle.finished).toMatchObject({ status: 'completed', pages: PAGES });
    expectEachOnce(web, 'crawled', PAGES);
    expect(await place.rows("SELECT settings FROM project WHERE name = 'crawled'")).toEqual([
      { settings: `{"delay":${rounds}}` },
    ]);
  });

  it('end with a code and a hint when the store is closed under them, and go on from there', async () => {
    const web = await bench.web({ graph: { seed: 10, pages: PAGES, hosts: 2 } });
    const place = await newPlace();
    const { store, begin } = await open(place);
    const runs: [string, CrawlHandle][] = [];
    for (const [host, project] of ['one', 'two'].entries())
      runs.push([project, await begin(project, web.url('/', host), { delay: 0.02, perHost: 1 })]);
    const told = runs.map(([, { finished }]) =>
      expect(finished).rejects.toMatchObject({
        code: expect.stringMatching(/^(store-closed|session-ended)$/),
        hint: expect.stringMatching(/[Oo]pen the store again|Start the run again/),
      }),
    );
    await until(() => runs.every(([project]) => requestsOf(web, project).length > 5));
    await store.close();
    await Promise.all(told);
    const stored = await place.rows("SELECT url FROM pages WHERE state = 'Processed'");
    const before = web.log.length;
    const again = await open(place);
    for (const [host, [project, { runId }]] of runs.entries()) {
      const handle = await again.begin(project, web.url('/', host), { delay: 0.02, perHost: 1 });
      expect(handle.runId).toBe(runId);
      expect(await handle.finished).toMatchObject({ status: 'completed' });
    }
    const askedAgain = new Set(web.log.slice(before).map(({ path, host }) => web.url(path, host)));
    expect(stored.map(({ url }) => String(url)).filter((url) => askedAgain.has(url))).toEqual([]);
    expect(stored.length).toBeGreaterThan(4);
  });

  it('survive kill -9: all three go on, nothing is lost, and what was stored is not asked again', async () => {
    const web = await bench.web({ graph: { seed: 11, pages: 240, hosts: 3 } });
    const place = await newPlace();
    const calmPlace = await newPlace();
    const projects = ['one', 'two', 'three'];
    const options = (project: string) => ({ ...QUICK, project, userAgent: project, delay: 0.02, perHost: 1 });
    const request: ThreeRuns = {
      address: addressOf(place),
      crawls: projects.map((project, host) => ({ ...options(project), startUrls: [web.url('/', host)] })),
    };
    const child = startProgram(request);
    const gone = once(child, 'exit');
    // Several commits of each by then.
    await until(() => projects.every((project) => requestsOf(web, project).length > 15));
    child.kill('SIGKILL');
    await gone;
    const { begin, store } = await open(place);
    const stored = await place.rows("SELECT url FROM pages WHERE state = 'Processed'");
    const killedAt = performance.now();
    const before = web.log.length;
    const handles = await Promise.all(
      projects.map((project, host) => begin(project, web.url('/', host), options(project))),
    );
    for (const { finished } of handles) expect(await finished).toMatchObject({ status: 'completed' });
    await store.flush();
    const later = web.log.slice(before);
    const askedAgain = new Set(later.map(({ path, host }) => web.url(path, host)));
    expect(stored.map(({ url }) => String(url)).filter((url) => askedAgain.has(url))).toEqual([]);
    // Each host rests one whole delay first.
    for (const host of [0, 1, 2])
      expect(later.find((asked) => asked.host === host)!.atMs - killedAt).toBeGreaterThanOrEqual(seenAs(20));
    const calm = await open(calmPlace);
    for (const [host, project] of projects.entries())
      await (await calm.begin(project, web.url('/', host), { delay: 0 })).finished;
    await calm.store.flush();
    const rows = 'SELECT url, state, status_code, title, depth FROM pages ORDER BY url, state, depth';
    expect(await place.rows(rows)).toEqual(await calmPlace.rows(rows));
    expect(await place.rows('SELECT status, count(*) AS n FROM runs GROUP BY status')).toMatchObject([
      { status: 'completed' },
    ]);
    expect(await place.rows('SELECT id FROM runs')).toHaveLength(3);
  });
});

it('a second process on the file is refused while a run is under way, and told who has it', async () => {
  const web = await bench.web({ graph: { seed: 12, pages: 20 } });
  const place = await stores.SQLite();
  const { begin } = await open(place);
  const handle = await begin('one', web.url('/'), { delay: 0.02 });
  const request: ThreeRuns = { address: addressOf(place), crawls: [] };
  const child = startProgram(request);
  let told = '';
  child.stderr!.on('data', (chunk) => {
    told += chunk;
  });
  const [code] = await once(child, 'close');
  expect(code).not.toBe(0);
  expect(told).toContain(`(process ${process.pid})`);
  expect(await handle.finished).toMatchObject({ status: 'completed', pages: 20 });
});
