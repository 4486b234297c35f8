import { describe, expect, it } from 'vitest';
import { digraphOf } from '../../test/graph/random-digraph.ts';
import { seededRandom } from '../../test/seeded-random.ts';
import { UNFOLLOWED } from '../store/settlement.ts';
import { type DepthGraph, type Origin, originDepths } from './origin-depths.ts';

const NOFOLLOW = 1;

interface Link {
  from: number;
  to: number;
  flags: number;
}

function graphOf(
  nodeCount: number,
  links: readonly Link[],
  redirects: ReadonlyMap<number, number>,
): DepthGraph {
  const sorted = [...links].sort((a, b) => a.from - b.from || a.to - b.to);
  const { offsets, targets } = digraphOf(
    nodeCount,
    sorted.map(({ from, to }) => [from, to]),
  );
  return {
    nodeCount,
    offsets,
    targets,
    flags: Uint8Array.from(sorted, ({ flags }) => flags),
    redirectTo: Int32Array.from({ length: nodeCount }, (_, page) => redirects.get(page) ?? -1),
  };
}

const originOf = (name: string, pages: readonly number[]): Origin => ({
  name,
  isOwnPage: (index) => pages.includes(index),
});

/** Every page's depth by origin, and the order in which it was told. */
function depthsOf(graph: DepthGraph, origins: readonly Origin[]) {
  const told: string[] = [];
  const depths = origins.map(() => new Array<number | null>(graph.nodeCount).fill(null));
  originDepths(graph, origins, (page, origin, depth) => {
    told.push(`${origin} ${page}`);
    depths[origin][page] = depth;
  });
  return { depths, told };
}

/** The rule word for word, over and over until nothing changes. */
function relaxed(graph: DepthGraph, origin: Origin): (number | null)[] {
  const depths = Array.from({ length: graph.nodeCount }, (_, page) =>
    origin.isOwnPage(page) ? 0 : Number.POSITIVE_INFINITY,
  );
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    const lend = (to: number, depth: number) => {
      if (depth >= depths[to]) return;
      depths[to] = depth;
      isChanged = true;
    };
    for (let from = 0; from < graph.nodeCount; from++) {
      for (let at = graph.offsets[from]; at < graph.offsets[from + 1]; at++) {
        if ((graph.flags[at] & UNFOLLOWED) === 0) lend(graph.targets[at], depths[from] + 1);
      }
      if (graph.redirectTo[from] !== -1) lend(graph.redirectTo[from], depths[from]);
    }
  }
  return depths.map((depth) => (depth === Number.POSITIVE_INFINITY ? null : depth));
}

function randomCase(seed: number) {
  const random = seededRandom(seed);
  const nodeCount = 2 + random.below(80);
  const links = new Map<string, Link>();
  for (let i = random.below(nodeCount * 4); i > 0; i--) {
    const [from, to] = [random.below(nodeCount), random.below(nodeCount)];
    const flags = random.pick([0, 0, 0, NOFOLLOW, NOFOLLOW | UNFOLLOWED]);
    links.set(`${from} ${to}`, { from, to, flags });
  }
  // Chains and loops of redirects come by chance, since every fifth page redirects.
  const redirects = new Map<number, number>();
  for (let page = 0; page < nodeCount; page++) {
    if (random.below(5) === 0) redirects.set(page, random.below(nodeCount));
  }
  const origins = Array.from({ length: 1 + random.below(4) }, (_, i) => {
    const pages = Array.from({ length: random.below(4) }, () => random.below(nodeCount));
    return originOf(`origin ${i}`, pages);
  });
  return { graph: graphOf(nodeCount, [...links.values()], redirects), origins };
}

describe('depth by origin', () => {
  it('is what the rule gives when it is applied until nothing changes, on a hundred random graphs', () => {
    let deepest = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const { graph, origins } = randomCase(seed);
      const { depths } = depthsOf(graph, origins);
      for (const [i, origin] of origins.entries()) {
        expect(depths[i], `seed ${seed}, ${origin.name}`).toEqual(relaxed(graph, origin));
        deepest = Math.max(deepest, ...depths[i].map((depth) => depth ?? 0));
      }
    }
    expect(deepest).toBeGreaterThan(5);
  });

  it('is told origin by origin, pages in order, once each, and the same every time', () => {
    const { graph, origins } = randomCase(3);
    const { told } = depthsOf(graph, origins);
    const inOrder = [...told].sort((a, b) => {
      const [[x, p], [y, q]] = [a.split(' ').map(Number), b.split(' ').map(Number)];
      return x - y || p - q;
    });
    expect(told).toEqual(inOrder);
    expect(new Set(told).size).toBe(told.length);
    expect(depthsOf(graph, origins).told).toEqual(told);
  });

  it('gives a page of two origins both records: 0 from its own, more from the other', () => {
    const graph = graphOf(
      3,
      [
        { from: 0, to: 1, flags: 0 },
        { from: 1, to: 2, flags: 0 },
      ],
      new Map(),
    );
    const { depths } = depthsOf(graph, [originOf('a.test', [0]), originOf('b.test', [1])]);
    expect(depths).toEqual([
      [0, 1, 2],
      [null, 0, 1],
    ]);
  });

  it('is lent by redirects for nothing, and not at all by links that were not followed', () => {
    const links = [
      { from: 0, to: 1, flags: 0 },
      { from: 0, to: 3, flags: NOFOLLOW | UNFOLLOWED },
      { from: 0, to: 4, flags: NOFOLLOW },
    ];
    const { depths } = depthsOf(graphOf(5, links, new Map([[1, 2]])), [originOf('a.test', [0])]);
    expect(depths).toEqual([[0, 1, 1, null, 1]]);
  });

  it('is 0 for every page of the domain, reached or not, and none where there is no page of it', () => {
    const { depths } = depthsOf(graphOf(3, [], new Map()), [
      originOf('a.test', [0, 2]),
      originOf('b.test', []),
    ]);
    expect(depths).toEqual([
      [0, null, 0],
      [null, null, null],
    ]);
  });
});
