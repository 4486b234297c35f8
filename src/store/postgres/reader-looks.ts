/** Up to where each reader of `sumi changes` has looked, on PostgreSQL. */
import type { ReaderLook } from '../reader-look.ts';
import { type Attempting, ask, type Runner } from './session.ts';

const READ = `SELECT run_id AS run, looked_at AS at FROM reader_look WHERE project_id = $1 AND reader = $2`;
const PUT = `
INSERT INTO reader_look (project_id, reader, run_id, looked_at) SELECT id, $2, $3, $4 FROM project WHERE name = $1
ON CONFLICT (project_id, reader) DO UPDATE SET run_id = excluded.run_id, looked_at = excluded.looked_at`;

export async function readLook(
  runner: Runner,
  projectId: number,
  reader: string,
): Promise<ReaderLook | null> {
  const [row] = await ask<{ run: number; at: number | string }>(runner, READ, [projectId, reader]);
  return row === undefined ? null : { run: row.run, at: Number(row.at) };
}

export async function saveLook(
  database: Attempting,
  project: string,
  reader: string,
  look: ReaderLook,
): Promise<void> {
  await database.attempt((sql) => ask(sql, PUT, [project, reader, look.run, Math.round(look.at)]));
}
