/** The facts of a made-up project, read from a real store, and its page in a real browser. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { readBrokenPages } from '../../src/graph/read-broken-pages.ts';
import { renderReportPage } from '../../src/pages/report/render-report-page.ts';
import type { ReportFacts } from '../../src/pages/report/report-facts.ts';
import { openForWriting } from '../../src/store/sqlite/open-database.ts';
import { openSqliteReadSide } from '../../src/store/sqlite/read-side.ts';
import { type HistoryPlan, makeHistory, toSql } from './made-history.ts';

/** An SQLite file with that history. */
export function writeHistory(path: string, plan: HistoryPlan): void {
  const db = openForWriting(path);
  for (const statement of toSql(makeHistory(plan), 'sqlite')) db.exec(statement);
  db.exec('COMMIT');
  db.close();
}

export async function factsOf(plan: HistoryPlan, run: number | null = null): Promise<ReportFacts> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-history-'));
  try {
    writeHistory(join(folder, 'a.db'), plan);
    const side = openSqliteReadSide(join(folder, 'a.db'));
    const state = (await side.report(run ?? plan.runs))!;
    const figures = await side.changeFigures(1, run);
    const broken = state.is_latest ? await readBrokenPages(side, plan.hosts[0], figures.known) : null;
    await side.close();
    const madeAt = Date.parse('2025-03-08T09:30:00Z');
    return { project: plan.hosts[0], run, madeAt, version: '0.1.0', figures, broken, state };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export interface OpenReport {
  page: Page;
  /** Every request but the page itself. */
  requests: string[];
  /** What the browser complained about. */
  complaints: string[];
  close(): Promise<void>;
}

export interface LookingAt {
  colorScheme?: 'light' | 'dark';
  width?: number;
  isScriptless?: true;
}

export async function openReport(
  browser: Browser,
  facts: ReportFacts,
  { colorScheme = 'light', width = 1280, isScriptless }: LookingAt = {},
): Promise<OpenReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-report-'));
  const file = join(folder, 'report.html');
  writeFileSync(file, await renderReportPage(facts));
  const address = pathToFileURL(file).href;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme,
    javaScriptEnabled: isScriptless !== true,
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
    async close() {
      await context.close();
      rmSync(folder, { recursive: true });
    },
  };
}
