/** The data of the page, prepared for questions: who links to whom, which links matter most, how large the map is. */
import type { PageData } from '../page-data.ts';

export interface Terrain {
  data: PageData;
  count: number;
  maxDepth: number;
  /** Distance of the outermost rim from the centre. */
  extent: number;
  /** Links by their places in `data.from`, heaviest first. */
  outgoing(at: number): Int32Array;
  incoming(at: number): Int32Array;
  /** 1 for the links that are among the two heaviest of either end. */
  isMain: Uint8Array;
  depthFrom(at: number, origin: number): number;
}

export function readTerrain(data: PageData): Terrain {
  const count = data.names.length;
  const out = groupBy(data.from, count);
  const into = groupBy(data.to, count);
  return {
    data,
    count,
    maxDepth: data.depth.reduce((most, depth) => Math.max(most, depth), 0),
    extent: data.rings.reduce((most, { outer }) => Math.max(most, outer), 60),
    outgoing: (at) => out.items.subarray(out.start[at], out.start[at + 1]),
    incoming: (at) => into.items.subarray(into.start[at], into.start[at + 1]),
    isMain: mainLinks(data, count),
    depthFrom(at, origin) {
      if (origin < 0) return data.depth[at];
      const pairs = data.depths[at];
      for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === origin) return pairs[i + 1];
      return -1;
    },
  };
}

function groupBy(keys: readonly number[], count: number): { start: Int32Array; items: Int32Array } {
  const start = new Int32Array(count + 1);
  for (const key of keys) start[key + 1]++;
  for (let at = 0; at < count; at++) start[at + 1] += start[at];
  const next = start.slice();
  const items = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) items[next[keys[i]]++] = i;
  return { start, items };
}

function mainLinks(data: PageData, count: number): Uint8Array {
  const isMain = new Uint8Array(data.from.length);
  const had = new Uint8Array(count);
  for (let i = 0; i < data.from.length; i++) {
    const [from, to] = [data.from[i], data.to[i]];
    if (had[from] >= 2 && had[to] >= 2) continue;
    isMain[i] = 1;
    had[from]++;
    had[to]++;
  }
  return isMain;
}
