/** A graph whose texts are whatever a page may put into its title, for the formats to survive. */
import type { ExportGraph } from '../../src/graph/export-graph.ts';

export const AWKWARD: readonly string[] = [
  'plain',
  'Tom & Jerry <script>alert("hi")</script> ]]> -->',
  'commas, \'quotes\' and "double ones"',
  'lines\nand\r\nreturns\tand tabs',
  'bell \u0007, escape \u001b[31m, nul \u0000, delete \u007f, next line \u0085',
  'not characters \ufffe \uffff',
  'half of a pair \ud83d and the other \ude00',
  'back\\slash \\N \\" and one at the end \\',
  'ünï 漢字 😀 \u202eright to left',
  '',
  '&amp; {braces} [brackets] ; -> #',
];

/** A node a text; the first links to all, the second by nofollow, and to itself three times over. */
export function graphOfTexts(texts: readonly string[]): ExportGraph {
  const id = (i: number) => 10 + i;
  return {
    columns: [
      { name: 'title', type: 'string' },
      { name: 'status', type: 'integer' },
      { name: 'pagerank', type: 'number' },
      { name: 'depth_*.a.test', type: 'integer' },
    ],
    nodeCount: texts.length,
    edgeCount: texts.length,
    async *nodes() {
      for (let first = 0; first < texts.length; first += 1000) {
        yield texts.slice(first, first + 1000).map((text, at) => {
          const i = first + at;
          return {
            id: id(i),
            label: `https://a.test/?${i}&${text}`,
            cells: [text, i === 0 ? 200 : null, 1e-7, i === 0 ? null : i],
          };
        });
      }
    },
    *edges() {
      for (let i = 1; i < texts.length; i++)
        yield { source: id(0), target: id(i), weight: 1, nofollow: i === 1 ? 1 : 0 };
      if (texts.length > 0) yield { source: id(0), target: id(0), weight: 3, nofollow: 1 };
    },
  };
}

export async function collect(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
