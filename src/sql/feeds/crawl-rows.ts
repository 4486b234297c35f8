/**
 * A crawl for a query: rows as its pages are decided, and nothing of it kept afterwards but what the hosts taught (clocks,
 * blocks, robots.txt) and the log of requests. It is a project of its own meanwhile. Taken slowly, it goes slowly; told
 * to stop, it ends as a crawl that is interrupted does.
 */

import { type Config, configHash, loadConfig } from '../../config/load-config.ts';
import type { SettlingVisit, StartMeaning } from '../../crawl/parts.ts';
import { storedOptions } from '../../crawl/run/prepare-run.ts';
import { type CrawlRequest, startCrawl } from '../../crawl/start-crawl.ts';
import { newWorkerName } from '../../primitives/worker-name.ts';
import type { ReadSide } from '../../store/read-side.ts';
import type { Store } from '../../store/store-port.ts';
import type { FeedHouse, SqlSettings } from './feed-surroundings.ts';
import { createRowQueue, type RowQueue } from './row-queue.ts';

export interface CrawlForRows<Row> {
  options: SqlSettings;
  startUrls: readonly string[];
  meanings?: ReadonlyMap<string, StartMeaning>;
  wantsHeaders: boolean;
  /** Of a page that was visited, or refused without a request. Null: no row. Its bytes are valid during the call only. */
  rowOf: (visit: SettlingVisit, config: Config) => Row | null;
  /** When all is done: pages that were given up together, without a visit of their own. */
  restOf: (side: ReadSide, project: string) => AsyncIterable<Row>;
}

/** Requests that are under way when nobody wants their answers any more have so long to end. */
const DRAIN_SECONDS = 1;

export async function* crawlForRows<Row>(
  request: CrawlForRows<Row>,
  house: FeedHouse,
  signal: AbortSignal,
): AsyncGenerator<Row[], void> {
  const name = house.takeName();
  let ended: Promise<void> | null = null;
  try {
    const store = await house.openStore();
    const options = { ...request.options, project: name, drainSeconds: DRAIN_SECONDS };
    const config = await loadConfig({ env: {}, profile: 'sql', options });
    if (signal.aborted) return;
    const queue = createRowQueue<Row>(config.concurrency);
    const handle = await startCrawl({ ...crawlOf(request, config, store, queue), config });
    const leave = house.holdBack(queue);
    ended = house.track(
      handle.finished
        .then(() => (signal.aborted ? undefined : addRest(request, store, name, queue)))
        .then(
          () => queue.end(null),
          (error) => queue.end({ error }),
        )
        .then(leave)
        .then(() => forgetPages(store, config)),
    );
    const stop = () => {
      queue.end(null);
      handle.stop();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      for (let rows = await queue.take(); rows !== null; rows = await queue.take()) {
        if (signal.aborted) return;
        yield rows;
        queue.release(rows.length);
      }
    } finally {
      stop();
    }
  } finally {
    void (ended ?? Promise.resolve()).catch(() => {}).then(() => house.giveName(name));
  }
}

function crawlOf<Row>(
  { startUrls, meanings, wantsHeaders, rowOf }: CrawlForRows<Row>,
  config: Config,
  store: Store,
  { slots, add }: RowQueue<Row>,
): Omit<CrawlRequest, 'config'> {
  return {
    ...{ startUrls, meanings, slots },
    extensions: {
      ...{ store, wantsHeaders },
      beforeSettle(visit) {
        const row = rowOf(visit, config);
        if (row !== null) add(row);
        return 'settle';
      },
    },
  };
}

async function addRest<Row>(
  { restOf }: CrawlForRows<Row>,
  store: Store,
  project: string,
  { add }: RowQueue<Row>,
): Promise<void> {
  const side = await store.openSide();
  try {
    for await (const row of restOf(side, project)) add(row);
  } finally {
    await side.close();
  }
}

/** A run that begins anew clears what there was; it has nothing to do, and is over. */
async function forgetPages(store: Store, config: Config): Promise<void> {
  const now = store.clock.now();
  const session = await store.begin({
    project: config.project!,
    owner: newWorkerName(),
    configHash: configHash(config),
    config: JSON.stringify(storedOptions(config, [], now)),
    fresh: true,
    metadata: null,
    now,
  });
  await session.run.finish('completed', store.clock.now(), null);
  await session.leave();
}
