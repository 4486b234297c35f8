/**
 * Two Parquet tables, edges and nodes, one row group at a time, so that only one group is in memory. A missing value is
 * null.
 */
import { openParquetTable, type ParquetColumn } from '../../primitives/parquet-table.ts';
import {
  type Cell,
  type ColumnType,
  EDGE_COLUMNS,
  type ExportGraph,
  type ExportNode,
} from '../export-graph.ts';
import { edgeBatches } from './edge-batches.ts';

const EDGES_A_GROUP = 65_536;
const NODES_A_GROUP = 16_384;

const required = (name: string, type: ColumnType): ParquetColumn => ({ name, type, isNullable: false });

export async function* parquetEdges({ edges }: ExportGraph): AsyncGenerator<Uint8Array> {
  const names = ['source', 'target', ...EDGE_COLUMNS.map(({ name }) => name)] as const;
  const table = openParquetTable(names.map((name) => required(name, 'integer')));
  for (const batch of edgeBatches(edges(), EDGES_A_GROUP)) {
    yield table.write(names.map((name) => batch.map((edge) => edge[name])));
  }
  yield table.finish();
}

export async function* parquetNodes({ columns, nodes }: ExportGraph): AsyncGenerator<Uint8Array> {
  const table = openParquetTable([
    required('id', 'integer'),
    required('label', 'string'),
    ...columns.map((column) => ({ ...column, isNullable: true })),
  ]);
  const write = (group: readonly ExportNode[]) =>
    table.write([
      group.map(({ id }) => id),
      group.map(({ label }) => wellFormed(label) as string),
      ...columns.map((_, i) => group.map(({ cells }) => wellFormed(cells[i]))),
    ]);
  let group: ExportNode[] = [];
  for await (const batch of nodes()) {
    group.push(...batch);
    if (group.length < NODES_A_GROUP) continue;
    yield write(group);
    group = [];
  }
  if (group.length > 0) yield write(group);
  yield table.finish();
}

/** Half of a surrogate pair has no UTF-8. */
function wellFormed(cell: Cell): Cell {
  return typeof cell === 'string' ? Buffer.from(cell).toString() : cell;
}
