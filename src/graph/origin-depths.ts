/**
 * Depth from each origin: 0 for every page of the origin's own domain, otherwise the least over in-links of depth + 1
 * and over redirects that lead here of depth + 0. Links that the run's rules did not follow give no depth. One search
 * per origin, level by level, because steps cost 0 or 1. Deterministic; 12 bytes per page, however many origins there
 * are: the caller keeps what it needs.
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

/** Calls back for every page that an origin reaches: origin by origin, pages in the order of their indexes. */
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
 * Pages of the current level are in `now`, those of the next in `next`. A page is added to a level only when its depth
 * falls to it, which happens once per level, so neither list outgrows the pages.
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
      // A redirect may have made it nearer after it was added here.
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
