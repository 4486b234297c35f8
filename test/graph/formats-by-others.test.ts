/** The exports as other programs read them: the GEXF schema, the rules of GraphML, Graphviz. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dot } from '../../src/graph/formats/dot.ts';
import { gexf } from '../../src/graph/formats/gexf.ts';
import { graphml } from '../../src/graph/formats/graphml.ts';
import { AWKWARD, collect, graphOfTexts } from './awkward-graph.ts';
import { describeWhere, isThere, judge } from './outside-program.ts';

const graph = graphOfTexts(AWKWARD);
const schema = join(process.env.CONFORMANCE_DIR ?? '../shared/conformance', 'schemas/gexf-1.3/gexf.xsd');
const hasXmllint = isThere('xmllint', ['--version'], 'Debian: libxml2-utils');
const hasSchema = existsSync(schema);
if (!hasSchema) console.warn(`GEXF schema: not run, no ${schema} (set CONFORMANCE_DIR)`);

/** What xmllint makes of an XPath expression. */
function ask(text: string, path: string): string {
  const { status, stdout, stderr } = judge('xmllint', ['--xpath', path, '-'], text);
  expect([path, stderr, status]).toEqual([path, '', 0]);
  return stdout.replace(/\n$/, '');
}

/** As the XML standard would have a reader see it. */
const readable = (text: string) =>
  text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\ufffd');

describeWhere(hasXmllint && hasSchema, 'GEXF by its schema', () => {
  const validate = (text: string) => judge('xmllint', ['--noout', '--schema', schema, '-'], text);

  it('is valid with every odd text there is, and with no node at all', async () => {
    for (const one of [graph, graphOfTexts([])]) {
      expect(validate(await collect(gexf(one)))).toMatchObject({ status: 0, stderr: '- validates\n' });
    }
  });

  it('would not be valid otherwise: the judge does judge', async () => {
    const text = (await collect(gexf(graph))).replace('type="integer"', 'type="whole number"');
    expect(validate(text).status).not.toBe(0);
  });

  it('holds the texts that went in', async () => {
    const text = await collect(gexf(graph));
    const node = (i: number) => `string(//*[local-name()="node"][${i + 1}]//*[@for="0"]/@value)`;
    for (const [i, title] of AWKWARD.entries()) expect(ask(text, node(i))).toBe(readable(title));
    expect(ask(text, 'count(//*[local-name()="node"])')).toBe(String(graph.nodeCount));
    expect(ask(text, 'count(//*[local-name()="edge"])')).toBe(String(graph.edgeCount));
  });
});

/** The rules of graphml.xsd and of its attributes extension, as far as this format goes. */
function graphmlFaults(text: string): string[] {
  const faults: string[] = [];
  const keys = new Map<string, { of: string; type: string }>();
  const ids = { node: new Set<string>(), edge: new Set<string>() };
  const named = (part: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(part)?.[1];
  const isToken = (id: string | undefined) => id !== undefined && /^[\w.:-]+$/.test(id);
  const kinds: Record<string, RegExp> = {
    string: /^[^<>&]*(?:&(?:amp|lt|gt|quot|#9|#10|#13);[^<>&]*)*$/,
    int: /^-?\d+$/,
    double: /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/,
  };
  const head = text.slice(0, text.indexOf('<graph '));
  for (const [key] of head.matchAll(/<key [^>]*\/>/g)) {
    const [id, of, type] = ['id', 'for', 'attr.type'].map((name) => named(key, name));
    if (!isToken(id) || keys.has(id!)) faults.push(`key id ${id}`);
    if (named(key, 'attr.name') === undefined) faults.push(`key without name: ${key}`);
    if (!['node', 'edge'].includes(of ?? '') || !(type! in kinds)) faults.push(`key ${key}`);
    keys.set(id!, { of: of!, type: type! });
  }
  for (const [, kind, attributes, data] of text.matchAll(/<(node|edge) ([^>]*)>(.*)<\/\1>/g)) {
    const id = named(` ${attributes}`, 'id');
    const known = ids[kind as 'node' | 'edge'];
    if (!isToken(id) || known.has(id!)) faults.push(`${kind} id ${id}`);
    known.add(id!);
    const used = new Set<string>();
    for (const [, key, value] of data.matchAll(/<data key="([^"]*)">([^<]*)<\/data>/g)) {
      const declared = keys.get(key);
      if (declared?.of !== kind || used.has(key)) faults.push(`data ${key} of ${kind} ${id}`);
      else if (!kinds[declared.type]?.test(value)) faults.push(`data ${key}: ${value}`);
      used.add(key);
    }
    if (data.replace(/<data key="[^"]*">[^<]*<\/data>/g, '') !== '')
      faults.push(`${kind} ${id} holds ${data}`);
    if (kind === 'edge') {
      for (const end of ['source', 'target']) {
        if (!ids.node.has(named(` ${attributes}`, end)!)) faults.push(`edge ${id} has no ${end}`);
      }
    }
  }
  if (!/<graph id="[^"]+" edgedefault="(?:un)?directed">/.test(text)) faults.push('no edgedefault');
  if (ids.node.size !== graph.nodeCount || ids.edge.size !== graph.edgeCount)
    faults.push('nodes or edges are missing');
  return faults;
}

describe('GraphML by the rules of its schema', () => {
  it('declares every key once, uses only those, and refers only to nodes that are there', async () => {
    expect(graphmlFaults(await collect(graphml(graph)))).toEqual([]);
  });

  it('would be faulty otherwise: the judge does judge', async () => {
    const text = await collect(graphml(graph));
    expect(graphmlFaults(text.replace('key="n2"', 'key="n77"'))).toEqual(['data n77 of node 10']);
    expect(graphmlFaults(text.replace('target="10"', 'target="9"'))).toHaveLength(1);
    expect(graphmlFaults(text.replace('attr.type="int"', 'attr.type="whole"'))).not.toEqual([]);
  });
});

describeWhere(hasXmllint, 'GraphML as XML', () => {
  it('is well-formed and holds the texts that went in', async () => {
    const text = await collect(graphml(graph));
    const node = (i: number) => `string(//*[local-name()="node"][${i + 1}]/*[@key="n1"])`;
    for (const [i, title] of AWKWARD.entries()) expect(ask(text, node(i))).toBe(readable(title));
  });
});

const hasDot = isThere('dot', ['-V'], 'Debian: graphviz');
describeWhere(hasDot, 'DOT by Graphviz', () => {
  it('is read without a complaint, with every node and edge', async () => {
    const { status, stdout, stderr } = judge('dot', ['-Tcanon'], await collect(dot(graph)));
    expect([stderr, status]).toEqual(['', 0]);
    expect(stdout.match(/^\s*\d+ -> \d+/gm)).toHaveLength(graph.edgeCount);
    expect(stdout.match(/pagerank="?1e-7/g)).toHaveLength(graph.nodeCount);
  });

  it('would be refused otherwise: the judge does judge', async () => {
    const text = (await collect(dot(graph))).replace('\\"hi\\"', '"hi"');
    expect(judge('dot', ['-Tcanon'], text).stderr).toContain('syntax error');
  });
});
