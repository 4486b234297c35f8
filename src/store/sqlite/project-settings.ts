/** How a project is to be crawled: kept with it, before its first run too. */
import type { Database } from 'better-sqlite3';
import { openProjectRow } from './project-rows.ts';
import type { OpenFile } from './session.ts';

export function readSettings(db: Database, project: string): string | null {
  const settings = db.prepare('SELECT settings FROM project WHERE name = ?').pluck().get(project);
  return (settings as string | null | undefined) ?? null;
}

export function saveSettings(
  { db, window, clock }: OpenFile,
  project: string,
  settings: string | null,
): void {
  const now = Math.round(clock.now());
  const id = openProjectRow(db, project, now);
  db.prepare('UPDATE project SET settings = ?, updated_at = max(updated_at + 1, ?) WHERE id = ?').run(
    settings,
    now,
    id,
  );
  window.commit();
}
