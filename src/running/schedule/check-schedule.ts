/** Which settings of a schedule can be used together: everything that is wrong is told at once, by its field. */
import { readBudget } from '../../config/watch-values.ts';
import { type FieldProblem, sumiError } from '../../errors.ts';
import type { ScheduleKind, ScheduleSettings } from '../schedule-verbs.ts';
import { isTimezone, problemOfPattern } from './next-times.ts';

export const UNSET: ScheduleSettings = Object.freeze({
  enabled: false,
  kind: 'daily',
  day_of_week: null,
  day_of_month: null,
  time: '03:00',
  cron: null,
  timezone: 'UTC',
  budget: null,
  mode: null,
  notify_on_changes: false,
  significant: Object.freeze({ new_pages: 5, changed_percent: 10 }),
});

type Timed = 'day_of_week' | 'day_of_month' | 'time' | 'cron' | 'budget';

/** The fields that a kind has; the others of these must be null. */
const FIELDS: Readonly<Record<ScheduleKind, readonly Timed[]>> = {
  daily: ['time'],
  weekly: ['time', 'day_of_week'],
  monthly: ['time', 'day_of_month'],
  cron: ['cron'],
  continuous: ['budget'],
};

/** Null stands for what the project's settings say. */
const MAY_LACK: ReadonlySet<Timed> = new Set<Timed>(['budget']);

const isWhole = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** What is wrong with the value of a field; null: nothing. */
const PROBLEM: Readonly<Record<Timed, (value: never) => string | null>> = {
  day_of_week: (day: number) => (isWhole(day, 0, 6) ? null : 'expected 0 (Sunday) to 6 (Saturday)'),
  day_of_month: (day: number) => (isWhole(day, 1, 28) ? null : 'expected 1 to 28'),
  time: (time: string) =>
    /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(time) ? null : 'expected HH:MM from 00:00 to 23:59',
  cron: (pattern: string) => problemOfPattern(pattern),
  budget: (text: string) =>
    readBudget(text) === null ? 'expected visits a period, such as 500/day or 20/hour' : null,
};

const MOST_CRON_LENGTH = 200;

function problemsOf(settings: ScheduleSettings): FieldProblem[] {
  const { kind, timezone, mode, significant } = settings;
  const problems: FieldProblem[] = [];
  const tell = (pointer: string, detail: string | null) => {
    if (detail !== null)
      problems.push({ pointer, detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.` });
  };
  const fields = FIELDS[kind];
  if (fields === undefined) {
    tell('/kind', `expected one of ${Object.keys(FIELDS).join(', ')}`);
    return problems;
  }
  for (const name of Object.keys(PROBLEM) as Timed[]) {
    const value = settings[name];
    if (!fields.includes(name)) tell(`/${name}`, value === null ? null : `a ${kind} schedule has none`);
    else if (value === null) tell(`/${name}`, MAY_LACK.has(name) ? null : `a ${kind} schedule needs it`);
    else if (typeof value === 'string' && value.length > MOST_CRON_LENGTH)
      tell(`/${name}`, `expected at most ${MOST_CRON_LENGTH} characters`);
    else tell(`/${name}`, PROBLEM[name](value as never));
  }
  if (kind === 'continuous' && mode !== null)
    tell('/mode', 'a continuous schedule has none: it visits pages that have probably changed');
  if (!isTimezone(timezone)) tell('/timezone', 'expected an IANA name, such as Europe/Berlin or UTC');
  if (!isWhole(significant.new_pages, 0, 1_000_000_000))
    tell('/significant/new_pages', 'expected a whole number from 0 on');
  if (!(significant.changed_percent >= 0 && significant.changed_percent <= 100))
    tell('/significant/changed_percent', 'expected 0 to 100');
  return problems;
}

/** Throws `request-invalid`, with every field that is wrong. */
export function checkSchedule(settings: ScheduleSettings): void {
  const errors = problemsOf(settings);
  if (errors.length === 0) return;
  const fields = errors.map(({ pointer }) => pointer.slice(1)).join(', ');
  throw sumiError('request-invalid', { reason: `${fields} cannot be used in this schedule`, errors });
}
