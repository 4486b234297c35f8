/**
 * Changed lists and limits applied to a stored map without a crawl: states, depths, what waits. Pages keep what was
 * read of them and who refers to them; the next crawl of the same file goes on from there. Makes no request.
 */
import { type Config, configHash } from '../config/load-config.ts';
import { leastDepths, type MapLists, readMapGraph, saveOriginDepths } from '../crawl/run/compute-depths.ts';
import { judgeOf, projectOf, readStartUrls, storedOptions } from '../crawl/run/prepare-run.ts';
import { revisePage } from '../crawl/run/revise-page.ts';
import { wireDiscovery, wireNormalizer, wireScope } from '../crawl/wire.ts';
import { sumiError } from '../errors.ts';
import { type PageState, pageStateName } from '../frontier/page-state.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import { openReadSide } from '../store/open-store.ts';
import type { ReadSide } from '../store/read-side.ts';
import type { Store } from '../store/store-port.ts';
import { withStore } from './with-store.ts';

export interface Reclassified {
  project: string;
  run: number;
  /** Pages that are known. */
  pages: number;
  moves: { from: PageState; to: PageState; pages: number }[];
  /** Pages that wait for the next crawl. */
  waiting: number;
}

export async function reclassify(config: Config, clock: Clock = systemClock): Promise<Reclassified> {
  const normalizer = wireNormalizer(config);
  const seeds = config.terrain.quality.flatMap(({ seeds }) => seeds);
  const startUrls = readStartUrls(seeds, (text) => normalizer.normalize(text));
  const project = projectOf(config, startUrls, clock.now());
  // First, so that a store that is not there is not made.
  const side = await openReadSide(config.storeAddress);
  try {
    return await withStore(
      config,
      (store) => revise(config, { side, store, project, startUrls, normalizer }),
      clock,
    );
  } finally {
    await side.close();
  }
}

interface Revising {
  side: ReadSide;
  store: Store;
  project: string;
  startUrls: ReturnType<typeof readStartUrls>;
  normalizer: ReturnType<typeof wireNormalizer>;
}

async function revise(config: Config, revising: Revising): Promise<Reclassified> {
  const { side, store, project, startUrls, normalizer } = revising;
  const scope = wireScope(config, startUrls, {});
  const starts = new Set(startUrls.map(({ url }) => url));
  const isStartUrl = (url: string) => starts.has(url);
  const lists: MapLists = {
    origins: [...new Set(config.terrain.quality.map(({ domain }) => domain))],
    scope,
    isStartUrl,
  };
  const graph = await readMapGraph(side, project, lists);
  const least = leastDepths(graph, lists);
  const judge = judgeOf(wireDiscovery(config, scope, normalizer), isStartUrl);
  const leastDepth = (pageId: number) => {
    const depth = least[graph.indexOf(pageId)] ?? -1;
    return depth === -1 ? null : depth;
  };
  const now = store.clock.now();
  const revised = await store.projects.revise(
    {
      project,
      owner: '',
      configHash: configHash(config),
      config: JSON.stringify(storedOptions(config, startUrls, now)),
      fresh: false,
      metadata: null,
      now,
    },
    (row) =>
      // A page that the last run left out keeps its answer: lists say nothing of that, and the next run finds it due.
      revisePage(
        { ...row, isLeftOut: false },
        { judge, leastDepth, maxHostRequests: config.maxDomainRequests, isNewRun: false },
      ),
  );
  if (revised === null) {
    const known = (await side.projects()).map(({ project: name }) => name).join(', ');
    throw sumiError('unknown-project', { project, file: config.storeLabel, known });
  }
  await saveOriginDepths(store.projects, revised.projectId, graph, lists);
  return {
    project,
    run: revised.runId,
    pages: graph.nodeCount,
    moves: revised.moves.map(({ from, to, pages }) => ({
      from: pageStateName(from),
      to: pageStateName(to),
      pages,
    })),
    waiting: revised.waiting,
  };
}
