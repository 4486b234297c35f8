/** Giving up: waiting pages of a host, or of the whole project, get their state for the rest of the run. */
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import type { HostLease } from '../host-port.ts';
import { giveBackAnswer } from '../kept-answer.ts';
import { countWaiting, lockQueues, newEffects, writeWaiting } from './effects.ts';
import { openRedirectBook } from './redirects.ts';
import { ask, holds, type Session, transaction } from './session.ts';

interface ClosedRow {
  id: number;
  hops: number;
  /** As stored: what was known of the page before, if anything was. */
  state: PageStateCode;
  reason: string | null;
  isLeftOut: boolean;
}

const { Queued, Fetching } = PAGE_STATES;
const LOCK_HOST = 'SELECT 1 FROM host WHERE id = $1 AND fence = $2 FOR NO KEY UPDATE';
const CLOSE_QUEUE = `
INSERT INTO host_queue (project_id, host_id, closed_state, closed_reason, leased_until)
SELECT $1, id, $3, $4, COALESCE(lease_until, 0) FROM host WHERE id = $2
ON CONFLICT (host_id, project_id) DO UPDATE SET closed_state = excluded.closed_state,
  closed_reason = excluded.closed_reason`;
const closePages = (assignments: string, isLeftOut: string) => `
UPDATE url SET ${assignments} WHERE project_id = $1 AND host_id = $2 AND state = ${Queued}
RETURNING id, hops, state, reason, ${isLeftOut} AS "isLeftOut"`;
const GIVEN_BACK = giveBackAnswer({ state: '$3', reason: '$4::text', run: '$5' });
const CLOSE_PAGES = closePages(GIVEN_BACK, 'known_state IS NOT NULL');
const MARK_PAGES = closePages('state = $3, reason = $4, retry_at = NULL', 'false');

export async function closeHost(
  session: Session,
  lease: HostLease,
  state: PageStateCode,
  reason: string,
  marksKnown = false,
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
    const closing = [projectId, lease.hostId, state, reason];
    const rows = marksKnown
      ? await ask<ClosedRow>(tx, MARK_PAGES, closing)
      : await ask<ClosedRow>(tx, CLOSE_PAGES, [...closing, session.runId]);
    const leftOut = rows.filter(({ isLeftOut }) => isLeftOut).length;
    if (leftOut > 0) await ask(tx, COUNT_LEFT_OUT, [session.runId, leftOut]);
    const ends = rows.filter(({ hops }) => hops > 0);
    if (ends.length > 0) {
      const book = await openRedirectBook(
        tx,
        ends.map(({ id }) => id),
      );
      for (const row of ends) book.settled(row.id, row.state, row.reason);
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
WITH closed AS (UPDATE url SET ${giveBackAnswer({ state: '$2', reason: '$3::text', run: '$4' })}
  WHERE project_id = $1 AND state = ${Queued} RETURNING host_id, known_state IS NOT NULL AS is_left_out),
  counted AS (SELECT host_id, count(*)::int AS n, count(*) FILTER (WHERE is_left_out)::int AS left_out
    FROM closed GROUP BY host_id)
SELECT host_id AS "hostId", n, left_out AS "leftOut" FROM counted`;
const COUNT_LEFT_OUT = 'UPDATE run SET left_out = left_out + $2 WHERE id = $1';

const IS_SHARED = 'SELECT 1 FROM worker WHERE run_id = $1 AND id <> $2 LIMIT 1';
// In flight at another worker, or closed by one.
const LEFT_BY_OTHERS = `
SELECT (SELECT count(*)::int FROM url WHERE project_id = $1 AND state = ${Fetching}) + closed_pages AS n FROM run WHERE id = $2`;
const NOTE_CLOSED = `
UPDATE run SET closed_pages = closed_pages + $2, left_out = left_out + $3 WHERE id = $1`;

export async function closeWaiting(session: Session, state: PageStateCode, reason: string): Promise<number> {
  checkTransition('closed', Queued, state);
  session.window.touch();
  await session.window.flush();
  const closed = await transaction(session, async (tx) => {
    const effects = newEffects();
    const closing = [session.projectId, state, reason, session.runId];
    const rows = await ask<{ hostId: number; n: number; leftOut: number }>(tx, CLOSE_ALL, closing);
    for (const { hostId, n } of rows) countWaiting(effects, hostId, -n);
    await lockQueues(tx, effects, []);
    await writeWaiting(tx, session, effects);
    const sum = rows.reduce((all, { n }) => all + n, 0);
    const known = rows.reduce((all, { leftOut }) => all + leftOut, 0);
    if (sum > 0) await ask(tx, NOTE_CLOSED, [session.runId, sum, known]);
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
