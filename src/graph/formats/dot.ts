/** The language of Graphviz, for `dot`, `sfdp` and others. A missing value is left out. */
import { EDGE_COLUMNS, type ExportGraph } from '../export-graph.ts';
import { edgeBatches } from './edge-batches.ts';

export async function* dot({ columns, nodes, edges }: ExportGraph): AsyncGenerator<string> {
  yield 'digraph sumi {\n';
  const names = columns.map(({ name }) => quoted(name));
  for await (const batch of nodes()) {
    yield batch
      .map(({ id, label, cells }) => {
        let attributes = `label=${quoted(label)}`;
        for (let i = 0; i < cells.length; i++) {
          const cell = cells[i];
          if (cell !== null)
            attributes += ` ${names[i]}=${typeof cell === 'string' ? quoted(cell) : `"${cell}"`}`;
        }
        return `${id} [${attributes}];\n`;
      })
      .join('');
  }
  for (const batch of edgeBatches(edges())) {
    yield batch
      .map((edge) => {
        const attributes = EDGE_COLUMNS.map(({ name }) => `${name}=${edge[name]}`).join(' ');
        return `${edge.source} -> ${edge.target} [${attributes}];\n`;
      })
      .join('');
  }
  yield '}\n';
}

/** Backslashes begin escapes in labels. Control characters are not allowed in a line, and NUL would end the file. */
function quoted(text: string): string {
  return `"${text.replace(/\p{Cc}+/gu, ' ').replace(/[\\"]/g, '\\$&')}"`;
}
