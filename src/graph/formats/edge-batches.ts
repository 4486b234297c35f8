/** Edges in batches of a thousand, so that each write is worth its call. */
import type { ExportEdge } from '../export-graph.ts';

const EDGES_A_BATCH = 4096;

export function* edgeBatches(
  edges: Iterable<ExportEdge>,
  size: number = EDGES_A_BATCH,
): Generator<ExportEdge[]> {
  let batch: ExportEdge[] = [];
  for (const edge of edges) {
    if (batch.push(edge) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
