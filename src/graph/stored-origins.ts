/**
 * The quality domains of the last crawl of each stored project: the origins of depths, and what makes a page's class
 * `quality`. Read from the configuration of each project's last run; a project of another profile has none.
 */
import type { TerrainLists } from '../config/terrain-lists.ts';
import type { ReadSide } from '../store/read-side.ts';
import {
  compileDomainPattern,
  createDomainSet,
  type DomainSet,
  matchesDomain,
} from '../url/domain-pattern.ts';
import type { LinkGraph } from './link-graph.ts';
import type { Origin } from './origin-depths.ts';

export interface StoredOrigins {
  /** Domains as written, each once, in the order of the lists. */
  readonly names: readonly string[];
  /** True if the host belongs to a quality domain of that project. */
  isQuality(projectId: number, host: string): boolean;
  /** The origins over the pages of a graph; pages of other projects do not belong to them. */
  over(graph: LinkGraph): Origin[];
}

export async function readStoredOrigins(
  side: Pick<ReadSide, 'projects' | 'lastRun'>,
  project?: string,
): Promise<StoredOrigins> {
  const domainsOf = new Map<number, readonly string[]>();
  for (const { id, project: name } of await side.projects()) {
    if (project !== undefined && name !== project) continue;
    const run = await side.lastRun(id);
    if (run === null) continue;
    const { terrain } = JSON.parse(run.config) as { terrain?: Partial<TerrainLists> };
    domainsOf.set(id, terrain?.quality?.map(({ domain }) => domain) ?? []);
  }
  return createStoredOrigins(domainsOf);
}

export function createStoredOrigins(domainsOf: ReadonlyMap<number, readonly string[]>): StoredOrigins {
  const sets = new Map<number, DomainSet>();
  const projectsOf = new Map<string, Set<number>>();
  for (const [projectId, domains] of domainsOf) {
    sets.set(projectId, createDomainSet(domains));
    for (const domain of domains) {
      const projects = projectsOf.get(domain);
      if (projects === undefined) projectsOf.set(domain, new Set([projectId]));
      else projects.add(projectId);
    }
  }
  return {
    names: [...projectsOf.keys()],
    isQuality: (projectId, host) => sets.get(projectId)?.match(host) != null,
    over: (graph) => [...projectsOf].map(([name, projects]) => originOver(graph, name, projects)),
  };
}

/** Compares every host once, not every page. */
function originOver(graph: LinkGraph, name: string, projects: ReadonlySet<number>): Origin {
  const pattern = compileDomainPattern(name);
  const isOwnHost = graph.hosts.map((host) => pattern !== null && matchesDomain(pattern, host));
  return {
    name,
    isOwnPage: (index) => isOwnHost[graph.hostOf[index]] && projects.has(graph.projects[index]),
  };
}
