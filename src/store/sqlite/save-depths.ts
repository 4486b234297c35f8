/** Depths per origin (page_depth): the project's old ones are replaced as one. */
import type { DepthBatch } from '../run-port.ts';
import type { OpenFile } from './session.ts';

export function saveDepths(
  { db, window }: OpenFile,
  projectId: number,
  origins: readonly string[],
  batches: Iterable<DepthBatch>,
): void {
  db.prepare('DELETE FROM page_depth WHERE page_id IN (SELECT id FROM url WHERE project_id = ?)').run(
    projectId,
  );
  db.prepare('DELETE FROM origin WHERE project_id = ?').run(projectId);
  const addOrigin = db.prepare('INSERT INTO origin VALUES (?, ?, ?)');
  for (const [number, name] of origins.entries()) addOrigin.run(projectId, number, name);
  const add = db.prepare('INSERT INTO page_depth VALUES (?, ?, ?)');
  for (const { count, pageIds, origins: numbers, depths } of batches)
    for (let i = 0; i < count; i++) add.run(pageIds[i], numbers[i], depths[i]);
  window.commit();
}
