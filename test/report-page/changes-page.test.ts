/** The page of `sumi changes` as a reader meets it on a phone, and in languages that run from right to left. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToldChange } from '../../src/change/told-change.ts';
import { renderChangesPage } from '../../src/pages/changes/render-changes-page.ts';
import { startBrowser } from '../map-page/open-map.ts';
import { SHOP } from './made-history.ts';
import { factsOf } from './report-web.ts';

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

async function htmlOf(heading: { title: string; note: string }, ...rows: ToldChange[]): Promise<string> {
  async function* each(): AsyncGenerator<ToldChange> {
    yield* rows;
  }
  let html = '';
  const sections = [{ title: null, rows: each() }];
  const list = { heading: { ...heading, counts: [] }, sections, showsRun: false, emptyText: '' };
  for await (const part of renderChangesPage(list)) html += part;
  return html;
}

/** The rows on a page of that width. */
async function open(width: number, ...rows: ToldChange[]): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  await page.setContent(await htmlOf({ title: 'Changes', note: '' }, ...rows));
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

  it('shows titles, and times of the reader’s clock with UTC under the pointer', async () => {
    const titled = { ...ROW, title: 'Ink & <b>pens</b>' };
    const html = await htmlOf(
      { title: 'Changes since 2026-02-03T09:00Z', note: 'run 3, begun 2026-07-03T22:30:00Z' },
      titled,
    );
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
    const page = await context.newPage();
    await page.setContent(html);
    expect(await page.textContent('h3 bdi')).toBe('Ink & <b>pens</b>');
    expect(await page.textContent('.address a')).toBe('https://a.example/ink');
    const times = page.locator('time');
    expect(await times.allInnerTexts()).toEqual([
      '3 Feb 2026, 18:00',
      '4 Jul 2026, 07:30',
      '3 Feb 2026, 19:00',
    ]);
    expect(await times.last().getAttribute('title')).toBe('2026-02-03 10:00 UTC');
    expect(await page.textContent('#zone')).toContain('Asia/Tokyo');
    await context.close();
    const scriptless = await browser.newContext({ javaScriptEnabled: false });
    const plain = await scriptless.newPage();
    await plain.setContent(html);
    expect(await plain.locator('time').last().textContent()).toBe('2026-02-03 10:00 UTC');
    expect(await plain.locator('#zone').textContent()).toBe('Times are UTC.');
    await scriptless.close();
  });

  it('has the paper and ink of the other pages, by day and by night', async () => {
    const { renderReportPage } = await import('../../src/pages/report/render-report-page.ts');
    const report = await renderReportPage(await factsOf({ ...SHOP, runs: 1 }));
    const changes = await htmlOf({ title: 'Changes', note: '' }, ROW);
    const looks: string[][] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ colorScheme });
      for (const html of [report, changes]) {
        const page = await context.newPage();
        await page.setContent(html);
        const look = await page.evaluate(
          "['body', 'h1'].map((name) => getComputedStyle(document.querySelector(name))).map(({ backgroundColor, color, fontFamily }) => backgroundColor + color + fontFamily)",
        );
        looks.push(look as string[]);
      }
      await context.close();
    }
    expect(looks[1]).toEqual(looks[0]);
    expect(looks[3]).toEqual(looks[2]);
    expect(looks[2]).not.toEqual(looks[0]);
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
