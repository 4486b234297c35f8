/**
 * Two Parquet tables, edges and nodes, a row group at a time: what is in memory is one group. What a node lacks is null.
 */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import {
  type Cell,
  type ColumnType,
  EDGE_COLUMNS,
  type ExportGraph,
  type ExportNode,
  type GraphColumn,
} from '../export-graph.ts';
import { edgeBatches } from './edge-batches.ts';

const EDGES_A_GROUP = 65_536;
const NODES_A_GROUP = 16_384;

const TYPES = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT32' },
  number: { type: 'DOUBLE' },
} as const satisfies Record<ColumnType, object>;

interface TableColumn extends GraphColumn {
  readonly isNullable: boolean;
}

const required = (name: string, type: ColumnType): TableColumn => ({ name, type, isNullable: false });

export async function* parquetEdges({ edges }: ExportGraph): AsyncGenerator<Uint8Array> {
  const names = ['source', 'target', ...EDGE_COLUMNS.map(({ name }) => name)] as const;
  const table = openTable(names.map((name) => required(name, 'integer')));
  for (const batch of edgeBatches(edges(), EDGES_A_GROUP)) {
    yield table.write(names.map((name) => batch.map((edge) => edge[name])));
  }
  yield table.finish();
}

export async function* parquetNodes({ columns, nodes }: ExportGraph): AsyncGenerator<Uint8Array> {
  const table = openTable([
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

function openTable(columns: readonly TableColumn[]) {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type, isNullable }) => ({
        name,
        ...TYPES[type],
        repetition_type: isNullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      })),
    ],
  });
  /** The writer goes on counting from where it was. */
  const taken = () => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  return {
    write(data: Cell[][]): Uint8Array {
      const columnData = columns.map(({ name }, i) => ({ name, data: data[i], offsetIndex: false }));
      void parquet.write({ columnData, rowGroupSize: data[0].length });
      return taken();
    },
    finish(): Uint8Array {
      void parquet.finish();
      return taken();
    },
  };
}
