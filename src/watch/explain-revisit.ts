/**
 * Why and when a page is visited again, by the plan of its project. The plan of this one page is made from what a watch
 * saved and the visits since then; other pages are not loaded. If no watch has set a price yet, all pages are loaded, as
 * the first tick of `sumi watch` does. Nothing is written.
 */
import type { ScoreParts } from '../change/revisit/change-frequency.ts';
import { createRevisitPlan } from '../change/revisit/create-revisit-plan.ts';
import type { RevisitKind, RevisitPlan } from '../change/revisit/revisit-plan.ts';
import { parseHttpDate } from '../parse/http-date.ts';
import type { ReadSide, RevisitPage, VisitRow } from '../store/read-side.ts';
import { type ForeseenVisit, foreseeVisit } from './foresee-visit.ts';
import { loadPlan } from './load-plan.ts';
import { findingOf, isLearnedFailure, PlanBook } from './plan-book.ts';
import { planFor, readState, type WatchState } from './watch-state.ts';
import { isAtWork } from './watcher.ts';

export interface RevisitExplanation {
  rule: RevisitKind;
  /** Expected changes a day. */
  rate_per_day: number;
  /** Days between visits. */
  interval_days: number | null;
  /** In the past: it is due. Null for a page that is gone. */
  next_visit: string | null;
  /** From 0 to 1; null for a page never read. */
  chance_changed: number | null;
  score: number | null;
  /** What the score is the sum of. */
  score_parts: ScoreParts | null;
  band: string | null;
  /** Newer date of a sitemap since the last visit. */
  is_signalled: boolean;
  /** Whether the project has been watched. */
  is_watched: boolean;
  /** The budget that interval and next visit were computed with; null if a watch used its own, or none is needed. */
  visits_per_day: number | null;
  /** What the running watch will do; null if none runs, or if another rule was asked about. */
  watch: ForeseenVisit | null;
}

/** What is asked for. */
export interface RevisitQuestion {
  page: { id: number; projectId: number };
  visits: readonly VisitRow[];
  now: number;
  /** As if the project were watched by that rule; undefined: by the one it is watched by. */
  kind: RevisitKind | undefined;
  /** What a watch might spend. */
  visitsPerDay: number;
}

/** Null for a page that is not visited again by itself. */
export async function explainRevisit(
  side: ReadSide,
  question: RevisitQuestion,
): Promise<RevisitExplanation | null> {
  const { page, now, visitsPerDay } = question;
  const { plan: text, learnedRun } = await side.revisitPlan(page.projectId);
  const state = learnedRun > 0 ? readState(text) : null;
  const rule = question.kind ?? state?.kind ?? 'value';
  const isPriced = rule === 'bands' || (planFor(state, rule)?.price ?? null) !== null;
  const saved = { state, learnedRun };
  const { plan, number } = isPriced
    ? await planOfPage(side, question, rule, saved)
    : await planOfAll(side, question, rule, saved);
  if (number === -1) return null;
  const isForeseen = rule === state?.kind && isAtWork(state.watcher, now);
  const { ratePerDay, intervalDays, nextVisit, chanceChanged, score, scoreParts, band } = plan.explain(
    number,
    now,
  );
  return {
    rule,
    rate_per_day: ratePerDay,
    interval_days: intervalDays,
    next_visit: nextVisit === null ? null : new Date(Math.round(nextVisit)).toISOString(),
    chance_changed: chanceChanged,
    score,
    score_parts: scoreParts,
    band,
    is_signalled: plan.isSignalled(number),
    is_watched: state !== null,
    visits_per_day: isPriced ? null : visitsPerDay,
    watch: isForeseen ? await foreseeVisit(side, { page, now, state: state!, learnedRun }) : null,
  };
}

interface SavedState {
  state: WatchState | null;
  learnedRun: number;
}

async function planOfPage(
  side: ReadSide,
  { page, visits, now }: RevisitQuestion,
  kind: RevisitKind,
  { state, learnedRun }: SavedState,
): Promise<{ plan: RevisitPlan; number: number }> {
  const plan = createRevisitPlan({ kind, visitsPerDay: 1, random: () => 0, saved: planFor(state, kind) });
  const book = new PlanBook(plan, page.projectId, learnedRun, state);
  let row: RevisitPage | undefined;
  for await (const rows of side.revisitPages(page.projectId, page.id)) {
    book.add(rows, now);
    row = rows[0];
  }
  const number = book.pageOf(page.id);
  if (row === undefined || number === -1) return { plan, number };
  for (const visit of visits) {
    const visitedAt = Date.parse(visit.visited_at);
    const { run, outcome, known_by: knownBy, status_code: statusCode } = visit;
    if (run <= learnedRun || visitedAt <= plan.lastVisit(number)) continue;
    if (isLearnedFailure({ run, outcome, visitedAt }, state?.learnedPart)) continue;
    const modified = visit.last_modified === null ? null : parseHttpDate(visit.last_modified, visitedAt);
    plan.replay(number, findingOf({ outcome, knownBy, statusCode }), visitedAt, modified ?? undefined);
  }
  if (row.visitedAt !== null && row.flags === 0) book.assumeVisit(number, row.visitedAt, now);
  if (row.sitemapDate !== null) book.signal(page.id, row.sitemapDate, state?.signalsReadAt ?? 0, now);
  return { plan, number };
}

/** Loads all pages and all visits, as a watch does at its start: 64 bytes a page. */
async function planOfAll(
  side: ReadSide,
  { page, now, visitsPerDay }: RevisitQuestion,
  kind: RevisitKind,
  { state, learnedRun }: SavedState,
): Promise<{ plan: RevisitPlan; number: number }> {
  const unlearned = state === null ? null : { ...state, relearnedAt: 0 };
  const { book } = await loadPlan(
    side,
    page.projectId,
    { state: unlearned, learnedRun },
    { kind, visitsPerDay, random: evenly() },
    now,
  );
  return { plan: book.plan, number: book.pageOf(page.id) };
}

/** Spread over 0 to 1 without chance, so that the same question has the same answer. */
export function evenly(): () => number {
  let drawn = 0;
  return () => (++drawn * 0.618_033_988_749_894_9) % 1;
}
