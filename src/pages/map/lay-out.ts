/**
 * Gives every domain its place: quality in the centre, each further depth a ring around it, then domains without a
 * known path, stub and blacklist. Nothing overlaps. The same map always gives the same picture, because there is no
 * chance. Before it: the terrain map, and choose-angles.ts for the directions. After it: the page, which only draws.
 */
import { type Band, chooseAngles } from './choose-angles.ts';
import { createGround } from './ground.ts';
import type { MapSubject, TerrainDomain, TerrainLink } from './terrain-map.ts';

export interface MapLayout {
  x: Float64Array;
  y: Float64Array;
  radius: Float64Array;
  rings: MapRing[];
}

export interface MapRing {
  label: string;
  inner: number;
  outer: number;
}

/** Free space around each domain. */
const GAP = 3;
/** How much of a ring its domains may cover: less looks empty, more leaves too few free places near the links. */
const FILL = 0.42;
const PAUSE = 16;
const CIRCLE_AT_MOST = 16;

export function layOut(
  domains: readonly TerrainDomain[],
  links: readonly TerrainLink[],
  subject: MapSubject = 'domains',
): MapLayout {
  const radius = Float64Array.from(sizes(domains));
  const bands = toBands(domains, RING_NAMES[subject]);
  const angles = chooseAngles({ bands, links, radius });
  const x = new Float64Array(domains.length);
  const y = new Float64Array(domains.length);
  const rings: MapRing[] = [];
  const ground = createGround(12);
  let inner = 0;
  for (const { label, members } of bands) {
    const isCentre = inner === 0;
    const place = (at: number, distance: number, angle: number) => {
      x[at] = Math.cos(angle) * distance;
      y[at] = Math.sin(angle) * distance;
      ground.take(x[at], y[at], radius[at] + GAP / 2);
    };
    if (isCentre && members.length <= CIRCLE_AT_MOST) standInCircle(members, radius, angles, place);
    else standInBand(members, { inner, radius, angles, isFree: ground.isFree, place });
    let reach = inner + narrowest(bands.length);
    for (const at of members) reach = Math.max(reach, Math.hypot(x[at], y[at]) + radius[at] + PAUSE / 2);
    rings.push({ label, inner: Math.round(inner), outer: Math.round(reach) });
    inner = Math.round(reach) + PAUSE / 2;
  }
  return { x, y, radius, rings };
}

const narrowest = (bands: number) => (bands > 12 ? 24 : 46);

/** The area grows more slowly than the number of pages, because one giant would make all others too small. */
function sizes(domains: readonly TerrainDomain[]): number[] {
  const raw = domains.map((domain) => 3 + 1.35 * Math.max(1, weightOf(domain)) ** 0.38);
  const most = raw.reduce((a, b) => Math.max(a, b), 0);
  const shrink = Math.min(1, 34 / most);
  return raw.map((value) => Math.max(3.5, value * shrink));
}

/** Few pages are known of a domain that is never requested, so the links to it count as well. */
function weightOf({ class: kind, pages, references, weight }: TerrainDomain): number {
  if (weight !== undefined) return weight;
  return kind === 'stub' || kind === 'blacklist' ? Math.max(pages, references / 8) : pages;
}

function toBands(domains: readonly TerrainDomain[], names: RingNames): Band[] {
  const groups = new Map<number, number[]>();
  for (const [at, domain] of domains.entries()) {
    const order = orderOf(domain);
    const group = groups.get(order);
    if (group === undefined) groups.set(order, [at]);
    else group.push(at);
  }
  // Without quality domains, the first ones are in the centre.
  if (groups.size === 0) groups.set(QUALITY, []);
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([order, members]) => ({ label: names.get(order) ?? `depth ${order}`, members }));
}

const QUALITY = -1;
const UNKNOWN = 1e9;
const STUB = 1e9 + 1;
const BLACKLIST = 1e9 + 2;
type RingNames = ReadonlyMap<number, string>;
const ringNames = (centre: string, stub: string, blacklist: string): RingNames =>
  new Map([
    [QUALITY, centre],
    [UNKNOWN, 'depth unknown'],
    [STUB, stub],
    [BLACKLIST, blacklist],
  ]);
const RING_NAMES: Record<MapSubject, RingNames> = {
  domains: ringNames('quality', 'stub', 'blacklist'),
  sections: ringNames('start', 'other sites', 'blacklist'),
  pages: ringNames('start', 'not visited', 'broken'),
};

function orderOf(domain: TerrainDomain): number {
  if (domain.class === 'quality') return QUALITY;
  if (domain.class === 'stub') return STUB;
  if (domain.class === 'blacklist') return BLACKLIST;
  return domain.depth ?? UNKNOWN;
}

type Place = (at: number, distance: number, angle: number) => void;

function standInCircle(members: number[], radius: Float64Array, angles: Float64Array, place: Place): void {
  if (members.length === 1) place(members[0], 0, 0);
  if (members.length < 2) return;
  const around = members.reduce((sum, at) => sum + 2 * radius[at] + 14, 0);
  const widest = members.reduce((most, at) => Math.max(most, radius[at]), 0);
  // Two neighbours of the same size are a chord apart, not an arc.
  const chord = (widest + 7) / Math.sin(Math.PI / members.length);
  const distance = Math.max(around / (2 * Math.PI), Math.min(chord, around / 2), 34);
  for (const at of members) place(at, distance, angles[at]);
}

interface BandRoom {
  inner: number;
  radius: Float64Array;
  angles: Float64Array;
  isFree(x: number, y: number, radius: number): boolean;
  place: Place;
}

/** The largest choose first. Each takes the free place that is nearest to its angle and to the inner rim. */
function standInBand(members: number[], { inner, radius, angles, isFree, place }: BandRoom): void {
  const smallest = members.reduce((least, at) => Math.min(least, radius[at]), Infinity);
  const step = 2 * smallest + GAP;
  const area = members.reduce((sum, at) => sum + (2 * radius[at] + GAP) ** 2, 0) / FILL;
  const width = Math.max(narrowest(1), Math.sqrt(inner ** 2 + area / Math.PI) - inner);
  const spots = nearbySpots(Math.ceil(width / step), Math.ceil((Math.PI * (inner + width)) / step));
  const order = [...members].sort((a, b) => radius[b] - radius[a] || a - b);
  for (const at of order) {
    const [distance, angle] = findSpot(spots, (row, aside) => {
      const distance = inner + radius[at] + PAUSE / 4 + row * step;
      const turn = (aside * step) / distance;
      if (Math.abs(turn) > Math.PI) return undefined;
      const angle = angles[at] + turn;
      const free = isFree(Math.cos(angle) * distance, Math.sin(angle) * distance, radius[at] + GAP / 2);
      return free ? [distance, angle] : undefined;
    });
    place(at, distance, angle);
  }
}

type Spot = [distance: number, angle: number];

interface Spots {
  rows: Int16Array;
  asides: Int16Array;
  nextRow: number;
}

function findSpot(
  { rows, asides, nextRow }: Spots,
  tryAt: (row: number, aside: number) => Spot | undefined,
): Spot {
  for (let i = 0; i < rows.length; i++) {
    const spot = tryAt(rows[i], asides[i]);
    if (spot !== undefined) return spot;
  }
  // A full ring grows outwards: there is always a free place further out.
  for (let row = nextRow; ; row++) {
    const spot = tryAt(row, 0);
    if (spot !== undefined) return spot;
  }
}

/** Rows outwards and steps aside, cheapest first: a step outwards costs more than one along the ring. */
function nearbySpots(rows: number, asides: number): Spots {
  const all: { row: number; aside: number; cost: number }[] = [];
  for (let row = 0; row <= rows; row++) {
    for (let aside = -asides; aside <= asides; aside++) {
      all.push({ row, aside, cost: (row * 1.7) ** 2 + aside ** 2 });
    }
  }
  all.sort((a, b) => a.cost - b.cost || a.row - b.row || a.aside - b.aside);
  return {
    rows: Int16Array.from(all, ({ row }) => row),
    asides: Int16Array.from(all, ({ aside }) => aside),
    nextRow: rows + 1,
  };
}
