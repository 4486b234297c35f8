/**
 * The numbers of a map for its summary, as plain data: for Markdown, for the terminal and as JSON. Plain SQL over the
 * views gives the same numbers. Lists are bounded and in a stable order.
 */
import type { UrlCounts } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { MapErrors } from '../store/map-errors.ts';
import type { GraphFilter, ReadSide, StoredRun } from '../store/read-side.ts';
import { buildLinkGraph, type LinkGraph } from './link-graph.ts';
import type { PageClass } from './page-class.ts';
import { readStoredOrigins } from './stored-origins.ts';
import { type DepthLevel, type SurveyedDomain, surveyTerrain, type TerrainSurvey } from './survey-terrain.ts';

const MOST_LISTED = 20;

export interface ReferredUrl {
  url: string;
  references: number;
}

/** `known_urls` and the words after it count URLs as docs/words.md says. */
export interface TerrainFigures extends UrlCounts {
  run: number;
  project: string;
  status: string;
  started_at: string;
  finished_at: string | null;
  /** Until now while the run has not ended; pauses of a resumed run included. */
  duration_seconds: number;
  max_depth: number | null;
  /** The URLs read. */
  pages_crawled: number;
  domains: number;
  links: number;
  blacklisted_urls: number;
  stubbed_urls: number;
  /** Broken and rate-limited URLs. */
  errors: number;
  levels: DepthLevel[];
  /** Most pages first. */
  quality_domains: { domain: string; pages: number; waiting: number; left_over: number }[];
  other_domains: { domain: string; pages: number; depth: { least: number; most: number } | null }[];
  /** `other_domains` lists the first of them. */
  other_domains_known: number;
  top_blacklisted: ReferredUrl[];
  top_stubbed: ReferredUrl[];
  errors_by_kind: MapErrors['pages'];
  rate_limited_domains: MapErrors['rate_limited'];
  /** The connected parts of the domain graph, and the number of domains in the largest. */
  components: number;
  largest_component: number;
  top_domains: { domain: string; class: PageClass; pagerank: number; indegree: number; outdegree: number }[];
}

export interface ReadTerrain {
  figures: TerrainFigures;
  survey: TerrainSurvey;
}

type TerrainSide = Pick<ReadSide, 'graphPages' | 'graphLinks' | 'projects' | 'lastRun' | 'mapErrors'>;

/** Null if the project has no run. `graph` is the project's graph, if the caller has read it already. */
export async function readTerrainFigures(
  side: TerrainSide,
  { id, project }: { id: number; project: string },
  now: number,
  graph?: LinkGraph,
): Promise<ReadTerrain | null> {
  const run = await side.lastRun(id);
  if (run === null) return null;
  const links = graph ?? (await buildLinkGraph(side, { project }));
  const survey = surveyTerrain(links, await readStoredOrigins(side, project));
  const errors = await side.mapErrors(id, run.run);
  const referred = await listReferred(side, { project }, survey);
  return { survey, figures: figuresOf(run, survey, errors, referred, now) };
}

function figuresOf(
  run: StoredRun,
  { domains, levels, links, domainGraph, degrees, ranks, components, urls }: TerrainSurvey,
  errors: MapErrors,
  referred: Referred,
  now: number,
): TerrainFigures {
  const sum = (count: (domain: SurveyedDomain) => number) =>
    domains.reduce((total, domain) => total + count(domain), 0);
  const others = domains.filter((domain) => domain.class === 'discovered').sort(byPages);
  const byRank = Array.from(ranks.keys()).sort(
    (a, b) => ranks[b] - ranks[a] || order(domainGraph.hosts[a], domainGraph.hosts[b]),
  );
  const { 'max-depth': maxDepth = null } = JSON.parse(run.config) as { 'max-depth'?: number | null };
  const endedAt = run.finished_at === null ? now : Date.parse(run.finished_at);
  return {
    run: run.run,
    project: run.project,
    status: run.status,
    started_at: run.started_at,
    finished_at: run.finished_at,
    duration_seconds: Math.max(0, Math.round((endedAt - Date.parse(run.started_at)) / 1000)),
    max_depth: maxDepth,
    ...urls,
    pages_crawled: urls.read,
    domains: domains.length,
    links: links.targets.length,
    blacklisted_urls: referred.Blacklisted.known,
    stubbed_urls: referred.Stubbed.known,
    errors: sum((domain) => domain.errors),
    levels,
    quality_domains: domains
      .filter((domain) => domain.class === 'quality')
      .sort(byPages)
      .map(({ name, processed, waiting, leftOver }) => ({
        domain: name,
        pages: processed,
        waiting,
        left_over: leftOver,
      })),
    other_domains: others
      .slice(0, MOST_LISTED)
      .map(({ name, processed, crawledDepth }) => ({ domain: name, pages: processed, depth: crawledDepth })),
    other_domains_known: others.length,
    top_blacklisted: referred.Blacklisted.top,
    top_stubbed: referred.Stubbed.top,
    errors_by_kind: errors.pages,
    rate_limited_domains: errors.rate_limited,
    components: components.sizes.length,
    largest_component: components.sizes[0] ?? 0,
    top_domains: byRank.slice(0, MOST_LISTED).map((host) => ({
      domain: domainGraph.hosts[host],
      class: domains[host].class,
      pagerank: ranks[host],
      indegree: degrees.indegree[host],
      outdegree: degrees.outdegree[host],
    })),
  };
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byPages(a: SurveyedDomain, b: SurveyedDomain): number {
  return b.processed - a.processed || order(a.name, b.name);
}

type Referred = Record<'Blacklisted' | 'Stubbed', { known: number; top: ReferredUrl[] }>;

/** The graph does not keep URLs: those that are listed are read again. */
async function listReferred(
  side: Pick<ReadSide, 'graphPages'>,
  filter: GraphFilter,
  { links, references }: TerrainSurvey,
): Promise<Referred> {
  const found: Referred = { Blacklisted: { known: 0, top: [] }, Stubbed: { known: 0, top: [] } };
  const isListed = (state: PageState): state is keyof Referred => state in found;
  for await (const batch of side.graphPages({ ...filter, states: ['Blacklisted', 'Stubbed'] })) {
    for (const { id, state, url } of batch) {
      if (!isListed(state)) continue;
      const at = links.indexOf(id);
      // Found after the graph was read.
      if (at === -1) continue;
      found[state].known++;
      keepTop(found[state].top, { url, references: references[at] });
    }
  }
  return found;
}

function keepTop(top: ReferredUrl[], candidate: ReferredUrl): void {
  const compare = (a: ReferredUrl, b: ReferredUrl) => b.references - a.references || order(a.url, b.url);
  const last = top[MOST_LISTED - 1];
  if (last !== undefined && compare(last, candidate) < 0) return;
  top.push(candidate);
  top.sort(compare);
  if (top.length > MOST_LISTED) top.pop();
}
