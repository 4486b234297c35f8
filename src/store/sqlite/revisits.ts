/** What a plan of revisits learned, kept as one: a row a page, and the plan itself with its project. */
import type { KeptPlan, RevisitBatch } from '../revisit-batch.ts';
import type { OpenFile } from './session.ts';

export function saveRevisits(
  { db, window }: OpenFile,
  project: string,
  batch: RevisitBatch,
  { plan, learnedRun, before }: KeptPlan,
): boolean {
  // Others may read this file, but nobody else writes to it.
  const { changes } = db
    .prepare(
      'UPDATE project SET revisit_plan = ?, learned_run = ? WHERE name = ? AND (? OR revisit_plan IS ?)',
    )
    .run(plan, learnedRun, project, before === undefined ? 1 : 0, before ?? null);
  if (changes === 0) return false;
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
  window.commit();
  return true;
}
