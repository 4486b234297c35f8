/** How a project is to be crawled, kept in its row as JSON; read and written without a run. */
import { sumiError } from '../../errors.ts';
import { ask, type OpenDatabase, type Runner } from './session.ts';

const READ = 'SELECT settings FROM project WHERE name = $1';
const PUT = `
INSERT INTO project (name, created_at, settings, updated_at) VALUES ($1, $2, $3, $2)
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, updated_at = greatest(project.updated_at + 1, excluded.updated_at)
WHERE project.deleted_at IS NULL RETURNING id`;
const READ_UID = 'SELECT uid FROM project WHERE name = $1';

export async function readProjectSettings(runner: Runner, project: string): Promise<string | null> {
  const [row] = await ask<{ settings: string | null }>(runner, READ, [project]);
  return row?.settings ?? null;
}

export async function saveProjectSettings(
  database: OpenDatabase,
  project: string,
  settings: string | null,
): Promise<void> {
  const now = Math.round(database.clock.now());
  const put = await database.attempt((sql) => ask(sql, PUT, [project, now, settings]));
  if (put.length > 0) return;
  const [found] = await database.attempt((sql) => ask<{ uid: string }>(sql, READ_UID, [project]));
  throw sumiError('project-deleted', { project, id: found?.uid ?? '' });
}
