/** The indexes of lists of pages on SQLite: made once for all projects, and kept up to date by the database. */
import type { Database } from 'better-sqlite3';
import { PAGE_INDEXES } from '../list-queries.ts';

const ROWS_AT_ONCE = 20_000;

/** A copy of a project writes rows without it. */
const TRIGGER = `CREATE TRIGGER IF NOT EXISTS fetched_project AFTER INSERT ON fetched WHEN new.project_id IS NULL
BEGIN UPDATE fetched SET project_id = (SELECT project_id FROM url WHERE id = new.page_id) WHERE page_id = new.page_id; END`;

/** `commit` is called between batches. */
export function buildPageIndexes(db: Database, commit: () => void): void {
  nameProjects(db, commit);
  db.exec(TRIGGER);
  for (const { name, table, column, where } of PAGE_INDEXES) {
    const columns = column === null || column === 'noindex' ? 'project_id' : `project_id, ${column}`;
    // The id of the row ends every index by itself.
    db.exec(
      `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (${columns}) ${where === undefined ? '' : `WHERE ${where}`}`,
    );
    // Those of before were for all projects at once.
    if (table === 'fetched') db.exec(`DROP INDEX IF EXISTS fetched_by_${column}`);
  }
  commit();
}

/** Rows of older versions do not name their project. */
function nameProjects(db: Database, commit: () => void): void {
  const last = db.prepare('SELECT COALESCE(max(page_id), 0) FROM fetched').pluck().get() as number;
  const name = db.prepare(
    `UPDATE fetched SET project_id = (SELECT project_id FROM url WHERE id = page_id)
     WHERE page_id > ? AND page_id <= ? AND project_id IS NULL`,
  );
  for (let after = 0; after < last; after += ROWS_AT_ONCE) {
    name.run(after, after + ROWS_AT_ONCE);
    commit();
  }
}
