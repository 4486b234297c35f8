/** Graphs by chance for the measures of src/graph, and the plain matrices that judge them. */
import type { Digraph } from '../../src/graph/digraph.ts';
import { seededRandom } from '../seeded-random.ts';

export function digraphOf(
  nodeCount: number,
  links: readonly (readonly [number, number, number?])[],
): Digraph {
  const sorted = [...links].sort(([a, x], [b, y]) => a - b || x - y);
  const offsets = new Uint32Array(nodeCount + 1);
  for (const [from] of sorted) offsets[from + 1]++;
  for (let node = 0; node < nodeCount; node++) offsets[node + 1] += offsets[node];
  const hasWeights = sorted.some(([, , weight]) => weight !== undefined);
  return {
    nodeCount,
    offsets,
    targets: Int32Array.from(sorted, ([, to]) => to),
    weights: hasWeights ? Uint32Array.from(sorted, ([, , weight]) => weight ?? 1) : null,
  };
}

/** Each pair at most once; a third of the nodes have no links, and some link to themselves. */
export function randomDigraph(seed: number, isWeighted: boolean): Digraph {
  const random = seededRandom(seed);
  const nodeCount = 1 + random.below(40);
  const density = 0.02 + random.next() * 0.3;
  const links: [number, number, number?][] = [];
  for (let from = 0; from < nodeCount; from++) {
    if (random.below(3) === 0) continue;
    for (let to = 0; to < nodeCount; to++) {
      if (random.next() > density) continue;
      links.push(isWeighted ? [from, to, 1 + random.below(9)] : [from, to]);
    }
  }
  return digraphOf(nodeCount, links);
}

/** matrix[from][to] is the weight of the link. */
export function matrixOf({ nodeCount, offsets, targets, weights }: Digraph): number[][] {
  const matrix = Array.from({ length: nodeCount }, () => new Array<number>(nodeCount).fill(0));
  for (let from = 0; from < nodeCount; from++) {
    for (let at = offsets[from]; at < offsets[from + 1]; at++) matrix[from][targets[at]] = weights?.[at] ?? 1;
  }
  return matrix;
}

export function sumOf(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value, 0);
}

/** The most that two lists of numbers differ at any place. */
export function distance(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...Array.from(one, (value, i) => Math.abs(value - other[i])));
}
