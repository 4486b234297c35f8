/** One stretch of work on a run: the loop and what the handle is told of it. */
import type { RunEvent, SummaryEvent } from '../../events/events.ts';
import type { LinkGraph } from '../../graph/link-graph.ts';
import type { Order } from '../../store/steering.ts';
import type { CrawlParts } from '../parts.ts';
import { createCrawlLoop } from '../run-crawl.ts';
import type { CrawlLoop } from './crawl-loop.ts';
import type { Heartbeat } from './crew.ts';
import { type RunWork, workOnRun } from './run-lifecycle.ts';
import type { Stage } from './stage.ts';

export interface Stretch {
  readonly parts: CrawlParts;
  readonly loop: CrawlLoop;
  readonly opening: RunEvent;
  /** `given`: the order that ends it, once there is one. */
  work(given: () => Order | null): Promise<SummaryEvent>;
  readonly heartbeat: Heartbeat | null;
  readonly mapGraph: LinkGraph | null;
  readonly isAtLimit: boolean;
}

export type StretchOfRun = Pick<RunWork, 'project' | 'isJoined' | 'isForFinds' | 'isTick' | 'prepare'> & {
  configChanged: boolean;
};

/** Tells that the run begins, or goes on. */
export function createStretch({ events }: Stage, parts: CrawlParts, run: StretchOfRun): Stretch {
  const { start } = parts.store;
  const loop = createCrawlLoop(parts, run.isJoined ? null : { isResumed: start.resumed });
  events.ofRun(start.runId, run.project);
  const opening = events.stamp({
    type: 'run',
    resumed: start.resumed,
    config_changed: run.configChanged,
    known_urls: start.knownUrls,
  }) as RunEvent;
  events.tell(opening);
  const noted: { heartbeat: Heartbeat | null; mapGraph: LinkGraph | null; isAtLimit: boolean } = {
    heartbeat: null,
    mapGraph: null,
    isAtLimit: false,
  };
  return {
    parts,
    loop,
    opening,
    work: (given) =>
      workOnRun({
        ...run,
        ...{ parts, loop, start, given },
        onHeartbeat: (started) => {
          noted.heartbeat = started;
        },
        onGraph: (graph) => {
          noted.mapGraph = graph;
        },
        onLimit: () => {
          noted.isAtLimit = true;
        },
      }),
    get heartbeat() {
      return noted.heartbeat;
    },
    get mapGraph() {
      return noted.mapGraph;
    },
    get isAtLimit() {
      return noted.isAtLimit;
    },
  };
}
