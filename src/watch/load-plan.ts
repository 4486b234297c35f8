/**
 * Loads the plan of revisits of a project: the saved plan, then every visit since. The history of visits is the truth,
 * the saved plan only a checkpoint. Pages are read twice, in batches: before the visits and after them. To keep them in
 * memory in between would need more memory than the plan.
 */
import { createRevisitPlan } from '../change/revisit/create-revisit-plan.ts';
import type { RevisitKind } from '../change/revisit/revisit-plan.ts';
import type { ReadSide } from '../store/read-side.ts';
import { PlanBook } from './plan-book.ts';
import { planFor, type WatchState } from './watch-state.ts';

export interface PlanOptions {
  kind: RevisitKind;
  visitsPerDay: number;
  random: () => number;
}

/** A plan that is loaded for every tick (`--once`) never gets around all pages, so it learns from all of them once a day. */
const RELEARN_MS = 86_400_000;

export async function loadPlan(
  side: ReadSide,
  projectId: number,
  saved: { state: WatchState | null; learnedRun: number },
  options: PlanOptions,
  now: number,
): Promise<{ book: PlanBook; relearnedAt: number }> {
  const { state } = saved;
  const last = await side.lastRun(projectId);
  // Times in the future become this time. Visits that are not learned yet must stay later than those that are.
  const isUnlearned = last !== null && last.run > saved.learnedRun;
  const learnedBy = isUnlearned ? Math.min(Date.parse(last.started_at), now) : now;
  const plan = createRevisitPlan({ ...options, saved: planFor(state, options.kind) });
  const book = new PlanBook(plan, projectId, saved.learnedRun, state);
  for await (const rows of side.revisitPages(projectId)) book.add(rows, learnedBy);
  await book.learn(side, now, true);
  for await (const rows of side.revisitPages(projectId)) {
    for (const { pageId, visitedAt, sitemapDate, flags } of rows) {
      const page = book.pageOf(pageId);
      if (page === -1) continue;
      if (visitedAt !== null && flags === 0) book.assumeVisit(page, visitedAt, now);
      if (sitemapDate !== null) book.signal(pageId, sitemapDate, state?.signalsReadAt ?? 0, now);
    }
  }
  const relearnedAt = state?.relearnedAt ?? 0;
  if (now - relearnedAt < RELEARN_MS) return { book, relearnedAt };
  plan.relearn(now);
  return { book, relearnedAt: now };
}
