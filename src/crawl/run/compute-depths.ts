/**
 * Depth in a map, from the stored links: how far each page is from each quality domain, and the least of these, which
 * is what the crawl itself decides by. Blacklisted and stubbed domains lend no path: what they link to is nobody's news,
 * even where they were read before they came on the list.
 *
 * Memory: the link graph (graph/link-graph.ts) and at most 64 MB of depths at a time. Asks for nothing on the web.
 */
import { buildLinkGraph, type GraphSource, type LinkGraph } from '../../graph/link-graph.ts';
import { type Origin, originDepths } from '../../graph/origin-depths.ts';
import type { Scope } from '../../scope/classify.ts';
import type { ProjectPort } from '../../store/project-port.ts';
import type { DepthBatch } from '../../store/run-port.ts';
import { NO_DEPTH, UNFOLLOWED } from '../../store/settlement.ts';
import { compileDomainPattern, matchesDomain } from '../../url/domain-pattern.ts';

/** What of a configuration makes a map. */
export interface MapLists {
  /** Quality domains as written. */
  origins: readonly string[];
  scope: Pick<Scope, 'isOrigin' | 'domainKind'>;
  /** Start URLs are depth 0 wherever they are. */
  isStartUrl: (url: string) => boolean;
}

interface MapGraph extends LinkGraph {
  readonly starts: ReadonlySet<number>;
  /** With all links, also those that lend no path. */
  readonly whole: LinkGraph;
}

const MAX_CELLS = 32 * 1024 * 1024;
const BATCH_ROWS = 20_000;

/** The links of a project as paths: those of domains that are not entered are not followed. */
export async function readMapGraph(
  source: GraphSource,
  project: string,
  { scope, isStartUrl }: MapLists,
): Promise<MapGraph> {
  const starts = new Set<number>();
  const whole = await buildLinkGraph(source, { project }, ({ url }, index) => {
    if (isStartUrl(url)) starts.add(index);
  });
  const isShut = whole.hosts.map((host) => {
    const kind = scope.domainKind(host);
    return kind === 'blacklist' || kind === 'stub';
  });
  const graph = { ...whole, whole, starts, flags: whole.flags.slice(), redirectTo: whole.redirectTo.slice() };
  for (let page = 0; page < graph.nodeCount; page++) {
    if (!isShut[graph.hostOf[page]]) continue;
    graph.redirectTo[page] = -1;
    for (let link = graph.offsets[page]; link < graph.offsets[page + 1]; link++)
      graph.flags[link] |= UNFOLLOWED;
  }
  return graph;
}

/** By page index; -1 where no quality domain leads. */
export function leastDepths(graph: MapGraph, { scope }: MapLists): Int32Array {
  const isOrigin = graph.hosts.map((host) => scope.isOrigin(host));
  const anyOrigin: Origin = {
    name: '',
    isOwnPage: (page) => isOrigin[graph.hostOf[page]] || graph.starts.has(page),
  };
  const depths = new Int32Array(graph.nodeCount).fill(-1);
  originDepths(graph, [anyOrigin], (page, _, depth) => {
    depths[page] = depth;
  });
  return depths;
}

/** Works out the depths from each origin and puts them in the place of the stored ones. */
export async function saveOriginDepths(
  projects: Pick<ProjectPort, 'saveDepths'>,
  projectId: number,
  graph: MapGraph,
  lists: MapLists,
): Promise<void> {
  const origins = originsOver(graph, lists);
  await projects.saveDepths(
    projectId,
    origins.map(({ name }) => name),
    // Anew each time it is asked for: a store may have to begin again.
    { [Symbol.iterator]: () => depthBatches(graph, origins) },
  );
}

function originsOver(graph: MapGraph, { origins, scope }: MapLists): Origin[] {
  const isOrigin = graph.hosts.map((host) => scope.isOrigin(host));
  return origins.map((name) => {
    const pattern = compileDomainPattern(name);
    const isOwnHost = graph.hosts.map(
      (host, i) => isOrigin[i] && pattern !== null && matchesDomain(pattern, host),
    );
    return { name, isOwnPage: (page) => isOwnHost[graph.hostOf[page]] };
  });
}

/** Page by page, so that a store writes its rows in their order; as many origins at once as memory allows. */
function* depthBatches(graph: MapGraph, origins: readonly Origin[]): Generator<DepthBatch> {
  const { nodeCount, ids } = graph;
  const batch: DepthBatch = {
    count: 0,
    pageIds: new Int32Array(BATCH_ROWS),
    origins: new Uint16Array(BATCH_ROWS),
    depths: new Uint16Array(BATCH_ROWS),
  };
  const atOnce = Math.max(1, Math.floor(MAX_CELLS / Math.max(1, nodeCount)));
  for (let first = 0; first < origins.length; first += atOnce) {
    const some = origins.slice(first, first + atOnce);
    const cells = new Uint16Array(nodeCount * some.length).fill(NO_DEPTH);
    originDepths(graph, some, (page, origin, depth) => {
      cells[page * some.length + origin] = Math.min(depth, NO_DEPTH - 1);
    });
    for (let page = 0, cell = 0; page < nodeCount; page++) {
      for (let origin = 0; origin < some.length; origin++, cell++) {
        if (cells[cell] === NO_DEPTH) continue;
        batch.pageIds[batch.count] = ids[page];
        batch.origins[batch.count] = first + origin;
        batch.depths[batch.count] = cells[cell];
        if (++batch.count < BATCH_ROWS) continue;
        yield batch;
        batch.count = 0;
      }
    }
    if (batch.count > 0) yield batch;
    batch.count = 0;
  }
}
