import { describe, expect, it } from 'vitest';
import { digraphOf, distance, matrixOf, randomDigraph, sumOf } from '../../test/graph/random-digraph.ts';
import type { Digraph } from './digraph.ts';
import { pageRank } from './pagerank.ts';

/** The same by the book: the whole matrix of probabilities, multiplied until it stands still. */
function denseRanks(graph: Digraph, damping: number): number[] {
  const n = graph.nodeCount;
  const chances = matrixOf(graph).map((row) => {
    const sum = sumOf(row);
    return row.map((weight) => (1 - damping) / n + damping * (sum === 0 ? 1 / n : weight / sum));
  });
  let ranks = new Array<number>(n).fill(1 / n);
  for (let round = 0; round < 1000; round++) {
    ranks = ranks.map((_, to) => ranks.reduce((sum, rank, from) => sum + rank * chances[from][to], 0));
  }
  return ranks;
}

describe('PageRank', () => {
  it('is what the whole matrix gives, on a hundred random graphs with and without weights', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const graph = randomDigraph(seed, seed % 2 === 0);
      // The matrix needs no more rounds than this, however slow.
      const { ranks, isConverged } = pageRank(graph, { maxRounds: 500 });
      expect([seed, isConverged]).toEqual([seed, true]);
      expect(sumOf(ranks)).toBeCloseTo(1, 12);
      expect(distance(ranks, denseRanks(graph, 0.85)), `seed ${seed}`).toBeLessThan(1e-9);
    }
  });

  it('gives every page of a ring the same, and obeys another damping', () => {
    const ring = digraphOf(4, [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 0],
    ]);
    expect(distance(pageRank(ring).ranks, [0.25, 0.25, 0.25, 0.25])).toBeLessThan(1e-12);
    const star = digraphOf(3, [
      [1, 0],
      [2, 0],
    ]);
    expect(distance(pageRank(star, { damping: 0.5 }).ranks, denseRanks(star, 0.5))).toBeLessThan(1e-9);
  });

  it('spreads what reaches a page without links over all pages', () => {
    // Two pages, one link: by hand, p1 = 0.075 + 0.85 p1 / 2 + 0.85 p0 and p0 + p1 = 1.
    const { ranks } = pageRank(digraphOf(2, [[0, 1]]));
    expect(ranks[1]).toBeCloseTo(0.925 / 1.425, 9);
  });

  it('follows heavy links more often', () => {
    const { ranks } = pageRank(
      digraphOf(3, [
        [0, 1, 9],
        [0, 2, 1],
      ]),
    );
    expect(ranks[1]).toBeGreaterThan(ranks[2]);
  });

  it('says when it ran out of rounds, and has an answer for no pages and no links', () => {
    expect(pageRank(randomDigraph(7, false), { maxRounds: 1 })).toMatchObject({
      rounds: 1,
      isConverged: false,
    });
    expect([...pageRank(digraphOf(0, [])).ranks]).toEqual([]);
    expect([...pageRank(digraphOf(4, [])).ranks]).toEqual([0.25, 0.25, 0.25, 0.25]);
  });
});
