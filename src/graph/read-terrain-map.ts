/**
 * Fills in the terrain for the page from the stored map: domains with what the survey found, their depth from each
 * origin, the links between them, and the pages of each that most others refer to. Reads only; memory is the survey's
 * and a few URLs a domain.
 */

import type { TerrainDomain, TerrainLink, TerrainMap } from '../map-page/terrain-map.ts';
import type { GraphFilter, ReadSide } from '../store/read-side.ts';
import { buildLinkGraph } from './link-graph.ts';
import { buildOriginColumns } from './origin-columns.ts';
import { readStoredOrigins, type StoredOrigins } from './stored-origins.ts';
import { surveyTerrain, type TerrainSurvey } from './survey-terrain.ts';

const TOP_PAGES = 8;

type MapSide = Pick<ReadSide, 'graphPages' | 'graphLinks' | 'projects' | 'lastRun'>;

export interface TerrainMapRequest {
  /** All projects of the store when absent. */
  project?: string;
  /** Of the same project, where it has been made already. */
  survey?: TerrainSurvey;
  now: number;
}

export async function readTerrainMap(side: MapSide, request: TerrainMapRequest): Promise<TerrainMap> {
  const { project, now } = request;
  const filter: GraphFilter = { project };
  const projects = (await side.projects()).filter((row) => project === undefined || row.project === project);
  const origins = await readStoredOrigins(side, project);
  const survey = request.survey ?? surveyTerrain(await buildLinkGraph(side, filter), origins);
  const run = projects.length === 1 ? await side.lastRun(projects[0].id) : null;
  const named = projects.map((row) => row.project).join(', ');
  return {
    title: `Terrain map: ${named}`,
    project: named,
    run: run?.run ?? null,
    generatedAt: new Date(now).toISOString(),
    origins: [...origins.names],
    domains: domainsOf(survey, origins, await findTopPages(side, filter, survey)),
    links: linksOf(survey),
  };
}

type TopPages = TerrainDomain['topPages'][];

function domainsOf(survey: TerrainSurvey, origins: StoredOrigins, topPages: TopPages): TerrainDomain[] {
  const { links, domains, degrees, ranks } = survey;
  const byOrigin = buildOriginColumns(links, origins, domains.length, (page) => links.hostOf[page]);
  return domains.map((domain, host) => ({
    name: domain.name,
    class: domain.class,
    pages: domain.pages,
    processed: domain.processed,
    errors: domain.errors,
    depth: domain.depth,
    depths: byOrigin
      .cells(host)
      .flatMap((depth, at) => (typeof depth === 'number' ? [{ origin: origins.names[at], depth }] : [])),
    indegree: degrees.indegree[host],
    outdegree: degrees.outdegree[host],
    pagerank: ranks[host],
    references: domain.references,
    topPages: topPages[host] ?? [],
  }));
}

function linksOf({ domainGraph: { nodeCount, offsets, targets, weights } }: TerrainSurvey): TerrainLink[] {
  const links: TerrainLink[] = [];
  for (let from = 0; from < nodeCount; from++) {
    for (let at = offsets[from]; at < offsets[from + 1]; at++)
      links.push({ from, to: targets[at], weight: weights[at] });
  }
  return links;
}

/** URLs and titles are not kept with the graph: a second pass over the pages finds those that are shown. */
async function findTopPages(
  side: Pick<ReadSide, 'graphPages'>,
  filter: GraphFilter,
  survey: TerrainSurvey,
): Promise<TopPages> {
  const { links, references } = survey;
  const chosen = choosePages(survey);
  const found: { references: number; page: TerrainDomain['topPages'][number] }[][] = [];
  for await (const batch of side.graphPages(filter)) {
    for (const { id, url, title, status_code: status } of batch) {
      const at = links.indexOf(id);
      if (at === -1 || chosen[at] === 0) continue;
      const host = links.hostOf[at];
      found[host] ??= [];
      found[host].push({ references: references[at], page: { url, title, status } });
    }
  }
  return found.map((pages) => pages.sort((a, b) => b.references - a.references).map(({ page }) => page));
}

/** By page index: 1 for the most referred-to pages of each host, of equals the first found. */
function choosePages({ links, references, domains }: TerrainSurvey): Uint8Array {
  const tops: number[][] = domains.map(() => []);
  for (let page = 0; page < links.nodeCount; page++) {
    const top = tops[links.hostOf[page]];
    if (top.length === TOP_PAGES && references[top[TOP_PAGES - 1]] >= references[page]) continue;
    let place = top.length;
    while (place > 0 && references[top[place - 1]] < references[page]) place--;
    top.splice(place, 0, page);
    if (top.length > TOP_PAGES) top.pop();
  }
  const chosen = new Uint8Array(links.nodeCount);
  for (const top of tops) for (const page of top) chosen[page] = 1;
  return chosen;
}
