/** GraphML 1.0 with the attributes extension. A missing value is left out. */
import { EDGE_COLUMNS, type ExportGraph, type ExportNode, type GraphColumn } from '../export-graph.ts';
import { edgeBatches } from './edge-batches.ts';
import { xmlText } from './xml-text.ts';

const TYPES = { string: 'string', integer: 'int', number: 'double' } as const;
const NAMESPACE = 'http://graphml.graphdrawing.org/xmlns';
const LABEL: GraphColumn = { name: 'label', type: 'string' };
/** Keys are numbered, because an id (NMTOKEN) allows few characters and column names may have any. */
const nodeKey = (i: number) => `n${i}`;
const edgeKey = (i: number) => `e${i}`;

export async function* graphml(graph: ExportGraph): AsyncGenerator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="${NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${NAMESPACE} ${NAMESPACE}/1.0/graphml.xsd">
${[LABEL, ...graph.columns].map((column, i) => declaration(column, 'node', nodeKey(i))).join('')}${EDGE_COLUMNS.map((column, i) => declaration(column, 'edge', edgeKey(i))).join('')}  <graph id="G" edgedefault="directed">
`;
  for await (const nodes of graph.nodes()) yield nodes.map(nodeText).join('');
  let id = 0;
  for (const edges of edgeBatches(graph.edges())) {
    yield edges
      .map(
        (edge) =>
          `<edge id="e${id++}" source="${edge.source}" target="${edge.target}">${EDGE_COLUMNS.map(({ name }, i) => data(edgeKey(i), edge[name])).join('')}</edge>\n`,
      )
      .join('');
  }
  yield '  </graph>\n</graphml>\n';
}

function declaration({ name, type }: GraphColumn, of: 'node' | 'edge', id: string): string {
  return `  <key id="${id}" for="${of}" attr.name="${xmlText(name)}" attr.type="${TYPES[type]}"/>\n`;
}

function nodeText({ id, label, cells }: ExportNode): string {
  let values = data(nodeKey(0), label);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    if (cell !== null) values += data(nodeKey(i + 1), cell);
  }
  return `<node id="${id}">${values}</node>\n`;
}

function data(key: string, value: string | number): string {
  return `<data key="${key}">${typeof value === 'string' ? xmlText(value) : value}</data>`;
}
