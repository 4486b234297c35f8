/** Terrains by chance, the same for the same seed: domains gather around a quality domain, as sites of one matter do. */
import type { DomainClass, TerrainDomain, TerrainLink, TerrainMap } from '../../src/pages/map/terrain-map.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';

export interface TerrainWish {
  seed: number;
  quality: number;
  stub: number;
  blacklist: number;
  discovered: number;
  links: number;
  maxDepth: number;
}

const BEGINNINGS = [
  'river',
  'paper',
  'stone',
  'moss',
  'lantern',
  'harbour',
  'cedar',
  'north',
  'quiet',
  'tide',
];
const MIDDLES = [
  'works',
  'journal',
  'notes',
  'garden',
  'press',
  'archive',
  'atlas',
  'bureau',
  'field',
  'house',
];
const ENDINGS = ['org', 'net', 'example', 'io', 'dev', 'info', 'art', 'edu'];

export function randomTerrain(wish: TerrainWish): TerrainMap {
  const random = seededRandom(wish.seed);
  const classes: DomainClass[] = [
    ...Array<DomainClass>(wish.quality).fill('quality'),
    ...Array<DomainClass>(wish.stub).fill('stub'),
    ...Array<DomainClass>(wish.blacklist).fill('blacklist'),
    ...Array<DomainClass>(wish.discovered).fill('discovered'),
  ];
  const names = classes.map((_, at) => nameOf(at, random));
  const origins = names.slice(0, wish.quality);
  const domains = classes.map((kind, at) => domainOf(kind, names[at], at, wish, origins, random));
  const links = linksOf(domains, wish, random);
  for (const { from, to } of links) {
    domains[from].outdegree++;
    domains[to].indegree++;
  }
  const total = domains.reduce((sum, { indegree }) => sum + indegree + 1, 0);
  for (const domain of domains) domain.pagerank = (domain.indegree + 1) / total;
  return {
    title: 'Terrain of chance',
    project: 'chance',
    run: 7,
    generatedAt: '2025-03-01T12:34:56.000Z',
    origins,
    domains,
    links,
  };
}

function nameOf(at: number, random: SeededRandom): string {
  const number = at < 100 ? '' : at;
  const word = `${random.pick(BEGINNINGS)}-${random.pick(MIDDLES)}`;
  return `${word}${at < 100 ? at.toString(36) : number}.${random.pick(ENDINGS)}`;
}

function domainOf(
  kind: DomainClass,
  name: string,
  at: number,
  wish: TerrainWish,
  origins: readonly string[],
  random: SeededRandom,
): TerrainDomain {
  const isVisited = kind === 'quality' || kind === 'discovered';
  // Near the centre there are fewer domains than further out.
  const depth = kind === 'quality' ? 0 : 1 + Math.floor(wish.maxDepth * random.next() ** 0.7);
  const size =
    kind === 'quality' ? 300 + random.below(1500) : Math.floor(1 + 2 / random.next() ** 1.1 / depth);
  const pages = Math.min(size, 4_000);
  const home = at % Math.max(1, origins.length);
  const depths = origins
    .map((origin, place) => ({ origin, depth: place === home ? depth : depth + 1 + random.below(3) }))
    .filter((_, place) => place === home || random.next() < 0.4);
  return {
    name,
    class: kind,
    pages,
    processed: isVisited ? Math.floor(pages * 0.9) : 0,
    errors: isVisited ? random.below(1 + Math.ceil(pages * 0.05)) : 0,
    depth,
    depths,
    indegree: 0,
    outdegree: 0,
    pagerank: 0,
    references: isVisited ? 0 : 1 + random.below(900),
    topPages: Array.from({ length: Math.min(4, pages) }, (_, page) => ({
      url: `https://${name}/${page === 0 ? '' : `page-${page}`}`,
      title: `${page === 0 ? 'Front page' : `Chapter ${page}`} of ${name}`,
      status: isVisited ? (page === 3 ? 404 : 200) : null,
    })),
  };
}

function linksOf(domains: readonly TerrainDomain[], wish: TerrainWish, random: SeededRandom): TerrainLink[] {
  const links = new Map<number, TerrainLink>();
  const speaks = domains.map((_, at) => at).filter((at) => /quality|discovered/.test(domains[at].class));
  const homeOf = (at: number) => at % Math.max(1, wish.quality);
  const add = (from: number, to: number) => {
    const key = from * domains.length + to;
    if (from === to || links.has(key)) return;
    links.set(key, { from, to, weight: Math.floor(1 / (1 - random.next()) ** 0.9) });
  };
  // Everything is reached from something nearer to the centre, most of it from its own neighbourhood.
  for (let to = 0; to < domains.length; to++) {
    for (let attempt = 0; attempt < 40; attempt++) {
      const from = random.pick(speaks);
      const isNearer = domains[from].depth! < domains[to].depth! || attempt > 30;
      if (isNearer && (homeOf(from) === homeOf(to) || random.next() < 0.05)) {
        add(from, to);
        break;
      }
    }
  }
  for (let attempt = 0; links.size < wish.links && attempt < wish.links * 8; attempt++) {
    const from = random.pick(speaks);
    const to = Math.floor(domains.length * random.next() ** 1.6);
    if (homeOf(from) === homeOf(to) || random.next() < 0.12) add(from, to);
  }
  return [...links.values()];
}
