/** A map page in a real browser, opened from disk, and everything it wanted from the world. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { renderMapPage } from '../../src/pages/map/render-map-page.ts';
import type { TerrainMap } from '../../src/pages/map/terrain-map.ts';
import { installPackages } from '../servers/install-packages.ts';

const CHROMIUM = '/usr/bin/chromium';

export async function startBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) installPackages(['chromium']);
  return await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

export interface OpenMap {
  page: Page;
  /** Every request but the page itself. */
  requests: string[];
  /** What the browser complained about. */
  complaints: string[];
  /** When all that was asked for has been drawn. */
  drawn(): Promise<void>;
  close(): Promise<void>;
}

export async function openMap(
  browser: Browser,
  map: TerrainMap,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<OpenMap> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-map-'));
  const file = join(folder, 'map.html');
  writeFileSync(file, await renderMapPage(map));
  const address = pathToFileURL(file).href;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (request.url() !== address) requests.push(request.url());
  });
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  return {
    page,
    requests,
    complaints,
    async drawn() {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    },
    async close() {
      await context.close();
      rmSync(folder, { recursive: true });
    },
  };
}
