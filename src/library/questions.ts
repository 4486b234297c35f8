/** What programs ask of a store: the use cases of every door, with the time of the question and defaults filled in. */
import { OPTIONS } from '../config/option-table.ts';
import { readRate } from '../config/watch-values.ts';
import type { WhichRuns } from '../project/choose-runs.ts';
import { compareTwoRuns, type Differences } from '../project/compare-two-runs.ts';
import { type DrawnMap, drawMap, readMap } from '../project/draw-map.ts';
import { drawReport } from '../project/draw-report.ts';
import { type Explanation, explainUrl, type WhyQuestion } from '../project/explain-page.ts';
import {
  type Changes,
  type ChangesQuestion,
  listChanges,
  listPageHistory,
  type PageHistory,
} from '../project/list-changes.ts';
import type { Reading } from '../project/reading.ts';

export interface WhyOptions {
  /** As if the project were watched by this rule. */
  readonly revisit?: WhyQuestion['kind'];
  /** As if a watch had so many visits. */
  readonly visitsPerDay?: number;
}

/** One explanation for each project that knows the URL, in any spelling. */
export async function why(reading: Reading, url: string, options: WhyOptions = {}): Promise<Explanation[]> {
  const { revisit: kind, visitsPerDay = readRate(String(OPTIONS.budget.default))! } = options;
  return await explainUrl(reading, url, { now: Date.now(), kind, visitsPerDay });
}

export type WhichChanges = WhichRuns & Pick<ChangesQuestion, 'isWhole' | 'isByRun' | 'limit'>;

/** What changed: in the last run, unless said. */
export async function changes(reading: Reading, which: WhichChanges = {}): Promise<Changes> {
  return await listChanges(reading, { ...which, now: Date.now() });
}

/** All visits of a page, and what each found. */
export async function pageHistory(
  reading: Reading,
  url: string,
  which: Pick<WhichChanges, 'run' | 'afterRun' | 'sinceMs' | 'limit'> = {},
): Promise<PageHistory> {
  return await listPageHistory(reading, url, { ...which, now: Date.now() });
}

/** The pages after one run and after another. */
export async function compare(
  reading: Reading,
  run: number,
  other: number,
  options: { readonly limit?: number } = {},
): Promise<Differences> {
  return await compareTwoRuns(reading, [run, other], options.limit);
}

/** The history of a project in pictures, or that of one run and what led to it, as a page that opens from disk. */
export async function reportPage(reading: Reading, run?: number): Promise<string> {
  return await drawReport(reading, run, Date.now());
}

/** A stored map as a page that opens from disk. */
export async function mapPage(
  reading: Reading,
  options: { readonly subject?: DrawnMap['subject'] } = {},
): Promise<string> {
  return (await drawMap(reading, { ...options, now: Date.now() })).page;
}

/** The numbers of a stored map. */
export async function mapFigures(
  reading: Reading,
  project: string,
): Promise<Awaited<ReturnType<typeof readMap>>['figures']> {
  return (await readMap(reading, project, Date.now())).figures;
}
