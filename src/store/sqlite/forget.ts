/** History is dropped by its age; what pages are now is no history. */

import { MARK_KINDS, REQUEST_KINDS } from '../host-port.ts';
import type { Forgotten } from '../page-tables.ts';
import type { OpenFile } from './session.ts';

const CLEARED = REQUEST_KINDS.indexOf('cleared');
const RUNS = `(SELECT r.id FROM run r JOIN project p ON p.id = r.project_id
  WHERE @project IS NULL OR p.name = @project)`;
/** Marks of earlier times are taken up by the new ones. */
const OLD_REQUESTS = `run_id IN ${RUNS} AND (ended_at < @before OR kind = ${CLEARED})`;

export function forget(file: OpenFile, project: string | null, before: number): Forgotten {
  const { db, window } = file;
  window.commit();
  const drop = (table: string) =>
    db
      .prepare(`DELETE FROM ${table} WHERE visited_at < @before AND run_id IN ${RUNS}`)
      .run({ project, before }).changes;
  const dropped = {
    visits: drop('visit'),
    changes: drop('page_change'),
    requests: dropRequests(file, project, before),
  };
  window.commit();
  return dropped;
}

/** A mark begins with time itself: it says nothing of when the host was asked, and an audit meets it first. */
function dropRequests({ db }: OpenFile, project: string | null, before: number): number {
  const asked = { project, before };
  const last = db.prepare('SELECT max(id) FROM request').pluck().get() ?? 0;
  const requests = db
    .prepare(`SELECT count(*) FROM request WHERE ${OLD_REQUESTS} AND kind NOT IN ${MARK_KINDS}`)
    .pluck()
    .get(asked) as number;
  db.prepare(
    `INSERT INTO request (run_id, host_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
     SELECT max(run_id), host_id, ${CLEARED}, 0, 0, max(max(CASE kind WHEN ${CLEARED} THEN ended_at ELSE 0 END), @before),
       0, 0, 0, 0
     FROM request WHERE ${OLD_REQUESTS} GROUP BY host_id, (SELECT project_id FROM run WHERE id = run_id)`,
  ).run(asked);
  db.prepare(`DELETE FROM request WHERE ${OLD_REQUESTS} AND id <= @last`).run({ ...asked, last });
  return requests;
}
