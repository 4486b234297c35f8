/** What is kept of a project beside its pages, for how long, and what goes when it is made fresh. */
import { describe, expect, it } from 'vitest';
import type { PageChange } from '../../../src/change/visit-record.ts';
import { type HostLease, REQUEST_KINDS } from '../../../src/store/host-port.ts';
import {
  beginRun,
  candidate,
  facts,
  nextRun,
  type OpenRun,
  type StoreHarness,
  url,
  visited,
} from './harness.ts';

const DAY = 86_400_000;
const CHANGE: PageChange = {
  parts: ['title'],
  fields: [{ name: 'title', before: 'a', after: 'b' }],
  linksAdded: [],
  linksRemoved: [],
  text: null,
  wordsAdded: 0,
  wordsRemoved: 0,
};
const CLEARED = REQUEST_KINDS.indexOf('cleared');
const TABLES = ['visits', 'page_changes', 'sitemap_entries', 'discovery_status', 'revisit'];

export function describeKeeping(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();
  const count = async (from: string) =>
    Number((await harness().read(`SELECT count(*) AS n FROM ${from}`))[0].n);

  const requests = async () =>
    (await harness().read('SELECT kind, ended_at, page_id FROM request ORDER BY run_id, kind')).map((row) => [
      REQUEST_KINDS[Number(row.kind)],
      Number(row.ended_at) / DAY,
      row.page_id === null ? null : 'page',
    ]);

  function logVisit({ store }: OpenRun, { hostId }: HostLease, pageId: number, endedAt: number): void {
    const times = { slotAt: endedAt - 9, sentAt: endedAt - 9, endedAt, delayMs: 1, perHost: 1 };
    const rest = { statusCode: 200, wireBytes: 1, contentHash: null, blockedUntil: null, failure: null };
    store.hosts.log({ kind: 'GET', hostId, pageId, ...times, ...rest });
    store.hosts.log({ kind: 'robots', hostId, pageId: null, ...times, ...rest });
  }

  /** Two visits a day apart, both with a change, a sitemap entry, a plan: one of everything. */
  async function fill(project: string): Promise<void> {
    const first = await beginRun(harness(), { project });
    const [x] = await first.store.frontier.offer([candidate('x')]);
    const seen = (day: number) => ({
      facts: facts({ title: `day ${day}`, visitedAt: day * DAY }),
      visit: visited('changed', 'content', { visitedAt: day * DAY }),
      change: CHANGE,
    });
    const held = await first.lease();
    await first.visit(held, seen(100));
    logVisit(first, held, x, 100 * DAY);
    await first.store.frontier.release(held);
    const entry = {
      lastmod: DAY,
      changefreq: null,
      priority: null,
      sitemap: url('s.xml'),
      lastmodText: null,
      details: null,
    };
    await first.store.sitemaps.saveEntries([{ candidate: candidate('x'), ...entry }], now());
    await first.store.sitemaps.saveDiscovery('a.test', {
      method: 'sitemap',
      checkedAt: 1,
      entries: 1,
      sitemaps: [],
      trouble: null,
      searched: null,
      guessed: null,
    });
    const one = [1];
    const numbers = {
      learnedAt: one,
      rateShape: one,
      rateDays: one,
      signals: one,
      signalsInAll: one,
      flags: one,
    };
    await first.store.projects.saveRevisits(
      project,
      { pageIds: [x], ...numbers },
      { plan: '{"price":1}', learnedRun: first.start.runId },
    );
    await first.store.projects.saveSettings(project, '{"mode":"smart"}');
    const second = await nextRun(harness(), first, () => true, { project });
    const again = await second.lease();
    await second.visit(again, seen(101));
    logVisit(second, again, x, 101 * DAY);
    await second.store.frontier.release(again);
    await second.store.run.finish('completed', now(), null);
    await second.store.close();
  }

  describe('a plan of revisits', () => {
    it('is replaced only by who knows the one that is kept, where that is asked for', async () => {
      await fill('p');
      const none = { pageIds: [], learnedAt: [], rateShape: [], rateDays: [], signals: [], signalsInAll: [] };
      const store = await harness().open();
      const put = (plan: string, before?: string | null) =>
        store.projects.saveRevisits('p', { ...none, flags: [] }, { plan, learnedRun: 1, before });
      const kept = () => harness().read('SELECT revisit_plan FROM project');
      expect(await put('{"a":1}', '{"price":1}')).toBe(true);
      expect([await put('{"b":1}', '{"price":1}'), await put('{"b":1}', null)]).toEqual([false, false]);
      expect(await kept()).toEqual([{ revisit_plan: '{"a":1}' }]);
      expect(await put('{"c":1}')).toBe(true);
      expect(await kept()).toEqual([{ revisit_plan: '{"c":1}' }]);
      await store.close();
    });
  });

  describe('forget', () => {
    it('drops visits and changes that are older, and leaves pages as they are', async () => {
      await fill('p');
      const pages = await harness().read('SELECT * FROM pages');
      const store = await harness().open();
      expect(await store.projects.forget(null, 100 * DAY)).toEqual({ visits: 0, changes: 0, requests: 0 });
      expect(await store.projects.forget(null, 101 * DAY)).toEqual({ visits: 1, changes: 1, requests: 2 });
      await store.close();
      const left = await harness().read('SELECT visited_at FROM visits');
      expect(left).toEqual([{ visited_at: new Date(101 * DAY).toISOString() }]);
      expect(await count('page_changes')).toBe(1);
      expect(await harness().read('SELECT * FROM pages')).toEqual(pages);
    });

    it('drops what was settled a moment ago, too', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      await visit(await lease(), { facts: facts({ title: 'x' }) });
      expect(await store.projects.forget(null, 1e13)).toEqual({ visits: 1, changes: 0, requests: 0 });
      await store.flush();
      expect(await count('visits')).toBe(0);
    });

    it('of one project leaves the others alone', async () => {
      await fill('one');
      await fill('two');
      const store = await harness().open();
      expect(await store.projects.forget('nobody', 200 * DAY)).toEqual({
        visits: 0,
        changes: 0,
        requests: 0,
      });
      expect(await store.projects.forget('one', 200 * DAY)).toEqual({ visits: 2, changes: 2, requests: 4 });
      await store.close();
      const runs = await harness().read(
        'SELECT DISTINCT r.project FROM visits v JOIN runs r ON r.id = v.run_id ORDER BY r.project',
      );
      expect(runs).toEqual([{ project: 'two' }]);
      const logged = await harness().read(
        `SELECT r.project FROM request q JOIN runs r ON r.id = q.run_id WHERE q.kind <> ${CLEARED}`,
      );
      expect(logged.map(({ project }) => project)).toEqual(['two', 'two', 'two', 'two']);
    });

    it('leaves one mark a host in place of the requests, which moves on and never back', async () => {
      await fill('p');
      const store = await harness().open();
      const left = [
        ['GET', 101, 'page'],
        ['robots', 101, null],
      ];
      const forget = async (day: number) => {
        await store.projects.forget('p', day * DAY);
        await store.flush();
      };
      await forget(100);
      expect((await requests()).map(([kind]) => kind)).toEqual(['GET', 'robots', 'GET', 'robots']);
      await forget(100.5);
      expect(await requests()).toEqual([['cleared', 100.5, null], ...left]);
      await forget(100.2);
      expect(await requests()).toEqual([['cleared', 100.5, null], ...left]);
      await forget(200);
      expect(await requests()).toEqual([['cleared', 200, null]]);
    });
  });

  describe('a project made fresh', () => {
    it('has no history, entries or plan any more; its settings stay, and so do other projects', async () => {
      await fill('kept');
      const before = await Promise.all(TABLES.map(count));
      expect(before).toEqual([2, 2, 1, 1, 1]);
      await fill('p');
      const fresh = await beginRun(harness(), { fresh: true });
      await fresh.store.flush();
      expect(await Promise.all(TABLES.map(count))).toEqual(before);
      const rest = await harness().read(
        'SELECT DISTINCT r.project FROM visits v JOIN runs r ON r.id = v.run_id',
      );
      expect(rest).toEqual([{ project: 'kept' }]);
      expect(
        await harness().read('SELECT name, settings, revisit_plan, learned_run FROM project ORDER BY name'),
      ).toEqual([
        {
          name: 'kept',
          settings: '{"mode":"smart"}',
          revisit_plan: '{"price":1}',
          learned_run: expect.any(Number),
        },
        { name: 'p', settings: '{"mode":"smart"}', revisit_plan: null, learned_run: 0 },
      ]);
    });
  });

  describe('looks of readers', () => {
    it('are kept for each reader of each project, the last one of each, and none of an unknown project', async () => {
      const run = await beginRun(harness());
      const kept = () =>
        harness().read('SELECT reader, run_id AS run, looked_at AS at FROM reader_look ORDER BY reader');
      await run.store.projects.saveLook('p', 'ada', { run: 1, at: 1_700_000_000_000 });
      await run.store.projects.saveLook('p', 'mail', { run: 2, at: 1_700_000_000_001.4 });
      await run.store.projects.saveLook('p', 'ada', { run: 3, at: 1_700_000_000_002 });
      await run.store.projects.saveLook('nobody', 'ada', { run: 9, at: 1 });
      expect((await kept()).map(({ reader, run: upTo, at }) => [reader, upTo, Number(at)])).toEqual([
        ['ada', 3, 1_700_000_000_002],
        ['mail', 2, 1_700_000_000_001],
      ]);
    });
  });

  describe('project settings', () => {
    it('are kept as they are given, before the first run too, and can be taken back', async () => {
      const store = await harness().open();
      expect(await store.projects.settings('p')).toBeNull();
      await store.projects.saveSettings('p', '{"mode":"smart"}');
      await store.close();
      const run = await beginRun(harness());
      expect(run.start).toMatchObject({ resumed: false, knownUrls: 0 });
      expect(await run.store.projects.settings('p')).toBe('{"mode":"smart"}');
      expect(await run.store.projects.settings('other')).toBeNull();
      await run.store.projects.saveSettings('p', null);
      expect(await run.store.projects.settings('p')).toBeNull();
    });
  });
}
