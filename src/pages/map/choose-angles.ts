/**
 * The direction of each domain from the centre: near the domains that it is linked with. Quality domains are in a
 * circle, similar ones side by side. The others move to the middle of their neighbours, ring by ring, and each ring is
 * spread out again, because otherwise all would end in one place. Decides directions only; lay-out.ts finds the free
 * places.
 */
import type { TerrainLink } from './terrain-map.ts';

/** The domains of one ring, inner ring first. */
export interface Band {
  label: string;
  members: number[];
}

const PASSES = 10;
/** 1 would fill every ring evenly and hide where the links are; 0 would leave clusters. */
const SPREAD = 0.6;
/** Domains further out and in the same ring count, too, but less than those nearer to the centre. */
const OUTER_SAY = 0.3;
/** Comparing all with all is for short lists. */
const COMPARE_AT_MOST = 400;

export interface AngleQuestion {
  bands: readonly Band[];
  links: readonly TerrainLink[];
  radius: Float64Array;
}

export function chooseAngles({ bands, links, radius }: AngleQuestion): Float64Array {
  const count = radius.length;
  const near = neighbours(links, count);
  const ringOf = new Int32Array(count);
  for (const [ring, { members }] of bands.entries()) for (const at of members) ringOf[at] = ring;
  const angles = Float64Array.from({ length: count }, (_, at) => turnOf(at));
  const [centre, ...rings] = bands;
  setCentre(centre.members, near, angles);
  // A single domain in the centre has no direction and attracts nobody.
  const pull = (at: number) => (ringOf[at] === 0 && centre.members.length === 1 ? 0 : 1);
  for (let pass = 0; pass < PASSES; pass++) {
    for (const { members } of rings) {
      for (const at of members) {
        let [x, y] = [0, 0];
        for (let i = near.start[at]; i < near.start[at + 1]; i++) {
          const other = near.other[i];
          const isInner = ringOf[other] < ringOf[at];
          // In the first pass, domains further out have only their first angle.
          const say = isInner ? pull(other) : pass === 0 ? 0 : OUTER_SAY;
          x += near.force[i] * say * Math.cos(angles[other]);
          y += near.force[i] * say * Math.sin(angles[other]);
        }
        if (Math.hypot(x, y) > 1e-9) angles[at] = Math.atan2(y, x);
      }
      spread(members, angles, radius);
    }
  }
  return angles;
}

/** Golden angle: any number of domains begins well apart. */
const turnOf = (at: number) => wrap(at * 2.399963229728653);

function wrap(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

interface Neighbours {
  start: Int32Array;
  other: Int32Array;
  force: Float64Array;
}

function neighbours(links: readonly TerrainLink[], count: number): Neighbours {
  const start = new Int32Array(count + 1);
  for (const { from, to } of links) {
    start[from + 1]++;
    start[to + 1]++;
  }
  for (let at = 0; at < count; at++) start[at + 1] += start[at];
  const degree = (at: number) => start[at + 1] - start[at];
  const next = start.slice();
  const other = new Int32Array(links.length * 2);
  const force = new Float64Array(links.length * 2);
  for (const { from, to, weight } of links) {
    // A domain that is linked with everybody says little about where others belong.
    const own = Math.log2(1 + weight);
    other[next[from]] = to;
    force[next[from]++] = own / Math.sqrt(degree(to));
    other[next[to]] = from;
    force[next[to]++] = own / Math.sqrt(degree(from));
  }
  return { start, other, force };
}

function setCentre(members: readonly number[], near: Neighbours, angles: Float64Array): void {
  const order = members.length > 3 && members.length <= COMPARE_AT_MOST ? chain(members, near) : members;
  for (const [place, at] of order.entries())
    angles[at] = wrap((place / order.length) * 2 * Math.PI - Math.PI / 2);
}

/** One after the other, each time the domain that shares most neighbours and links with the last. */
function chain(members: readonly number[], near: Neighbours): number[] {
  const placeOf = new Map(members.map((at, place) => [at, place]));
  const size = members.length;
  const alike = new Float64Array(size * size);
  const tie = (a: number, b: number, by: number) => {
    alike[a * size + b] += by;
    alike[b * size + a] += by;
  };
  for (let at = 0; at < near.start.length - 1; at++) {
    const own = placeOf.get(at);
    const met: number[] = [];
    for (let i = near.start[at]; i < near.start[at + 1]; i++) {
      const place = placeOf.get(near.other[i]);
      if (place === undefined) continue;
      if (own !== undefined) tie(own, place, 4);
      else met.push(place);
    }
    if (met.length > 12) continue;
    for (const [i, a] of met.entries()) for (const b of met.slice(i + 1)) tie(a, b, 1 / met.length);
  }
  const left = new Set(members.keys());
  let last = 0;
  const order: number[] = [];
  while (left.size > 0) {
    left.delete(last);
    order.push(members[last]);
    let best = -1;
    for (const place of left) {
      if (best === -1 || alike[last * size + place] > alike[last * size + best]) best = place;
    }
    last = best;
  }
  return order;
}

/** Moves a ring's domains towards equal shares of it, in their order, rotated so that they move least. */
function spread(members: readonly number[], angles: Float64Array, radius: Float64Array): void {
  if (members.length < 2) return;
  const order = [...members].sort((a, b) => angles[a] - angles[b] || a - b);
  const room = order.map((at) => (2 * radius[at] + 3) ** 2);
  const total = room.reduce((a, b) => a + b, 0);
  let before = 0;
  const even = room.map((own) => {
    const share = ((before + own / 2) / total) * 2 * Math.PI;
    before += own;
    return share;
  });
  let [x, y] = [0, 0];
  for (const [i, at] of order.entries()) {
    x += Math.cos(angles[at] - even[i]);
    y += Math.sin(angles[at] - even[i]);
  }
  const turn = Math.atan2(y, x);
  for (const [i, at] of order.entries()) {
    angles[at] = wrap(angles[at] + SPREAD * wrap(even[i] + turn - angles[at]));
  }
}
