/** What every store promises of projects that programs make, change, delete and purge. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ListFilter } from '../../src/store/list-queries.ts';
import type { ReadSide } from '../../src/store/read-side.ts';
import type { RunStore, Store } from '../../src/store/store-port.ts';
import type { ViewHarness } from './read-harness.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function describeProjects(name: string, start: () => Promise<ViewHarness>): void {
  describe(`projects of ${name}`, () => {
    let harness: ViewHarness;
    let store: Store;
    let side: ReadSide;
    beforeEach(async () => {
      harness = await start();
      store = await harness.openStore();
      side = await harness.openReadSide();
    });
    afterEach(async () => {
      await side.close();
      await store.close();
      await harness.cleanUp();
    });

    const now = () => harness.clock.now();
    const iso = (at: number) => new Date(at).toISOString();
    const begin = (project: string, goesOn?: number): Promise<RunStore> =>
      store.begin({
        ...{ owner: project, configHash: 'h', config: '{}', fresh: false, metadata: null },
        ...{ project, now: now(), goesOn },
      });
    async function make(project: string, websiteUrl: string | null = null): Promise<string> {
      const uid = randomUUID();
      await store.projects.createProject({ name: project, uid, websiteUrl, settings: null });
      return uid;
    }

    it('are known by a UUID, however they were made', async () => {
      const uid = randomUUID();
      const made = { name: 'made', uid, websiteUrl: 'https://a.test/', settings: '{"max-pages":7}' };
      const at = await store.projects.createProject(made);
      await store.projects.saveSettings('kept', '{}');
      const run = await begin('crawled');
      await run.run.finish('completed', now(), null);
      await run.leave();
      const rows = await side.projects();
      expect(rows).toEqual([
        {
          ...{ id: expect.any(Number), project: 'made', uid, website_url: 'https://a.test/' },
          ...{ created_at: iso(at), updated_at: iso(at), deleted_at: null },
        },
        expect.objectContaining({ project: 'kept', website_url: null, deleted_at: null }),
        expect.objectContaining({
          project: 'crawled',
          created_at: iso(now()),
          updated_at: expect.any(String),
        }),
      ]);
      for (const row of rows) {
        expect(row.uid).toMatch(UUID);
        expect(await side.projectByUid(row.uid)).toEqual(row);
      }
      expect(new Set(rows.map((row) => row.uid)).size).toBe(3);
      expect(await side.projectByUid(randomUUID())).toBeNull();
      expect(await side.projectSettings('made')).toBe('{"max-pages":7}');
      expect(await store.projects.keptProject(uid)).toEqual({
        ...made,
        ...{ id: rows[0].id, updatedAt: at, deletedAt: null },
      });
      expect(await store.projects.keptProject(randomUUID())).toBeNull();
    });

    it('have names that are unique, those of deleted ones too', async () => {
      const uid = await make('a');
      await expect(make('a')).rejects.toMatchObject({ code: 'project-exists' });
      await store.projects.markDeleted(uid, now());
      await expect(make('a')).rejects.toMatchObject({ code: 'project-exists' });
      const other = await make('b');
      await expect(store.projects.changeProject(other, { name: 'a' })).rejects.toMatchObject({
        code: 'project-exists',
      });
      await store.projects.changeProject(other, { name: 'c' });
      await make('b');
      expect((await side.projects()).map(({ project }) => project)).toEqual(['a', 'c', 'b']);
    });

    it('get one of several that take one name at once, and the store goes on', async () => {
      const uids = await Promise.all(['a', 'b', 'c'].map((project) => make(project)));
      const renamed = await Promise.allSettled([
        ...uids.map((uid) => store.projects.changeProject(uid, { name: 'wanted' })),
        make('wanted'),
      ]);
      expect(renamed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of renamed)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'project-exists' });
      await make('after');
    });

    it('are changed in parts, and only as the caller has seen them', async () => {
      const uid = await make('a', 'https://a.test/');
      const first = (await store.projects.keptProject(uid))!.updatedAt;
      const second = await store.projects.changeProject(uid, { settings: '{"delay":2}', ifUpdatedAt: first });
      expect(second).toBeGreaterThan(first);
      await expect(
        store.projects.changeProject(uid, { websiteUrl: null, ifUpdatedAt: first }),
      ).rejects.toMatchObject({ code: 'project-changed' });
      harness.clock.advance(5000);
      const third = await store.projects.changeProject(uid, { websiteUrl: null });
      expect(third).toBe(now());
      expect(await store.projects.keptProject(uid)).toMatchObject({
        ...{ name: 'a', websiteUrl: null, settings: '{"delay":2}', updatedAt: third },
      });
      await store.projects.saveSettings('a', null);
      const row = await side.projectByUid(uid);
      expect(Date.parse(row!.updated_at)).toBe(third + 1);
      expect(row!.created_at).toBe(iso(first));
      await expect(store.projects.changeProject(randomUUID(), {})).rejects.toMatchObject({
        code: 'project-unknown',
      });
    });

    it('that are deleted are kept, are not crawled, and can be restored', async () => {
      const uid = await make('a');
      const at = now();
      await store.projects.markDeleted(uid, at);
      expect(await side.projectByUid(uid)).toMatchObject({ project: 'a', deleted_at: iso(at) });
      await expect(begin('a')).rejects.toMatchObject({ code: 'project-deleted', details: { id: uid } });
      await expect(store.projects.saveSettings('a', '{}')).rejects.toMatchObject({ code: 'project-deleted' });
      await store.projects.markDeleted(uid, null);
      expect(await side.projectByUid(uid)).toMatchObject({ deleted_at: null });
      await (await begin('a')).leave();
    });

    it('that were deleted while a run was left open are joined by nobody', async () => {
      const run = await begin('a');
      const { runId } = run.start;
      await run.leave();
      const [{ uid }] = await side.projects();
      await store.projects.markDeleted(uid, now());
      expect(await store.join(runId, 'another')).toBeNull();
      await expect(begin('a', runId)).rejects.toMatchObject({ code: 'project-deleted' });
    });

    it('keep their name while somebody is at work on them, and a run goes on under another', async () => {
      const run = await begin('a');
      const [{ uid }] = await side.projects();
      const inUse = { code: expect.stringMatching(/^(run-under-way|project-in-use)$/) };
      await expect(store.projects.changeProject(uid, { name: 'b' })).rejects.toMatchObject(inUse);
      await expect(store.projects.hideProject(uid)).rejects.toMatchObject(inUse);
      await expect(store.projects.purgeProject(uid, { batch: 10 })).rejects.toMatchObject(inUse);
      await store.projects.changeProject(uid, { name: 'a', settings: '{}' });
      await run.run.finish('interrupted', now(), null);
      await run.leave();
      await store.projects.changeProject(uid, { name: 'b' });
      const again = await begin('a', run.start.runId);
      expect(again.start).toMatchObject({ runId: run.start.runId, projectId: run.start.projectId });
      await again.leave();
      expect((await side.projects()).map(({ project }) => project)).toEqual(['b']);
    });

    it('that are hidden are seen by nobody, and their names are free', async () => {
      const uid = await make('a');
      const run = await begin('a');
      await run.leave();
      await store.projects.hideProject(uid);
      expect(await side.projects()).toEqual([]);
      expect(await side.projectByUid(uid)).toBeNull();
      expect(await side.run(run.start.runId)).toBeNull();
      expect((await side.list('runs', {})).rows).toEqual([]);
      expect((await side.list('projects', { filter: { state: 'all' } })).rows).toEqual([]);
      expect(await store.projects.keptProject(uid)).toBeNull();
      await expect(store.projects.markDeleted(uid, null)).rejects.toMatchObject({ code: 'project-unknown' });
      await expect(begin('a', run.start.runId)).rejects.toMatchObject({ code: 'project-deleted' });
      expect(await store.projects.hiddenProjects()).toEqual([uid]);
      await make('a');
      await store.projects.purgeProject(uid, { batch: 10 });
      expect(await store.projects.hiddenProjects()).toEqual([]);
      await store.projects.purgeProject(uid, { batch: 10 });
      expect((await side.projects()).map(({ project }) => project)).toEqual(['a']);
    });

    it('are listed by name, by their making and by their last change, page by page', async () => {
      const names = ['Shop', 'blog', 'Zoo', 'äpfel', 'news', 'old'];
      const uids: string[] = [];
      for (const [i, project] of names.entries()) {
        uids.push(await make(project, i % 2 === 0 ? `https://${project.toUpperCase()}.test/` : null));
        harness.clock.advance(1000);
      }
      await store.projects.markDeleted(uids[5], now());
      await store.projects.changeProject(uids[1], { settings: '{}' });
      const list = async (filter: ListFilter<'projects'>, sort?: string, order?: 'asc' | 'desc') => {
        const found: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await side.list('projects', { filter, sort, order, limit: 2, cursor });
          found.push(...page.rows.map(({ project }) => project));
          if (page.next === null) return found;
          cursor = page.next;
        }
      };
      expect(await list({})).toEqual(['Shop', 'Zoo', 'blog', 'news', 'äpfel']);
      expect(await list({}, 'name', 'desc')).toEqual(['äpfel', 'news', 'blog', 'Zoo', 'Shop']);
      expect(await list({}, 'created_at')).toEqual(['news', 'äpfel', 'Zoo', 'blog', 'Shop']);
      expect((await list({}, 'updated_at'))[0]).toBe('blog');
      expect(await list({ state: 'deleted' })).toEqual(['old']);
      expect(await list({ state: 'all' })).toHaveLength(6);
      expect(await list({ q: 'O', state: 'all' })).toEqual(['Shop', 'Zoo', 'blog', 'old']);
      expect(await list({ q: 'shop.TEST' })).toEqual(['Shop']);
      expect(await list({ uids: [uids[0], uids[5], randomUUID()] })).toEqual(['Shop']);
      expect(await list({ uids: [] })).toEqual([]);
      expect(await side.count('projects', { state: 'all', uids: uids.slice(3) })).toEqual({
        ...{ count: 3, isExact: true },
      });
      await expect(side.list('projects', { sort: 'id' })).rejects.toMatchObject({ code: 'list-sort' });
    });
  });
}
