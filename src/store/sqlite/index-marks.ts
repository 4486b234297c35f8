/** What the indexes of a project were built from (index-state.ts), on SQLite. */
import type { Database } from 'better-sqlite3';
import { ALL_RUNS, type IndexKind, isCurrent, packMark, RUNS_MARK, type RunsMark } from '../index-state.ts';

export function runsMark(db: Database, projectId: number, upTo = ALL_RUNS): RunsMark {
  return db.prepare(RUNS_MARK).get(projectId, upTo) as RunsMark;
}

/** Null where there is none, or where it was left half built. */
export function readIndexMark(db: Database, projectId: number, kind: IndexKind): string | null {
  const built = db
    .prepare('SELECT built_from FROM index_state WHERE project_id = ? AND kind = ?')
    .pluck()
    .get(projectId, kind);
  return (built as string | undefined) ?? null;
}

export function hasCurrentIndex(db: Database, projectId: number, kind: IndexKind): boolean {
  return isCurrent(readIndexMark(db, projectId, kind), runsMark(db, projectId));
}

/** While an index is written, it is none. */
export function dropIndexMark(db: Database, projectId: number, kind: IndexKind): void {
  db.prepare('DELETE FROM index_state WHERE project_id = ? AND kind = ?').run(projectId, kind);
}

export function saveIndexMark(db: Database, projectId: number, kind: IndexKind, mark: RunsMark): void {
  db.prepare('INSERT OR REPLACE INTO index_state VALUES (?, ?, ?)').run(projectId, kind, packMark(mark));
}
