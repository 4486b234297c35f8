/** The contract of searches for words: what a plain model finds, on every store. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PageRow, ReadSide } from '../../src/store/read-side.ts';
import { wordsOf } from '../../src/store/text-words.ts';
import { seededRandom } from '../seeded-random.ts';
import { fitsPage } from './list-model.ts';
import { listed } from './little-crawl.ts';
import { crawlAtRandom } from './random-crawl.ts';
import type { ViewHarness } from './read-harness.ts';
import { walkBothWays } from './read-lists-contract.ts';

export function describeFullText(name: string, start: () => Promise<ViewHarness>): void {
  describe(`searches for words on ${name}`, () => {
    let harness: ViewHarness;
    let side: ReadSide;
    beforeEach(async () => {
      harness = await start();
      await crawlAtRandom(harness, { project: 'shop', seed: 41, urls: 60 });
      side = await harness.openReadSide();
    });
    afterEach(async () => {
      await side?.close();
      await harness?.cleanUp();
    });

    async function build(project = 'shop') {
      const store = await harness.openStore();
      try {
        return await store.projects.buildIndex(project, 'full-text');
      } finally {
        await store.close();
      }
    }

    async function wordsOfPages(): Promise<[PageRow, Set<string>][]> {
      const found: [PageRow, Set<string>][] = [];
      for (const page of await listed(side.pages({})))
        found.push([page, new Set(wordsOf(`${page.title ?? ''}\n${(await side.pageText(page.id)) ?? ''}`))]);
      return found;
    }

    async function expectRight(seed: number): Promise<void> {
      const pages = await wordsOfPages();
      const random = seededRandom(seed);
      let found = 0;
      for (let round = 0; round < 25; round++) {
        const words = Array.from({ length: 1 + random.below(2) }, () =>
          random.pick([
            'fox',
            'FOX!',
            'elan',
            'Élan',
            'river stone',
            '京',
            '東京',
            'foxes',
            'night',
            'absent',
            "'; --",
          ]),
        ).join(' ');
        const more = random.pick([
          {},
          { project: 'shop' },
          { statusClasses: [2 as const] },
          { section: 'docs' },
        ]);
        const wanted = wordsOf(words);
        const expected = pages
          .filter(
            ([page, own]) =>
              wanted.length > 0 && wanted.every((word) => own.has(word)) && fitsPage(page, more),
          )
          .map(([page]) => page);
        const order = random.pick(['asc', 'desc'] as const);
        if (order === 'desc') expected.reverse();
        const filter = { words, ...more };
        const { there, back } = await walkBothWays(side, 'pages', {
          filter,
          order,
          limit: 1 + random.below(9),
        });
        expect(there.flat(), words).toEqual(expected);
        expect(back).toEqual(there);
        expect(await side.count('pages', filter)).toEqual({ count: expected.length, isExact: true });
        found += expected.length;
      }
      expect(found).toBeGreaterThan(20);
    }

    it('need an index, which later runs bring up to date', async () => {
      const query = { filter: { words: 'fox' } };
      await expect(side.list('pages', query)).rejects.toMatchObject({ code: 'full-text-missing' });
      expect(await build()).toMatchObject({ kind: 'full-text', isWhole: true });
      await expectRight(1);
      expect(await build()).toEqual({ kind: 'full-text', pages: 0, isWhole: false });
      const sorted = side.list('pages', { ...query, sort: 'status_code' });
      await expect(sorted).rejects.toMatchObject({ code: 'list-sort' });
      for (const seed of [42, 43]) {
        await crawlAtRandom(harness, { project: 'shop', seed, urls: 15 });
        expect(await build()).toMatchObject({ isWhole: false });
        await expectRight(seed);
      }
      await crawlAtRandom(harness, { project: 'other', seed: 44, urls: 20 });
      const other = { filter: { words: 'fox', project: 'other' } };
      await expect(side.list('pages', other)).rejects.toMatchObject({ code: 'full-text-missing' });
      await build('other');
      await expectRight(44);
    });

    it('find parts of URLs as well, in any order, where both are asked for', async () => {
      const store = await harness.openStore();
      await store.projects.prepareLists();
      await store.close();
      for (const isBuilt of [false, true]) {
        if (isBuilt) await build();
        const pages = await wordsOfPages();
        for (const search of ['fox', 'river stone', 'DOCS', '/p4', 'Élan', 'absent', '京']) {
          const wanted = wordsOf(search);
          const fitting = pages.filter(
            ([page, own]) =>
              page.url.toLowerCase().includes(search.toLowerCase()) ||
              (isBuilt && wanted.length > 0 && wanted.every((word) => own.has(word))),
          );
          const filter = { project: 'shop', search };
          expect(await side.count('pages', filter), search).toMatchObject({ count: fitting.length });
          for (const sort of ['id', 'depth', 'visited_at']) {
            const { there, back } = await walkBothWays(side, 'pages', { filter, sort, limit: 4 });
            expect(back).toEqual(there);
            const has = ([page]: [PageRow, unknown]) => sort === 'id' || page[sort as 'depth'] !== null;
            const ids = fitting.filter(has).map(([{ id }]) => id);
            expect(
              there
                .flat()
                .map(({ id }) => id)
                .sort((a, b) => a - b),
              search,
            ).toEqual(ids);
          }
        }
      }
    });

    it('forget the pages of a project that is begun afresh', async () => {
      await build();
      await crawlAtRandom(harness, { project: 'shop', seed: 45, urls: 40, fresh: true });
      const mine = { filter: { words: 'fox', project: 'shop' } };
      await expect(side.list('pages', mine)).rejects.toMatchObject({ code: 'full-text-missing' });
      expect(await build()).toMatchObject({ isWhole: true });
      await expectRight(45);
    });
  });
}
