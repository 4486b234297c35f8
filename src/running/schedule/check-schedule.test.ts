import { describe, expect, it } from 'vitest';
import type { SumiError } from '../../errors.ts';
import type { ScheduleSettings } from '../schedule-verbs.ts';
import { checkSchedule, UNSET } from './check-schedule.ts';

function pointersOf(settings: Partial<ScheduleSettings>): string[] {
  try {
    checkSchedule({ ...UNSET, ...settings });
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'request-invalid', httpStatus: 400 });
    return (error as SumiError).errors.map(({ pointer }) => pointer);
  }
}

describe('a schedule', () => {
  it.each<[string, Partial<ScheduleSettings>]>([
    ['daily', {}],
    ['weekly', { kind: 'weekly', day_of_week: 6 }],
    ['monthly', { kind: 'monthly', day_of_month: 28, timezone: 'Asia/Kathmandu' }],
    ['by a pattern', { kind: 'cron', time: null, cron: '*/10 8-18 * * mon-fri' }],
    ['continuous', { kind: 'continuous', time: null }],
    ['continuous with a budget', { kind: 'continuous', time: null, budget: '500/day' }],
  ])('may be %s', (_, settings) => {
    expect(pointersOf(settings)).toEqual([]);
  });

  it.each<[string[], Partial<ScheduleSettings>]>([
    [['/time'], { time: null }],
    [['/time'], { time: '24:00' }],
    [['/time'], { time: '3:00' }],
    [['/day_of_week'], { day_of_week: 1 }],
    [['/day_of_week'], { kind: 'weekly' }],
    [['/day_of_week'], { kind: 'weekly', day_of_week: 7 }],
    [['/day_of_week', '/day_of_month'], { kind: 'monthly', day_of_month: 29, day_of_week: 0 }],
    [['/time', '/cron'], { kind: 'cron', cron: '61 * * * *' }],
    [['/cron'], { kind: 'cron', time: null, cron: `${'0,'.repeat(200)}0 * * * *` }],
    [['/cron'], { cron: '0 0 * * *' }],
    [['/budget'], { budget: '5/day' }],
    [['/budget', '/mode'], { kind: 'continuous', time: null, budget: 'much', mode: 'full' }],
    [['/timezone'], { timezone: 'Europe/Nowhere' }],
    [
      ['/significant/new_pages', '/significant/changed_percent'],
      { significant: { new_pages: -1, changed_percent: Number.NaN } },
    ],
    [['/kind'], { kind: 'hourly' as never }],
  ])('tells of %j', (pointers, settings) => {
    expect(pointersOf(settings)).toEqual(pointers);
  });
});
