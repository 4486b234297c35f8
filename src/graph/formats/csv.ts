/** Two tables by RFC 4180, in UTF-8: edges by the ids of their nodes, and nodes. A missing value is empty. */
import { csvField } from '../../primitives/csv-field.ts';
import { EDGE_COLUMNS, type ExportGraph } from '../export-graph.ts';
import { edgeBatches } from './edge-batches.ts';

export async function* csvEdges({ edges }: ExportGraph): AsyncGenerator<string> {
  yield `source,target,${EDGE_COLUMNS.map(({ name }) => name).join(',')}\n`;
  for (const batch of edgeBatches(edges())) {
    yield batch
      .map(({ source, target, weight, nofollow }) => `${source},${target},${weight},${nofollow}\n`)
      .join('');
  }
}

export async function* csvNodes({ columns, nodes }: ExportGraph): AsyncGenerator<string> {
  yield line(['id', 'label', ...columns.map(({ name }) => name)]);
  for await (const batch of nodes()) {
    yield batch.map(({ id, label, cells }) => line([id, label, ...cells])).join('');
  }
}

function line(values: readonly (string | number | null)[]): string {
  return `${values.map(csvField).join(',')}\n`;
}
