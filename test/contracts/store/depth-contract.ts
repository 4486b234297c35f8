/** Depth is the shortest path known; news of a shorter one travels in bounded batches. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import type { Reconsidered, Verdict } from '../../../src/store/frontier-port.ts';
import { UNFOLLOWED } from '../../../src/store/settlement.ts';
import type { RunStore } from '../../../src/store/store-port.ts';
import {
  beginRun,
  candidate,
  links,
  linksTo,
  type OpenRun,
  pagesOf,
  processed,
  redirecting,
  refused,
  type StoreHarness,
  statesOf,
  touch,
} from './harness.ts';

/** A nofollow link that the run obeys. */
const OBEYED = 1 | UNFOLLOWED;

export function describeDepths(harness: () => StoreHarness): void {
  async function depths(): Promise<Record<string, unknown>> {
    const pages = await pagesOf(harness());
    return Object.fromEntries(Object.entries(pages).map(([name, row]) => [name, row.depth]));
  }

  /** Passes everything on; answers the hosts that got work and how many rounds it took. */
  async function lowerAll(store: RunStore, budget: number): Promise<{ hosts: string[]; rounds: number }> {
    const hosts: string[] = [];
    for (let rounds = 0; ; rounds++) {
      expect(rounds, 'rounds of lowering').toBeLessThan(1000);
      const more = await store.frontier.lowerDepths(budget);
      if (more === null) return { hosts, rounds };
      hosts.push(...more);
    }
  }

  const judgeUpTo =
    (maxDepth: number, seen: Reconsidered[]) =>
    (row: Reconsidered): Verdict => {
      seen.push(row);
      return row.depth > maxDepth
        ? { state: PAGE_STATES.DepthExceeded, priority: 2, reason: `depth: ${row.depth} > ${maxDepth}` }
        : { state: PAGE_STATES.Queued, priority: 1, reason: null };
    };

  /** A run in which pages wait that the one before it read: each leads to the next, the first is at depth 5. */
  async function chainReadBefore(...names: string[]): Promise<OpenRun> {
    const first = await beginRun(harness());
    const held = await first.lease();
    const [start, ...others] = names.map((name, i) => candidate(name, { depth: 5 + i }));
    await first.store.frontier.offer([start]);
    for (const next of others) await first.visit(held, linksTo([next]));
    await first.visit(held, linksTo([]));
    await first.store.frontier.release(held);
    await first.store.run.finish('completed', 1, null);
    const again = await beginRun(harness());
    await again.store.frontier.reconsider(() => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }));
    return again;
  }

  describe('lowerDepths', () => {
    it('has nothing to do at first', async () => {
      const { store } = await beginRun(harness());
      expect(await store.frontier.lowerDepths(10)).toBeNull();
    });

    it('passes a shorter path down a chain of read pages, so many pages at a time', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const held = await lease();
      await store.frontier.offer([candidate('p0', { depth: 20 })]);
      for (let i = 0; i < 8; i++) await visit(held, linksTo([candidate(`p${i + 1}`, { depth: 21 + i })]));
      await store.frontier.offer([candidate('p0', { depth: 1 })]);
      const { rounds } = await lowerAll(store, 1);
      expect(rounds).toBe(8);
      await store.flush();
      const expected = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`p${i}`, 1 + i]));
      expect(await depths()).toEqual(expected);
    });

    it('does at most the budget in one call', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const held = await lease();
      const pages = Array.from({ length: 10 }, (_, i) => candidate(`p${i}`, { depth: 9 }));
      await store.frontier.offer(pages);
      for (let i = 0; i < 10; i++)
        await visit(held, linksTo([candidate(`q${i}`, { depth: 10, priority: 2 })]));
      await store.frontier.offer(pages.map((page) => ({ ...page, depth: 0 })));
      await store.frontier.lowerDepths(3);
      await store.flush();
      const now = await depths();
      expect(Object.entries(now).filter(([name, depth]) => name.startsWith('q') && depth === 1)).toHaveLength(
        3,
      );
    });

    it('goes through cycles and comes to an end', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const held = await lease();
      await store.frontier.offer([candidate('a', { depth: 9 })]);
      await visit(held, linksTo([candidate('b', { depth: 10 })]));
      await visit(held, linksTo([candidate('a', { depth: 11 })]));
      await store.frontier.offer([candidate('a', { depth: 0 })]);
      await lowerAll(store, 10);
      await store.flush();
      expect(await depths()).toEqual({ a: 0, b: 1 });
    });

    it('goes on after a crash', async () => {
      const first = await beginRun(harness());
      const held = await first.lease();
      await first.store.frontier.offer([candidate('a', { depth: 9 })]);
      await first.visit(held, linksTo([candidate('b', { depth: 10 })]));
      await first.store.frontier.offer([candidate('a', { depth: 2 })]);
      await first.store.flush();
      await harness().crash();
      const other = await beginRun(harness(), { project: 'other' });
      expect(await other.store.frontier.lowerDepths(10)).toBeNull();
      await other.store.close();
      const again = await beginRun(harness());
      await lowerAll(again.store, 10);
      await again.store.flush();
      expect(await depths()).toEqual({ a: 2, b: 3 });
    });

    it('passes a redirect on at the same depth', async () => {
      const { store, lease, claim, visit } = await beginRun(harness());
      const held = await lease();
      await store.frontier.offer([candidate('a', { depth: 6 })]);
      await store.frontier.settle(held, redirecting(await claim(held), candidate('b', { depth: 6 })));
      await visit(held);
      await store.frontier.offer([candidate('a', { depth: 2 })]);
      await lowerAll(store, 10);
      await store.flush();
      expect(await depths()).toEqual({ a: 2, b: 2 });
    });

    it('puts a page shut out by depth before the judge again and queues what he lets in', async () => {
      const { store, lease, visit, drain } = await beginRun(harness());
      const seen: Reconsidered[] = [];
      store.frontier.onLowered(judgeUpTo(3, seen));
      const held = await lease();
      await store.frontier.offer([candidate('a', { depth: 3 })]);
      const deep = refused('deep', 'DepthExceeded', 'depth: 4 > 3', { depth: 4, host: 'b.test' });
      await visit(held, linksTo([deep]));
      await store.frontier.offer([candidate('a', { depth: 0 })]);
      const { hosts } = await lowerAll(store, 10);
      expect(hosts).toEqual(['b.test']);
      expect(seen).toMatchObject([
        { url: deep.url, host: 'b.test', depth: 1, state: PAGE_STATES.DepthExceeded },
      ]);
      expect(await drain(await lease('b.test'))).toEqual(['deep']);
    });

    it('leaves a page shut that is still too deep, with the new reason', async () => {
      const { store, lease, visit } = await beginRun(harness());
      store.frontier.onLowered(judgeUpTo(1, []));
      const held = await lease();
      await store.frontier.offer([candidate('a', { depth: 5 })]);
      await visit(held, linksTo([refused('deep', 'DepthExceeded', 'depth: 6 > 1', { depth: 6 })]));
      await store.frontier.offer([candidate('a', { depth: 1 })]);
      await lowerAll(store, 10);
      await store.flush();
      expect((await pagesOf(harness())).deep).toMatchObject({
        state: 'DepthExceeded',
        reason: 'depth: 2 > 1',
        depth: 2,
      });
    });

    it('passes a shorter path on to the links that a page had, while it waits to be visited again', async () => {
      const { store, lease, claim } = await chainReadBefore('a', 'b', 'c');
      await store.frontier.offer([candidate('a', { depth: 1 })]);
      await lowerAll(store, 10);
      await store.flush();
      expect(await depths()).toEqual({ a: 1, b: 2, c: 3 });
      // In flight it is no other.
      await claim(await lease());
      await store.frontier.offer([candidate('a', { depth: 0 })]);
      await lowerAll(store, 10);
      await store.flush();
      expect(await depths()).toEqual({ a: 0, b: 1, c: 2 });
    });

    it('passes a shorter path on to the links of a page that failed, for it may be unchanged when it answers again', async () => {
      const { store, lease, visit } = await chainReadBefore('a', 'b');
      const again = await lease();
      await visit(again, { state: PAGE_STATES.Failed, reason: 'http: 500' });
      await visit(again, { state: PAGE_STATES.Gone, reason: 'http: 410' });
      await store.frontier.offer([candidate('a', { depth: 1 })]);
      await lowerAll(store, 10);
      await store.flush();
      expect(await depths()).toEqual({ a: 1, b: 2 });
    });

    it('passes nothing on to the links of a page that had vanished, whether it was asked again or not', async () => {
      const { store, lease, visit } = await chainReadBefore('a', 'b');
      await visit(await lease(), {
        state: PAGE_STATES.Gone,
        reason: 'http: 404',
        facts: null,
        touch: touch({ statusCode: 404 }),
      });
      await store.flush();
      await store.frontier.offer([candidate('a', { depth: 2 })]);
      await store.frontier.reconsider(() => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }));
      await store.frontier.offer([candidate('a', { depth: 1 })]);
      await lowerAll(store, 10);
      await store.flush();
      expect(await depths()).toEqual({ a: 1, b: 6 });
    });

    it('does not judge pages that were shut out by anything else', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const seen: Reconsidered[] = [];
      store.frontier.onLowered(judgeUpTo(9, seen));
      await store.frontier.offer([
        refused('x', 'Skipped', 'exclude: x', { depth: 4 }),
        candidate('y', { depth: 4 }),
      ]);
      await store.frontier.offer([candidate('a', { depth: 0, priority: 0 })]);
      await visit(await lease(), linksTo([candidate('x', { depth: 1 }), candidate('y', { depth: 1 })]));
      await lowerAll(store, 10);
      await store.flush();
      expect(await depths()).toEqual({ x: 1, y: 1, a: 0 });
      expect(seen).toEqual([]);
    });
  });

  describe('pages behind nofollow links only', () => {
    const hidden = refused('hidden', 'Skipped', 'nofollow: link', { onlyNofollow: true, depth: 2 });

    it('stay shut while only nofollow links lead there, and have no depth', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('a'), candidate('b')]);
      const held = await lease();
      await visit(held, linksTo([hidden], [OBEYED]));
      await visit(held, linksTo([hidden], [OBEYED]));
      await lowerAll(store, 10);
      await store.flush();
      expect(await statesOf(harness())).toMatchObject({ hidden: 'Skipped' });
      expect(await harness().read('SELECT page_id FROM page_depths')).toHaveLength(2);
    });

    it('are judged again when a followed link leads there, offered or known by id', async () => {
      const { store, lease, claim, visit } = await beginRun(harness());
      const seen: Reconsidered[] = [];
      store.frontier.onLowered(judgeUpTo(9, seen));
      await store.frontier.offer([candidate('a'), candidate('b')]);
      const held = await lease();
      await visit(held, linksTo([hidden], [OBEYED]));
      const [id] = await store.frontier.offer([hidden]);
      const b = await claim(held);
      await store.frontier.settle(held, processed(b, { facts: null, links: links([id]) }));
      await store.flush();
      expect(seen).toMatchObject([{ url: hidden.url, depth: 2, state: PAGE_STATES.Skipped, reason: null }]);
      expect((await claim(held)).url).toBe(hidden.url);
    });
  });
}
