/** Known pages are queued again, whatever became of them; pages in flight stay with their holder. */
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import { keepAnswer } from '../kept-answer.ts';
import { addWaiting, type Session } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';

const { Queued, Fetching } = PAGE_STATES;

interface KnownRow {
  host_id: number;
  state: PageStateCode;
  retry_at: number | null;
  hops: number;
  left_run: number | null;
}

export function createRequeue(session: Session, waiting: WaitingPages) {
  const { db } = session;
  const read = db.prepare(
    'SELECT host_id, state, retry_at, hops, left_run FROM url WHERE id = ? AND project_id = ?',
  );
  const setPriority = db.prepare('UPDATE url SET priority = ? WHERE id = ?');
  const setQueued = db.prepare(
    `UPDATE url SET ${keepAnswer('@run')}, state = ${Queued}, priority = @priority, reason = NULL, attempts = 0,
       retry_at = NULL, hops = 0 WHERE id = @page`,
  );
  const countBack = db.prepare('UPDATE run SET left_out = left_out - 1 WHERE id = ?');
  const forgetRedirects = db.prepare('DELETE FROM redirect_wait WHERE target_id = ?');

  function requeuePage(pageId: number, priority: number): boolean {
    const row = read.get(pageId, session.projectId) as KnownRow | undefined;
    if (row === undefined || row.state === Fetching) return false;
    if (row.state === Queued) {
      setPriority.run(priority, pageId);
      // A retry is found by its time.
      if (row.retry_at !== null) return true;
    } else {
      checkTransition('reconsidered', row.state, Queued);
      setQueued.run({ run: session.runId, priority, page: pageId });
      if (row.left_run === session.runId) countBack.run(session.runId);
      if (row.hops > 0) forgetRedirects.run(pageId);
      addWaiting(session, row.host_id, 1);
    }
    // Where the page stands in the queue already, the better place is found first and the other one passed over.
    waiting.add(row.host_id, priority, pageId);
    return true;
  }

  return (pageIds: readonly number[], priority: number): number => {
    session.rows.flush();
    let queued = 0;
    for (const pageId of pageIds) if (requeuePage(pageId, priority)) queued++;
    // What waits now may have been visited before, also in a project's first run.
    if (queued > 0) session.isFirstRun = false;
    session.window.commit();
    return queued;
  };
}
