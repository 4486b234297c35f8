/** Giving up: waiting pages of a host, or of the whole project, get their state for the rest of the run. */
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import type { HostLease } from '../host-port.ts';
import { giveBackAnswer } from '../kept-answer.ts';
import { addWaiting, type Session } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';

interface ClosedRow {
  id: number;
  hops: number;
  /** As stored: what was known of the page before, if anything was. */
  state: PageStateCode;
  reason: string | null;
  isLeftOut: number;
}

/** `endChain` tells the redirects that wait for a page how it ended. */
export function createClosing(
  session: Session,
  waiting: WaitingPages,
  isHeld: (lease: HostLease) => boolean,
  endChain: (pageId: number, state: PageStateCode, reason: string | null) => void,
) {
  const { db } = session;
  const giveBack = giveBackAnswer({ state: '@state', reason: '@reason', run: '@run' });
  const closing = (assignments: string, isLeftOut: string) => {
    const closed = `RETURNING id, hops, state, reason, ${isLeftOut} AS isLeftOut`;
    return {
      page: db.prepare(`UPDATE url SET ${assignments} WHERE id = @page AND state = 1 ${closed}`),
      retries: db.prepare(
        `UPDATE url SET ${assignments}
         WHERE project_id = @project AND host_id = @host AND state = 1 AND retry_at IS NOT NULL ${closed}`,
      ),
    };
  };
  const closeAndGiveBack = closing(giveBack, 'known_state IS NOT NULL');
  const closeAndMark = closing('state = @state, reason = @reason, retry_at = NULL', '0');
  const closeHostQueue = db.prepare(
    `INSERT INTO host_queue (project_id, host_id, closed_state, closed_reason) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET closed_state = excluded.closed_state, closed_reason = excluded.closed_reason`,
  );
  const closeAllWaiting = (which: string) =>
    db.prepare(
      `UPDATE url SET ${giveBack} WHERE project_id = @project AND state = 1 AND known_state IS ${which}`,
    );
  const closeKnown = closeAllWaiting('NOT NULL');
  const closeNew = closeAllWaiting('NULL');
  const countLeftOut = db.prepare('UPDATE run SET left_out = left_out + ? WHERE id = ?');
  const forgetWaiting = db.prepare('UPDATE host_queue SET waiting = 0 WHERE project_id = ?');

  return {
    closeHost(lease: HostLease, state: PageStateCode, reason: string, marksKnown = false): number {
      checkTransition('closed', PAGE_STATES.Queued, state);
      if (!isHeld(lease)) return 0;
      lease.closed = { state, reason };
      closeHostQueue.run(session.projectId, lease.hostId, state, reason);
      session.rows.flush();
      const given = { state, reason, run: session.runId };
      const { projectId: project } = session;
      const close = marksKnown ? closeAndMark : closeAndGiveBack;
      const values = marksKnown ? { state, reason } : given;
      const closed = close.retries.all({ ...values, project, host: lease.hostId }) as ClosedRow[];
      for (const page of waiting.ids(lease.hostId))
        closed.push(...(close.page.all({ ...values, page }) as ClosedRow[]));
      waiting.clear(lease.hostId);
      for (const row of closed) if (row.hops > 0) endChain(row.id, row.state, row.reason);
      const leftOut = closed.reduce((sum, row) => sum + row.isLeftOut, 0);
      if (leftOut > 0) countLeftOut.run(leftOut, session.runId);
      addWaiting(session, lease.hostId, -closed.length);
      session.window.touch();
      return closed.length;
    },

    closeWaiting(state: PageStateCode, reason: string): number {
      checkTransition('closed', PAGE_STATES.Queued, state);
      session.window.commit();
      const given = { state, reason, run: session.runId, project: session.projectId };
      const leftOut = closeKnown.run(given).changes;
      const closed = leftOut + closeNew.run(given).changes;
      countLeftOut.run(leftOut, session.runId);
      forgetWaiting.run(session.projectId);
      waiting.clear();
      session.waiting = 0;
      session.window.commit();
      return closed;
    },
  };
}
