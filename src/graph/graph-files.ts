/** The formats of graph exports, and the files of each. */
import type { ExportGraph } from './export-graph.ts';

export const EXPORT_FORMATS = ['gexf', 'graphml', 'csv', 'jsonl', 'dot', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface GraphFile {
  /** Tables have a file for nodes beside the one for edges. Every other format is one file. */
  readonly holds: 'graph' | 'edges' | 'nodes';
  readonly pieces: AsyncIterable<string | Uint8Array>;
}

/** Loads only the requested format. Write the files in this order. */
export async function filesOf(format: ExportFormat, graph: ExportGraph): Promise<GraphFile[]> {
  switch (format) {
    case 'gexf':
      return [{ holds: 'graph', pieces: (await import('./formats/gexf.ts')).gexf(graph) }];
    case 'graphml':
      return [{ holds: 'graph', pieces: (await import('./formats/graphml.ts')).graphml(graph) }];
    case 'jsonl':
      return [{ holds: 'graph', pieces: (await import('./formats/jsonl.ts')).jsonl(graph) }];
    case 'dot':
      return [{ holds: 'graph', pieces: (await import('./formats/dot.ts')).dot(graph) }];
    case 'csv': {
      const { csvEdges, csvNodes } = await import('./formats/csv.ts');
      return [
        { holds: 'edges', pieces: csvEdges(graph) },
        { holds: 'nodes', pieces: csvNodes(graph) },
      ];
    }
    case 'parquet': {
      const { parquetEdges, parquetNodes } = await import('./formats/parquet.ts');
      return [
        { holds: 'edges', pieces: parquetEdges(graph) },
        { holds: 'nodes', pieces: parquetNodes(graph) },
      ];
    }
  }
}
