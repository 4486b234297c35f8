/** The contract of facets and the tree: each number is what the list counts with that value, kept or counted now. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FACET_NAMES, type FacetName } from '../../src/store/facet-names.ts';
import type { PageListFilter } from '../../src/store/list-queries.ts';
import type { PageRow, ReadSide } from '../../src/store/read-side.ts';
import { seededRandom } from '../seeded-random.ts';
import { fitsPage, statusOf } from './list-model.ts';
import { listed, type ReadHarness } from './little-crawl.ts';
import { crawlAtRandom } from './random-crawl.ts';
import { candidate } from './store/harness.ts';

/** The filter of pages that have this value. */
const FILTER_OF: Record<FacetName, (value: string) => PageListFilter> = {
  status: (value) => ({ statuses: [value as 'success'] }),
  state: (value) => ({ states: [value as PageRow['state']] }),
  status_code: (value) => ({ statusCodes: [Number(value)] }),
  host: (value) => ({ hosts: [value] }),
  section: (value) => ({ section: value }),
  depth: (value) => ({ minDepth: Number(value), maxDepth: Number(value) }),
  change: (value) => ({ changes: [value as 'new'] }),
  reason: (value) => ({ reason: value }),
  noindex: (value) => ({ noindex: value === 'true' }),
  content_type: (value) => ({ contentTypes: [value] }),
};

export function describeFacets(name: string, start: () => Promise<ReadHarness>): void {
  describe(`facets on ${name}`, () => {
    let harness: ReadHarness;
    let side: ReadSide;
    beforeEach(async () => {
      harness = await start();
      await crawlAtRandom(harness, { project: 'shop', seed: 51, urls: 90 });
      await crawlAtRandom(harness, { project: 'other', seed: 52, urls: 40 });
      await crawlAtRandom(harness, { project: 'shop', seed: 53, urls: 30 });
      side = await harness.openReadSide();
    });
    afterEach(async () => {
      await side?.close();
      await harness?.cleanUp();
    });

    async function build(when?: 'worth-it') {
      const store = await harness.openStore();
      try {
        return await store.projects.buildIndex('shop', 'sections', when);
      } finally {
        await store.close();
      }
    }

    async function expectRight(asOfRun: number | null): Promise<void> {
      const all = await listed(side.pages({ project: 'shop' }));
      const filters: PageListFilter[] = [{}, { statusClasses: [2] }, { section: '/docs' }, { maxDepth: 2 }];
      for (const more of filters) {
        const filter = { project: 'shop', ...more };
        const fitting = all.filter((page) => fitsPage(page, filter));
        const run = Object.keys(more).length === 0 ? asOfRun : null;
        for (const by of FACET_NAMES) {
          const facets = await side.facets(by, filter);
          expect(facets, by).toMatchObject({ total: fitting.length, isExact: true, asOfRun: run });
          expect(new Set(facets.items.map(({ value }) => value)).size).toBe(facets.items.length);
          if (more === filters[0]) expect(facets.items.length, by).toBeGreaterThan(0);
          for (const { value, pages } of facets.items) {
            const ofValue = fitting.filter((page) => fitsPage(page, FILTER_OF[by](value)));
            expect(pages, `${by} ${value}`).toBe(ofValue.length);
          }
        }
        await expectTree('', filter, fitting);
      }
    }

    async function expectTree(
      path: string,
      filter: PageListFilter,
      pages: readonly PageRow[],
    ): Promise<number> {
      const { folder, folders, isExact } = await side.tree(path, filter);
      expect(isExact).toBe(true);
      const inFolder = (section: string) => pages.filter((page) => fitsPage(page, { section }));
      let deepest = 0;
      for (const counted of [folder, ...folders]) {
        const own = inFolder(counted.path);
        const status = (wanted: string | null) => own.filter((page) => statusOf(page) === wanted).length;
        const answered = own.flatMap(({ response_ms }) => response_ms ?? []);
        expect(counted, counted.path).toEqual({
          path: counted.path,
          pages: own.length,
          success: status('success'),
          failed: status('failed'),
          skipped: status('skipped'),
          waiting: status(null),
          errors: own.filter(({ state }) =>
            ['DeadLink', 'Gone', 'Failed', 'Unreachable', 'RateLimited'].includes(state),
          ).length,
          changed: own.filter(({ change }) => change === 'changed').length,
          words: own.reduce((sum, { word_count }) => sum + (word_count ?? 0), 0),
          answered: answered.length,
          milliseconds: answered.reduce((sum, time) => sum + Number(time), 0),
        });
      }
      for (const { path: below } of folders) {
        expect(below.slice(0, below.lastIndexOf('/'))).toBe(path);
        deepest = Math.max(deepest, 1 + (await expectTree(below, filter, pages)));
      }
      return deepest;
    }

    it('are counted while nothing is kept', async () => {
      await expectRight(null);
      const { folders } = await side.tree('/', { project: 'shop' });
      expect(folders.map(({ path }) => path).sort()).toEqual(['/Blog', '/blog', '/docs', '/shop']);
      expect((await side.tree('docs/', { project: 'shop' })).folders.map(({ path }) => path)).toEqual([
        '/docs/api',
      ]);
      expect(await side.facets('state', { project: 'nobody' })).toMatchObject({ items: [], total: 0 });
      expect(await side.tree('', { project: 'nobody' })).toMatchObject({ folders: [] });
    });

    it('are kept at the end of a run, and counted again while another one is under way', async () => {
      expect(await build()).toEqual({ kind: 'sections', pages: 120, isWhole: true });
      expect(await build()).toEqual({ kind: 'sections', pages: 0, isWhole: false });
      await expectRight(3);
      const opened = await harness.openStore();
      const run = await opened.begin({
        ...{ owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null },
        ...{ project: 'shop', now: harness.clock.now() },
      });
      await run.frontier.offer([candidate('new-here')]);
      await run.flush();
      expect(await opened.projects.buildIndex('shop', 'sections')).toBeNull();
      await expectRight(null);
      await run.run.finish('interrupted', harness.clock.now(), null);
      await opened.close();
      await crawlAtRandom(harness, { project: 'shop', seed: 54, urls: 20 });
      await expectRight(null);
      expect(await build('worth-it')).toMatchObject({ isWhole: true });
      expect((await side.facets('host', { project: 'shop' })).asOfRun).toBeGreaterThan(3);
      await crawlAtRandom(harness, { project: 'shop', seed: 55, urls: 30, fresh: true });
      await expectRight(null);
    });

    it('answer by the indexes of lists, too', async () => {
      const store = await harness.openStore();
      await store.projects.prepareLists();
      await store.close();
      await expectRight(null);
      const random = seededRandom(3);
      const by = random.pick(FACET_NAMES);
      expect((await side.facets(by, { project: 'shop', states: ['Failed'] })).total).toBe(
        (await side.count('pages', { project: 'shop', states: ['Failed'] })).count,
      );
    });

    it('of many pages are those kept, though they are not of the present', async () => {
      const request = {
        owner: 'me',
        configHash: 'h',
        config: '{}',
        fresh: false,
        metadata: null,
        project: 'shop',
      };
      const offer = async (name: string, count: number) => {
        const opened = await harness.openStore();
        const run = await opened.begin({ ...request, now: harness.clock.now() });
        for (let from = 0; from < count; from += 1000)
          await run.frontier.offer(
            Array.from({ length: Math.min(1000, count - from) }, (_, i) => candidate(`${name}/${from + i}`)),
          );
        harness.clock.advance(1000);
        await run.run.finish('interrupted', harness.clock.now(), null);
        await opened.close();
      };
      await offer('many', 20_500);
      // Without an index by project, pages of the other one were looked at, too.
      expect(await side.facets('section', { project: 'shop' })).toMatchObject({
        ...{ isExact: false, asOfRun: null, total: 19_960 },
      });
      await build();
      expect(await side.facets('section', { project: 'shop' })).toMatchObject({
        isExact: true,
        total: 20_620,
      });
      await offer('more', 1);
      expect(await build('worth-it')).toMatchObject({ pages: 0 });
      const kept = await side.facets('section', { project: 'shop' });
      expect(kept).toMatchObject({ isExact: false, total: 20_620 });
      expect(kept.items[0]).toEqual({ value: '/many', pages: 20_500 });
      const tree = await side.tree('', { project: 'shop' });
      expect(tree).toMatchObject({ isExact: false, folder: { pages: 20_620 } });
    });
  });
}
