import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { AWKWARD, collect, graphOfTexts } from '../../../test/graph/awkward-graph.ts';
import type { ExportGraph } from '../export-graph.ts';
import { csvEdges, csvNodes } from './csv.ts';
import { dot } from './dot.ts';
import { edgeBatches } from './edge-batches.ts';
import { gexf } from './gexf.ts';
import { graphml } from './graphml.ts';
import { jsonl } from './jsonl.ts';
import { parquetEdges, parquetNodes } from './parquet.ts';
import { xmlText } from './xml-text.ts';

const graph = graphOfTexts(AWKWARD);

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return new Uint8Array(Buffer.concat(parts)).buffer;
}

/** RFC 4180, read sign by sign. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  const fields = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/gy;
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(fields)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe('text in XML', () => {
  it('has every sign of markup as a reference, in attributes and between tags', () => {
    expect(xmlText('a & b < c > d "e"')).toBe('a &amp; b &lt; c &gt; d &quot;e&quot;');
    expect(xmlText('tab\tline\nreturn\r')).toBe('tab&#9;line&#10;return&#13;');
    expect(xmlText('plain ü 漢 😀')).toBe('plain ü 漢 😀');
  });

  it('has a mark in place of each character that XML cannot hold', () => {
    expect(xmlText('\u0000\u0007\u001b\ufffe\uffff')).toBe('\ufffd'.repeat(5));
    expect(xmlText('half \ud83d of a pair, and \ude00')).toBe('half \ufffd of a pair, and \ufffd');
    expect(xmlText('\u007f\u0085')).toBe('\u007f\u0085');
  });
});

describe('JSON lines', () => {
  it('hold every node and edge whole, nodes first, with nothing in place of what is missing', async () => {
    const rows = (await collect(jsonl(graph)))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.filter(({ type }) => type === 'node').map(({ title }) => title)).toEqual(AWKWARD);
    expect(rows[0]).toEqual({
      type: 'node',
      id: 10,
      label: `https://a.test/?0&${AWKWARD[0]}`,
      title: AWKWARD[0],
      status: 200,
      pagerank: 1e-7,
      'depth_*.a.test': null,
    });
    expect(rows.at(-1)).toEqual({ type: 'edge', source: 10, target: 10, weight: 3, nofollow: 1 });
  });
});

describe('CSV', () => {
  it('reads back as it was: quotes, commas, lines and empty fields', async () => {
    const [head, ...rows] = readCsv(await collect(csvNodes(graph)));
    expect(head).toEqual(['id', 'label', 'title', 'status', 'pagerank', 'depth_*.a.test']);
    expect(rows.map(([, , title]) => title)).toEqual(AWKWARD);
    expect(rows[0].slice(3)).toEqual(['200', '1e-7', '']);
    const edges = readCsv(await collect(csvEdges(graph)));
    expect(edges[0]).toEqual(['source', 'target', 'weight', 'nofollow']);
    expect(edges).toHaveLength(graph.edgeCount + 1);
    expect(edges.at(-1)).toEqual(['10', '10', '3', '1']);
  });
});

describe('DOT', () => {
  it('quotes names and texts, and has one line for each node and edge', async () => {
    const lines = (await collect(dot(graphOfTexts(['say "hi" \\N\n'])))).split('\n');
    expect(lines).toEqual([
      'digraph sumi {',
      '10 [label="https://a.test/?0&say \\"hi\\" \\\\N " "title"="say \\"hi\\" \\\\N " "status"="200" "pagerank"="1e-7"];',
      '10 -> 10 [weight=3 nofollow=1];',
      '}',
      '',
    ]);
  });
});

describe('GEXF and GraphML', () => {
  it('leave out what a node lacks, and name keys by number', async () => {
    const one = graphOfTexts(['x']);
    const text = await collect(graphml(one));
    expect(text).toContain('<key id="n4" for="node" attr.name="depth_*.a.test" attr.type="int"/>');
    expect(text).toContain('<data key="n3">1e-7</data></node>');
    expect(await collect(gexf(one))).toContain('<attvalue for="2" value="1e-7"/></attvalues></node>');
  });
});

describe('Parquet', () => {
  it('reads back as it was, with types, nulls and more than a group of rows', async () => {
    const many = graphOfTexts(
      Array.from({ length: 20_000 }, (_, i) => (i === 19_999 ? 'last' : AWKWARD[i % 3])),
    );
    const nodes = await parquetReadObjects({ file: await bytesOf(parquetNodes(many)) });
    expect(nodes).toHaveLength(20_000);
    expect(nodes[19_999]).toEqual({
      id: 10 + 19_999,
      label: 'https://a.test/?19999&last',
      title: 'last',
      status: null,
      pagerank: 1e-7,
      'depth_*.a.test': 19_999,
    });
    const edges = await parquetReadObjects({ file: await bytesOf(parquetEdges(many)) });
    expect(edges).toHaveLength(many.edgeCount);
    expect(edges.at(-1)).toEqual({ source: 10, target: 10, weight: 3, nofollow: 1 });
  });

  it('keeps odd texts, but for half of a surrogate pair', async () => {
    const rows = await parquetReadObjects({ file: await bytesOf(parquetNodes(graph)) });
    expect(rows.map(({ title }) => title)).toEqual(AWKWARD.map((text) => Buffer.from(text).toString()));
  });

  it('is a table without rows for a graph without nodes', async () => {
    const empty: ExportGraph = graphOfTexts([]);
    const file = await bytesOf(parquetNodes(empty));
    expect(await parquetReadObjects({ file })).toEqual([]);
  });
});

describe('batches of edges', () => {
  it('are of the size asked for, the last one what is left', () => {
    const edges = Array.from({ length: 7 }, (_, i) => ({ source: i, target: 0, weight: 1, nofollow: 0 }));
    expect([...edgeBatches(edges, 3)].map((batch) => batch.map(({ source }) => source))).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6],
    ]);
    expect([...edgeBatches([], 3)]).toEqual([]);
  });
});
