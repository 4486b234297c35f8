/** The page of `sumi changes` as a reader meets it on a phone, and in languages that run from right to left. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderChangesPage } from '../../src/report/changes-page.ts';
import type { ToldChange } from '../../src/report/told-change.ts';
import { startBrowser } from '../map-page/open-map.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
});

const ROW: ToldChange = {
  ...{ url: 'https://a.example/ink', outcome: 'changed', known_by: 'content', parts: ['title', 'text'] },
  ...{ links_added: [], links_removed: [], words_added: 1, words_removed: 1, status_code: 200, title: null },
  ...{
    visited_at: '2026-02-03T10:00:00.000Z',
    run: 3,
    project: 'a',
    last_modified: null,
    content_hash: null,
  },
  ...{ text_hash: null, simhash_distance: null, bytes: 0, bytes_saved: 0, duration_ms: null },
  fields: [{ name: 'structured-data', before: 'name: an older name', after: 'name: a newer name' }],
  text: [
    ['=', 'the price is'],
    ['-', 'nine\u202e'],
    ['+', 'ten'],
  ],
};

/** The rows on a page of that width. */
async function open(width: number, ...rows: ToldChange[]): Promise<Page> {
  async function* each(): AsyncGenerator<ToldChange> {
    yield* rows;
  }
  let html = '';
  const heading = { title: 'Changes', note: '', counts: [] };
  const sections = [{ title: null, rows: each() }];
  for await (const part of renderChangesPage({ heading, sections, showsRun: false, emptyText: '' }))
    html += part;
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  await page.setContent(html);
  return page;
}

const boxOf = async (page: Page, selector: string) => (await page.locator(selector).first().boundingBox())!;

describe('the page of changes', () => {
  it('has values beside each other where there is room, and one below the other on a phone', async () => {
    const wide = await open(1000, ROW);
    expect((await boxOf(wide, 'td ins')).y).toBe((await boxOf(wide, 'td del')).y);
    const phone = await open(360, ROW);
    const [before, after] = [await boxOf(phone, 'td del'), await boxOf(phone, 'td ins')];
    expect(after.y).toBeGreaterThanOrEqual(before.y + before.height);
    expect((await boxOf(phone, 'td')).width).toBeGreaterThan(250);
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await Promise.all([wide.close(), phone.close()]);
  });

  it('lets words run as their language does, and no mark turn around what comes after it', async () => {
    const hebrew: ToldChange = {
      ...ROW,
      fields: [],
      text: [
        ['=', 'המחיר הוא'],
        ['-', 'תשע'],
        ['+', 'עשר'],
      ],
    };
    const page = await open(1000, ROW, hebrew);
    const directions = await page.evaluate(
      "[...document.querySelectorAll('.diff')].map((text) => getComputedStyle(text).direction)",
    );
    expect(directions).toEqual(['ltr', 'rtl']);
    const places = await Promise.all(['del', 'ins'].map((name) => page.locator(`.diff ${name}`).all()));
    const [[cut, cutHebrew], [added, addedHebrew]] = places;
    expect((await added.boundingBox())!.x).toBeGreaterThan((await cut.boundingBox())!.x);
    expect((await addedHebrew.boundingBox())!.x).toBeLessThan((await cutHebrew.boundingBox())!.x);
    await page.close();
  });
});
