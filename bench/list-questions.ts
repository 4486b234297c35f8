// Every filter and sort of the list of pages as a question, and how long its pages of results take.
import type { ListQuery } from '../src/store/list-queries.ts';
import type { ReadSide } from '../src/store/read-side.ts';
import { LARGE, SMALL } from './list-rows.ts';

type PageListQuery = ListQuery<'pages'>;

const LIMIT = 50;
/** Pages of results after the first. */
const FOLLOWING = 2;

/** Named by the parameters of the wire. */
export function listQuestions(pages: number): Record<string, PageListQuery> {
  const filters: Record<string, PageListQuery['filter']> = {
    'no filter': {},
    'status=success': { statuses: ['success'] },
    'status=failed': { statuses: ['failed'] },
    'status=skipped': { statuses: ['skipped'] },
    'state=DeadLink': { states: ['DeadLink'] },
    'state=Queued': { states: ['Queued'] },
    'status_code=200': { statusCodes: [200] },
    'status_code=500': { statusCodes: [500] },
    'status_code=4xx,5xx': { statusIn: { codes: [], classes: [4, 5] } },
    'host=h7.test': { hosts: ['h7.test'] },
    'section=/s7': { section: '/s7' },
    'section=/s7/d7': { section: '/s7/d7' },
    'depth=2': { minDepth: 2, maxDepth: 2 },
    'depth=8-': { minDepth: 8, maxDepth: 65_534 },
    'change=changed': { changes: ['changed'] },
    'change=new': { changes: ['new'] },
    'reason=http: 410': { reason: 'http: 410' },
    'reason=robots': { reason: 'robots' },
    'noindex=true': { noindex: true },
    'noindex=false': { noindex: false },
    'content_type=application/pdf': { contentTypes: ['application/pdf'] },
    [`q=page-${pages >> 1}`]: { search: `page-${pages >> 1}` },
    'q=shop': { search: 'shop' },
  };
  const questions: Record<string, PageListQuery> = {};
  for (const [name, filter] of Object.entries(filters))
    questions[name] = { filter: { project: LARGE, ...filter }, limit: LIMIT };
  for (const sort of [
    ...['id', 'visited_at', 'status_code', 'depth', 'content_length', 'word_count'],
    ...['response_ms', 'change_frequency'],
  ])
    for (const order of ['asc', 'desc'] as const)
      questions[`sort=${sort} ${order}`] = { filter: { project: LARGE }, sort, order, limit: LIMIT };
  const failed: PageListQuery = { filter: { project: LARGE, states: ['Failed'] }, limit: LIMIT };
  questions['state=Failed sort=response_ms'] = { ...failed, sort: 'response_ms' };
  questions['status_code=200 sort=word_count'] = {
    ...{ filter: { project: LARGE, statusCodes: [200] }, limit: LIMIT },
    sort: 'word_count',
  };
  questions['the small project'] = { filter: { project: SMALL }, limit: LIMIT };
  questions['the small project sort=word_count'] = {
    filter: { project: SMALL },
    sort: 'word_count',
    limit: LIMIT,
  };
  questions['the small project state=Failed'] = {
    filter: { project: SMALL, states: ['Failed'] },
    limit: LIMIT,
  };
  return questions;
}

/** Milliseconds of each answer: the first page of results, and those that follow. */
export async function timeQuestion(side: ReadSide, query: PageListQuery): Promise<number[]> {
  const times: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page <= FOLLOWING; page++) {
    const began = performance.now();
    const { next } = await side.list('pages', { ...query, cursor });
    times.push(performance.now() - began);
    if (next === null) break;
    cursor = next;
  }
  return times;
}

/** The value below which this part of them lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

/** Milliseconds of a total, of facets and of a folder. */
export async function timeCounts(side: ReadSide): Promise<Record<string, number>> {
  const questions: Record<string, () => Promise<unknown>> = {
    'count, no filter': () => side.count('pages', { project: LARGE }),
    'count, section=/s7': () => side.count('pages', { project: LARGE, section: '/s7' }),
    'facets by status_code': () => side.facets('status_code', { project: LARGE }),
    'facets by host, status=success': () => side.facets('host', { project: LARGE, statuses: ['success'] }),
    'facets by section, depth=2': () => side.facets('section', { project: LARGE, minDepth: 2, maxDepth: 2 }),
    tree: () => side.tree('', { project: LARGE }),
    'tree of /s7, status=success': () => side.tree('/s7', { project: LARGE, statuses: ['success'] }),
  };
  const times: Record<string, number> = {};
  for (const [name, ask] of Object.entries(questions)) {
    const began = performance.now();
    await ask();
    times[name] = performance.now() - began;
  }
  return times;
}
