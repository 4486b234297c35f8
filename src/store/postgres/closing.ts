/** Giving up: waiting pages of a host, or of the whole project, get their state for the rest of the run. */
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import type { HostLease } from '../port.ts';
import { countWaiting, lockQueues, newEffects, writeWaiting } from './effects.ts';
import { openRedirectBook } from './redirects.ts';
import { ask, holds, type Session, transaction } from './session.ts';

interface ClosedRow {
  id: number;
  hops: number;
}

const { Queued, Fetching } = PAGE_STATES;
const LOCK_HOST = 'SELECT 1 FROM host WHERE id = $1 AND fence = $2 FOR NO KEY UPDATE';
const CLOSE_QUEUE = `
INSERT INTO host_queue (project_id, host_id, closed_state, closed_reason, leased_until)
SELECT $1, id, $3, $4, COALESCE(lease_until, 0) FROM host WHERE id = $2
ON CONFLICT (host_id, project_id) DO UPDATE SET closed_state = excluded.closed_state,
  closed_reason = excluded.closed_reason`;
const CLOSE_PAGES = `
UPDATE url SET state = $3, reason = $4, retry_at = NULL
WHERE project_id = $1 AND host_id = $2 AND state = ${Queued} RETURNING id, hops`;

export async function closeHost(
  session: Session,
  lease: HostLease,
  state: PageStateCode,
  reason: string,
): Promise<number> {
  checkTransition('closed', Queued, state);
  const holding = holds(session, lease);
  if (holding === null) return 0;
  // Claims are told first: pages in flight are not closed.
  session.window.touch();
  await session.window.flush();
  const closed = await transaction(session, async (tx) => {
    if ((await ask(tx, LOCK_HOST, [lease.hostId, lease.fence])).length === 0) return null;
    const { projectId } = session;
    const effects = newEffects();
    await lockQueues(tx, effects, [lease.hostId]);
    await ask(tx, CLOSE_QUEUE, [projectId, lease.hostId, state, reason]);
    const rows = await ask<ClosedRow>(tx, CLOSE_PAGES, [projectId, lease.hostId, state, reason]);
    const ends = rows.filter(({ hops }) => hops > 0).map(({ id }) => id);
    if (ends.length > 0) {
      const book = await openRedirectBook(tx, ends);
      for (const id of ends) book.settled(id, state, reason);
      await book.write(tx, effects);
    }
    countWaiting(effects, lease.hostId, -rows.length);
    await writeWaiting(tx, session, effects);
    return rows.length;
  });
  if (closed === null) return 0;
  lease.closed = { state, reason };
  holding.waiting.clear();
  session.waiting -= closed;
  return closed;
}

const CLOSE_ALL = `
WITH closed AS (UPDATE url SET state = $2, reason = $3, retry_at = NULL WHERE project_id = $1 AND state = ${Queued}
  RETURNING host_id),
  counted AS (SELECT host_id, count(*)::int AS n FROM closed GROUP BY host_id)
SELECT host_id AS "hostId", n FROM counted`;

const IS_SHARED = 'SELECT 1 FROM worker WHERE run_id = $1 AND id <> $2 LIMIT 1';
// In flight at another worker, or closed by one.
const LEFT_BY_OTHERS = `
SELECT (SELECT count(*)::int FROM url WHERE project_id = $1 AND state = ${Fetching}) + left_out AS n FROM run WHERE id = $2`;
const NOTE_LEFT_OUT = 'UPDATE run SET left_out = left_out + $2 WHERE id = $1';

export async function closeWaiting(session: Session, state: PageStateCode, reason: string): Promise<number> {
  checkTransition('closed', Queued, state);
  session.window.touch();
  await session.window.flush();
  const closed = await transaction(session, async (tx) => {
    const effects = newEffects();
    const rows = await ask<{ hostId: number; n: number }>(tx, CLOSE_ALL, [session.projectId, state, reason]);
    for (const { hostId, n } of rows) countWaiting(effects, hostId, -n);
    await lockQueues(tx, effects, []);
    await writeWaiting(tx, session, effects);
    const sum = rows.reduce((all, { n }) => all + n, 0);
    if (sum > 0) await ask(tx, NOTE_LEFT_OUT, [session.runId, sum]);
    return sum;
  });
  const leftByOthers = closed > 0 ? 0 : await countLeftByOthers(session);
  for (const { waiting } of session.held.values()) waiting.clear();
  session.waiting = 0;
  return closed + leftByOthers;
}

/** All pages are looked through for those in flight, but only where others took part in the run. */
function countLeftByOthers(session: Session): Promise<number> {
  const { projectId, runId, owner } = session;
  return transaction(session, async (tx) => {
    if ((await ask(tx, IS_SHARED, [runId, owner])).length === 0) return 0;
    const [{ n }] = await ask<{ n: number }>(tx, LEFT_BY_OTHERS, [projectId, runId]);
    return n;
  });
}
