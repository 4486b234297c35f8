import { expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { isOpen, nextClosed, nextOpen, stopAtClosing } from './open-hours.ts';

const HOUR = 3_600_000;
/** Local midnight: hours of the day are the machine's. */
const START = new Date(2026, 2, 4).getTime();
const NIGHT = { from: 22, to: 6 };

it('go over midnight', () => {
  const open = [0, 5, 6, 12, 21, 22, 23].filter((hour) => isOpen(START + hour * HOUR, NIGHT));
  expect(open).toEqual([0, 5, 22, 23]);
  expect(isOpen(START + 12 * HOUR, { from: 9, to: 17 })).toBe(true);
  expect(isOpen(START + 17 * HOUR, { from: 9, to: 17 })).toBe(false);
});

it('tell when they begin', () => {
  expect(nextOpen(START + 12.5 * HOUR, NIGHT)).toBe(START + 22 * HOUR);
  expect(nextOpen(START + 23 * HOUR, NIGHT)).toBe(START + 23 * HOUR);
  expect(nextOpen(START, null)).toBe(START);
});

it('tell when they end', () => {
  expect(nextClosed(START + 23.5 * HOUR, NIGHT)).toBe(START + 30 * HOUR);
  expect(nextClosed(START + 12 * HOUR, NIGHT)).toBe(START + 12 * HOUR);
  expect(nextClosed(START, null)).toBeNull();
});

it('stop a run when they end, and not before', () => {
  const clock = new FakeClock(START + 4 * HOUR);
  let stops = 0;
  stopAtClosing({ stop: () => void stops++ }, clock, NIGHT);
  for (let minute = 0; minute < 119; minute++) clock.advance(60_000);
  expect(stops).toBe(0);
  clock.advance(60_000);
  expect(stops).toBe(1);
});
