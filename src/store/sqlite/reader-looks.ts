/** Up to where each reader of `sumi changes` has looked, on SQLite. */
import type { Database } from 'better-sqlite3';
import type { ReaderLook } from '../reader-look.ts';
import type { OpenFile } from './session.ts';

export function readLook(db: Database, projectId: number, reader: string): ReaderLook | null {
  const look = db
    .prepare('SELECT run_id AS run, looked_at AS at FROM reader_look WHERE project_id = ? AND reader = ?')
    .get(projectId, reader);
  return (look as ReaderLook | undefined) ?? null;
}

export function saveLook({ db, window }: OpenFile, project: string, reader: string, look: ReaderLook): void {
  db.prepare('INSERT OR REPLACE INTO reader_look SELECT id, ?, ?, ? FROM project WHERE name = ?').run(
    reader,
    look.run,
    Math.round(look.at),
    project,
  );
  window.commit();
}
