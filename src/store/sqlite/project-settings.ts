/** How a project is to be crawled: kept with it, before its first run too. */
import type { Database } from 'better-sqlite3';
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
  db.prepare('INSERT OR IGNORE INTO project (name, created_at) VALUES (?, ?)').run(project, clock.now());
  db.prepare('UPDATE project SET settings = ? WHERE name = ?').run(settings, project);
  window.commit();
}
