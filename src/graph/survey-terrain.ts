/**
 * The facts about a map as a whole, collected in one pass over its graph: domains with their class, numbers and depths,
 * how often each page is linked to, and the graph of domains with its measures. The summary and the picture show them
 * in two ways. Memory: that of the link graph, 8 bytes per page and about 100 per domain.
 */
import { countUrls, ERROR_WORDS, type UrlCounts, wordOf } from '../frontier/counting-words.ts';
import { PAGE_STATES, type PageStateCode, pageStateName } from '../frontier/page-state.ts';
import { type Components, components } from './components.ts';
import { type Degrees, degrees } from './digraph.ts';
import { buildDomainGraph, type DomainGraph } from './domain-graph.ts';
import type { LinkGraph } from './link-graph.ts';
import { PAGE_CLASSES, type PageClass, pageClass } from './page-class.ts';
import { pageRank } from './pagerank.ts';
import type { StoredOrigins } from './stored-origins.ts';

export interface SurveyedDomain {
  name: string;
  class: PageClass;
  /** Known URLs of any state. */
  pages: number;
  processed: number;
  waiting: number;
  errors: number;
  /** Pages that max-domain-requests left out. */
  leftOver: number;
  /** The least of any known URL; null if no path from an origin is known. */
  depth: number | null;
  /** Of the crawled pages; null when there are none. */
  crawledDepth: { least: number; most: number } | null;
  /** The number of pages that lead there by link or redirect, its own included. */
  references: number;
}

export interface DepthLevel {
  /** Null: no path from an origin is known. */
  depth: number | null;
  crawled: number;
  /** Domains by the least depth of any URL known there. */
  domains: number;
}

export interface TerrainSurvey {
  links: LinkGraph;
  /** By page index: pages that lead to it by a link, or by a redirect that ended there. */
  references: Uint32Array;
  /** In the order of `domainGraph.hosts`. */
  domains: SurveyedDomain[];
  domainGraph: DomainGraph;
  degrees: Degrees;
  ranks: Float64Array;
  components: Components;
  levels: DepthLevel[];
  /** Known URLs of all domains by word. */
  urls: UrlCounts;
}

export function surveyTerrain(links: LinkGraph, origins: StoredOrigins): TerrainSurvey {
  const { hosts, hostOf, projects, nodeCount } = links;
  const domains = hosts.map(emptyDomain);
  const crawledAt = new Map<number | null, number>();
  const references = countReferences(links);
  const byState: Record<string, number> = {};
  for (let page = 0; page < nodeCount; page++) {
    const host = hostOf[page];
    const state = links.states[page] as PageStateCode;
    const depth = links.depths[page] === -1 ? null : links.depths[page];
    addPage(domains[host], state, depth, origins.isQuality(projects[page], hosts[host]));
    domains[host].references += references[page];
    byState[pageStateName(state)] = (byState[pageStateName(state)] ?? 0) + 1;
    if (state === PAGE_STATES.Processed) crawledAt.set(depth, (crawledAt.get(depth) ?? 0) + 1);
  }
  const domainGraph = buildDomainGraph(links);
  return {
    links,
    references,
    domains,
    domainGraph,
    degrees: degrees(domainGraph),
    ranks: pageRank(domainGraph).ranks,
    components: components(domainGraph),
    levels: levelsOf(domains, crawledAt),
    urls: countUrls(byState),
  };
}

function emptyDomain(name: string): SurveyedDomain {
  return {
    name,
    class: 'discovered',
    pages: 0,
    processed: 0,
    waiting: 0,
    errors: 0,
    leftOver: 0,
    depth: null,
    crawledDepth: null,
    references: 0,
  };
}

function addPage(
  domain: SurveyedDomain,
  code: PageStateCode,
  depth: number | null,
  isQuality: boolean,
): void {
  const state = pageStateName(code);
  // The strictest class of its pages is that of the domain.
  const found = pageClass(state, isQuality);
  if (PAGE_CLASSES.indexOf(found) < PAGE_CLASSES.indexOf(domain.class)) domain.class = found;
  domain.pages++;
  const word = wordOf(state);
  if (word === 'read') domain.processed++;
  else if (word === 'waiting') domain.waiting++;
  else if ((ERROR_WORDS as readonly string[]).includes(word)) domain.errors++;
  if (state === 'RequestLimitHit') domain.leftOver++;
  if (depth === null) return;
  domain.depth = Math.min(domain.depth ?? depth, depth);
  if (state !== 'Processed') return;
  const { least, most } = domain.crawledDepth ?? { least: depth, most: depth };
  domain.crawledDepth = { least: Math.min(least, depth), most: Math.max(most, depth) };
}

/** A page that links to its own redirect target counts once. */
function countReferences({ nodeCount, offsets, targets, redirectTo }: LinkGraph): Uint32Array {
  const references = new Uint32Array(nodeCount);
  for (let page = 0; page < nodeCount; page++) {
    const end = redirectTo[page];
    let isLinked = false;
    for (let at = offsets[page]; at < offsets[page + 1]; at++) {
      references[targets[at]]++;
      if (targets[at] === end) isLinked = true;
    }
    if (end !== -1 && !isLinked) references[end]++;
  }
  return references;
}

function levelsOf(
  domains: readonly SurveyedDomain[],
  crawledAt: ReadonlyMap<number | null, number>,
): DepthLevel[] {
  const levels = new Map<number | null, DepthLevel>();
  const levelOf = (depth: number | null) => {
    let level = levels.get(depth);
    if (level === undefined) {
      level = { depth, crawled: 0, domains: 0 };
      levels.set(depth, level);
    }
    return level;
  };
  for (const [depth, crawled] of crawledAt) levelOf(depth).crawled += crawled;
  for (const { depth } of domains) levelOf(depth).domains++;
  const key = ({ depth }: DepthLevel) => depth ?? Number.POSITIVE_INFINITY;
  return [...levels.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
