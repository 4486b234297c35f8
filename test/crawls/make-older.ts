/** Makes a file of this version one of an older version: what came later is taken out, and its number with it. */
import type { Database } from 'better-sqlite3';
import { FACTS } from '../../src/store/page-facts.ts';

/** By the version that brought it. */
const BROUGHT: readonly [version: number, sql: string][] = [
  ...FACTS.flatMap(({ column, since }): [number, string][] =>
    since === undefined ? [] : [[since.sqlite, `ALTER TABLE fetched DROP COLUMN ${column}`]],
  ),
  [10, 'ALTER TABLE discovery DROP COLUMN looks; ALTER TABLE discovery DROP COLUMN searched'],
  [
    11,
    `ALTER TABLE url DROP COLUMN known_state; ALTER TABLE url DROP COLUMN known_reason;
     ALTER TABLE url DROP COLUMN left_run; ALTER TABLE url DROP COLUMN left_reason;
     ALTER TABLE run DROP COLUMN left_out; ALTER TABLE discovery DROP COLUMN guessed; DROP TABLE reader_look;
     ALTER TABLE host DROP COLUMN head_checks`,
  ],
  [12, 'DROP TABLE reverse_link_set; DROP TABLE index_state; DROP INDEX robots_txt_host'],
  [13, 'ALTER TABLE fetched DROP COLUMN project_id; DROP TABLE facet_count; DROP TABLE section_count'],
  [
    14,
    `DROP INDEX project_uid; DROP INDEX project_created; DROP INDEX project_updated;
     ALTER TABLE project DROP COLUMN uid; ALTER TABLE project DROP COLUMN website_url;
     ALTER TABLE project DROP COLUMN updated_at; ALTER TABLE project DROP COLUMN deleted_at;
     ALTER TABLE project DROP COLUMN purged_at`,
  ],
];

export function makeOlder(db: Database, version: 7 | 8 | 9 | 10): void {
  // A column that a view shows cannot be taken out.
  const views = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck().all() as string[];
  for (const name of views) db.exec(`DROP VIEW "${name}"`);
  for (const [since, sql] of BROUGHT) if (since > version) db.exec(sql);
  db.pragma(`user_version = ${version}`);
}
