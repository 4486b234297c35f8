/** Links are packed inside and plain outside: the `links` view shows one row a link. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import { UNFOLLOWED } from '../../../src/store/settlement.ts';
import { beginRun, candidate, links, linksTo, nextRun, type StoreHarness } from './harness.ts';

const NOFOLLOW = 1;
const UGC = 2;

export function describeLinks(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  async function shown(columns = 'to_page_id'): Promise<unknown[]> {
    return harness().read(`SELECT ${columns} FROM links ORDER BY id`);
  }

  describe('links', () => {
    it('are shown one a row, in order, from known and new targets', async () => {
      const { store, lease, visit, start } = await beginRun(harness());
      const [x, known] = await store.frontier.offer([candidate('x'), candidate('known')]);
      const fresh = [candidate('n1'), candidate('n2')];
      await visit(await lease(), { candidates: fresh, links: links([-2, known, -1]) });
      await store.flush();
      const [n1, n2] = await store.frontier.offer(fresh);
      const row = { from_page_id: x, discovered_run: start.runId };
      expect(await shown('from_page_id, to_page_id, discovered_run')).toEqual([
        { ...row, to_page_id: n2 },
        { ...row, to_page_id: known },
        { ...row, to_page_id: n1 },
      ]);
      expect(await harness().read('SELECT links_found FROM crawled_pages')).toEqual([
        { links_found: JSON.stringify(['https://a.test/n2', 'https://a.test/known', 'https://a.test/n1']) },
      ]);
    });

    it('stand once a target, and one followed link makes the target followed', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const [, y, z] = await store.frontier.offer([candidate('x'), candidate('y'), candidate('z')]);
      await visit(await lease(), { links: links([y, z, y, z], [NOFOLLOW | UGC, 0, 0, NOFOLLOW]) });
      await store.flush();
      expect(await shown('to_page_id, flags, nofollow')).toEqual([
        { to_page_id: y, flags: UGC, nofollow: 0 },
        { to_page_id: z, flags: 0, nofollow: 0 },
      ]);
    });

    it('do not show which of them the run left alone', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const [, y] = await store.frontier.offer([candidate('x'), candidate('y')]);
      await visit(await lease(), { links: links([y], [NOFOLLOW | UGC | UNFOLLOWED]) });
      await store.flush();
      expect(await shown('flags')).toEqual([{ flags: NOFOLLOW | UGC }]);
    });

    it('keep nofollow and the other flags by link', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const [, y, z] = await store.frontier.offer([candidate('x'), candidate('y'), candidate('z')]);
      await visit(await lease(), { links: links([y, z], [0, NOFOLLOW]) });
      await store.flush();
      expect(await shown('to_page_id, nofollow')).toEqual([
        { to_page_id: y, nofollow: 0 },
        { to_page_id: z, nofollow: 1 },
      ]);
    });

    it('keep their anchor text where it is given, that of the first of two equal ones', async () => {
      const { store, lease, visit } = await beginRun(harness());
      const [, y, z] = await store.frontier.offer([candidate('x'), candidate('y'), candidate('z')]);
      await visit(await lease(), { links: links([y, y, z], [], ['to "y"', 'again', 'to z']) });
      await store.flush();
      expect(await shown('anchor')).toEqual([{ anchor: 'to "y"' }, { anchor: 'to z' }]);
    });

    it('may be none, or thousands', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await lease();
      await visit(held, { links: links([]) });
      const many = Array.from({ length: 5000 }, (_, i) => candidate(`n${i}`, { priority: 2 }));
      await visit(held, linksTo(many));
      await store.flush();
      expect(
        await harness().read('SELECT count(*) AS n, count(DISTINCT to_page_id) AS d FROM links'),
      ).toEqual([{ n: 5000, d: 5000 }]);
    });

    it('of a revisit replace the old ones; what was added and removed is known by run', async () => {
      const first = await beginRun(harness());
      const ids = await first.store.frontier.offer(
        ['x', 'stays', 'goes', 'comes'].map((name) => candidate(name)),
      );
      const [, stays, goes, comes] = ids;
      await first.visit(await first.lease(), { links: links([stays, goes]) });
      await first.store.run.finish('completed', now(), null);
      await first.store.close();

      const second = await beginRun(harness());
      await second.store.frontier.reconsider(() => ({
        state: PAGE_STATES.Queued,
        priority: 1,
        reason: null,
      }));
      await second.visit(await second.lease(), { links: links([comes, stays]) });
      await second.store.flush();
      expect(await shown('to_page_id, discovered_run')).toEqual([
        { to_page_id: comes, discovered_run: second.start.runId },
        { to_page_id: stays, discovered_run: first.start.runId },
      ]);
    });

    it('of a revisit that lead where the old ones did keep their run, and take new flags and anchors', async () => {
      const first = await beginRun(harness());
      const [, y, z] = await first.store.frontier.offer(['x', 'y', 'z'].map((name) => candidate(name)));
      await first.visit(await first.lease(), { links: links([y, z], [], ['to y', 'to z']) });
      const again = await nextRun(harness(), first);
      await again.visit(await again.lease(), { links: links([y, z], [0, NOFOLLOW], ['to y', 'to z']) });
      await again.store.flush();
      const rows = [
        { to_page_id: y, nofollow: 0, anchor: 'to y', discovered_run: first.start.runId },
        { to_page_id: z, nofollow: 1, anchor: 'to z', discovered_run: first.start.runId },
      ];
      expect(await shown('to_page_id, nofollow, anchor, discovered_run')).toEqual(rows);
      const third = await nextRun(harness(), again);
      await third.visit(await third.lease(), { links: links([y, z], [0, NOFOLLOW], ['to y', 'elsewhere']) });
      await third.store.flush();
      expect(await shown('to_page_id, nofollow, anchor, discovered_run')).toEqual([
        rows[0],
        { ...rows[1], anchor: 'elsewhere' },
      ]);
    });

    it('stay when a settlement brings none', async () => {
      const first = await beginRun(harness());
      const [, y] = await first.store.frontier.offer([candidate('x'), candidate('y')]);
      await first.visit(await first.lease(), { links: links([y]) });
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const second = await beginRun(harness());
      await second.store.frontier.reconsider(() => ({
        state: PAGE_STATES.Queued,
        priority: 1,
        reason: null,
      }));
      await second.visit(await second.lease(), { facts: null });
      await second.store.flush();
      expect(await shown()).toEqual([{ to_page_id: y }]);
    });
  });
}
