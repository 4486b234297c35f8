/** Who is at work on which run, by the database's clock: a worker's own may be wrong. */
import type { WorkerRow } from '../read-rows.ts';
import type { Sql } from './connection.ts';
import { ask } from './session.ts';
import { iso } from './views.ts';

/** Workers speak up every few seconds; one that has been silent for so long may be gone. */
const ALIVE_MS = 30_000;
const SHOWN_MS = 24 * 3600 * 1000;

export async function* workersOf(sql: Sql): AsyncGenerator<WorkerRow> {
  yield* await ask<WorkerRow>(
    sql,
    `SELECT w.id AS worker, w.process, w.run_id AS run, p.name AS project, ${iso('w.started_at')} AS started_at,
       ${iso('w.seen_at')} AS seen_at, s.state, w.hosts, w.pages,
       CASE WHEN s.state = 'alive' THEN w.pages_per_second ELSE 0 END AS pages_per_second
     FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms) now, worker w
       JOIN run r ON r.id = w.run_id JOIN project p ON p.id = r.project_id
       CROSS JOIN LATERAL (SELECT CASE WHEN w.ended_at IS NOT NULL THEN 'ended'
         WHEN w.seen_at >= now.ms - ${ALIVE_MS} THEN 'alive' ELSE 'late' END AS state) s
     WHERE w.seen_at >= now.ms - ${SHOWN_MS} ORDER BY w.started_at, w.id`,
  );
}
