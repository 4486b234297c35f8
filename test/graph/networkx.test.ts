/** PageRank, HITS and components against networkx, which computes them by other means (sparse matrices, singular vectors). */
import { expect, it } from 'vitest';
import { components } from '../../src/graph/components.ts';
import { hits } from '../../src/graph/hits.ts';
import { pageRank } from '../../src/graph/pagerank.ts';
import { describeWhere, isThere, judge } from './outside-program.ts';
import { distance, randomDigraph } from './random-digraph.ts';

const SCRIPT = `
import sys, json, networkx as nx
answers = []
for case in json.load(sys.stdin):
    g = nx.DiGraph()
    g.add_nodes_from(range(case["nodes"]))
    g.add_weighted_edges_from(case["links"])
    n = case["nodes"]
    rank = nx.pagerank(g, alpha=0.85, tol=1e-12, max_iter=1000)
    hub, authority = nx.hits(g, tol=1e-12, max_iter=10000) if case["hits"] else ({}, {})
    answers.append({
        "ranks": [rank[i] for i in range(n)],
        "hubs": [hub[i] for i in range(n)] if hub else None,
        "authorities": [authority[i] for i in range(n)] if authority else None,
        "sizes": sorted((len(c) for c in nx.weakly_connected_components(g)), reverse=True),
    })
print(json.dumps(answers))
`;

interface Answer {
  ranks: number[];
  hubs: number[] | null;
  authorities: number[] | null;
  sizes: number[];
}

const hasNetworkx = isThere(
  'python3',
  ['-c', 'import networkx, scipy'],
  'Debian: python3-networkx python3-scipy',
);

describeWhere(hasNetworkx, 'measures by networkx', () => {
  const graphs = Array.from({ length: 60 }, (_, i) => randomDigraph(1000 + i, i % 2 === 1));
  const cases = graphs.map(({ nodeCount, offsets, targets, weights }, i) => ({
    nodes: nodeCount,
    links: Array.from({ length: nodeCount }, (_, from) => from).flatMap((from) =>
      [...targets.subarray(offsets[from], offsets[from + 1])].map((to, at) => [
        from,
        to,
        weights?.[offsets[from] + at] ?? 1,
      ]),
    ),
    // The leading singular vector is one only in a graph that hangs together well.
    hits: nodeCount > 10 && targets.length > nodeCount * 4 && components(graphs[i]).sizes[0] === nodeCount,
  }));

  it('are the same on sixty random graphs', () => {
    const { status, stdout, stderr } = judge('python3', ['-c', SCRIPT], JSON.stringify(cases));
    expect([stderr, status]).toEqual(['', 0]);
    const answers = JSON.parse(stdout) as Answer[];
    let judged = 0;
    for (const [i, answer] of answers.entries()) {
      expect(distance(pageRank(graphs[i]).ranks, answer.ranks), `ranks of graph ${i}`).toBeLessThan(1e-8);
      expect([...components(graphs[i]).sizes]).toEqual(answer.sizes);
      if (answer.hubs === null) continue;
      const { hubs, authorities } = hits(graphs[i], { maxRounds: 5000 });
      expect(distance(hubs, answer.hubs), `hubs of graph ${i}`).toBeLessThan(1e-6);
      expect(distance(authorities, answer.authorities!), `authorities of graph ${i}`).toBeLessThan(1e-6);
      judged++;
    }
    expect(judged).toBeGreaterThan(5);
  });
});
