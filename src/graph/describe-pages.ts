/**
 * The page graph as an export: one node per page, one edge per link. The measures of the graph are computed first. URLs
 * and titles are read a second time from the store while nodes are written, so they are never all in memory.
 */
import { sumiError } from '../errors.ts';
import { LINK_FLAGS } from '../parse/parsed-page.ts';
import type { GraphFilter, GraphPage, ReadSide } from '../store/read-side.ts';
import { components } from './components.ts';
import { degrees } from './digraph.ts';
import {
  type ExportEdge,
  type ExportGraph,
  type ExportNode,
  type GraphColumn,
  NODE_COLUMNS,
} from './export-graph.ts';
import { hits } from './hits.ts';
import { buildLinkGraph, type LinkGraph } from './link-graph.ts';
import { buildOriginColumns, type OriginColumns } from './origin-columns.ts';
import { pageClass } from './page-class.ts';
import { pageRank } from './pagerank.ts';
import type { StoredOrigins } from './stored-origins.ts';

const COLUMNS: readonly GraphColumn[] = [
  { name: 'host', type: 'string' },
  ...NODE_COLUMNS,
  { name: 'depth', type: 'integer' },
  { name: 'discovered_run', type: 'integer' },
  { name: 'redirect_to', type: 'integer' },
];

export type ExportSide = Pick<ReadSide, 'graphPages' | 'graphLinks'>;

export async function describePages(
  side: ExportSide,
  filter: GraphFilter,
  origins: StoredOrigins,
): Promise<{ graph: ExportGraph; isDepthLeftOut: boolean }> {
  const links = await buildLinkGraph(side, filter);
  const byOrigin = buildOriginColumns(links, origins, links.nodeCount, (page) => page);
  const graph: ExportGraph = {
    columns: [...COLUMNS, ...byOrigin.columns],
    nodeCount: links.nodeCount,
    edgeCount: links.targets.length,
    nodes: () => nodesOf(side, filter, links, origins, byOrigin),
    edges: () => edgesOf(links),
  };
  return { graph, isDepthLeftOut: byOrigin.isLeftOut };
}

async function* nodesOf(
  side: ExportSide,
  filter: GraphFilter,
  links: LinkGraph,
  origins: StoredOrigins,
  byOrigin: OriginColumns,
): AsyncGenerator<ExportNode[]> {
  const { ranks } = pageRank(links);
  const { hubs, authorities } = hits(links);
  const { indegree, outdegree } = degrees(links);
  const { componentOf } = components(links);
  const nodeOf = (page: GraphPage, index: number): ExportNode => ({
    id: page.id,
    label: page.url,
    cells: [
      page.host,
      page.state,
      pageClass(page.state, origins.isQuality(page.project_id, page.host)),
      page.title,
      page.status_code,
      ranks[index],
      hubs[index],
      authorities[index],
      indegree[index],
      outdegree[index],
      componentOf[index],
      page.depth,
      page.discovered_run,
      page.redirect_to,
      ...byOrigin.cells(index),
    ],
  });
  let written = 0;
  for await (const batch of side.graphPages(filter)) {
    const nodes: ExportNode[] = [];
    for (const page of batch) {
      // A page that was found after the graph was built has no place in it.
      const index = links.indexOf(page.id);
      if (index !== -1) nodes.push(nodeOf(page, index));
    }
    written += nodes.length;
    yield nodes;
  }
  // Edges must not lead to missing nodes: pages vanish when a crawl begins with --fresh.
  if (written !== links.nodeCount) throw sumiError('export-changed', { pages: links.nodeCount - written });
}

function* edgesOf({ nodeCount, ids, offsets, targets, flags }: LinkGraph): Generator<ExportEdge> {
  for (let page = 0; page < nodeCount; page++) {
    for (let at = offsets[page]; at < offsets[page + 1]; at++) {
      yield {
        source: ids[page],
        target: ids[targets[at]],
        weight: 1,
        nofollow: flags[at] & LINK_FLAGS.nofollow,
      };
    }
  }
}
