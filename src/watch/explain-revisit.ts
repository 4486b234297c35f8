/**
 * Why and when a page is visited again, by the plan of its project: worked out for this one page from what is saved and
 * the visits since, without loading the others. It changes nothing.
 */
import { createRevisitPlan } from '../change/revisit/create-revisit-plan.ts';
import type { RevisitKind } from '../change/revisit/revisit-plan.ts';
import { parseHttpDate } from '../parse/http-date.ts';
import type { HistoryRow, ReadSide } from '../store/read-side.ts';
import { findingOf, PlanBook } from './plan-book.ts';
import { readState } from './watch-state.ts';

export interface RevisitExplanation {
  rule: RevisitKind;
  /** Expected changes a day. */
  rate_per_day: number;
  /** Days between visits; null where no watch has priced a visit yet, or the rule is an order only. */
  interval_days: number | null;
  next_visit: string | null;
  /** From 0 to 1; null for a page never read. */
  chance_changed: number | null;
  score: number | null;
  band: string | null;
  /** Newer date of a sitemap since the last visit. */
  is_signalled: boolean;
  /** Whether the project has been watched: else rates follow from this page's own visits and what is usual. */
  is_watched: boolean;
}

/** Null for a page that is not visited again by itself. `kind`: as if the project were watched by that rule. */
export async function explainRevisit(
  side: ReadSide,
  page: { id: number; projectId: number },
  history: readonly HistoryRow[],
  now: number,
  kind?: RevisitKind,
): Promise<RevisitExplanation | null> {
  const { plan: text, learnedRun } = await side.revisitPlan(page.projectId);
  const state = readState(text);
  const isWatched = state !== null && learnedRun > 0;
  const rule = kind ?? state?.kind ?? 'value';
  const plan = createRevisitPlan({
    kind: rule,
    visitsPerDay: 1,
    random: () => 0,
    ...(isWatched && { saved: state.plan }),
  });
  const book = new PlanBook(plan, page.projectId, learnedRun, isWatched ? state.hostIds : []);
  let date: number | null = null;
  for await (const rows of side.revisitPages(page.projectId, page.id)) {
    book.add(rows, now);
    date = rows[0]?.sitemapDate ?? null;
  }
  const number = book.pageOf(page.id);
  if (number === -1) return null;
  for (const visit of history) {
    const visitedAt = Date.parse(visit.visited_at);
    if (visit.run <= learnedRun || visitedAt <= plan.lastVisit(number)) continue;
    const modified = visit.last_modified === null ? null : parseHttpDate(visit.last_modified, visitedAt);
    const { outcome, known_by: knownBy, status_code: statusCode } = visit;
    plan.replay(number, findingOf({ outcome, knownBy, statusCode }), visitedAt, modified ?? undefined);
  }
  if (date !== null) book.signal(page.id, date, state?.signalsReadAt ?? 0, now);
  const { ratePerDay, intervalDays, nextVisit, chanceChanged, score, band } = plan.explain(number, now);
  return {
    rule,
    rate_per_day: ratePerDay,
    interval_days: intervalDays,
    next_visit: nextVisit === null ? null : new Date(nextVisit).toISOString(),
    chance_changed: chanceChanged,
    score,
    band,
    is_signalled: plan.isSignalled(number),
    is_watched: isWatched,
  };
}
