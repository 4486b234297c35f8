/** How a project is to be crawled, kept in its row as JSON; read and written without a run. */
import { ask, type OpenDatabase, type Runner } from './session.ts';

const READ = 'SELECT settings FROM project WHERE name = $1';
const PUT = `
INSERT INTO project (name, created_at, settings) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings`;

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
  await database.attempt((sql) => ask(sql, PUT, [project, now, settings]));
}
