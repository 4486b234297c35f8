/** `sumi report --html` by the built command, after real crawls: its numbers are those of plain SQL over the views. */
import { existsSync, readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReportFacts } from '../../src/pages/report/report-facts.ts';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });

beforeAll(async () => {
  web = await startFakeWeb({ graph: { seed: 5, pages: 12 } });
  for (const mode of ['full', 'incremental'])
    await run('crawl', web.origin, '--delay', '0.01', '--project', 'shop', '--mode', mode, '-q');
});
afterAll(async () => {
  await web.close();
  folder.remove();
});

function dataOf(file: string): ReportFacts {
  const html = readFileSync(folder.file(file), 'utf8');
  return JSON.parse(/<script id="data" type="application\/json">(.*?)<\/script>/s.exec(html)![1]);
}

describe('sumi report --html', () => {
  it('writes the history of the project, as the views have it', async () => {
    const { code, stdout, stderr } = await run('report', '--html', 'report.html');
    expect([code, stdout, stderr]).toEqual([0, '', 'report written to report.html\n']);
    const { project, run: asked, figures } = dataOf('report.html');
    expect([project, asked]).toEqual(['shop', null]);
    const db = new Sqlite(folder.file('sumi.db'), { readonly: true });
    const rows = db
      .prepare(
        `SELECT outcome, known_by AS knownBy, count(*) AS visits, sum(wire_bytes) AS wireBytes, sum(bytes_saved) AS bytesSaved
         FROM visits GROUP BY 1, 2`,
      )
      .all();
    expect(figures.ledger).toHaveLength(rows.length);
    expect(figures.ledger).toEqual(expect.arrayContaining(rows));
    const visits = db.prepare('SELECT count(*) FROM visits').pluck().get();
    expect([figures.visits, figures.runs]).toEqual([visits, 2]);
    expect(figures.ledger.find(({ outcome }) => outcome === 'unchanged')!.visits).toBeGreaterThan(3);
    db.close();
  });

  it('writes one run', async () => {
    expect((await run('report', '--html', 'one.html', '--run', '1')).code).toBe(0);
    const { run: asked, figures } = dataOf('one.html');
    expect(asked).toBe(1);
    expect(figures.ledger.every(({ outcome }) => outcome === 'new' || outcome === 'failed')).toBe(true);
  });

  it('prints the page where its file is -, as other commands do', async () => {
    const { code, stdout, stderr } = await run('report', '--html', '-');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^<!doctype html>[\s\S]*<\/html>\s*$/i);
    expect(existsSync(folder.file('-'))).toBe(false);
  });

  it('leaves nothing behind when it cannot', async () => {
    const away = await run('report', '--html', 'no-such-folder/report.html');
    expect([away.code, away.stderr.includes('code: export-unwritable')]).toEqual([2, true]);
    const unknown = await run('report', '--html', 'nine.html', '--run', '9');
    expect(unknown.stderr).toContain('code: unknown-run');
    expect(existsSync(folder.file('nine.html'))).toBe(false);
  });
});
