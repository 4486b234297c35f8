import { describe, expect, it } from 'vitest';
import { digraphOf, distance, matrixOf, randomDigraph, sumOf } from '../../test/graph/random-digraph.ts';
import type { Digraph } from './digraph.ts';
import { hits } from './hits.ts';

/** The same by the book: powers of (links × links turned round), from the same even start. */
function denseHits(graph: Digraph): { hubs: number[]; authorities: number[] } {
  const matrix = matrixOf(graph);
  const n = graph.nodeCount;
  const scale = (values: number[]) => values.map((value) => value / sumOf(values));
  const authoritiesOf = (hubs: number[]) =>
    scale(hubs.map((_, to) => hubs.reduce((sum, hub, from) => sum + hub * matrix[from][to], 0)));
  const hubsOf = (authorities: number[]) =>
    scale(authorities.map((_, from) => sumOf(authorities.map((value, to) => value * matrix[from][to]))));
  let hubs = new Array<number>(n).fill(1 / n);
  for (let round = 0; round < 2000; round++) hubs = hubsOf(authoritiesOf(hubs));
  return { hubs, authorities: authoritiesOf(hubs) };
}

describe('hubs and authorities', () => {
  it('are what the whole matrix gives, on random graphs with and without weights', () => {
    let judged = 0;
    for (let seed = 1; seed <= 30; seed++) {
      const graph = randomDigraph(seed, seed % 2 === 0);
      if (graph.targets.length === 0) continue;
      const { hubs, authorities } = hits(graph, { maxRounds: 2000, tolerance: 1e-13 });
      const expected = denseHits(graph);
      expect(distance(hubs, expected.hubs), `hubs, seed ${seed}`).toBeLessThan(1e-8);
      expect(distance(authorities, expected.authorities), `authorities, seed ${seed}`).toBeLessThan(1e-8);
      expect([sumOf(hubs), sumOf(authorities)]).toEqual([expect.closeTo(1, 10), expect.closeTo(1, 10)]);
      judged++;
    }
    expect(judged).toBeGreaterThan(20);
  });

  it('tell who links from who is linked', () => {
    const { hubs, authorities, isConverged } = hits(
      digraphOf(4, [
        [0, 2],
        [0, 3],
        [1, 3],
      ]),
    );
    expect(isConverged).toBe(true);
    expect([hubs[2], hubs[3], authorities[0], authorities[1]]).toEqual([0, 0, 0, 0]);
    expect(hubs[0]).toBeGreaterThan(hubs[1]);
    expect(authorities[3]).toBeGreaterThan(authorities[2]);
  });

  it('are all nothing where there are no links', () => {
    expect(hits(digraphOf(2, []))).toMatchObject({ rounds: 0, isConverged: true });
    expect([...hits(digraphOf(2, [])).hubs]).toEqual([0, 0]);
  });
});
