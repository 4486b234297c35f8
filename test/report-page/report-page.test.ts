/** The report page as a reader meets it: opened from disk in a real browser, day and night, wide and narrow, and printed. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { countUrls } from '../../src/frontier/counting-words.ts';
import { renderReportPage } from '../../src/pages/report/render-report-page.ts';
import type { ReportFacts } from '../../src/pages/report/report-facts.ts';
import { showDay } from '../../src/pages/report/time-words.ts';
import { startBrowser } from '../map-page/open-map.ts';
import { SHOP } from './made-history.ts';
import { factsOf, type LookingAt, type OpenReport, openReport } from './report-web.ts';

let browser: Browser;
let shop: ReportFacts;
let report: OpenReport | undefined;

beforeAll(async () => {
  [browser, shop] = await Promise.all([startBrowser(), factsOf(SHOP)]);
});
afterAll(async () => {
  await browser?.close();
});
afterEach(async () => {
  const asked = report?.requests;
  const complaints = report?.complaints;
  await report?.close();
  report = undefined;
  // True of every page whatever was done with it.
  expect(asked ?? []).toEqual([]);
  expect(complaints ?? []).toEqual([]);
});

async function open(facts: ReportFacts, look?: LookingAt): Promise<OpenReport> {
  report = await openReport(browser, facts, look);
  return report;
}

const whole = (n: number) => n.toLocaleString('en');
const HOUR = 3_600_000;

interface Span {
  left: number;
  right: number;
}

/** Axes and scales with the words that are shown in them; those of an axis from left to right. */
function wordsOf(page: Page): Promise<{ box: Span; isAxis: boolean; words: (Span & { text: string })[] }[]> {
  return page.evaluate(`[...document.querySelectorAll('svg.ticks, svg.scale')].map((picture) => {
    const spanOf = (element) => (({ left, right }) => ({ left, right }))(element.getBoundingClientRect());
    const texts = [...picture.querySelectorAll('text')].filter((text) => getComputedStyle(text).display !== 'none');
    const words = texts.map((text) => ({ text: text.textContent, ...spanOf(text) }));
    return { box: spanOf(picture), isAxis: picture.classList.contains('ticks'), words };
  })`);
}

describe('the report page', () => {
  it('shows the headline, a row a section, and every list', async () => {
    const { page } = await open(shop);
    expect(await page.title()).toBe('shop.example');
    const changes = shop.figures.ledger
      .filter(({ outcome }) => outcome === 'changed')
      .reduce((sum, { visits }) => sum + visits, 0);
    const told = await page.locator('.headline dd:not(.sub)').allInnerTexts();
    expect(told.slice(0, 3)).toEqual([shop.figures.visited, shop.figures.visits, changes].map(whole));
    const rows = await page.locator('.heat .row:not(.axis) .name').allInnerTexts();
    expect(rows).toEqual([
      'all sections',
      '/products',
      '/blog',
      '/docs',
      '/news',
      '/help',
      '/offers',
      '/events',
      '/press',
      '/jobs',
      '/team',
      '/café',
      '/legal',
      '/',
    ]);
    expect(await page.locator('#changing tbody tr').count()).toBe(12);
    expect(await page.locator('#slowest tbody tr').count()).toBe(12);
    expect(await page.locator('#runs tbody tr').count()).toBe(24);
    expect(await page.locator('h2').allInnerTexts()).toEqual([
      'Where and when the site changes',
      'Freshness of the copies',
      'What visits found',
      'Bandwidth',
      'Answers',
      'Errors',
      'Most changing pages',
      'Slowest pages',
      'Known URLs',
      'Response times',
      'Depth',
      'Broken pages',
      'Runs',
    ]);
  });

  it('tells the facts of what is under the pointer, and takes them away again', async () => {
    const { page } = await open(shop);
    expect(await page.isHidden('#tooltip')).toBe(true);
    // The day of the redesign in the news.
    const cell = page.locator('.heat .row:nth-child(5) rect').nth(20);
    await cell.hover();
    expect(await page.locator('#tooltip strong').textContent()).toBe('/news');
    const {
      changed,
      visits,
      new: fresh,
      gone,
      failed,
    } = shop.figures.cells.find(({ section, bucket }) => section === '/news' && bucket === 20)!;
    const text = await page.textContent('#tooltip');
    expect(text).toContain('23 Feb 2025');
    expect(text).toContain(`${changed} of ${visits - fresh - gone - failed} pages changed`);
    await page.locator('h1').hover();
    expect(await page.isHidden('#tooltip')).toBe(true);
  });

  it('keeps the facts inside the window, wherever the pointer is', async () => {
    const { page } = await open(shop, { width: 390 });
    const cell = page.locator('.heat .row:nth-child(3) rect').last();
    await cell.hover();
    const box = (await page.locator('#tooltip').boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  });

  it('is as narrow as a phone: nothing makes it scroll sideways', async () => {
    const { page } = await open(shop, { width: 390 });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBe(390);
  });

  it('has other colours at night', async () => {
    const colours: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open(shop, { colorScheme });
      colours.push(
        (await page.evaluate('getComputedStyle(document.body).backgroundColor')) as string,
        (await page.evaluate("getComputedStyle(document.querySelector('.heat .heat-5')).fill")) as string,
      );
      await report!.close();
      report = undefined;
    }
    expect(colours).toEqual([
      'rgb(245, 241, 232)',
      'rgb(130, 44, 16)',
      'rgb(22, 21, 19)',
      'rgb(255, 199, 156)',
    ]);
  });

  it('has its pictures and numbers without a script, and on paper', async () => {
    const { page } = await open(shop, { isScriptless: true });
    expect(await page.locator('.heat rect').count()).toBeGreaterThan(300);
    expect(await page.locator('.curve path').count()).toBe(2);
    // Every picture has its numbers as a table.
    expect(
      await page.locator('#heat details tr, #freshness details tr, #bandwidth details tr').count(),
    ).toBeGreaterThan(300);
    const paper = await page.pdf({ format: 'A4' });
    expect(paper.subarray(0, 5).toString()).toBe('%PDF-');
  });

  // As many runs as columns can be, and the longest words under them.
  it.each([
    ['62 runs, 3 hours apart', 62, 3 * HOUR],
    ['62 runs, a day apart', 62, 24 * HOUR],
    ['62 runs, 5 minutes apart', 62, HOUR / 12],
    ['25 runs, 28 days apart', 25, 28 * 24 * HOUR],
    ['7 runs, an hour apart', 7, HOUR],
  ])('keeps the words under a picture within it and apart: %s', async (_, runs, stepMs) => {
    const facts = await factsOf({
      ...SHOP,
      runs,
      stepMs,
      sections: [['news', 20, 0.3]],
      redesign: undefined,
    });
    for (const width of [390, 1280, 1900]) {
      const { page } = await open(facts, { width });
      const pictures = await wordsOf(page);
      expect(pictures.length).toBeGreaterThan(6);
      for (const { words, box, isAxis } of pictures) {
        expect(words.length, `at ${width} px`).toBeGreaterThan(0);
        for (const [at, { text, left, right }] of words.entries()) {
          expect([left >= box.left - 1, right <= box.right + 1], `${text} at ${width} px`).toEqual([
            true,
            true,
          ]);
          if (isAxis && at > 0)
            expect(left - words[at - 1].right, `before ${text} at ${width} px`).toBeGreaterThan(2);
        }
      }
      await report!.close();
      report = undefined;
    }
  });

  it('makes text of what the web sent, never markup', async () => {
    const evil = '<img src=x onerror=alert(1)></script><script>alert(2)</script>"\' & {{policy}}';
    const facts: ReportFacts = {
      ...shop,
      project: evil,
      figures: {
        ...shop.figures,
        sections: shop.figures.sections.map((one, at) => (at === 0 ? { ...one, name: `/${evil}` } : one)),
        slowest: [{ ...shop.figures.slowest[0], title: evil, url: `https://shop.example/${evil}` }],
        changing: [{ ...shop.figures.changing[0], title: evil, url: evil }],
      },
      state: { ...shop.state, top_errors: [{ reason: evil, pages: 3, example: evil }] },
    };
    const { page } = await open(facts);
    expect(await page.textContent('h1')).toBe(evil);
    expect(await page.locator('#slowest .title').textContent()).toBe(evil);
    expect(await page.locator('#errors th[scope=row]').first().textContent()).toBe(evil);
    expect(await page.locator('img').count()).toBe(0);
    await page.locator('#errors tr[data-tip]').first().hover();
    expect(await page.locator('#tooltip strong').textContent()).toBe(evil);
  });

  it('gives a title or address without end three lines, and the rest to the pointer', async () => {
    const [slow, ...others] = shop.figures.slowest;
    const long = { ...slow, url: `https://shop.example/${'x'.repeat(2000)}`, title: 'so much '.repeat(200) };
    const { page } = await open({ ...shop, figures: { ...shop.figures, slowest: [long, ...others] } });
    const row = page.locator('#slowest tbody tr').first();
    expect((await row.boundingBox())!.height).toBeLessThan(150);
    expect(await row.locator('.url').getAttribute('title')).toBe(long.url);
    expect(await row.locator('.title').getAttribute('title')).toBe(long.title);
  });

  it('says so where there is no history yet', async () => {
    const { page } = await open(await factsOf({ ...SHOP, sections: [], runs: 1 }));
    expect(await page.textContent('main')).toContain('There is no history yet');
    expect(await page.textContent('#changing')).toContain('No page has been seen to change yet');
  });

  it('says since when there are visits, not when the first column of time begins', async () => {
    const firstVisitAt = shop.figures.buckets!.start + 2 * 24 * HOUR;
    const { page } = await open({ ...shop, figures: { ...shop.figures, firstVisitAt } });
    expect(await page.textContent('body')).toContain(`runs since ${showDay(firstVisitAt)}`);
  });

  it('says of an earlier run that later ones have visited its pages again', async () => {
    const shop = await factsOf(SHOP, 1);
    const { page } = await open({
      ...shop,
      state: { is_latest: false, pages_by_state: {}, ...countUrls({}), errors: 0, top_errors: [] },
    });
    for (const id of ['#states', '#errors'])
      expect(await page.textContent(id)).toContain('A later run has visited pages again');
  });

  it('says so where the history was cleared', async () => {
    const shop = await factsOf({ ...SHOP, sections: [], runs: 1 });
    const { page } = await open({ ...shop, figures: { ...shop.figures, visited: 12, known: 15 } });
    expect(await page.textContent('main')).toContain('No visits are kept: their history was cleared.');
    expect(await page.textContent('body')).not.toContain('yet');
  });

  it('does not say that nothing changed where changes are kept and the visits before them are not', async () => {
    const { page } = await open({ ...shop, figures: { ...shop.figures, spans: [] } });
    const note = await page.textContent('#freshness .note');
    expect(note).toContain('How often pages change is not known from what is kept.');
  });

  it('says how fresh copies were at the end of a run, and are as the page of a project is written', async () => {
    // Crawled on Mondays; columns are weeks.
    const weekly = { ...SHOP, runs: 6, stepMs: 7 * 24 * HOUR, redesign: undefined };
    const shares: number[] = [];
    for (const [run, hours] of [
      [6, 999],
      [null, 0],
      [null, 48],
      [null, 96],
    ] as const) {
      const facts = await factsOf(weekly, run);
      const madeAt = facts.figures.runList[0].finishedAt! + hours * HOUR;
      const html = await renderReportPage({ ...facts, madeAt });
      shares.push(Number.parseFloat(/believed fresh<\/dt><dd>([\d.]+) %/.exec(html)![1]));
    }
    const [atEnd, now, afterTwoDays, afterFour] = shares;
    expect(atEnd).toBe(now);
    expect(now).toBeGreaterThan(99);
    expect(afterTwoDays).toBeLessThan(98);
    expect(afterFour).toBeLessThan(afterTwoDays);
  });

  it('shows a single first run without any chart of history', async () => {
    const { page } = await open(await factsOf({ ...SHOP, runs: 1, sections: [['a', 30, 0]] }, 1));
    expect(await page.title()).toBe('Run 1 of shop.example');
    expect(await page.locator('.heat, #freshness, #outcomes, #bandwidth, #changing').count()).toBe(0);
    expect(await page.locator('.cards h2').first().textContent()).toBe('Answers');
  });

  it('carries its numbers as JSON for programs', async () => {
    const { page } = await open(shop);
    const data = JSON.parse((await page.textContent('#data'))!);
    expect(data.figures).toEqual(JSON.parse(JSON.stringify(shop.figures)));
    expect(data.freshness.points).toHaveLength(shop.figures.buckets!.count);
  });
});
