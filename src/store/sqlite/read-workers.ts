/** Who crawls into the file now: at most one process, and only while it lives. */
import { hostname } from 'node:os';
import type { Database } from 'better-sqlite3';
import { isAlive } from '../../primitives/process-life.ts';
import { MARK_KINDS } from '../host-port.ts';
import type { WorkerRow } from '../read-rows.ts';

interface Held {
  run: number;
  project: string;
  startedMs: number;
  seenMs: number;
  pages: number;
  hosts: number;
  owner: string | null;
}

export async function* workersOf(db: Database): AsyncGenerator<WorkerRow> {
  const pid = db.prepare("SELECT value FROM meta WHERE key = 'holder'").pluck().get();
  if (typeof pid !== 'number' || !isAlive(pid)) return;
  const held = db
    .prepare(
      `SELECT r.id AS run, p.name AS project, r.started_at AS startedMs, r.pages,
         COALESCE((SELECT max(q.ended_at) FROM request q WHERE q.run_id = r.id AND q.kind NOT IN ${MARK_KINDS}), r.started_at) AS seenMs,
         (SELECT count(*) FROM host WHERE lease_owner IS NOT NULL) AS hosts,
         (SELECT lease_owner FROM host WHERE lease_owner IS NOT NULL LIMIT 1) AS owner
       FROM run r JOIN project p ON p.id = r.project_id WHERE r.status = 'running' ORDER BY r.id DESC LIMIT 1`,
    )
    .get() as Held | undefined;
  if (held === undefined) return;
  const seconds = (held.seenMs - held.startedMs) / 1000;
  const process = `${hostname()}:${pid}`;
  yield {
    worker: held.owner ?? process,
    process,
    run: held.run,
    project: held.project,
    started_at: new Date(held.startedMs).toISOString(),
    seen_at: new Date(held.seenMs).toISOString(),
    state: 'alive',
    hosts: held.hosts,
    pages: held.pages,
    pages_per_second: seconds > 0 ? Math.round((held.pages / seconds) * 10) / 10 : 0,
  };
}
