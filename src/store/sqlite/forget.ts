/** History is dropped by its age; what pages are now is no history. */
import type { Session } from './session.ts';

export function forget(
  { db, window }: Session,
  project: string | null,
  before: number,
): { visits: number; changes: number } {
  window.commit();
  const drop = (table: string) =>
    db
      .prepare(
        `DELETE FROM ${table} WHERE visited_at < @before AND run_id IN (SELECT r.id FROM run r
           JOIN project p ON p.id = r.project_id WHERE @project IS NULL OR p.name = @project)`,
      )
      .run({ project, before }).changes;
  const dropped = { visits: drop('visit'), changes: drop('page_change') };
  window.commit();
  return dropped;
}
