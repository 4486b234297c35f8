/** How often a page changes, in the same words and digits everywhere. Pure text. */
import { showMany } from './terminal-text.ts';

/** Changes a day, three digits. */
export function showRate(perDay: number): string {
  return String(Number(perDay.toPrecision(3)));
}

/** The changes of a page: how many were seen, and the average of changes a day. */
export function describeChanges(page: { changes_detected: number; change_frequency: number }): string {
  const seen =
    page.changes_detected === 0 ? 'no change seen' : `${showMany(page.changes_detected, 'change')} seen`;
  return `${seen}, ${showRate(page.change_frequency)} a day on average`;
}
