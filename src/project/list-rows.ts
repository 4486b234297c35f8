/** The lists that doors show beside those of the read side: links of a URL, broken links, runs, workers. */
import { type BrokenLink, findBrokenLinks } from '../graph/broken-links.ts';
import type { LinkRow, PageRow, RunRow, WorkerRow } from '../store/read-side.ts';
import { isRefusedRedirect } from '../store/redirect-end.ts';
import { requirePages } from './find-pages.ts';
import type { Reading } from './reading.ts';

export interface ListOf {
  /** Links from and to this page only, in any spelling. */
  url?: string;
  limit?: number;
}

export async function* listLinks(reading: Reading, { url, limit }: ListOf): AsyncGenerator<LinkRow> {
  const { side, project } = reading;
  if (url === undefined) {
    yield* side.links({ project, limit });
    return;
  }
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (const page of await requirePages(reading, url)) {
    for await (const row of side.linksOf(page.id, {})) {
      if (left-- <= 0) return;
      yield row;
    }
  }
}

export async function* listBrokenLinks(reading: Reading, { url, limit }: ListOf): AsyncGenerator<BrokenLink> {
  const { side, project } = reading;
  const pageIds = url === undefined ? undefined : (await requirePages(reading, url)).map(({ id }) => id);
  yield* findBrokenLinks(side, { project, limit, pageIds });
}

/** Rows from several projects: which project a row is of is worth telling. */
export async function hasSeveralProjects({ side, project }: Reading): Promise<boolean> {
  return project === undefined && (await side.projects()).length > 1;
}

/** Whether the redirect of a broken page was refused by a rule: whether its target works is not known then. */
export function isRefused({ reason }: Pick<PageRow | BrokenLink, 'reason'>): boolean {
  return isRefusedRedirect(reason);
}

/** What was noted, as an object: programs need not parse text inside JSON. */
export type ListedRun = Omit<RunRow, 'metadata'> & { metadata: Record<string, string> | null };

export async function* listRuns(
  { side, project }: Reading,
  limit: number | undefined,
): AsyncGenerator<ListedRun> {
  for await (const row of side.runs({ project, limit }))
    yield { ...row, metadata: row.metadata === null ? null : JSON.parse(row.metadata) };
}

/** `isAll`: also workers that have ended. */
export async function* listWorkers(
  { side, project }: Reading,
  { isAll, limit }: { isAll: boolean; limit: number | undefined },
): AsyncGenerator<WorkerRow> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  for await (const row of side.workers()) {
    if (!isAll && row.state === 'ended') continue;
    if (project !== undefined && row.project !== project) continue;
    if (left-- <= 0) return;
    yield row;
  }
}
