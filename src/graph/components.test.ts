import { describe, expect, it } from 'vitest';
import { digraphOf, matrixOf, randomDigraph } from '../../test/graph/random-digraph.ts';
import { components } from './components.ts';
import { degrees, reverse } from './digraph.ts';

describe('components', () => {
  it('are numbered by size, whichever way links point', () => {
    const graph = digraphOf(7, [
      [6, 2],
      [4, 2],
      [1, 0],
    ]);
    const { componentOf, sizes } = components(graph);
    expect([...sizes]).toEqual([3, 2, 1, 1]);
    expect([...componentOf]).toEqual([1, 1, 0, 2, 0, 3, 0]);
  });

  it('hold exactly what can be reached both ways, on a hundred random graphs', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const graph = randomDigraph(seed, false);
      const matrix = matrixOf(graph);
      const { componentOf, sizes } = components(graph);
      const seen = new Set<number>();
      for (let start = 0; start < graph.nodeCount; start++) {
        if (seen.has(start)) continue;
        const reached = new Set([start]);
        for (const node of reached) {
          for (let other = 0; other < graph.nodeCount; other++) {
            if (matrix[node][other] + matrix[other][node] > 0) reached.add(other);
          }
        }
        for (const node of reached) {
          seen.add(node);
          expect(componentOf[node], `seed ${seed}`).toBe(componentOf[start]);
        }
        expect(sizes[componentOf[start]], `seed ${seed}`).toBe(reached.size);
      }
    }
  });

  it('are none in an empty graph', () => {
    expect(components(digraphOf(0, [])).sizes).toHaveLength(0);
  });
});

describe('degrees and the other direction', () => {
  it('count links from and to a node, also one to itself', () => {
    const graph = digraphOf(3, [
      [0, 0],
      [0, 1],
      [2, 1],
    ]);
    const { indegree, outdegree } = degrees(graph);
    expect([[...indegree], [...outdegree]]).toEqual([
      [1, 2, 0],
      [2, 0, 1],
    ]);
  });

  it('turn every link round with its weight, and twice is as before', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const graph = randomDigraph(seed, seed % 2 === 0);
      const turned = reverse(graph);
      const [matrix, other] = [matrixOf(graph), matrixOf(turned)];
      expect(matrix.map((row, i) => row.map((_, j) => other[j][i]))).toEqual(matrix);
      expect(reverse(turned)).toEqual(graph);
    }
  });
});
