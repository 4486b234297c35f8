/** GEXF 1.3 (gexf.net), for Gephi and others. A missing value is left out. */
import { EDGE_COLUMNS, type ExportGraph, type ExportNode, type GraphColumn } from '../export-graph.ts';
import { edgeBatches } from './edge-batches.ts';
import { xmlText } from './xml-text.ts';

const TYPES = { string: 'string', integer: 'integer', number: 'double' } as const;
/** The format has an attribute of its own for the weight. */
const [, NOFOLLOW] = EDGE_COLUMNS;

export async function* gexf(graph: ExportGraph): AsyncGenerator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3">
  <meta>
    <creator>sumi-ripple</creator>
  </meta>
  <graph mode="static" defaultedgetype="directed" idtype="integer">
    <attributes class="node">
${graph.columns.map((column, i) => declaration(column, String(i))).join('')}    </attributes>
    <attributes class="edge">
${declaration(NOFOLLOW, NOFOLLOW.name)}    </attributes>
    <nodes count="${graph.nodeCount}">
`;
  for await (const nodes of graph.nodes()) yield nodes.map(nodeText).join('');
  yield `    </nodes>\n    <edges count="${graph.edgeCount}">\n`;
  let id = 0;
  for (const edges of edgeBatches(graph.edges())) {
    yield edges
      .map(
        ({ source, target, weight, nofollow }) =>
          `<edge id="${id++}" source="${source}" target="${target}" weight="${weight}"><attvalues><attvalue for="${NOFOLLOW.name}" value="${nofollow}"/></attvalues></edge>\n`,
      )
      .join('');
  }
  yield '    </edges>\n  </graph>\n</gexf>\n';
}

function declaration({ name, type }: GraphColumn, id: string): string {
  return `      <attribute id="${id}" title="${xmlText(name)}" type="${TYPES[type]}"/>\n`;
}

function nodeText({ id, label, cells }: ExportNode): string {
  let values = '';
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    if (cell === null) continue;
    values += `<attvalue for="${i}" value="${typeof cell === 'string' ? xmlText(cell) : cell}"/>`;
  }
  return `<node id="${id}" label="${xmlText(label)}"><attvalues>${values}</attvalues></node>\n`;
}
