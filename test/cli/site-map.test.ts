/** The map of one site, made by the command and opened from disk: sections, pages, and what names from the web do there. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageData } from '../../src/pages/map/page-data.ts';
import { startBrowser } from '../map-page/open-map.ts';
import { answer, type Exchange, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
const db = folder.file('sumi.db');
let web: FakeWeb;
let browser: Browser;

const HOSTILE = '<img src=x onerror=alert(1)>';
const ARABIC = '\u0645\u0631\u062d\u0628\u0627';
const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const SECTIONS = ['shop', 'blog', 'docs', 'help', 'caf%C3%A9'];
/** A sign that turns the direction of what follows. */
const TURNING = '/x%E2%80%AEy';

function html(title: string, ...hrefs: string[]): string {
  const text = title.replaceAll('<', '&lt;');
  const links = hrefs.map((href) => `<a href="${href}">${href}</a>`).join(' ');
  return `<!doctype html><title>${text}</title><h1>${text}</h1>${links}`;
}

beforeAll(async () => {
  const pages: Record<string, (exchange: Exchange) => void> = {};
  const add = (path: string, title: string, ...hrefs: string[]) => {
    pages[path] = (exchange) => answer(exchange, { body: html(title, ...hrefs) });
  };
  add('/', 'Home', ...SECTIONS.map((name) => `/${name}/`), TURNING, 'https://friend.example/');
  add(TURNING, 'turning');
  for (const name of SECTIONS) {
    add(`/${name}/`, name, ...range(6).map((n) => `/${name}/page-${n}`));
    for (const n of range(6))
      add(
        `/${name}/page-${n}`,
        n === 1 ? HOSTILE : n === 2 ? ARABIC : `${name} ${n}`,
        '/shop/',
        '/help/lost',
      );
  }
  web = await startFakeWeb({ pages });
  const { code } = await sumi(['crawl', web.url('/'), '--db', db, '--delay', '0', '--quiet']);
  expect(code).toBe(0);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
  folder.remove();
});

async function draw(...args: string[]): Promise<{ data: PageData; file: string; stdout: string }> {
  const file = folder.file(`map-${args.join('')}.html`);
  const { code, stdout, stderr } = await sumi(['export', ...args, '--db', db, '--out', file]);
  expect([code, stderr]).toEqual([0, '']);
  const [, json] = /<script id="data" type="application\/json">(.*?)<\/script>/s.exec(
    readFileSync(file, 'utf8'),
  )!;
  return { data: JSON.parse(json) as PageData, file, stdout };
}

async function look(file: string, width = 1280): Promise<{ page: Page; told: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  const told: string[] = [];
  page.on('request', (request) => {
    if (request.url() !== `file://${file}`) told.push(request.url());
  });
  page.on('pageerror', (error) => told.push(error.message));
  page.on('dialog', (dialog) => {
    told.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`file://${file}`);
  return { page, told };
}

describe('the map of one site', () => {
  it('shows its sections around where the crawl began, and other sites outside', async () => {
    const { data, file, stdout } = await draw();
    expect(stdout).toContain('7 sections written to ');
    expect(data.subject).toBe('sections');
    expect([...data.names].sort()).toEqual([
      '/',
      '/blog/',
      '/café/',
      '/docs/',
      '/help/',
      '/shop/',
      'friend.example',
    ]);
    expect(data.rings.map(({ label }) => label)).toEqual(['start', 'depth 1', 'other sites']);
    const shop = data.names.indexOf('/shop/');
    expect(data.pages[shop]).toBe(7);
    expect(data.indegree[shop]).toBe(5);
    // Something stands in the middle.
    const start = data.names.indexOf('/');
    expect([data.x[start], data.y[start]]).toEqual([0, 0]);
    const { page, told } = await look(file);
    expect(await page.textContent('h1')).toBe(`Sections of 127.0.0.1:${web.port}`);
    expect(await page.textContent('#counts')).toMatch(/^7 of 7 sections, /);
    expect(await page.locator('#classes label:visible').allInnerTexts()).toHaveLength(3);
    expect(await page.locator('[role="columnheader"] button').first().textContent()).toBe('Section');
    await page.fill('#query', '/shop/');
    await page.press('#query', 'Enter');
    expect(await page.textContent('#details h2')).toBe('/shop/');
    expect(await page.textContent('#details')).toContain('Linked from 5 sections');
    expect(told).toEqual([]);
    await page.close();
  });

  it('shows its pages when asked for, broken ones apart, and makes no markup of their titles', async () => {
    const { data, file, stdout } = await draw('--of', 'pages');
    expect(stdout).toContain('39 pages written to ');
    expect(data.names).toContain(TURNING);
    // All pages are shown: nothing else has a share.
    expect(data.pagerank.reduce((sum, rank) => sum + rank, 0)).toBeCloseTo(1, 2);
    expect(data.names).toContain('/café/page-1');
    expect(data.subject).toBe('pages');
    const at = data.names.indexOf('/help/lost');
    expect([data.classes[at], data.topPages[at][0][2], data.indegree[at]]).toEqual([3, 404, 30]);
    expect(data.rings.map(({ label }) => label)).toEqual([
      'start',
      'depth 1',
      'depth 2',
      'not visited',
      'broken',
    ]);
    const { page, told } = await look(file, 390);
    for (const name of ['/docs/page-1', '/docs/page-2']) {
      await page.fill('#query', name);
      await page.press('#query', 'Enter');
      expect(await page.textContent('#details h2')).toBe(name);
    }
    expect(await page.textContent('#details')).toContain(ARABIC);
    expect(await page.locator('#details img').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(told).toEqual([]);
    await page.close();
  });

  it('shows hosts when asked for, with what the crawl began with in the centre', async () => {
    const { data } = await draw('--of', 'domains');
    expect(data.subject).toBe('domains');
    expect(data.names).toEqual(['127.0.0.1', 'friend.example']);
    expect(data.rings[0].label).toBe('depth 0');
    expect([data.x[0], data.y[0]]).toEqual([0, 0]);
  });
});
