/** What is read of a project as a whole: hosts, links, its graph, its figures, and the audit of its requests. */
import type { ListAnswer } from '../contract/lists.ts';
import type { PageLink } from '../contract/pages.ts';
import {
  type AuditAnswer,
  type Graph,
  type Host,
  MOST_EDGES,
  NODES_UNLESS_SAID,
  type Statistics,
} from '../contract/site.ts';
import { BROKEN_STATES } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import { readTerrainMap } from '../graph/read-terrain-map.ts';
import { auditRuns } from '../project/audit-runs.ts';
import type { LinkListFilter, ListedLink, StatusClass } from '../store/list-queries.ts';
import type { ProjectRow, ReadSide, StoreTotals } from '../store/read-side.ts';
import type { RunReport } from '../store/run-report.ts';
import type { Answering } from './answering.ts';
import { countByReading, listAnswer, type PageOfList, readResults, totalOf } from './list-answer.ts';
import type { GraphQuestion } from './project-questions.ts';
import { describeLink } from './read-page-parts.ts';
import { readingOf } from './reading-of.ts';

type Asked = Pick<Answering, 'side' | 'storeLabel'>;

export async function listHosts(
  { side }: Asked,
  project: ProjectRow,
  place: PageOfList,
): Promise<ListAnswer<Host>> {
  const filter = { project: project.project };
  const results = await readResults(side, 'hosts', { filter }, place);
  const items = results.rows.map(({ id: _, ...host }) => host);
  return { ...listAnswer(items, results), ...(await totalOf(side, 'hosts', filter, place)) };
}

export interface LinksQuestion extends PageOfList {
  toStates?: readonly PageState[];
  toStatusClasses?: readonly StatusClass[];
  /** Numbers of pages. */
  fromId?: number;
  toId?: number;
  /** Only links that lead to nothing, on pages that are there themselves. */
  broken?: boolean;
}

export async function listLinks(
  { side }: Asked,
  project: ProjectRow,
  question: LinksQuestion,
): Promise<ListAnswer<PageLink>> {
  const { broken = false, limit, cursor, count } = question;
  const filter = linkFilterOf(project, question);
  const read = async (place: PageOfList): Promise<ListAnswer<PageLink>> => {
    const results = await readResults(side, 'links', { filter }, place);
    const rows = broken ? await withoutLost(side, results.rows) : results.rows;
    return listAnswer(
      rows.map((link) => describeLink(link, project.uid)),
      results,
    );
  };
  const counted = broken && count === true ? countByReading(read) : totalOf(side, 'links', filter, { count });
  return { ...(await read({ limit, cursor })), ...(await counted) };
}

function linkFilterOf({ project }: ProjectRow, question: LinksQuestion): LinkListFilter {
  const { toStates, toStatusClasses, fromId, toId, broken = false } = question;
  const filter: LinkListFilter = { project };
  if (fromId !== undefined) filter.fromId = fromId;
  if (toId !== undefined) filter.toId = toId;
  if (toStatusClasses !== undefined) filter.toStatusClasses = toStatusClasses;
  const isBroken = (state: PageState) => BROKEN_STATES.includes(state);
  if (broken) filter.toStates = toStates?.filter(isBroken) ?? BROKEN_STATES;
  else if (toStates !== undefined) filter.toStates = toStates;
  return filter;
}

/** Links of pages that are gone are kept, but nobody can follow them. */
const LOST: ReadonlySet<PageState> = new Set<PageState>(['DeadLink', 'Gone']);

async function withoutLost(side: ReadSide, links: readonly ListedLink[]): Promise<ListedLink[]> {
  const isLost = new Map<number, boolean>();
  for (const { from_id } of links) {
    if (isLost.has(from_id)) continue;
    const page = await side.pageById(from_id);
    isLost.set(from_id, page === null || LOST.has(page.state));
  }
  return links.filter(({ from_id }) => isLost.get(from_id) === false);
}

const KINDS = { quality: 'start', discovered: 'read', stub: 'other', blacklist: 'broken' } as const;

/** The most important nodes, and the heaviest edges between them. */
export async function readGraph(
  { side }: Asked,
  project: ProjectRow,
  { of = 'sections', most = NODES_UNLESS_SAID }: GraphQuestion,
  now: number,
): Promise<Graph> {
  const map = await readTerrainMap(side, { project: project.project, subject: of, now });
  const order = map.domains
    .map((domain, place) => ({ domain, place, isStart: domain.depth === 0 }))
    .sort(
      (a, b) =>
        Number(b.isStart) - Number(a.isStart) ||
        b.domain.pagerank - a.domain.pagerank ||
        b.domain.references - a.domain.references ||
        a.place - b.place,
    )
    .slice(0, most);
  const places = new Map(order.map(({ place }, id) => [place, id]));
  const edges = map.links
    .flatMap(({ from, to, weight: count }) => {
      const [source, target] = [places.get(from), places.get(to)];
      return source === undefined || target === undefined ? [] : [{ source, target, count }];
    })
    .sort((a, b) => b.count - a.count || a.source - b.source || a.target - b.target);
  const total = Math.max(map.total ?? 0, map.domains.length);
  return {
    of,
    nodes: order.map(({ domain }, id) => ({
      ...{ id, name: domain.name, kind: KINDS[domain.class], pages: domain.pages, read: domain.processed },
      ...{ errors: domain.errors, depth: domain.depth, pagerank: domain.pagerank },
      ...{ references: domain.references, in_degree: domain.indegree, out_degree: domain.outdegree },
    })),
    edges: edges.slice(0, MOST_EDGES),
    total_nodes: total,
    is_whole: order.length === total && edges.length <= MOST_EDGES,
  };
}

export async function readStatistics({ side }: Asked, project: ProjectRow): Promise<Statistics> {
  const totals = await side.totals(project.project);
  const run = await side.lastRun(project.id);
  const report = run === null ? null : await side.report(run.run);
  const runs = await side.count('runs', { project: project.project });
  const { hosts, links, requests, bytes, by_state, by_status, by_content_type, by_reason, by_depth } = totals;
  return {
    project_id: project.uid,
    urls: urlsOf(totals),
    ...{ hosts, links, requests, bytes, runs: runs.count },
    ...{ by_state, by_status, by_content_type, by_reason, by_depth },
    last_run: run === null || report === null ? null : describeReport(run.run, report),
  };
}

function urlsOf({
  known_urls,
  read,
  broken,
  rate_limited,
  skipped,
  waiting,
}: StoreTotals): Statistics['urls'] {
  return { known_urls, read, broken, rate_limited, skipped, waiting };
}

function describeReport(run: number, report: RunReport): Statistics['last_run'] {
  return {
    run,
    duration_ms: Math.round(report.duration_seconds * 1000),
    requests_by_kind: report.requests_by_kind,
    status_codes: report.status_codes,
    hosts_visited: report.hosts_visited,
    retries: report.retries,
    errors: report.errors,
    robots_denials: report.robots_denials,
    bodies_stored: report.bodies_stored,
    top_errors: report.top_errors,
    deepest_pages: report.deepest_pages,
    domains: report.domains.map(({ delay, robots_delay, robots_status, ...domain }) => ({
      ...domain,
      delay_seconds: delay,
      robots_delay_seconds: robots_delay,
      robots_status,
    })),
  };
}

/** `run` undefined: all runs of the project. */
export async function auditProject(
  asked: Asked,
  project: ProjectRow,
  run: number | undefined,
): Promise<AuditAnswer> {
  const { gaps, details, ...audit } = await auditRuns(readingOf(asked, project), run, project.project);
  const { requests, hosts, violations, cleared_until, by_kind } = audit;
  return {
    ...{ project_id: project.uid, run: run ?? null, requests, hosts, violations, restarts: gaps },
    ...{ cleared_until, by_kind },
    rows: details.map((row) =>
      'url' in row
        ? {
            ...{ kind: row.kind, run: null, host: null, request: null, sent_at: null, url: row.url },
            detail: `The page is stored ${row.count} times.`,
          }
        : {
            ...{ kind: row.kind, run: row.run, host: row.host, request: row.request, sent_at: row.sent_at },
            ...{ url: null, detail: row.detail },
          },
    ),
  };
}
