/** Old history is dropped in pieces, so that no transaction grows with what was kept. Pages stay as they are. */

import { MARK_KINDS, REQUEST_KINDS } from '../host-port.ts';
import type { Forgotten } from '../page-tables.ts';
import { type Attempting, ask } from './session.ts';

const CLEARED = REQUEST_KINDS.indexOf('cleared');
const HOSTS_AT_ONCE = 200;
const RUNS = `
SELECT r.id FROM run r JOIN project p ON p.id = r.project_id
WHERE $1::text IS NULL OR p.name = $1 ORDER BY r.id`;
const drop = (table: string) => `
WITH dropped AS (DELETE FROM ${table} WHERE run_id = $1 AND visited_at < $2 RETURNING 1)
SELECT count(*)::int AS n FROM dropped`;
const DROP_VISITS = drop('visit');
const DROP_CHANGES = drop('page_change');

const NEXT_HOSTS = `
SELECT max(id) AS last FROM (SELECT id FROM host WHERE id > $1 ORDER BY id LIMIT ${HOSTS_AT_ONCE}) h`;
/**
 * Marks of earlier times are taken up by the new ones. A mark begins with time itself: it says nothing of when the host
 * was asked, and an audit meets it first.
 */
const DROP_REQUESTS = `
WITH dropped AS (
  DELETE FROM request WHERE host_id > $1 AND host_id <= $2 AND run_id = ANY($3::int[])
    AND (ended_at < $4 OR kind = ${CLEARED}) RETURNING run_id, host_id, kind, ended_at
), marked AS (
  INSERT INTO request (run_id, host_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
  SELECT max(d.run_id), d.host_id, ${CLEARED}, 0, 0,
    greatest(max(CASE d.kind WHEN ${CLEARED} THEN d.ended_at END), $4), 0, 0, 0, 0
  FROM dropped d JOIN run r ON r.id = d.run_id GROUP BY d.host_id, r.project_id
)
SELECT count(*)::int AS n FROM dropped WHERE kind NOT IN ${MARK_KINDS}`;

export async function forget(
  database: Attempting,
  project: string | null,
  before: number,
): Promise<Forgotten> {
  const time = Math.round(before);
  const count = async (text: string, values: (number | number[])[]): Promise<number> => {
    const [{ n }] = await database.attempt((sql) => ask<{ n: number }>(sql, text, values));
    return n;
  };
  const total = { visits: 0, changes: 0, requests: 0 };
  const runs = (await database.attempt((sql) => ask<{ id: number }>(sql, RUNS, [project]))).map(
    ({ id }) => id,
  );
  for (const id of runs) {
    total.changes += await count(DROP_CHANGES, [id, time]);
    total.visits += await count(DROP_VISITS, [id, time]);
  }
  for (let first = 0; ; ) {
    const [{ last }] = await database.attempt((sql) =>
      ask<{ last: number | null }>(sql, NEXT_HOSTS, [first]),
    );
    if (last === null) return total;
    total.requests += await count(DROP_REQUESTS, [first, last, runs, time]);
    first = last;
  }
}
