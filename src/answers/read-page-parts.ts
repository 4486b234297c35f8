/** What is kept of one page beside its row: its visits, its links, what differs between two runs, its bytes. */
import { compareRuns } from '../change/compare-runs.ts';
import { VISIT_OUTCOMES } from '../change/visit-record.ts';
import type { ListAnswer } from '../contract/lists.ts';
import type { PageDiff, PageLink, PageVisit, StoredHeaders } from '../contract/pages.ts';
import { sumiError } from '../errors.ts';
import { findTwoRuns, tellDifference } from '../project/compare-two-runs.ts';
import { whyNoBody, whyNoText } from '../project/read-body.ts';
import type { ListedLink } from '../store/list-queries.ts';
import type { ChangeRow, PageRow, ProjectRow, VisitRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { listAnswer, type PageOfList, readResults, totalOf } from './list-answer.ts';
import { pageUid } from './page-uid.ts';
import { readingOf } from './reading-of.ts';

type Asked = Pick<Answering, 'side' | 'storeLabel' | 'bodies'>;

/** An ETag is between the server and us: some hold private data. */
export function describeVisit({ etag: _, ...visit }: VisitRow): Omit<PageVisit, 'parts'> {
  const { run, visited_at, outcome, known_by, status_code, last_modified, content_hash, text_hash } = visit;
  const { simhash_distance, bytes, bytes_saved, duration_ms } = visit;
  return {
    ...{ run, visited_at, outcome, known_by, status_code, last_modified, content_hash, text_hash },
    ...{ simhash_distance, bytes, bytes_saved, duration_ms },
  };
}

/** Newest first. */
export async function listPageVisits(
  { side }: Asked,
  project: ProjectRow,
  page: PageRow,
  place: PageOfList,
): Promise<ListAnswer<PageVisit>> {
  const filter = { project: project.project, pageId: page.id, outcomes: VISIT_OUTCOMES };
  const results = await readResults(side, 'changes', { filter }, place);
  const items = results.rows.map((row: ChangeRow) => ({ ...describeVisit(row), parts: row.parts }));
  return { ...listAnswer(items, results), ...(await totalOf(side, 'changes', filter, place)) };
}

export function describeLink(link: ListedLink, projectUid: string): PageLink {
  return {
    direction: link.direction,
    from_id: pageUid(projectUid, link.from_id),
    from_url: link.from_url,
    to_id: pageUid(projectUid, link.to_id),
    to_url: link.to_url,
    anchor: link.anchor,
    nofollow: link.nofollow !== 0,
    rel: link.rel,
    discovered_run: link.discovered_run,
    to_state: link.to_state,
    to_status: link.to_status,
  };
}

export async function listPageLinks(
  { side }: Asked,
  project: ProjectRow,
  page: PageRow,
  { direction = 'out', ...place }: PageOfList & { direction?: 'in' | 'out' },
): Promise<ListAnswer<PageLink>> {
  const end = direction === 'in' ? { toId: page.id } : { fromId: page.id };
  const filter = { project: project.project, ...end };
  const results = await readResults(side, 'links', { filter }, place);
  const items = results.rows.map((link) => describeLink(link, project.uid));
  return { ...listAnswer(items, results), ...(await totalOf(side, 'links', filter, place)) };
}

/** Unless said: between its last visit and the run that visited it before. */
export async function diffPage(
  asked: Asked,
  project: ProjectRow,
  page: PageRow,
  runs: { from?: number; to?: number },
): Promise<PageDiff> {
  const { side } = asked;
  const visits = await side.visits(page.id);
  const two = await findTwoRuns(readingOf(asked, project), runsOf(visits, runs));
  const { first, second } = two;
  async function* briefly() {
    for (const { run, outcome, known_by: knownBy } of visits)
      yield { run, pageId: page.id, outcome, knownBy };
  }
  const { differences, unchanged, unvisited } = await compareRuns(briefly(), first.run, second.run);
  const told = differences.length === 0 ? null : await tellDifference(side, two, differences[0]);
  const quiet = unvisited > 0 ? 'unvisited' : unchanged > 0 || differences.length > 0 ? 'unchanged' : null;
  return {
    page_id: pageUid(project.uid, page.id),
    url: page.url,
    from: first.run,
    to: second.run,
    difference: told === null ? quiet : differences[0].difference,
    parts: told?.parts ?? [],
    fields: told?.fields ?? [],
    text: told?.text?.map((piece) => [...piece]) ?? null,
    words_added: told === null ? 0 : told.words_added,
    words_removed: told === null ? 0 : told.words_removed,
    text_steps:
      told?.text_steps?.map((step) => ({ ...step, text: step.text?.map((piece) => [...piece]) ?? null })) ??
      [],
    links_added: told?.links_added ?? [],
    links_removed: told?.links_removed ?? [],
  };
}

function runsOf(visits: readonly VisitRow[], given: { from?: number; to?: number }): [number, number] {
  const visited = [...new Set(visits.map(({ run }) => run))];
  const to = given.to ?? visited.at(-1);
  const from = given.from ?? visited.findLast((run) => to !== undefined && run < to);
  if (from !== undefined && to !== undefined) return [from, to];
  const reason = `the page was visited in ${visited.length === 0 ? 'no run' : 'one run only'}; expected from and to`;
  throw sumiError('runs-not-comparable', { reason });
}

/** The bytes as they came, decoded from their transfer. */
export async function readStoredBody({ side, bodies }: Asked, page: PageRow): Promise<Uint8Array> {
  const missing = (reason: string) => sumiError('body-missing', { what: 'bytes', url: page.url, reason });
  if (page.body_key === null) throw missing(await whyNoBody(side, page));
  if (bodies === null) throw missing('the service does not know where bodies are');
  const bytes = await bodies.get(page.body_key);
  if (bytes === null) throw missing('the place of the bodies does not have it any more');
  return bytes;
}

/** The main text, in lines. */
export async function readStoredText({ side }: Asked, page: PageRow): Promise<string> {
  const text = await side.pageText(page.id);
  if (text !== null) return text;
  throw sumiError('body-missing', { what: 'main text', url: page.url, reason: await whyNoText(side, page) });
}

export function readStoredHeaders(page: PageRow): StoredHeaders {
  const { url, status_code, visited_at } = page;
  const kept = {
    'content-type': page.content_type,
    etag: page.etag,
    'last-modified': page.last_modified,
    'cache-control': page.cache_control,
  };
  const headers = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== null)) as Record<
    string,
    string
  >;
  if (Object.keys(headers).length > 0) return { url, status_code, visited_at, headers };
  const reason = visited_at === null ? 'it was not visited' : 'no visit brought any header that is stored';
  throw sumiError('body-missing', { what: 'headers', url, reason });
}
