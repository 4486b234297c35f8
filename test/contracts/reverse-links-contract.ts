/**
 * The contract of reverse links: who links to a page is answered the same with them, without them, and at every moment in
 * between; they are used where they lack nothing.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IndexKind } from '../../src/store/index-state.ts';
import type { ReadSide } from '../../src/store/read-side.ts';
import { listed } from './little-crawl.ts';
import { crawlAtRandom, type RandomCrawl } from './random-crawl.ts';
import type { ViewHarness } from './read-harness.ts';
import { walkBothWays } from './read-lists-contract.ts';
import { candidate, LEASE_MS, links, processed } from './store/harness.ts';

const REQUEST = { owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null };

export function describeReverseLinks(name: string, start: () => Promise<ViewHarness>): void {
  describe(`reverse links on ${name}`, () => {
    let harness: ViewHarness;
    let side: ReadSide;
    let known: number[];
    beforeEach(async () => {
      harness = await start();
      known = [];
      await crawl({ project: 'shop', seed: 11, urls: 50 });
      side = await harness.openReadSide();
    });
    afterEach(async () => {
      await side?.close();
      await harness?.cleanUp();
    });

    async function crawl(asked: RandomCrawl): Promise<void> {
      known = await crawlAtRandom(harness, { known, ...asked });
    }

    async function build(kind: IndexKind = 'reverse-links', project = 'shop') {
      const store = await harness.openStore();
      try {
        return (await store.projects.buildIndex(project, kind))!;
      } finally {
        await store.close();
      }
    }

    /** Against every link there is, page by page. */
    async function expectRight(when: string): Promise<void> {
      const all = await listed(side.links({ project: 'shop' }));
      expect(all.length).toBeGreaterThan(20);
      for (const { id, url } of await listed(side.pages({ project: 'shop' }))) {
        const expected = all
          .filter(({ to_url }) => to_url === url)
          .map((link) => ({ ...link, direction: 'in' }));
        const found = (await listed(side.linksOf(id, {}))).filter(({ direction }) => direction === 'in');
        expect(found, `${when}: ${url}`).toEqual(expected);
        const { there, back } = await walkBothWays(side, 'links', { filter: { toId: id }, limit: 3 });
        expect(there.flat(), `${when}: ${url}`).toMatchObject(expected);
        expect(there.flat()).toHaveLength(expected.length);
        expect(back).toEqual(there);
      }
    }

    const hide = () =>
      harness.write('CREATE TABLE kept AS SELECT * FROM reverse_link_set; DELETE FROM reverse_link_set');
    const show = () => harness.write('INSERT INTO reverse_link_set SELECT * FROM kept; DROP TABLE kept');

    /** Whether answers come from the reverse links, which are emptied for that. */
    async function areUsed(): Promise<boolean> {
      await harness.write(
        'CREATE TABLE kept AS SELECT * FROM reverse_link_set; DELETE FROM reverse_link_set',
      );
      const pages = await listed(side.pages({ project: 'shop' }));
      const found = await Promise.all(pages.map(({ id }) => listed(side.linksOf(id, {}))));
      await show();
      return found.flat().every(({ direction }) => direction === 'out');
    }

    it('are none until they are built, and brought up to date by later runs', async () => {
      expect(await areUsed()).toBe(false);
      await expectRight('without');
      const whole = await build();
      expect(whole).toMatchObject({ kind: 'reverse-links', isWhole: true });
      expect(whole.pages).toBeGreaterThan(20);
      expect(await areUsed()).toBe(true);
      await expectRight('built');
      expect(await build()).toEqual({ kind: 'reverse-links', pages: 0, isWhole: false });
      for (const seed of [12, 13, 14]) {
        await crawl({ project: 'shop', seed, urls: 20 });
        await crawlAtRandom(harness, { project: 'other', seed: seed + 100, urls: 10 });
        expect(await areUsed(), `after run ${seed}`).toBe(false);
        await expectRight(`after run ${seed}`);
        expect(await build(), `run ${seed}`).toMatchObject({ isWhole: false, pages: expect.any(Number) });
        expect(await areUsed(), `built after run ${seed}`).toBe(true);
        await expectRight(`built after run ${seed}`);
      }
    });

    it('of another project stay as they are', async () => {
      await build();
      await crawlAtRandom(harness, { project: 'other', seed: 5, urls: 30 });
      expect(await areUsed()).toBe(true);
      await expectRight('beside another project');
    });

    it('are built anew where a run that they know went on', async () => {
      await crawl({ project: 'shop', seed: 21, urls: 20, end: 'interrupted' });
      await build();
      await expectRight('built after an interrupted run');
      await crawl({ project: 'shop', seed: 22, urls: 20, end: 'interrupted' });
      expect(await areUsed()).toBe(false);
      await expectRight('after it went on');
      expect(await build()).toMatchObject({ isWhole: true });
      await expectRight('built after it went on');
    });

    it('are not used, and cannot be built, while a run may write links', async () => {
      await build();
      // Answers that came from them would lack every link.
      await hide();
      const opened = await harness.openStore();
      const run = await opened.begin({ ...REQUEST, project: 'shop', now: harness.clock.now() });
      await run.flush();
      await expectRight('when a run has begun');
      expect(await opened.projects.buildIndex('shop', 'reverse-links')).toBeNull();
      expect(await opened.projects.buildIndex('nobody', 'reverse-links')).toBeNull();
      await run.frontier.offer([candidate('late')]);
      const lease = (await run.frontier.leaseHost('a.test', harness.clock.now(), LEASE_MS))!;
      for (;;) {
        const [claim] = (await run.frontier.claim(lease, 1, harness.clock.now())).claims;
        if (claim === undefined) break;
        await run.frontier.settle(lease, processed(claim, { links: links([claim.pageId, known[0]]) }));
      }
      await run.frontier.release(lease);
      await run.flush();
      await expectRight('while a run writes');
      await run.run.finish('completed', harness.clock.now(), null);
      await opened.close();
      await show();
      expect(await build()).toMatchObject({ isWhole: false });
      expect(await areUsed()).toBe(true);
      await expectRight('built at its end');
    });

    it('go with the pages of a project that is begun afresh', async () => {
      await build();
      known = [];
      await crawl({ project: 'shop', seed: 31, urls: 50, fresh: true });
      expect(await areUsed()).toBe(false);
      await expectRight('afresh');
      expect(await build()).toMatchObject({ isWhole: true });
      await expectRight('built afresh');
    });

    it('that were left half built are built anew', async () => {
      await build();
      await harness.write('DELETE FROM index_state; DELETE FROM reverse_link_set WHERE page_id % 2 = 0');
      await expectRight('half built');
      expect(await build()).toMatchObject({ isWhole: true });
      await expectRight('built anew');
    });

    it('have beside them indexes by which pages are sorted', async () => {
      const sorts = [
        'visited_at',
        'status_code',
        'content_length',
        'word_count',
        'response_ms',
        'change_frequency',
      ];
      for (const sort of sorts)
        await expect(side.list('pages', { sort })).rejects.toMatchObject({ code: 'sort-unserved' });
      await build('sorts');
      expect(await build('sorts')).toMatchObject({ kind: 'sorts' });
      const pages = await listed(side.pages({ project: 'shop' }));
      const numberOf = (page: (typeof pages)[number], sort: string) => {
        const value = page[sort as 'depth'];
        return value === null ? null : sort === 'visited_at' ? Date.parse(String(value)) : Number(value);
      };
      for (const sort of sorts) {
        for (const order of ['asc', 'desc'] as const) {
          const filter = { project: 'shop', section: '/docs' };
          const sign = order === 'asc' ? 1 : -1;
          const expected = pages
            .filter(
              (page) =>
                page.visited_at !== null &&
                numberOf(page, sort) !== null &&
                /test(:\d+)?\/docs/.test(page.url),
            )
            .sort((a, b) => sign * (numberOf(a, sort)! - numberOf(b, sort)! || a.id - b.id));
          expect(expected.length).toBeGreaterThan(5);
          const { there, back } = await walkBothWays(side, 'pages', { filter, sort, order, limit: 4 });
          expect(there.flat(), `${sort} ${order}`).toEqual(expected);
          expect(back).toEqual(there);
        }
      }
    });
  });
}
