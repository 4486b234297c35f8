/** Depth by origin as columns of an export, one per origin, within a limit of memory. */
import type { Cell, GraphColumn } from './export-graph.ts';
import type { LinkGraph } from './link-graph.ts';
import { originDepths } from './origin-depths.ts';
import type { StoredOrigins } from './stored-origins.ts';

/** 4 bytes each: 256 MB. */
const MOST_DEPTHS = 64 * 1024 * 1024;

export interface OriginColumns {
  readonly columns: readonly GraphColumn[];
  /** True if there are too many origins and pages to hold: then there are no columns. */
  readonly isLeftOut: boolean;
  /** Depths of a node, in the order of the columns; null if the origin does not reach it. */
  cells(node: number): Cell[];
}

/** `nodeOf` gives the node of a page: itself, or its host. A node has the least depth of its pages. */
export function buildOriginColumns(
  graph: LinkGraph,
  origins: StoredOrigins,
  nodeCount: number,
  nodeOf: (page: number) => number,
  mostDepths: number = MOST_DEPTHS,
): OriginColumns {
  if (origins.names.length * nodeCount > mostDepths) return { columns: [], isLeftOut: true, cells: () => [] };
  const depths = origins.names.map(() => new Int32Array(nodeCount).fill(-1));
  originDepths(graph, origins.over(graph), (page, origin, depth) => {
    const node = nodeOf(page);
    const known = depths[origin][node];
    if (known === -1 || depth < known) depths[origin][node] = depth;
  });
  return {
    columns: origins.names.map((name) => ({ name: `depth_${name}`, type: 'integer' })),
    isLeftOut: false,
    cells: (node) => depths.map((ofOrigin) => (ofOrigin[node] === -1 ? null : ofOrigin[node])),
  };
}
