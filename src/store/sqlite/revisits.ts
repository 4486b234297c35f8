/** What a plan of revisits learned, kept as one: a row a page, and the plan itself with its project. */
import type { RevisitBatch } from '../port.ts';
import type { Session } from './session.ts';

export function saveRevisits(
  { db, window }: Session,
  project: string,
  batch: RevisitBatch,
  plan: string,
  learnedRun: number,
): void {
  const put = db.prepare('INSERT OR REPLACE INTO revisit VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const [i, pageId] of batch.pageIds.entries()) {
    const learnedAt = batch.learnedAt[i];
    put.run(
      pageId,
      Number.isNaN(learnedAt) ? null : Math.round(learnedAt),
      batch.rateShape[i],
      batch.rateDays[i],
      batch.signals[i],
      batch.signalsInAll[i],
      batch.flags[i],
    );
  }
  db.prepare('UPDATE project SET revisit_plan = ?, learned_run = ? WHERE name = ?').run(
    plan,
    learnedRun,
    project,
  );
  window.commit();
}
