/** Pages queued again by number, and what a run decides for all who work on it. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES, type PageState } from '../../../src/frontier/page-state.ts';
import {
  beginRun,
  candidate,
  facts,
  type OpenRun,
  pagesOf,
  refused,
  type StoreHarness,
  statesOf,
} from './harness.ts';

export function describeRequeue(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  describe('requeue', () => {
    const ANSWERS: PageState[] = [
      'Processed',
      'DeadLink',
      'Gone',
      'Unreachable',
      'RateLimited',
      'Failed',
      'ContentMismatch',
    ];
    const VERDICTS: PageState[] = ['Discovered', 'Skipped', 'DepthExceeded', 'Blacklisted', 'Stubbed'];

    it('queues pages in every state but in flight, at the priority given', async () => {
      const run = await beginRun(harness());
      const ids = await run.store.frontier.offer([
        candidate('flying', { priority: 0 }),
        ...ANSWERS.map((state) => candidate(state, { priority: 1 })),
        ...VERDICTS.map((state) => refused(state, state, 'a rule')),
      ]);
      const held = await run.lease();
      await run.claim(held);
      for (const state of ANSWERS)
        await run.visit(held, {
          state: PAGE_STATES[state],
          reason: state === 'Processed' ? null : 'a reason',
        });
      expect(await run.store.frontier.requeue([...ids, 1_000_000], 5)).toBe(ANSWERS.length + VERDICTS.length);
      expect(run.store.frontier.waiting()).toBe(ANSWERS.length + VERDICTS.length);
      await run.store.flush();
      const { flying, ...others } = await pagesOf(harness());
      expect(flying).toMatchObject({ state: 'Fetching', priority: 0 });
      for (const page of Object.values(others))
        expect(page).toMatchObject({ state: 'Queued', priority: 5, reason: null, retry_count: 0 });
      expect((await run.drain(held)).sort()).toEqual([...ANSWERS, ...VERDICTS].sort());
      expect(run.store.frontier.waiting()).toBe(0);
    });

    it('gives a waiting page the priority, and hands it out once', async () => {
      const run = await beginRun(harness());
      const [, , c] = await run.store.frontier.offer(['a', 'b', 'c'].map((name) => candidate(name)));
      await run.store.flush();
      expect(await run.store.frontier.requeue([c], 0)).toBe(1);
      expect(run.store.frontier.waiting()).toBe(3);
      expect(await run.drain(await run.lease())).toEqual(['c', 'a', 'b']);
    });

    it('leaves a retry its time and its tries', async () => {
      const run = await beginRun(harness());
      const [x] = await run.store.frontier.offer([candidate('x')]);
      const held = await run.lease();
      const requeue = { attempts: 2, notBefore: now() + 5000, priority: null };
      await run.visit(held, { state: PAGE_STATES.Queued, facts: null, requeue, countsAsPage: false });
      expect(await run.store.frontier.requeue([x], 3)).toBe(1);
      expect((await run.store.frontier.claim(held, 1, now())).claims).toEqual([]);
      const { claims } = await run.store.frontier.claim(held, 1, now() + 5000);
      expect(claims).toMatchObject([{ pageId: x, attempts: 2, priority: 3 }]);
    });

    it('survives a crash, and touches no other project', async () => {
      const other = await beginRun(harness(), { project: 'other' });
      const [foreign] = await other.store.frontier.offer([candidate('foreign')]);
      await other.visit(await other.lease());
      await other.store.run.finish('completed', now(), null);
      await other.store.close();
      const run = await beginRun(harness());
      const [x] = await run.store.frontier.offer([candidate('x')]);
      const held = await run.lease();
      await run.visit(held, { facts: facts() });
      await run.store.frontier.release(held);
      expect(await run.store.frontier.requeue([foreign, x], 1)).toBe(1);
      await harness().crash();
      const again = await beginRun(harness());
      expect(await statesOf(harness())).toEqual({ foreign: 'Processed', x: 'Queued' });
      expect(await again.drain(await again.lease())).toEqual(['x']);
    });
  });

  describe('decideMode', () => {
    const FULL = { mode: 'full', reason: '41 of 80 changed' } as const;
    const SPARING = { mode: 'incremental', reason: '2 of 80 changed' } as const;

    it('keeps the first decision, for the run and whoever goes on with it', async () => {
      const { store } = await beginRun(harness());
      expect(await store.run.decideMode(null)).toBeNull();
      expect(await store.run.decideMode(FULL)).toEqual(FULL);
      expect(await store.run.decideMode(SPARING)).toEqual(FULL);
      await harness().crash();
      const again: OpenRun = await beginRun(harness());
      expect(await again.store.run.decideMode(null)).toEqual(FULL);
      expect(await harness().read('SELECT mode, mode_reason FROM runs')).toEqual([
        { mode: 'full', mode_reason: '41 of 80 changed' },
      ]);
    });

    it('is open again in the next run', async () => {
      const first = await beginRun(harness());
      await first.store.run.decideMode(FULL);
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const second = await beginRun(harness());
      expect(await second.store.run.decideMode(null)).toBeNull();
      expect(await second.store.run.decideMode(SPARING)).toEqual(SPARING);
    });
  });
}
