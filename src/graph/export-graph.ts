/**
 * The input of every export format: a graph as columns, nodes in batches and edges one by one, written while it is
 * read. Nodes come in the order of their ids, edges by source. Formats know nothing of pages or domains.
 */
export type ColumnType = 'string' | 'integer' | 'number';

export interface GraphColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export type Cell = string | number | null;

export interface ExportNode {
  readonly id: number;
  readonly label: string;
  /** Beside the columns. */
  readonly cells: readonly Cell[];
}

export interface ExportEdge {
  readonly source: number;
  readonly target: number;
  /** Its number of links. */
  readonly weight: number;
  /** How many of them are nofollow. */
  readonly nofollow: number;
}

export interface ExportGraph {
  /** Attributes of nodes, in addition to id and label. */
  readonly columns: readonly GraphColumn[];
  readonly nodeCount: number;
  readonly edgeCount: number;
  nodes(): AsyncIterable<readonly ExportNode[]>;
  edges(): Iterable<ExportEdge>;
}

/** Attributes of edges, the same in every format. */
export const EDGE_COLUMNS = [
  { name: 'weight', type: 'integer' },
  { name: 'nofollow', type: 'integer' },
] as const satisfies readonly GraphColumn[];

/** The columns of every node, page or domain. */
export const NODE_COLUMNS: readonly GraphColumn[] = [
  { name: 'state', type: 'string' },
  { name: 'class', type: 'string' },
  { name: 'title', type: 'string' },
  { name: 'status', type: 'integer' },
  { name: 'pagerank', type: 'number' },
  { name: 'hub', type: 'number' },
  { name: 'authority', type: 'number' },
  { name: 'indegree', type: 'integer' },
  { name: 'outdegree', type: 'integer' },
  { name: 'component', type: 'integer' },
];
