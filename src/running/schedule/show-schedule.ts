/** A schedule as doors see it: what is set, and what comes of it. */
import type { Schedule } from '../schedule-verbs.ts';
import { UNSET } from './check-schedule.ts';
import { nextBegin, nextBegins } from './next-times.ts';
import { type Known, NOTHING_BEGUN } from './schedule-records.ts';

const NEXT_SHOWN = 5;
const isoOf = (at: number | null) => (at === null ? null : new Date(at).toISOString());

/** `known`: null where none was ever set. */
export function showSchedule(projectUid: string, known: Known | null, now: number): Schedule {
  const { settings, setAt } = known?.schedule.value ?? { settings: UNSET, setAt: null };
  const begun = known?.begun?.value ?? NOTHING_BEGUN;
  const next = settings.enabled ? nextBegins(settings, Math.max(now, setAt ?? 0), NEXT_SHOWN) : [];
  return {
    ...settings,
    project_id: projectUid,
    next_runs: next.map((at) => new Date(at).toISOString()),
    last_run_at: isoOf(begun.lastRunAt),
    updated_at: isoOf(setAt),
    version: known?.schedule.version ?? 0,
  };
}

/** When it begins next; null where nothing is to come. */
export function nextOf(known: Known | null, now: number): number | null {
  if (known === null || !known.schedule.value.settings.enabled) return null;
  const { settings, setAt } = known.schedule.value;
  return nextBegin(settings, Math.max(now, setAt));
}
