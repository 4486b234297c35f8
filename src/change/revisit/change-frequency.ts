/**
 * The numbers of the rules `score` and `bands`: the moving average of changes a day, the priority score, and the fixed
 * intervals. No change counts as more than 24 a day.
 */
import { MOST_CHANGES_A_DAY } from '../visit-record.ts';

const NEW_WEIGHT = 0.3;

/** The average moves only when a change is seen, towards one change in the days since the last visit. */
export function changeFrequencyAfter(frequency: number, isChanged: boolean, elapsedDays: number): number {
  // Times are kept in seconds, so two visits may have the same.
  if (!isChanged || !(elapsedDays >= 0)) return frequency;
  const seen = Math.min(1 / elapsedDays, MOST_CHANGES_A_DAY);
  return NEW_WEIGHT * seen + (1 - NEW_WEIGHT) * Math.min(frequency, MOST_CHANGES_A_DAY);
}

/** What a day of waiting adds to the score. */
export const SCORE_A_DAY = 0.4;
/** Never visited, or named by a sitemap as newer than the last visit: before all other pages. */
const FIRST_BONUS = 100;

/** The part of the score that does not change with time. */
export function standingScore(frequency: number, depth: number, isFirst: boolean): number {
  return changesPart(frequency) + depthPart(depth) + (isFirst ? FIRST_BONUS : 0);
}

const changesPart = (frequency: number) => frequency * 10 * 0.4;
const depthPart = (depth: number) => (1 / (depth + 1)) * 0.2;

/** The parts of the score. */
export interface ScoreParts {
  changes: number;
  waiting: number;
  depth: number;
  /** Never visited, or named as newer by a sitemap. */
  first: number;
}

/** The priority score; days since the last visit, 0 for a page that was never visited. */
export function scoreParts(frequency: number, depth: number, days: number, isFirst: boolean): ScoreParts {
  return {
    changes: changesPart(frequency),
    waiting: days * SCORE_A_DAY,
    depth: depthPart(depth),
    first: isFirst ? FIRST_BONUS : 0,
  };
}

export function sumOfParts({ changes, waiting, depth, first }: ScoreParts): number {
  return changes + waiting + depth + first;
}

/** The interval in days. If a band is a span, the page's own rhythm within the span. */
export function bandInterval(frequency: number): number {
  if (frequency < 0.1) return frequency > 0 ? 7 : 30;
  if (frequency < 0.5) return Math.min(Math.max(1 / frequency, 2), 7);
  if (frequency < 2) return 1;
  if (frequency < 10) return Math.min(1 / frequency, 0.5);
  return 1 / 24;
}

/** The name of the band. */
export function bandName(frequency: number): string {
  if (frequency < 0.1) return frequency > 0 ? 'rarely changes' : 'static';
  if (frequency < 0.5) return 'occasionally changes';
  if (frequency < 2) return 'regularly updated';
  return frequency < 10 ? 'frequently updated' : 'very dynamic';
}
