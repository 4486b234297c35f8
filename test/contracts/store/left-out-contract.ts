/** Runs that end early: what earlier runs know of a page stays, and the run counts it as left out. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES, type PageState } from '../../../src/frontier/page-state.ts';
import {
  beginRun,
  candidate,
  facts,
  type OpenRun,
  pagesOf,
  processed,
  refused,
  type StoreHarness,
  statesOf,
} from './harness.ts';

const ANSWERS: PageState[] = ['Processed', 'DeadLink', 'Gone', 'Failed', 'ContentMismatch', 'Unreachable'];
const LIMIT = 'limit: max-pages 1';

export function describeLeftOut(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  /** One page for each answer, one that robots.txt denies, and one that nobody asked for. */
  async function wholeRun(): Promise<void> {
    const run = await beginRun(harness());
    await run.store.frontier.offer([...ANSWERS, 'denied'].map((name) => candidate(name, { priority: 1 })));
    const held = await run.lease();
    for (const state of ANSWERS)
      await run.visit(held, {
        state: PAGE_STATES[state],
        reason: state === 'Processed' ? null : `a reason for ${state}`,
        facts: facts({ title: `title of ${state}` }),
      });
    await run.visit(held, {
      state: PAGE_STATES.Skipped,
      reason: 'robots: Disallow /d',
      facts: null,
      visit: null,
    });
    await run.store.frontier.release(held);
    await run.store.run.finish('completed', now(), null);
    await run.store.close();
  }

  async function nextRun(configHash?: string): Promise<OpenRun> {
    const run = await beginRun(harness(), configHash === undefined ? {} : { configHash });
    await run.store.frontier.reconsider((row) =>
      row.state === PAGE_STATES.Queued ? null : { state: PAGE_STATES.Queued, priority: 1, reason: null },
    );
    return run;
  }

  async function endRun({ store }: OpenRun): Promise<void> {
    await store.run.finish('completed', now(), null);
    await store.close();
  }

  const leftOut = async (): Promise<unknown[]> =>
    (await harness().read('SELECT left_out FROM runs ORDER BY id')).map((row) => Number(row.left_out));

  describe('pages that a run leaves out', () => {
    it('have state, reason and all else that was known before, when the run ends at its limit', async () => {
      await wholeRun();
      const before = await pagesOf(harness());
      const second = await nextRun();
      await second.store.frontier.offer([candidate('found later')]);
      const held = await second.lease();
      await second.visit(held, { facts: facts({ title: 'a newer title' }) });
      await second.store.frontier.release(held);
      expect(await second.store.frontier.closeWaiting(PAGE_STATES.Skipped, LIMIT)).toBe(ANSWERS.length + 1);
      expect(await second.store.run.counts()).toMatchObject({ leftOut: ANSWERS.length, waiting: 0 });
      await endRun(second);
      const { 'found later': found, ...after } = await pagesOf(harness());
      expect(found).toMatchObject({ state: 'Skipped', reason: LIMIT });
      expect(after.Processed).toMatchObject({ state: 'Processed', title: 'a newer title' });
      expect({ ...after, Processed: null }).toEqual({ ...before, Processed: null });
      expect(await leftOut()).toEqual([0, ANSWERS.length]);
    });

    it('have it when their host is closed, for retries that wait as well, and new pages are closed', async () => {
      await wholeRun();
      const before = await pagesOf(harness());
      const second = await nextRun();
      await second.store.frontier.offer([candidate('found later')]);
      const held = await second.lease();
      const requeue = { attempts: 1, notBefore: now() + 5000, priority: null };
      await second.visit(held, {
        state: PAGE_STATES.Queued,
        facts: null,
        requeue,
        countsAsPage: false,
      });
      const reason = 'network: no answer from a.test';
      expect(await second.store.frontier.closeHost(held, PAGE_STATES.Unreachable, reason)).toBe(
        ANSWERS.length + 2,
      );
      await second.store.frontier.release(held);
      await endRun(second);
      const { 'found later': found, ...after } = await pagesOf(harness());
      expect(found).toMatchObject({ state: 'Unreachable', reason });
      for (const [name, page] of Object.entries(after))
        expect(page).toMatchObject({ state: before[name].state, reason: before[name].reason });
      expect(await leftOut()).toEqual([0, ANSWERS.length + 1]);
    });

    it('have it when they are settled without being asked, and a new page gets the state', async () => {
      await wholeRun();
      const before = await pagesOf(harness());
      const second = await nextRun();
      await second.store.frontier.offer([candidate('found later')]);
      const held = await second.lease();
      const { claims } = await second.store.frontier.claim(held, 100, now());
      const reason = 'robots: unreachable 503';
      const unasked = { state: PAGE_STATES.Unreachable, reason, facts: null, visit: null };
      for (const claim of claims) {
        const settlement = { ...processed(claim, unasked), countsAsPage: false, isUnasked: true as const };
        expect(await second.store.frontier.settle(held, settlement)).toMatchObject({
          state: PAGE_STATES.Unreachable,
          reason,
        });
      }
      await second.store.frontier.release(held);
      await endRun(second);
      const { 'found later': found, ...after } = await pagesOf(harness());
      expect(found).toMatchObject({ state: 'Unreachable', reason });
      expect(after).toEqual(before);
      expect(await leftOut()).toEqual([0, ANSWERS.length + 1]);
    });

    it('are due again in the next run, and stay as they were through several that leave them out', async () => {
      await wholeRun();
      const before = await statesOf(harness());
      for (let n = 0; n < 2; n++) {
        const run = await nextRun();
        expect((await run.store.run.counts()).waiting).toBe(ANSWERS.length + 1);
        await run.store.frontier.closeWaiting(PAGE_STATES.Skipped, LIMIT);
        await endRun(run);
        expect(await statesOf(harness())).toEqual(before);
      }
      const last = await nextRun();
      expect((await last.drain(await last.lease())).sort()).toEqual([...ANSWERS, 'denied'].sort());
    });

    it('are due in a run that is killed before it ends, and known when it ends then', async () => {
      await wholeRun();
      const before = await statesOf(harness());
      const second = await nextRun();
      await second.claim(await second.lease());
      await second.store.flush();
      await harness().crash();
      harness().clock.advance(120_000);
      const again = await beginRun(harness());
      expect(again.start).toMatchObject({ resumed: true, runId: second.start.runId });
      const held = await again.lease();
      expect((await again.store.frontier.claim(held, 100, now())).claims).toHaveLength(ANSWERS.length + 1);
      await harness().crash();
      harness().clock.advance(120_000);
      const third = await beginRun(harness());
      // What was in flight has to be taken over before it waits again.
      await third.store.frontier.release(await third.lease());
      await third.store.frontier.closeWaiting(PAGE_STATES.Skipped, LIMIT);
      await endRun(third);
      expect(await statesOf(harness())).toEqual(before);
      expect(await leftOut()).toEqual([0, ANSWERS.length + 1]);
    });

    it('are told to the judge of a run that goes on, and count no more when they are queued again', async () => {
      await wholeRun();
      const second = await nextRun();
      const held = await second.lease();
      await second.store.frontier.closeHost(
        held,
        PAGE_STATES.RequestLimitHit,
        'limit: max-domain-requests 1',
      );
      await second.store.frontier.release(held);
      await second.store.run.finish('interrupted', now(), null);
      await second.store.close();
      const again = await beginRun(harness(), { configHash: 'other' });
      const seen: [number, boolean][] = [];
      await again.store.frontier.reconsider((row) => {
        seen.push([row.state, row.isLeftOut]);
        return row.state === PAGE_STATES.Processed
          ? { state: PAGE_STATES.Queued, priority: 1, reason: null }
          : null;
      });
      expect(seen).toHaveLength(ANSWERS.length + 1);
      expect(seen.every(([, isLeftOut]) => isLeftOut)).toBe(true);
      expect((await again.store.run.counts()).leftOut).toBe(ANSWERS.length);
      expect(await again.drain(await again.lease())).toEqual(['Processed']);
      await again.store.frontier.closeWaiting(PAGE_STATES.Skipped, LIMIT);
    });

    it('count no more when they are queued again by number', async () => {
      await wholeRun();
      const second = await nextRun();
      await second.store.frontier.closeWaiting(PAGE_STATES.Skipped, LIMIT);
      const rows = await harness().read("SELECT id FROM pages WHERE url LIKE '%Processed'");
      await second.store.frontier.requeue([Number(rows[0].id)], 0);
      expect((await second.store.run.counts()).leftOut).toBe(ANSWERS.length);
      await second.visit(await second.lease());
      await second.store.frontier.closeWaiting(PAGE_STATES.Skipped, LIMIT);
      expect((await second.store.run.counts()).leftOut).toBe(ANSWERS.length);
    });

    it('keep their answer while lists shut them out, and what was shut out before is closed as new', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('read'), refused('excluded', 'Skipped', 'exclude: x')]);
      const held = await first.lease();
      await first.visit(held);
      await first.store.frontier.release(held);
      await endRun(first);
      const second = await beginRun(harness());
      await second.store.frontier.reconsider(() => ({
        state: PAGE_STATES.Skipped,
        priority: 2,
        reason: 'exclude: y',
      }));
      await endRun(second);
      expect(await statesOf(harness())).toEqual({ read: 'Skipped', excluded: 'Skipped' });
      const third = await nextRun();
      await third.store.frontier.closeWaiting(PAGE_STATES.Skipped, LIMIT);
      await endRun(third);
      const pages = await pagesOf(harness());
      expect(pages.read).toMatchObject({ state: 'Processed', reason: null });
      expect(pages.excluded).toMatchObject({ state: 'Skipped', reason: LIMIT });
    });
  });
}
