/** Revisit plans of pages that are alike, for tests of the rules. */
import { createRevisitPlan, type RevisitPlanOptions } from '../../src/change/revisit/create-revisit-plan.ts';
import type { PageStates, RevisitKind, RevisitPlan } from '../../src/change/revisit/revisit-plan.ts';
import { seededRandom } from '../seeded-random.ts';

export const DAY = 86_400_000;
export const START = Date.UTC(2024, 0, 1);
export const at = (days: number) => START + days * DAY;

export function planOf(kind: RevisitKind, options: Partial<RevisitPlanOptions> = {}): RevisitPlan {
  return createRevisitPlan({ kind, visitsPerDay: 10, random: seededRandom(1).next, ...options });
}

/** Pages alike, each visited once at the start. */
export function visitedPages(count: number, differences: Partial<PageStates> = {}): PageStates {
  const all = (value: number) => new Float64Array(count).fill(value);
  return { host: all(0), weight: all(1), depth: all(0), lastVisit: all(START), ...differences };
}
