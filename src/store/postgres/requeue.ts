/** Known pages are queued again, whatever became of them: what a plan of revisits chose. */
import type { TransactionSql } from 'postgres';
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { keepAnswer } from '../kept-answer.ts';
import { countWaiting, lockQueues, newEffects, writeWaiting } from './effects.ts';
import { ask, type Session, transaction } from './session.ts';
import { notifyWork } from './write-rows.ts';

const BATCH = 5000;
const { Queued, Fetching } = PAGE_STATES;

// One that waits already keeps its tries and its time, and its turn where a chain of redirects waits for it.
const QUEUE = `
WITH wanted AS (SELECT id, host_id, state, hops, left_run FROM url
  WHERE id = ANY($1::int[]) AND project_id = $2 AND state <> ${Fetching} ORDER BY id FOR UPDATE)
UPDATE url u SET ${keepAnswer('$4', 'u.')}, state = ${Queued}, priority = $3,
  rank = CASE WHEN w.state = ${Queued} AND u.hops > 0 THEN least(u.rank, $3) ELSE $3 END,
  attempts = CASE WHEN w.state = ${Queued} THEN u.attempts ELSE 0 END,
  retry_at = CASE WHEN w.state = ${Queued} THEN u.retry_at END, reason = NULL,
  hops = CASE WHEN w.state = ${Queued} THEN u.hops ELSE 0 END
FROM wanted w JOIN host h ON h.id = w.host_id WHERE u.id = w.id AND u.host_id = w.host_id
RETURNING u.id, u.host_id AS "hostId", h.name AS host, w.state AS was, w.hops,
  w.state <> ${Queued} AND w.left_run IS NOT DISTINCT FROM $4 AS "isLeftOut"`;
const COUNT_BACK = 'UPDATE run SET left_out = left_out - $2 WHERE id = $1';

interface QueuedRow {
  id: number;
  hops: number;
  hostId: number;
  host: string;
  was: PageStateCode;
  isLeftOut: boolean;
}

/** Pages in flight are left alone. Answers how many wait at this priority now. */
export async function requeue(
  session: Session,
  pageIds: readonly number[],
  priority: number,
): Promise<number> {
  // Claims are told first: what is in flight here must not be found waiting.
  session.window.touch();
  await session.window.flush();
  let [count, gained] = [0, 0];
  for (let at = 0; at < pageIds.length; at += BATCH) {
    const ids = pageIds.slice(at, at + BATCH);
    const rows = await transaction(session, (tx) => queue(tx, session, ids, priority));
    for (const { hostId, host, was } of rows) {
      // They have visits behind them, which the windows on the queues do not show.
      session.held.get(hostId)?.waiting.clear();
      session.woken.add(host);
      if (was !== Queued) gained++;
    }
    count += rows.length;
  }
  session.isFirstRun = false;
  session.waiting += gained;
  return count;
}

async function queue(
  tx: TransactionSql,
  session: Session,
  ids: readonly number[],
  priority: number,
): Promise<QueuedRow[]> {
  const effects = newEffects();
  const rows = await ask<QueuedRow>(tx, QUEUE, [ids, session.projectId, priority, session.runId]);
  const back = rows.filter(({ isLeftOut }) => isLeftOut).length;
  if (back > 0) await ask(tx, COUNT_BACK, [session.runId, back]);
  for (const { hostId, was } of rows) if (was !== Queued) countWaiting(effects, hostId, 1);
  const waitedFor = rows.filter(({ was, hops }) => was !== Queued && hops > 0).map(({ id }) => id);
  if (waitedFor.length > 0)
    await ask(tx, 'DELETE FROM redirect_wait WHERE target_id = ANY($1::int[])', [waitedFor]);
  await lockQueues(tx, effects, []);
  await writeWaiting(tx, session, effects);
  if (effects.waiting.size > 0) await notifyWork(tx, session);
  return rows;
}
