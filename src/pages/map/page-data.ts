/**
 * The map in the form that the page reads: columns instead of objects, because 5,000 domains and 60,000 links then
 * parse in milliseconds. Larger maps are cut to what a browser can show, the lightest first, and the page says how much
 * is missing.
 */
import { layOut, type MapRing } from './lay-out.ts';
import { DOMAIN_CLASSES, type MapSubject, type TerrainDomain, type TerrainMap } from './terrain-map.ts';

export interface MapLimits {
  domains: number;
  links: number;
  topPages: number;
}

export const MAP_LIMITS: MapLimits = { domains: 20_000, links: 60_000, topPages: 8 };

export interface PageData {
  subject: MapSubject;
  title: string;
  project: string;
  run: number | null;
  generatedAt: string;
  origins: string[];
  /** The numbers before the map was cut. */
  total: { domains: number; links: number };
  names: string[];
  /** Places in DOMAIN_CLASSES. */
  classes: number[];
  pages: number[];
  processed: number[];
  errors: number[];
  /** -1: unknown. */
  depth: number[];
  /** Origin and depth alternately, by the origin's place in `origins`. */
  depths: number[][];
  indegree: number[];
  outdegree: number[];
  pagerank: number[];
  references: number[];
  topPages: [url: string, title: string | null, status: number | null][][];
  x: number[];
  y: number[];
  radius: number[];
  rings: MapRing[];
  /** Heaviest first. */
  from: number[];
  to: number[];
  weight: number[];
}

export function toPageData(map: TerrainMap, limits: MapLimits = MAP_LIMITS): PageData {
  const { domains, links } = cut(map, limits);
  const subject = map.subject ?? 'domains';
  const layout = layOut(domains, links, subject);
  const origins = [
    ...new Set([...map.origins, ...domains.flatMap(({ depths }) => depths.map((d) => d.origin))]),
  ];
  const originAt = new Map(origins.map((origin, at) => [origin, at]));
  const column = <T>(value: (domain: TerrainDomain) => T) => domains.map(value);
  return {
    subject,
    title: map.title,
    project: map.project,
    run: map.run,
    generatedAt: map.generatedAt,
    origins,
    total: { domains: map.total ?? map.domains.length, links: map.links.length },
    names: column(({ name }) => name),
    classes: column((domain) => DOMAIN_CLASSES.indexOf(domain.class)),
    pages: column(({ pages }) => pages),
    processed: column(({ processed }) => processed),
    errors: column(({ errors }) => errors),
    depth: column(({ depth }) => depth ?? -1),
    depths: column(({ depths }) => depths.flatMap((d) => [originAt.get(d.origin)!, d.depth])),
    indegree: column(({ indegree }) => indegree),
    outdegree: column(({ outdegree }) => outdegree),
    pagerank: column(({ pagerank }) => Number(pagerank.toPrecision(4))),
    references: column(({ references }) => references),
    topPages: column(({ topPages }) =>
      topPages.slice(0, limits.topPages).map(({ url, title, status }) => [url, title, status]),
    ),
    x: Array.from(layout.x, tenths),
    y: Array.from(layout.y, tenths),
    radius: Array.from(layout.radius, tenths),
    rings: layout.rings,
    from: links.map(({ from }) => from),
    to: links.map(({ to }) => to),
    weight: links.map(({ weight }) => weight),
  };
}

const tenths = (value: number) => Math.round(value * 10) / 10;

/** Quality domains stay before all others, then those with most pages and links to them. */
function cut(map: TerrainMap, limits: MapLimits): Pick<TerrainMap, 'domains' | 'links'> {
  let { domains } = map;
  let places: Int32Array | undefined;
  if (domains.length > limits.domains) {
    const worth = (at: number) =>
      domains[at].class === 'quality' ? Infinity : map.domains[at].pages + map.domains[at].indegree;
    const kept = domains
      .map((_, at) => at)
      .sort((a, b) => (worth(a) === worth(b) ? a - b : worth(b) - worth(a)))
      .slice(0, limits.domains)
      .sort((a, b) => a - b);
    places = new Int32Array(domains.length).fill(-1);
    for (const [place, at] of kept.entries()) places[at] = place;
    domains = kept.map((at) => map.domains[at]);
  }
  const place = (at: number) => (places === undefined ? at : places[at]);
  const links = map.links
    .map(({ from, to, weight }) => ({ from: place(from), to: place(to), weight }))
    .filter(({ from, to }) => from !== to && from >= 0 && to >= 0)
    .sort((a, b) => b.weight - a.weight || a.from - b.from || a.to - b.to)
    .slice(0, limits.links);
  return { domains, links };
}
