/** One JSON object per line: first nodes, then edges, distinguished by `type`. A missing value is null. */
import type { ExportGraph } from '../export-graph.ts';
import { edgeBatches } from './edge-batches.ts';

export async function* jsonl({ columns, nodes, edges }: ExportGraph): AsyncGenerator<string> {
  for await (const batch of nodes()) {
    yield batch
      .map(({ id, label, cells }) => {
        const values = Object.fromEntries(columns.map(({ name }, i) => [name, cells[i]]));
        return `${JSON.stringify({ type: 'node', id, label, ...values })}\n`;
      })
      .join('');
  }
  for (const batch of edgeBatches(edges())) {
    yield batch.map((edge) => `${JSON.stringify({ type: 'edge', ...edge })}\n`).join('');
  }
}
