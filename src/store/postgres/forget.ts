/** Old history is dropped, a run at a time, so that no transaction grows with what was kept. Pages stay as they are. */
import { ask, type Session } from './session.ts';

const RUNS = `
SELECT r.id FROM run r JOIN project p ON p.id = r.project_id
WHERE $1::text IS NULL OR p.name = $1 ORDER BY r.id`;
const drop = (table: string) => `
WITH dropped AS (DELETE FROM ${table} WHERE run_id = $1 AND visited_at < $2 RETURNING 1)
SELECT count(*)::int AS n FROM dropped`;
const DROP_VISITS = drop('visit');
const DROP_CHANGES = drop('page_change');

export async function forget(
  session: Session,
  project: string | null,
  before: number,
): Promise<{ visits: number; changes: number }> {
  await session.window.flush();
  const time = Math.round(before);
  const count = async (text: string, runId: number): Promise<number> => {
    const [{ n }] = await session.attempt((sql) => ask<{ n: number }>(sql, text, [runId, time]));
    return n;
  };
  const total = { visits: 0, changes: 0 };
  for (const { id } of await session.attempt((sql) => ask<{ id: number }>(sql, RUNS, [project]))) {
    total.changes += await count(DROP_CHANGES, id);
    total.visits += await count(DROP_VISITS, id);
  }
  return total;
}
