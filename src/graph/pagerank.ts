/**
 * PageRank by power iteration: the position of a reader who follows a random link (by weight if links have weights)
 * with probability `damping`, and otherwise jumps anywhere. From a node without links the reader always jumps. Ranks
 * add up to 1. Deterministic; 24 bytes per node while it runs.
 */
import type { Digraph } from './digraph.ts';

export interface PageRankOptions {
  damping?: number;
  /** Ends when all ranks together moved less than this in a round. */
  tolerance?: number;
  maxRounds?: number;
}

export interface PageRank {
  readonly ranks: Float64Array;
  readonly rounds: number;
  readonly isConverged: boolean;
}

export function pageRank(graph: Digraph, options: PageRankOptions = {}): PageRank {
  const { damping = 0.85, tolerance = 1e-10, maxRounds = 100 } = options;
  const { nodeCount, offsets, targets, weights } = graph;
  const outflow = outflowOf(graph);
  let ranks = new Float64Array(nodeCount).fill(1 / nodeCount);
  let next = new Float64Array(nodeCount);
  if (nodeCount === 0) return { ranks, rounds: 0, isConverged: true };
  for (let rounds = 1; ; rounds++) {
    let stranded = 0;
    for (let node = 0; node < nodeCount; node++) if (outflow[node] === 0) stranded += ranks[node];
    next.fill((1 - damping + damping * stranded) / nodeCount);
    for (let node = 0; node < nodeCount; node++) {
      const share = (damping * ranks[node]) / outflow[node];
      for (let at = offsets[node]; at < offsets[node + 1]; at++) {
        next[targets[at]] += weights === null ? share : share * weights[at];
      }
    }
    let moved = 0;
    for (let node = 0; node < nodeCount; node++) moved += Math.abs(next[node] - ranks[node]);
    [ranks, next] = [next, ranks];
    const isConverged = moved < tolerance;
    if (isConverged || rounds === maxRounds) return { ranks, rounds, isConverged };
  }
}

/** The weight that leaves each node. */
function outflowOf({ nodeCount, offsets, weights }: Digraph): Float64Array {
  const outflow = new Float64Array(nodeCount);
  for (let node = 0; node < nodeCount; node++) {
    if (weights === null) outflow[node] = offsets[node + 1] - offsets[node];
    else for (let at = offsets[node]; at < offsets[node + 1]; at++) outflow[node] += weights[at];
  }
  return outflow;
}
