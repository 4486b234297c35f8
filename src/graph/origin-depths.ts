/**
 * Depth from each origin (specification 004 section 5; DESIGN, details decided): 0 for every page of the origin's own
 * domain, else the least over in-links of depth + 1 and over redirects that lead here of depth + 0. Links that the run's
 * rules did not follow lend none. One search an origin, level by level, since steps cost 0 or 1.
 * Deterministic; 12 bytes a page, however many origins there are: whoever listens keeps what it needs.
 */
import { UNFOLLOWED } from '../store/settlement.ts';
import type { LinkGraph } from './link-graph.ts';

export interface Origin {
  /** The domain as written in the list. */
  readonly name: string;
  isOwnPage(index: number): boolean;
}

export type DepthGraph = Pick<LinkGraph, 'nodeCount' | 'offsets' | 'targets' | 'flags' | 'redirectTo'>;

const UNREACHED = 0x7fff_ffff;

/** Tells of every page that an origin reaches: origin by origin, pages in the order of their indexes. */
export function originDepths(
  graph: DepthGraph,
  origins: readonly Origin[],
  onDepth: (pageIndex: number, originIndex: number, depth: number) => void,
): void {
  const { nodeCount } = graph;
  const depths = new Int32Array(nodeCount);
  const levels = { now: new Int32Array(nodeCount), next: new Int32Array(nodeCount) };
  for (const [originIndex, origin] of origins.entries()) {
    search(graph, origin, depths, levels);
    for (let page = 0; page < nodeCount; page++) {
      if (depths[page] !== UNREACHED) onDepth(page, originIndex, depths[page]);
    }
  }
}

/**
 * Pages of the level at hand are in `now`, those of the next in `next`. A page is put into a level only when its depth
 * falls to it, which happens once a level, so that neither list outgrows the pages.
 */
function search(
  { nodeCount, offsets, targets, flags, redirectTo }: DepthGraph,
  origin: Origin,
  depths: Int32Array,
  levels: { now: Int32Array; next: Int32Array },
): void {
  let { now, next } = levels;
  depths.fill(UNREACHED);
  let count = 0;
  for (let page = 0; page < nodeCount; page++) {
    if (!origin.isOwnPage(page)) continue;
    depths[page] = 0;
    now[count++] = page;
  }
  for (let depth = 0; count > 0; depth++) {
    let nextCount = 0;
    for (let at = 0; at < count; at++) {
      const page = now[at];
      // It may have come nearer by a redirect after it was put here.
      if (depths[page] !== depth) continue;
      const target = redirectTo[page];
      if (target !== -1 && depths[target] > depth) {
        depths[target] = depth;
        now[count++] = target;
      }
      for (let link = offsets[page]; link < offsets[page + 1]; link++) {
        const linked = targets[link];
        if (depths[linked] <= depth + 1 || (flags[link] & UNFOLLOWED) !== 0) continue;
        depths[linked] = depth + 1;
        next[nextCount++] = linked;
      }
    }
    [now, next] = [next, now];
    count = nextCount;
  }
}
