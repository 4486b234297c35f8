/** Maps: depths per origin, pages judged anew without a crawl, and the moves between states that no store makes. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import type { KnownPage } from '../../../src/store/frontier-port.ts';
import type { DepthBatch, RunRequest } from '../../../src/store/run-port.ts';
import type { RunStore } from '../../../src/store/store-port.ts';
import {
  beginRun,
  candidate,
  facts,
  linksTo,
  pagesOf,
  processed,
  redirecting,
  refused,
  type StoreHarness,
  statesOf,
} from './harness.ts';

const { Queued, Processed, Blacklisted, DepthExceeded, Failed } = PAGE_STATES;

function batch(rows: [page: number, origin: number, depth: number][]): DepthBatch {
  return {
    count: rows.length,
    pageIds: Int32Array.from(rows, ([page]) => page),
    origins: Uint16Array.from(rows, ([, origin]) => origin),
    depths: Uint16Array.from(rows, ([, , depth]) => depth),
  };
}

export function describeMaps(harness: () => StoreHarness): void {
  const request = (more: Partial<RunRequest> = {}): RunRequest => ({
    project: 'p',
    owner: '',
    configHash: 'changed',
    config: '{"changed":true}',
    fresh: false,
    metadata: null,
    now: harness().clock.now(),
    ...more,
  });

  /** A finished run of a, which was read and links to b (blacklisted) and c (too deep). */
  async function finishedMap(): Promise<void> {
    const { store, lease, visit } = await beginRun(harness());
    await store.frontier.offer([candidate('a', { depth: 0 })]);
    const held = await lease();
    const b = refused('b', 'Blacklisted', 'blacklist: b', { depth: 1 });
    const c = refused('c', 'DepthExceeded', 'depth: 1 > 0', { depth: 1 });
    await visit(held, linksTo([b, c]));
    await store.frontier.release(held);
    await store.run.finish('completed', harness().clock.now(), null);
    await store.close();
  }

  const letIn = (row: KnownPage) =>
    row.state === DepthExceeded ? { state: Queued, priority: 1, reason: null } : null;

  describe('saveDepths', () => {
    const depthsNow = () =>
      harness().read(
        'SELECT page_id, quality_origin, depth FROM page_depths ORDER BY page_id, quality_origin',
      );

    it('replaces the depths of the project, and of no other', async () => {
      const other = await beginRun(harness(), { project: 'other' });
      const [x] = await other.store.frontier.offer([candidate('x', { depth: 4 })]);
      await other.store.projects.saveDepths(other.store.start.projectId, ['o.test'], [batch([[x, 0, 7]])]);
      await other.store.close();
      const { store } = await beginRun(harness());
      const [a, b] = await store.frontier.offer([candidate('a', { depth: 0 }), candidate('b')]);
      await store.projects.saveDepths(store.start.projectId, ['old.test'], [batch([[a, 0, 3]])]);
      const rows: [number, number, number][] = [
        [a, 0, 0],
        [a, 1, 2],
      ];
      await store.projects.saveDepths(
        store.start.projectId,
        ['*.q.test', 'r.test'],
        [batch(rows), batch([[b, 0, 1]])],
      );
      expect(await depthsNow()).toEqual([
        { page_id: x, quality_origin: 'o.test', depth: 7 },
        { page_id: a, quality_origin: '*.q.test', depth: 0 },
        { page_id: a, quality_origin: 'r.test', depth: 2 },
        { page_id: b, quality_origin: '*.q.test', depth: 1 },
      ]);
    });

    it('shows the depth from the start of a project without origins under its name', async () => {
      const { store } = await beginRun(harness());
      const [a] = await store.frontier.offer([candidate('a', { depth: 3 })]);
      await store.flush();
      expect(await depthsNow()).toEqual([{ page_id: a, quality_origin: 'p', depth: 3 }]);
    });

    it('is forgotten with the project that is made fresh', async () => {
      const { store } = await beginRun(harness());
      const [a] = await store.frontier.offer([candidate('a')]);
      await store.projects.saveDepths(store.start.projectId, ['q.test'], [batch([[a, 0, 0]])]);
      await store.close();
      await beginRun(harness(), { fresh: true });
      expect(await depthsNow()).toEqual([]);
    });
  });

  describe('revise', () => {
    it('has nothing to say of a project that is not there', async () => {
      const store = await harness().open();
      expect(await store.projects.revise(request(), letIn)).toBeNull();
    });

    it('lets the last run go on where pages wait, with the new configuration, and queues nothing else', async () => {
      await finishedMap();
      const store = await harness().open();
      const revised = await store.projects.revise(request(), letIn);
      expect(revised).toMatchObject({ moves: [{ from: DepthExceeded, to: Queued, pages: 1 }], waiting: 1 });
      await store.close();
      const { start, drain, lease } = await beginRun(harness(), { configHash: 'changed' });
      expect(start).toMatchObject({ runId: revised!.runId, resumed: true, previousConfigHash: 'changed' });
      expect(await drain(await lease())).toEqual(['c']);
    });

    it('leaves a finished run finished where nothing waits', async () => {
      await finishedMap();
      const store = await harness().open();
      expect(await store.projects.revise(request(), () => null)).toMatchObject({ moves: [], waiting: 0 });
      await store.close();
      expect((await beginRun(harness())).start.resumed).toBe(false);
    });

    it('tells the judge what was read, and how many requests its host had', async () => {
      await finishedMap();
      const seen: KnownPage[] = [];
      const store = await harness().open();
      await store.projects.revise(request(), (row) => {
        seen.push(row);
        return null;
      });
      expect(seen.map(({ url, wasRead }) => [url.split('/').pop(), wasRead])).toEqual([
        ['a', true],
        ['b', false],
        ['c', false],
      ]);
      expect(seen.map(({ hostRequests }) => hostRequests)).toEqual([0, 0, 0]);
      expect(new Set(seen.map(({ pageId }) => pageId)).size).toBe(3);
    });

    it('gives depths, none included, with the state or without it', async () => {
      await finishedMap();
      const store = await harness().open();
      await store.projects.revise(request(), (row) => {
        if (row.url.endsWith('/a'))
          return { state: Failed, priority: 9, reason: 'x', depth: 5, keepsState: true };
        return { state: DepthExceeded, priority: 1, reason: 'depth: new', depth: null };
      });
      const pages = await pagesOf(harness());
      expect(pages.a).toMatchObject({ state: 'Processed', depth: 5 });
      expect(pages.c).toMatchObject({ state: 'DepthExceeded', reason: 'depth: new', depth: null });
    });

    it('gives back as read only what was read', async () => {
      await finishedMap();
      const store = await harness().open();
      const judge = (row: KnownPage) =>
        row.state === Processed
          ? { state: Blacklisted, priority: 1, reason: 'blacklist: a' }
          : { state: Processed, priority: 1, reason: null };
      await expect(store.projects.revise(request(), judge)).rejects.toThrow('never read');
    });
  });

  describe('a move that no page may make is a mistake of the program:', () => {
    async function failing(act: (store: RunStore) => Promise<unknown>, message: string): Promise<void> {
      const { store } = await beginRun(harness());
      const error = await act(store).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).constructor.name).toBe('Error');
      expect((error as Error).message).toContain(message);
    }

    it('a page that was never claimed, or is settled already, is not settled', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('a'), candidate('b')]);
      const held = await lease();
      const first = await claim(held);
      await store.frontier.settle(held, processed(first));
      await expect(store.frontier.settle(held, processed(first))).rejects.toThrow('by being settled');
      const second = await claim(held);
      await store.frontier.unclaim(held, [second]);
      await expect(store.frontier.settle(held, processed(second))).rejects.toThrow('by being settled');
      await store.flush();
      expect(await statesOf(harness())).toEqual({ a: 'Processed', b: 'Queued' });
    });

    it('no answer makes a page Blacklisted, and no page is found Processed', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('a')]);
      const held = await lease();
      const wrong = { ...processed(await claim(held)), state: Blacklisted };
      await expect(store.frontier.settle(held, wrong)).rejects.toThrow('from Fetching to Blacklisted');
    });

    it('a URL is not found Processed', () =>
      failing(
        (store) => store.frontier.offer([candidate('x', { state: Processed })]),
        'from Discovered to Processed',
      ));

    it('a run that ends makes no page Processed', () =>
      failing((store) => store.frontier.closeWaiting(Processed, 'x'), 'from Queued to Processed'));

    it('no judge makes a page Fetching', () =>
      failing(async (store) => {
        await store.frontier.offer([candidate('a')]);
        await store.flush();
        return store.frontier.reconsider(() => ({ state: PAGE_STATES.Fetching, priority: 1, reason: null }));
      }, 'from Queued to Fetching'));
  });

  it('a redirect whose source was blacklisted meanwhile does not fail it', async () => {
    const { store, lease, claim } = await beginRun(harness());
    await store.frontier.offer([candidate('from'), candidate('to', { priority: 5 })]);
    const held = await lease();
    await store.frontier.settle(held, redirecting(await claim(held), candidate('to')));
    await store.frontier.reconsider((row) =>
      row.url.endsWith('/from') ? { state: Blacklisted, priority: 2, reason: 'blacklist: x' } : null,
    );
    const refusing = {
      ...processed(await claim(held), { facts: facts({ statusCode: 404 }) }),
      state: PAGE_STATES.Skipped,
      reason: 'robots: Disallow /',
    };
    await store.frontier.settle(held, refusing);
    await store.flush();
    expect(await statesOf(harness())).toEqual({ from: 'Blacklisted', to: 'Skipped' });
  });
}
