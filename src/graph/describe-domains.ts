/** The domain graph as an export: one node per host with the totals of its pages, one edge per pair of linked hosts. */
import type { GraphFilter } from '../store/read-side.ts';
import { components } from './components.ts';
import type { ExportSide } from './describe-pages.ts';
import { degrees } from './digraph.ts';
import { createDomainTally, type DomainTally } from './domain-facts.ts';
import { buildDomainGraph, type DomainGraph } from './domain-graph.ts';
import {
  type ExportEdge,
  type ExportGraph,
  type ExportNode,
  type GraphColumn,
  NODE_COLUMNS,
} from './export-graph.ts';
import { hits } from './hits.ts';
import { buildLinkGraph } from './link-graph.ts';
import { buildOriginColumns, type OriginColumns } from './origin-columns.ts';
import { pageRank } from './pagerank.ts';
import type { StoredOrigins } from './stored-origins.ts';

const COLUMNS: readonly GraphColumn[] = [
  ...NODE_COLUMNS,
  { name: 'pages', type: 'integer' },
  { name: 'processed', type: 'integer' },
  { name: 'internal_links', type: 'integer' },
  { name: 'depth', type: 'integer' },
  { name: 'max_depth', type: 'integer' },
  { name: 'discovered_run', type: 'integer' },
];

const NODES_A_BATCH = 1000;

export async function describeDomains(
  side: ExportSide,
  filter: GraphFilter,
  origins: StoredOrigins,
): Promise<{ graph: ExportGraph; isDepthLeftOut: boolean }> {
  const tally = createDomainTally();
  const links = await buildLinkGraph(side, filter, (page, _, host) => {
    tally.add(page, host, origins.isQuality(page.project_id, page.host));
  });
  const domains = buildDomainGraph(links);
  const byOrigin = buildOriginColumns(links, origins, domains.nodeCount, (page) => links.hostOf[page]);
  const graph: ExportGraph = {
    columns: [...COLUMNS, ...byOrigin.columns],
    nodeCount: domains.nodeCount,
    edgeCount: domains.targets.length,
    nodes: () => nodesOf(domains, tally, byOrigin),
    edges: () => edgesOf(domains),
  };
  return { graph, isDepthLeftOut: byOrigin.isLeftOut };
}

/** The read side gives no ids for hosts: they are numbered from 1 in the order of their first pages. */
const idOf = (host: number) => host + 1;

async function* nodesOf(
  domains: DomainGraph,
  tally: DomainTally,
  byOrigin: OriginColumns,
): AsyncGenerator<ExportNode[]> {
  const { ranks } = pageRank(domains);
  const { hubs, authorities } = hits(domains);
  const { indegree, outdegree } = degrees(domains);
  const { componentOf } = components(domains);
  const nodeOf = (host: number): ExportNode => {
    const facts = tally.of(host);
    return {
      id: idOf(host),
      label: domains.hosts[host],
      cells: [
        facts.state,
        facts.class,
        facts.title,
        facts.status,
        ranks[host],
        hubs[host],
        authorities[host],
        indegree[host],
        outdegree[host],
        componentOf[host],
        facts.pages,
        facts.processed,
        domains.internalLinks[host],
        facts.depth,
        facts.depthMax,
        facts.discoveredRun,
        ...byOrigin.cells(host),
      ],
    };
  };
  for (let first = 0; first < domains.nodeCount; first += NODES_A_BATCH) {
    const length = Math.min(NODES_A_BATCH, domains.nodeCount - first);
    yield Array.from({ length }, (_, i) => nodeOf(first + i));
  }
}

function* edgesOf({ nodeCount, offsets, targets, weights, nofollow }: DomainGraph): Generator<ExportEdge> {
  for (let host = 0; host < nodeCount; host++) {
    for (let at = offsets[host]; at < offsets[host + 1]; at++) {
      yield { source: idOf(host), target: idOf(targets[at]), weight: weights[at], nofollow: nofollow[at] };
    }
  }
}
