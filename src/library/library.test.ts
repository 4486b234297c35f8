// The use cases as a program calls them: every one by the name under which the package exports it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOSTS, startTerrainWeb, writeTerrain } from '../../test/cli/terrain-web.ts';
import { respondFromGraph, type Site, serveSite } from '../demo/serve-site.ts';
import { createSiteGraph } from '../demo/site-graph.ts';
import {
  audit,
  buildIndexes,
  type ChangeFormat,
  changes,
  compare,
  copyProjects,
  crawl,
  describeStore,
  exportLinkGraph,
  forgetHistory,
  keepLook,
  keepSettings,
  type ListFilter,
  type ListQuery,
  type ListRow,
  listBrokenLinks,
  listRuns,
  map,
  mapFigures,
  mapPage,
  openReading,
  openResults,
  openStore,
  type PageOfResults,
  pageHistory,
  readKeptSettings,
  readText,
  reclassify,
  report,
  reportPage,
  resume,
  type WatchEvent,
  watch,
  why,
  writeChanges,
  writePages,
  writeRows,
} from '../index.ts';

const PAGES = 8;
const graph = createSiteGraph({ seed: 7, pages: PAGES });
let folder: string;
let db: string;
let site: Site;
/** Of the home page: what a visit finds on it. */
let title: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-library-'));
  db = join(folder, 'crawl.db');
  title = 'First';
  site = await serveSite({
    respond: (given) => {
      const answer = respondFromGraph(graph)(given);
      return (asked, response, entry) => {
        if (entry.path !== '/home') return answer(asked, response, entry);
        const body = `<title>${title}</title><p>${title} words</p><a href="/">all</a><a href="/nowhere">dead</a>`;
        response.writeHead(200, { 'content-type': 'text/html' }).end(body);
      };
    },
  });
});

afterEach(async () => {
  await site.close();
  rmSync(folder, { recursive: true });
});

const LOOPBACK = { env: {}, proxy: 'none', delay: 0, discover: ['links'], storeText: true } as const;

async function crawlSite(more: Parameters<typeof crawl>[0] = {}) {
  const run = await crawl({ ...LOOPBACK, startUrls: [site.url('/home')], db, project: 'shop', ...more });
  return await run.finished;
}

async function twoRuns() {
  await crawlSite();
  title = 'Second';
  await crawlSite();
  return await openReading(db, 'shop');
}

function collect() {
  const chunks: Buffer[] = [];
  const out = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { out, bytes: () => Buffer.concat(chunks), text: () => Buffer.concat(chunks).toString() };
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

describe('a program asks', () => {
  it('why, what changed, what differs, and whether it was polite', async () => {
    const reading = await twoRuns();
    const [explained] = await why(reading, `${site.url('/home')}#top`);
    expect(explained).toMatchObject({ state: 'Processed', title: 'Second', changes_detected: 1 });
    await expect(why(reading, site.url('/unknown'))).rejects.toMatchObject({ code: 'unknown-url' });

    const found = await changes(reading);
    expect(found.counts?.get('changed')).toBe(1);
    const told = await all(found.rows());
    expect(told).toMatchObject([{ url: site.url('/home'), outcome: 'changed', run: 2 }]);
    expect(told[0].parts).toContain('title');
    expect(await all((await changes(reading, { run: 1, limit: 2 })).rows())).toHaveLength(2);

    const visits = await pageHistory(reading, site.url('/home'));
    expect((await all(visits.rows())).map(({ outcome }) => outcome)).toEqual(['new', 'changed']);

    const differences = await compare(reading, 2, 1);
    expect(differences).toMatchObject({ counts: { changed: 1, added: 0 }, isCleared: false });
    expect(await all(differences.rows())).toHaveLength(1);
    await expect(compare(reading, 2, 2)).rejects.toMatchObject({ code: 'runs-not-comparable' });

    expect(await audit(reading, undefined)).toMatchObject({ violations: 0, details: [] });
    await expect(audit(reading, 9)).rejects.toMatchObject({ code: 'unknown-run' });
    await reading.close();
  });

  it('for reports, lists, numbers, pages to look at and the link graph', async () => {
    const reading = await twoRuns();
    expect(await report(reading)).toMatchObject({ run: 2, project: 'shop', politeness: { violations: 0 } });
    expect(await report(reading, 1)).toMatchObject({ run: 1, outcomes: { changed: 0 } });
    expect(await reportPage(reading)).toMatch(/^<!doctype html>[\s\S]*shop/i);
    expect(await mapPage(reading)).toMatch(/^<!doctype html>/i);
    expect(await describeStore(reading)).toMatchObject({ projects: ['shop'], runs: 2, broken: 1 });
    expect((await all(listRuns(reading, undefined))).map(({ run }) => run)).toEqual([1, 2]);
    const broken = await all(listBrokenLinks(reading, { url: undefined }));
    expect(broken).toMatchObject([{ from_url: site.url('/home'), broken_url: site.url('/nowhere') }]);
    expect(await readText(reading, site.url('/home'))).toContain('Second words');
    const { nodes, files } = await exportLinkGraph(reading, { of: 'pages', format: 'jsonl' });
    expect(nodes).toBe(PAGES + 2);
    const lines = (await all(files[0].pieces)).join('').trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(nodes);
    await reading.close();
  });

  it('of a project that is not there, and is told which there are', async () => {
    await crawlSite();
    await expect(openReading(db, 'other')).rejects.toMatchObject({
      code: 'unknown-project',
      message: expect.stringContaining('"shop"'),
    });
  });
});

describe('a program writes', () => {
  it('pages as lines, tables and Parquet to any stream', async () => {
    const reading = await twoRuns();
    const pages = () => reading.side.pages({ states: ['Processed'] });
    const [lines, csv, parquet] = [collect(), collect(), collect()];
    await writePages(pages(), 'jsonl', lines.out);
    await writePages(pages(), 'csv', csv.out);
    await writePages(pages(), 'parquet', parquet.out);
    expect(lines.text().trimEnd().split('\n')).toHaveLength(PAGES + 1);
    expect(csv.text()).toMatch(/^url,state,reason,status_code,/);
    expect(parquet.bytes().subarray(0, 4).toString()).toBe('PAR1');
    expect(parquet.bytes().subarray(-4).toString()).toBe('PAR1');
    const own = collect();
    await writeRows({ rows: pages(), format: 'csv', names: ['state', 'depth'], bom: true }, own.out);
    expect(own.text()).toMatch(/^\ufeffstate,depth\nProcessed,0\n/);
    await reading.close();
  });

  it.each([
    ['text', /Changes of shop, run 2/],
    ['markdown', /^# Changes of shop, run 2/],
    ['html', /^<!doctype html>/i],
    ['json', /^\[\n\{"url":"http/],
    ['csv', /^url,outcome,/],
  ] as [ChangeFormat, RegExp][])('changes as %s', async (format, expected) => {
    const reading = await twoRuns();
    const { out, text } = collect();
    await writeChanges(await changes(reading), format, out);
    expect(text()).toMatch(expected);
    const two = collect();
    await writeChanges(await compare(reading, 1, 2), format, two.out);
    expect(two.text().length).toBeGreaterThan(50);
    const history = collect();
    await writeChanges(await pageHistory(reading, site.url('/home')), format, history.out);
    expect(history.text()).toContain('changed');
    await reading.close();
  });
});

describe('a program changes a project', () => {
  it('by settings, which the next crawl obeys, through an address and through an open store', async () => {
    await keepSettings({ storeAddress: db }, 'shop', { set: ['max-pages=3'], unset: [] });
    expect((await crawlSite()).pages).toBe(3);
    const store = await openStore(db, (error) => {
      throw error;
    });
    try {
      await keepSettings(store, 'shop', { set: ['max-depth=1'], unset: ['max-pages'] });
      // The store of the caller stays open.
      expect(await store.projects.settings('shop')).toBe('{"max-depth":1}');
    } finally {
      await store.close();
    }
    const reading = await openReading(db, 'shop');
    expect(await readKeptSettings(reading)).toEqual([{ project: 'shop', settings: { 'max-depth': 1 } }]);
    await reading.close();
    const wrong = keepSettings({ storeAddress: join(folder, 'no.db') }, 'x', {
      set: ['delay=-1'],
      unset: [],
    });
    await expect(wrong).rejects.toMatchObject({ code: 'bad-value' });
    await expect(openReading(join(folder, 'no.db'))).rejects.toMatchObject({ code: 'db-missing' });
  });

  it('by indexes, through an address and through an open store, for lists a page of results at a time', async () => {
    await crawlSite();
    const words: ListFilter<'pages'> = { project: 'shop', words: 'first words' };
    let results = await openResults(db);
    await expect(results.list('pages', { filter: words })).rejects.toMatchObject({
      code: 'full-text-missing',
    });
    await results.close();
    expect(await buildIndexes({ storeAddress: db }, ['shop'], ['full-text'])).toMatchObject([
      { project: 'shop', kind: 'full-text', isWhole: true },
    ]);
    const store = await openStore(db, (error) => {
      throw error;
    });
    expect(await buildIndexes(store, ['shop'], ['reverse-links'])).toMatchObject([{ kind: 'reverse-links' }]);
    // The store of the caller stays open.
    expect(await store.projects.settings('shop')).toBeNull();
    await store.close();
    results = await openResults(db);
    const query: ListQuery<'pages'> = { filter: words, limit: 1 };
    const found: PageOfResults<ListRow<'pages'>> = await results.list('pages', query);
    expect(found.rows.map(({ url }) => url)).toEqual([site.url('/home')]);
    await results.close();
  });

  it('by a look, after which only what is newer is told', async () => {
    let reading = await twoRuns();
    const { look, project } = await changes(reading, { reader: 'mail' });
    await reading.close();
    await keepLook({ storeAddress: db }, project.project, look!);
    reading = await openReading(db);
    expect((await changes(reading, { reader: 'mail' })).runs).toEqual([]);
    await reading.close();
  });

  it('by forgetting, copying and going on with a run', async () => {
    const stopping = new AbortController();
    const cut = await crawl({
      ...LOOPBACK,
      ...{ startUrls: [site.url('/home')], db, concurrency: 1, signal: stopping.signal },
      on: { page: () => stopping.abort() },
    });
    expect((await cut.finished).status).toBe('interrupted');
    const resumed = await resume({ ...LOOPBACK, db });
    expect(resumed.runId).toBe(cut.runId);
    expect(await resumed.finished).toMatchObject({ status: 'completed' });
    await expect(resume({ env: {}, db })).rejects.toMatchObject({ code: 'nothing-to-resume' });

    const progress: string[] = [];
    const to = join(folder, 'copy.db');
    const order = { from: db, to, project: null, as: undefined, restart: false };
    const [copied] = await copyProjects(order, ({ type }) => void progress.push(type));
    expect(copied.tables.every(({ isEqual }) => isEqual)).toBe(true);
    expect(progress).toEqual(expect.arrayContaining(['begun', 'table', 'comparing']));

    const forgotten = await forgetHistory({ storeAddress: to }, null, Date.now() + 60_000);
    expect(forgotten.visits).toBeGreaterThan(PAGES);
  });
});

describe('a program watches', () => {
  it('a site: a first crawl, then a look at what is due', async () => {
    const events: WatchEvent[] = [];
    const look = () =>
      watch({
        ...LOOPBACK,
        ...{ startUrls: [site.url('/home')], db, once: true },
        on: (event) => void events.push(event),
      });
    const first = await look();
    expect(first.project).toBe(new URL(site.url('/')).host);
    expect(await first.finished).toBe('done');
    expect(events.map(({ type }) => type)).toContain('tick');
    const stopped = new AbortController();
    stopped.abort();
    const second = await watch({ env: {}, db, signal: stopped.signal, on: () => {} });
    expect(second.project).toBe(first.project);
    expect(await second.finished).toBe('stopped');
  });
});

describe('a program maps', () => {
  it('a terrain: crawled, counted, drawn, and put before other lists', async () => {
    const web = await startTerrainWeb();
    try {
      const terrain = join(folder, 'terrain.toml');
      writeTerrain(terrain, web);
      const more = { terrain, env: {}, proxy: 'none', allowHttp: true } as const;
      const run = await map(more);
      expect(run.warnings).toEqual(expect.any(Array));
      expect(await run.finished).toMatchObject({ status: 'completed' });
      const reading = await openReading(join(folder, 'map.db'));
      const figures = await mapFigures(reading, run.project);
      expect(JSON.stringify(figures)).toContain(HOSTS.quality);
      expect(await mapPage(reading, { subject: 'domains' })).toMatch(/^<!doctype html>/i);
      await reading.close();
      expect(await reclassify(more)).toMatchObject({ project: run.project, moves: [] });
    } finally {
      await web.close();
    }
  });
});
