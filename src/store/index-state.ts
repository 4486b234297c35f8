/**
 * Indexes that only lists need, built on demand or at a run's end: who links to a page (`reverse-links`), which words a page
 * has (`full-text`), how many pages have a value or stand in a folder (`sections`), and the orders of pages (`sorts`,
 * which the database keeps by itself once they are made).
 *
 * What an index was built from is told by a mark of the project's runs: their number, the last one, what they counted and
 * when they ended. Whatever writes links or texts is a run that counts a request and ends anew, so that an index whose
 * mark is that of now, while no run is under way, lacks nothing; nothing has to be written by a crawl to say so.
 */
export const INDEX_KINDS = ['reverse-links', 'full-text', 'sections', 'sorts'] as const;
export type IndexKind = (typeof INDEX_KINDS)[number];

/** `worth-it`: at the end of a run; an index that is counted anew waits until enough has changed. Unless said: in any case. */
export type BuildWhen = 'asked' | 'worth-it';

export interface IndexBuilt {
  kind: IndexKind;
  /** Pages of which something was written. */
  pages: number;
  /** False: what was there was brought up to date. */
  isWhole: boolean;
}

/** The project's runs up to one of them. */
export interface RunsMark {
  runs: number;
  last: number;
  pages: number;
  requests: number;
  finished: number;
  running: number;
}

/** Of a project and its runs up to one; texts that both stores take, values as `?`. */
export const RUNS_MARK = `
SELECT count(*) AS runs, COALESCE(max(id), 0) AS last, COALESCE(sum(pages), 0) AS pages,
  COALESCE(sum(requests), 0) AS requests, COALESCE(sum(finished_at % 1000003), 0) AS finished,
  COALESCE(sum(CASE WHEN status = 'running' THEN 1 ELSE 0 END), 0) AS running
FROM run WHERE project_id = ? AND id <= ?`;
export const ALL_RUNS = 2 ** 31 - 1;

/** As it is kept with an index. */
export function packMark({ runs, last, pages, requests, finished }: RunsMark): string {
  return JSON.stringify([runs, last, pages, requests, finished]);
}

/** The last run that the index knows. */
export function lastRunOf(packed: string): number {
  return (JSON.parse(packed) as number[])[1];
}

/** Nothing was written since the index was built, and nobody is writing. */
export function isCurrent(packed: string | null, now: RunsMark): boolean {
  return packed !== null && now.running === 0 && packed === packMark(now);
}
