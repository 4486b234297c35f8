/**
 * The map as the page shows it: domains, what is known of each, and how often one links to another. The caller with the
 * graph fills this in; the writer of the page needs nothing else.
 */
export interface TerrainMap {
  /** What its dots are (default: domains). */
  subject?: MapSubject;
  /** How many there are, if not all of them were filled in. */
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
 * In the order of the page. For one site: where it starts, its sections or pages, what lies outside or was not visited,
 * and what is broken.
 */
export const DOMAIN_CLASSES = ['quality', 'discovered', 'stub', 'blacklist'] as const;

export type DomainClass = (typeof DOMAIN_CLASSES)[number];

export interface TerrainDomain {
  name: string;
  class: DomainClass;
  /** Known pages of any state. */
  pages: number;
  processed: number;
  errors: number;
  /** The least over all origins; null when no path from an origin is known. */
  depth: number | null;
  depths: { origin: string; depth: number }[];
  indegree: number;
  outdegree: number;
  pagerank: number;
  /** How many links lead to it: for stub and blacklist, which are never requested. */
  references: number;
  /** How large it is drawn, if not by its pages. */
  weight?: number;
  topPages: { url: string; title: string | null; status: number | null }[];
}

export interface TerrainLink {
  from: number;
  to: number;
  /** Links between pages of the two domains. */
  weight: number;
}
