/** Rows of the table of projects, read and made. */
import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { sumiError } from '../../errors.ts';
import { IS_SEEN, idOfOlderFile, projectColumns, UID_OF_ANY_FILE } from '../project-rows.ts';
import type { ProjectRow } from '../read-rows.ts';
import { iso } from './read-hosts.ts';

/** To be followed by more conditions. `iso` takes 0 for no time, which no project of ours has. */
export const PROJECTS = `SELECT ${projectColumns(iso, UID_OF_ANY_FILE)} FROM project p WHERE ${IS_SEEN}`;

export function readProjects(db: Database): ProjectRow[] {
  return db.prepare(`${PROJECTS} ORDER BY p.id`).all() as ProjectRow[];
}

export function readProjectByUid(db: Database, uid: string): ProjectRow | null {
  const row = db
    .prepare(`${PROJECTS} AND (p.uid = ? OR (p.uid IS NULL AND p.id = ?))`)
    .get(uid, idOfOlderFile(uid));
  return (row as ProjectRow | undefined) ?? null;
}

/**
 * The project of this name, made where there is none; of a run that goes on, whatever it is called by now. A deleted one is
 * refused.
 */
export function openProjectRow(db: Database, name: string, now: number, goesOn?: number): number {
  const ofRun = goesOn === undefined ? undefined : projectOfRun(db, goesOn);
  const found = ofRun ?? projectCalled(db, name, now);
  if (found.deleted_at !== null) throw sumiError('project-deleted', { project: found.name, id: found.uid });
  return found.id;
}

interface FoundProject {
  id: number;
  name: string;
  uid: string;
  deleted_at: number | null;
}

function projectOfRun(db: Database, run: number): FoundProject | undefined {
  return db
    .prepare(
      'SELECT id, name, uid, deleted_at FROM project WHERE id = (SELECT project_id FROM run WHERE id = ?)',
    )
    .get(run) as FoundProject | undefined;
}

function projectCalled(db: Database, name: string, now: number): FoundProject {
  db.prepare('INSERT OR IGNORE INTO project (name, created_at, uid, updated_at) VALUES (?, ?, ?, ?)').run(
    name,
    now,
    randomUUID(),
    now,
  );
  return db.prepare('SELECT id, name, uid, deleted_at FROM project WHERE name = ?').get(name) as FoundProject;
}
