/**
 * Collects the data of the map page from the stored map: domains with the results of the survey, their depth from each
 * origin, the links between them, and the most linked pages of each. Reads only; needs the memory of the survey and a
 * few URLs per domain.
 */

import { BROKEN_STATES } from '../frontier/counting-words.ts';
import { type PageStateCode, pageStateName } from '../frontier/page-state.ts';
import type {
  DomainClass,
  MapSubject,
  TerrainDomain,
  TerrainLink,
  TerrainMap,
} from '../pages/map/terrain-map.ts';
import type { GraphFilter, ReadSide } from '../store/read-side.ts';
import { type GroupedPages, groupByPage, groupBySection, visitedHosts } from './group-pages.ts';
import { buildLinkGraph, type LinkGraph } from './link-graph.ts';
import { buildOriginColumns } from './origin-columns.ts';
import { createStoredOrigins, readStoredOrigins, type StoredOrigins } from './stored-origins.ts';
import { surveyTerrain, type TerrainSurvey } from './survey-terrain.ts';

const TOP_PAGES = 8;

type MapSide = Pick<ReadSide, 'graphPages' | 'graphLinks' | 'projects' | 'lastRun'>;

export interface TerrainMapRequest {
  /** If absent: all projects of the store. */
  project?: string;
  /** Of the same project, if it was already made. */
  survey?: TerrainSurvey;
  /** What the dots are. Undefined: domains, or the sections of a crawl of one site. */
  subject?: MapSubject;
  now: number;
}

export async function readTerrainMap(side: MapSide, request: TerrainMapRequest): Promise<TerrainMap> {
  const { project, now } = request;
  const filter: GraphFilter = { project };
  const projects = (await side.projects()).filter((row) => project === undefined || row.project === project);
  const origins = await readStoredOrigins(side, project);
  const run = projects.length === 1 ? await side.lastRun(projects[0].id) : null;
  const named = projects.map((row) => row.project).join(', ');
  const found = request.survey?.links ?? (await buildLinkGraph(side, filter));
  const heading = { project: named, run: run?.run ?? null, generatedAt: new Date(now).toISOString() };
  const grouped = await groupFor(side, filter, found, origins, request.subject);
  if (grouped !== null) return { ...heading, ...(await siteMap(side, filter, named, grouped)) };
  const survey = request.survey ?? surveyTerrain(found, origins);
  return {
    ...heading,
    title: `Terrain map: ${named}`,
    origins: [...origins.names],
    domains: domainsOf(survey, origins, await findTopPages(side, filter, survey)),
    links: linksOf(survey),
  };
}

/** With more hosts than this, the hosts are of interest. */
const MOST_HOSTS_OF_A_SITE = 5;
/** Fewer sections show nothing: then the pages are drawn. */
const LEAST_SECTIONS = 4;
const MOST_PAGES = 3000;

interface SiteGroups extends GroupedPages {
  subject: Exclude<MapSubject, 'domains'>;
}

/** Null if domains are drawn. */
async function groupFor(
  side: MapSide,
  filter: GraphFilter,
  links: LinkGraph,
  origins: StoredOrigins,
  subject: MapSubject | undefined,
): Promise<SiteGroups | null> {
  const ofPages = async (): Promise<SiteGroups> => ({
    ...(await groupByPage(side, filter, links, MOST_PAGES)),
    subject: 'pages',
  });
  if (subject === 'pages') return ofPages();
  const visited = visitedHosts(links).reduce((sum, one) => sum + one, 0);
  const isSite = origins.names.length === 0 && visited > 0 && visited <= MOST_HOSTS_OF_A_SITE;
  if (subject === 'domains' || (subject === undefined && !isSite)) return null;
  const sections = await groupBySection(side, filter, links);
  const own = sections.isOutside.filter((isOutside, at) => !isOutside && !sections.isRest[at]).length;
  return own < LEAST_SECTIONS && subject === undefined ? ofPages() : { ...sections, subject: 'sections' };
}

const NO_ORIGINS = createStoredOrigins(new Map());

/** The drawing of a site, with the classes of its own: see DOMAIN_CLASSES. */
async function siteMap(side: MapSide, filter: GraphFilter, project: string, grouped: SiteGroups) {
  const { subject, isRest, isOutside, total } = grouped;
  const survey = surveyTerrain(grouped.links, NO_ORIGINS);
  const tops = await findTopPages(side, filter, survey);
  const places = new Int32Array(isRest.length).fill(-1);
  const domains: TerrainDomain[] = [];
  const states = subject === 'pages' ? stateOfGroups(grouped.links) : null;
  for (const [group, { class: found, depth, ...figures }] of survey.domains.entries()) {
    if (isRest[group]) continue;
    const kind = states === null ? (isOutside[group] ? 'stub' : null) : classOfState(states[group]);
    const isStart = depth === 0 && (kind === null || kind === 'discovered');
    places[group] = domains.length;
    domains.push({
      ...{ name: figures.name, pages: figures.pages, processed: figures.processed, errors: figures.errors },
      class: isStart ? 'quality' : (kind ?? (found === 'blacklist' ? 'blacklist' : 'discovered')),
      depth,
      depths: [],
      indegree: survey.degrees.indegree[group],
      outdegree: survey.degrees.outdegree[group],
      pagerank: survey.ranks[group],
      references: figures.references,
      ...(subject === 'pages' && { weight: Math.max(1, figures.references) }),
      topPages: tops[group] ?? [],
    });
  }
  const links = linksOf(survey).flatMap(({ from, to, weight }) =>
    places[from] === -1 || places[to] === -1 ? [] : [{ from: places[from], to: places[to], weight }],
  );
  return { subject, total, title: `${SITE_TITLES[subject]} ${project}`, origins: [], domains, links };
}

const SITE_TITLES = { sections: 'Sections of', pages: 'Pages of' } as const;

/** For groups with one page each. */
function stateOfGroups({ hostOf, hosts, states }: LinkGraph): Uint8Array {
  const found = new Uint8Array(hosts.length);
  for (const [page, group] of hostOf.entries()) found[group] = states[page];
  return found;
}

function classOfState(code: number): DomainClass {
  const state = pageStateName(code as PageStateCode);
  if (BROKEN_STATES.includes(state)) return 'blacklist';
  return state === 'Processed' ? 'discovered' : 'stub';
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

/** The graph does not keep URLs and titles: a second pass over the pages finds those that are shown. */
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

/** By page index: 1 for the pages of each host with most links to them; of equal ones the first found. */
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
