/**
 * Weakly connected components: the parts of a graph that are connected if the direction of links does not count.
 * Numbered by size, the largest 0, equal ones by their first node. Union by least node, at most 20 bytes per node.
 */
import type { Digraph } from './digraph.ts';

export interface Components {
  /** Node → number of its component. */
  readonly componentOf: Int32Array;
  /** Nodes of each component, from the largest on. */
  readonly sizes: Int32Array;
}

export function components({ nodeCount, offsets, targets }: Digraph): Components {
  const parent = Int32Array.from({ length: nodeCount }, (_, node) => node);
  const rootOf = (node: number) => {
    let at = node;
    while (parent[at] !== at) {
      parent[at] = parent[parent[at]];
      at = parent[at];
    }
    return at;
  };
  for (let node = 0; node < nodeCount; node++) {
    for (let at = offsets[node]; at < offsets[node + 1]; at++) {
      const [one, other] = [rootOf(node), rootOf(targets[at])];
      // The least node of a component stays its root.
      if (one < other) parent[other] = one;
      else parent[one] = other;
    }
  }
  const counts = new Int32Array(nodeCount);
  for (let node = 0; node < nodeCount; node++) counts[rootOf(node)]++;
  const roots = Int32Array.from({ length: nodeCount }, (_, node) => node).filter((node) => counts[node] > 0);
  roots.sort((a, b) => counts[b] - counts[a] || a - b);
  const sizes = roots.map((root) => counts[root]);
  // Roots are numbered in place of their counts, which are known now.
  for (const [number, root] of roots.entries()) counts[root] = number;
  const componentOf = new Int32Array(nodeCount);
  for (let node = 0; node < nodeCount; node++) componentOf[node] = counts[rootOf(node)];
  return { componentOf, sizes };
}
