import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadSide } from '../read-side.ts';
import { openSqliteReadSide } from './read-side.ts';
import { MIGRATIONS, SCHEMA_VERSION } from './schema.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-older-'));
  path = join(folder, 'x.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const ROWS = `
INSERT INTO project (id, name, created_at) VALUES (1, 'old', 0);
INSERT INTO run (project_id, started_at, status, config_hash, config) VALUES (1, 5000, 'completed', 'h', '{}');
INSERT INTO host (id, name) VALUES (1, 'a.test');
INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
  VALUES (1, 1, 1, 3, 1, 0, 0, 1, 5000, 'https://a.test/');
INSERT INTO fetched (page_id, run_id, visited_at, status_code, title, noindex, nofollow, change) VALUES (1, 1, 6000, 200, 'T', 0, 0, 'new')`;

async function listed<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

describe('a file of an older version', () => {
  it.each(Array.from({ length: SCHEMA_VERSION - 1 }, (_, i) => i + 1))(
    'is read as it is, with no history: version %d',
    async (version) => {
      const db = new Sqlite(path);
      db.exec(
        `${MIGRATIONS.slice(0, version).join('\n')}; ${ROWS}; PRAGMA application_id = ${0x53554d49}; PRAGMA user_version = ${version}`,
      );
      db.close();
      const side: ReadSide = openSqliteReadSide(path);
      expect(await side.lastRun(1)).toMatchObject({
        ...{ run: 1, metadata: null, mode: null, mode_reason: null, left_out: 0 },
      });
      expect(await side.page(1, 'https://a.test/')).toMatchObject({
        title: 'T',
        change: 'new',
        change_frequency: 0,
        changes_detected: 0,
        left_run: null,
      });
      expect(await listed(side.pages({ changingMoreThan: 0 }))).toEqual([]);
      expect(await side.visits(1)).toEqual([]);
      expect(await listed(side.changes({ projectId: 1, fromRun: 1, toRun: 1 }))).toEqual([]);
      expect(await side.ledger(1)).toEqual([]);
      expect(await listed(side.visitsAfter(1, 0))).toEqual([]);
      expect(await listed(side.sitemapEntries({}))).toEqual([]);
      expect(await side.discoveries({})).toEqual([]);
      expect(await side.revisitPlan(1)).toEqual({ plan: null, learnedRun: 0 });
      expect(await listed(side.revisitPages(1))).toMatchObject([[{ pageId: 1, visitedAt: 6000 }]]);
      expect(await side.projectSettings('old')).toBeNull();
      const [project] = await side.projects();
      expect(project).toMatchObject({
        ...{ id: 1, project: 'old', uid: '00000000-0000-4000-8000-000000000001' },
        ...{ website_url: null, deleted_at: null },
      });
      expect(await side.projectByUid(project.uid)).toEqual(project);
      expect(await side.projectByUid('00000000-0000-4000-8000-000000000002')).toBeNull();
      expect((await side.list('projects', { filter: { q: 'OL' } })).rows).toEqual([project]);
      expect(await side.report(1)).toMatchObject({ pages_by_state: { Processed: 1 } });
      await side.close();
      const after = new Sqlite(path, { readonly: true });
      expect(after.pragma('user_version', { simple: true })).toBe(version);
      after.close();
    },
  );
});
