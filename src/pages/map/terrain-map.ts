/**
 * The terrain as the page shows it: domains, what is known of each, and how often one links to another. Whoever has the
 * graph fills this in; the writer of the page needs nothing else and asks nobody.
 */
export interface TerrainMap {
  /** What its dots are; domains unless said. */
  subject?: MapSubject;
  /** How many there are, where not all of them were filled in. */
  total?: number;
  title: string;
  project: string;
  run: number | null;
  /** When the map was drawn: ISO 8601, UTC. */
  generatedAt: string;
  /** The quality domains depth is counted from, as written in the list. */
  origins: string[];
  domains: TerrainDomain[];
  /** One entry for each pair of domains, by their places in `domains`. */
  links: TerrainLink[];
}

/** Of one site its sections or pages are drawn. */
export type MapSubject = 'domains' | 'sections' | 'pages';

/**
 * In the order the page lists them. Of one site: where it starts, its sections or pages, what lies outside or was not
 * visited, and what is broken.
 */
export const DOMAIN_CLASSES = ['quality', 'discovered', 'stub', 'blacklist'] as const;

export type DomainClass = (typeof DOMAIN_CLASSES)[number];

export interface TerrainDomain {
  name: string;
  class: DomainClass;
  /** Known pages, whatever became of them. */
  pages: number;
  processed: number;
  errors: number;
  /** The least over all origins; null when no path from an origin is known. */
  depth: number | null;
  depths: { origin: string; depth: number }[];
  indegree: number;
  outdegree: number;
  pagerank: number;
  /** How often pages refer to it: for stub and blacklist, which are never asked. */
  references: number;
  /** How large it is drawn, where not by its pages. */
  weight?: number;
  topPages: { url: string; title: string | null; status: number | null }[];
}

export interface TerrainLink {
  from: number;
  to: number;
  /** Links between pages of the two domains. */
  weight: number;
}
