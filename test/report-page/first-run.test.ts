/** The report of a first run, made by the command and opened from disk: what a first run knows, and no charts of history. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, sumi } from '../cli/run-sumi.ts';
import { startBrowser } from '../map-page/open-map.ts';
import { answer, type Exchange, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';

const folder = makeFolder();
const db = folder.file('sumi.db');
let web: FakeWeb;
let browser: Browser;

const HOSTILE = '<img src=x onerror=alert(1)>';

beforeAll(async () => {
  const pages: Record<string, (exchange: Exchange) => void> = {};
  const add = (path: string, ...hrefs: string[]) => {
    const links = hrefs.map((href) => `<a href="${href}">x</a>`).join('');
    const title = `Page ${path} ${HOSTILE}`.replaceAll('<', '&lt;');
    pages[path] = (exchange) => answer(exchange, { body: `<!doctype html><title>${title}</title>${links}` });
  };
  add('/', '/a', '/b', '/moved', '/lost', '/old');
  add('/a', '/shop/gone', '/missing');
  add('/b', '/shop/gone', '/broken', '/old');
  pages['/old'] = (exchange) => answer(exchange, { status: 301, headers: { location: '/new' } });
  pages['/shop/gone'] = (exchange) => answer(exchange, { status: 410, body: 'gone' });
  pages['/broken'] = (exchange) => answer(exchange, { status: 500, body: 'broken' });
  pages['/moved'] = (exchange) => answer(exchange, { status: 301, headers: { location: '/a' } });
  web = await startFakeWeb({ pages });
  await crawl();
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
  folder.remove();
});

const crawl = () => sumi(['crawl', web.url('/'), '--db', db, '--delay', '0', '--quiet', '--retries', '0']);

async function open(...args: string[]): Promise<{ page: Page; told: string[] }> {
  const file = folder.file('report.html');
  expect((await sumi(['report', '--db', db, '--html', file, ...args])).code).toBe(0);
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const told: string[] = [];
  page.on('request', (request) => {
    if (request.url() !== `file://${file}`) told.push(request.url());
  });
  page.on('dialog', (dialog) => {
    told.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`file://${file}`);
  return { page, told };
}

const cardsOf = (page: Page) =>
  page.evaluate("[...document.querySelectorAll('.cards section')].map(({ id }) => id)") as Promise<string[]>;

describe('the report of a first run', () => {
  it('leads with answers and broken pages, and shows no chart of a history there is none of', async () => {
    const { page, told } = await open();
    expect(await cardsOf(page)).toEqual([
      ...['statuses', 'errors', 'broken', 'depths', 'responses', 'states', 'slowest', 'sections', 'runs'],
    ]);
    const tiles = await page.evaluate(
      "[...document.querySelectorAll('.headline > div')].map(({ children: [label, value] }) => [label.textContent, value.textContent])",
    );
    expect(tiles).toEqual([
      ['pages', '10'],
      ['answered 2xx', '3'],
      ['broken', '5'],
      ['redirects', '2'],
      ['answered in', expect.stringMatching(/^< \d+ ms$|^> |^< [\d.]+ s$/)],
      ['transferred', expect.stringMatching(/ (?:B|KB)$/)],
    ]);
    const rows = await page.locator('#broken tbody tr').allInnerTexts();
    expect(rows.length).toBe(5);
    // The one that most pages link to comes first, with one of these.
    expect(rows[0]).toContain(web.url('/shop/gone'));
    expect(rows[0]).toContain(`linked from ${web.url('/a')}`);
    expect(rows[0]).toMatch(/410\s+2$/);
    // As sumi links --broken counts: two pages link to the redirect that leads there.
    expect(rows[1]).toContain(web.url('/new'));
    expect(rows[1]).toContain(`linked from ${web.url('/')}`);
    expect(rows[1]).toMatch(/404\s+2$/);
    expect(await page.locator('#slowest').textContent()).toContain(HOSTILE);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(told).toEqual([]);
    await page.close();
  });

  it('has the charts when there is something to compare, and the broken pages still', async () => {
    await crawl();
    const { page } = await open();
    const cards = await cardsOf(page);
    expect(cards).toEqual(expect.arrayContaining(['freshness', 'outcomes', 'changing', 'broken', 'runs']));
    await page.close();
    // Of the first run alone there is none, and what became of its pages a later run knows.
    const first = await open('--run', '1');
    const ofFirst = await cardsOf(first.page);
    expect(ofFirst[0]).toBe('statuses');
    expect(ofFirst).not.toContain('freshness');
    expect(ofFirst).not.toContain('broken');
    await first.page.close();
  });
});
