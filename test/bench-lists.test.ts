// The bench of lists in small: its file is filled as a crawl would have it, and each of its questions has an answer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { listQuestions, quantile, timeCounts, timeQuestion } from '../bench/list-questions.ts';
import { fillLists, LARGE, SMALL, SMALL_PAGES } from '../bench/list-rows.ts';
import { openReadSide } from '../src/store/open-store.ts';

const PAGES = 19_000;
const folder = mkdtempSync(join(tmpdir(), 'sumi-lists-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a file of two projects answers each question of the bench, the small one without a look at the other', async () => {
  const path = join(folder, 'lists.db');
  await fillLists({ path, pages: PAGES, indexes: ['full-text', 'sections'] });
  const side = await openReadSide(path, { thread: true });
  try {
    for (const [name, query] of Object.entries(listQuestions(PAGES))) {
      const { rows, next } = await side.list('pages', query);
      const most = await side.count('pages', query.filter ?? {});
      expect(rows.length, name).toBe(next === null ? most.count : 50);
      expect(rows.length, name).toBeGreaterThan(0);
      expect((await timeQuestion(side, query)).length).toBeGreaterThan(0);
    }
    const small = await side.list('pages', { filter: { project: SMALL, section: '/s7/d7' }, limit: 1000 });
    expect(small.next).toBeNull();
    expect(await side.count('pages', { project: SMALL })).toEqual({ count: SMALL_PAGES, isExact: true });
    expect(await side.count('pages', { project: LARGE })).toEqual({ count: PAGES, isExact: true });
    const facets = await side.facets('status_code', { project: LARGE });
    expect(facets).toMatchObject({ isExact: true, asOfRun: 1, total: PAGES });
    for (const { value, pages } of facets.items)
      expect(await side.count('pages', { project: LARGE, statusCodes: [Number(value)] })).toEqual({
        count: pages,
        isExact: true,
      });
    expect(Object.values(await timeCounts(side)).every((time) => time >= 0)).toBe(true);
    expect([quantile([3, 1, 2], 0.5), quantile([1, 2], 0.99)]).toEqual([2, 2]);
  } finally {
    await side.close();
  }
});
