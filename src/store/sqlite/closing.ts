/** Giving up: waiting pages of a host, or of the whole project, get their state for the rest of the run. */
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import type { HostLease } from '../port.ts';
import { addWaiting, type Session } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';

interface ClosedRow {
  id: number;
  hops: number;
}

/** `endChain` tells the redirects that wait for a page how it ended. */
export function createClosing(
  session: Session,
  waiting: WaitingPages,
  flushRows: () => void,
  isHeld: (lease: HostLease) => boolean,
  endChain: (pageId: number, state: PageStateCode, reason: string | null) => void,
) {
  const { db } = session;
  const closePage = db.prepare(
    'UPDATE url SET state = ?, reason = ?, retry_at = NULL WHERE id = ? AND state = 1 RETURNING id, hops',
  );
  const closeRetries = db.prepare(
    `UPDATE url SET state = ?, reason = ?, retry_at = NULL
     WHERE project_id = ? AND host_id = ? AND state = 1 AND retry_at IS NOT NULL RETURNING id, hops`,
  );
  const closeHostQueue = db.prepare(
    `INSERT INTO host_queue (project_id, host_id, closed_state, closed_reason) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET closed_state = excluded.closed_state, closed_reason = excluded.closed_reason`,
  );
  const closeAllWaiting = db.prepare(
    'UPDATE url SET state = ?, reason = ?, retry_at = NULL WHERE project_id = ? AND state = 1',
  );
  const forgetWaiting = db.prepare('UPDATE host_queue SET waiting = 0 WHERE project_id = ?');

  return {
    closeHost(lease: HostLease, state: PageStateCode, reason: string): number {
      checkTransition('closed', PAGE_STATES.Queued, state);
      if (!isHeld(lease)) return 0;
      lease.closed = { state, reason };
      closeHostQueue.run(session.projectId, lease.hostId, state, reason);
      flushRows();
      const closed = closeRetries.all(state, reason, session.projectId, lease.hostId) as ClosedRow[];
      for (const pageId of waiting.ids(lease.hostId))
        closed.push(...(closePage.all(state, reason, pageId) as ClosedRow[]));
      waiting.clear(lease.hostId);
      for (const { id, hops } of closed) if (hops > 0) endChain(id, state, reason);
      addWaiting(session, lease.hostId, -closed.length);
      session.window.touch();
      return closed.length;
    },

    closeWaiting(state: PageStateCode, reason: string): number {
      checkTransition('closed', PAGE_STATES.Queued, state);
      session.window.commit();
      const closed = closeAllWaiting.run(state, reason, session.projectId).changes;
      forgetWaiting.run(session.projectId);
      waiting.clear();
      session.waiting = 0;
      session.window.commit();
      return closed;
    },
  };
}
