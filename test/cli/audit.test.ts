import { copyFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;

beforeAll(async () => {
  web = await startFakeWeb({ graph: { seed: 5, pages: 6 } });
  await sumi(['crawl', web.origin, '--delay', '0.02', '-q'], { cwd: folder.path });
});

afterAll(async () => {
  await web.close();
  folder.remove();
});

/** Asks about a copy whose log one statement has spoiled. */
async function auditAfter(
  sql: string,
): Promise<{ code: number | null; by_kind: object; violations: number }> {
  copyFileSync(folder.file('sumi.db'), folder.file('spoiled.db'));
  const db = new Sqlite(folder.file('spoiled.db'));
  db.exec(sql);
  db.close();
  const { code, stdout } = await sumi(['audit', '--json', '--db', 'spoiled.db'], { cwd: folder.path });
  return { code, ...JSON.parse(stdout) };
}

describe('sumi audit', () => {
  it('finds nothing after a polite crawl', async () => {
    expect(await auditAfter('SELECT 1')).toMatchObject({ code: 0, violations: 0, by_kind: {} });
  });

  it('exits with 1 when a request came too soon', async () => {
    const [second, third] = [1, 2].map(
      (n) => `(SELECT id FROM request ORDER BY sent_at LIMIT 1 OFFSET ${n})`,
    );
    const soon = `(SELECT sent_at + 5 FROM request WHERE id = ${second})`;
    expect(
      await auditAfter(`UPDATE request SET sent_at = ${soon}, slot_at = ${soon} WHERE id = ${third}`),
    ).toMatchObject({ code: 1, violations: 1, by_kind: { 'too-close': 1 } });
  });

  it('exits with 1 when the configured delay was not kept', async () => {
    const spoil = 'UPDATE request SET delay_ms = 5 WHERE id = (SELECT max(id) FROM request)';
    expect(await auditAfter(spoil)).toMatchObject({ code: 1, by_kind: { 'below-floor': 1 } });
  });

  it('exits with 1 when a page has two rows', async () => {
    const spoil = `INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, retry_at, discovered_run,
      discovered_at, referrer_id, url, fetch_url, reason, hops) SELECT id + 1000, project_id, host_id, state, priority, depth, attempts, retry_at,
      discovered_run, discovered_at, referrer_id, url, fetch_url, reason, hops FROM url WHERE id = 1`;
    const found = await auditAfter(spoil);
    expect(found).toMatchObject({ code: 1, violations: 1, by_kind: { 'repeated-url': 1 } });
  });
});
