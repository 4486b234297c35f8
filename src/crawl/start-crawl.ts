/**
 * Where every front door starts crawls: `startCrawl` begins a run or goes on with one, `joinCrawl` takes part in one
 * that others have begun. Both open the store, wire the parts and run the same loop; what they give back is a handle.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Config, configHash } from '../config/load-config.ts';
import { createEventHub, type EventHub } from '../events/event-hub.ts';
import {
  type CrawlEvent,
  type EventListener,
  type RunEvent,
  type SummaryEvent,
  TOPICS,
  type Topic,
} from '../events/events.ts';
import type { LoopReading } from '../events/metrics.ts';
import { attachSink, type OutputSink } from '../events/output-sink.ts';
import { type Subscription, subscribe } from '../events/subscribe.ts';
import type { LinkGraph } from '../graph/link-graph.ts';
import { systemClock } from '../primitives/clock.ts';
import type { BodyStore } from '../store/bodies.ts';
import { openBodies, openStore } from '../store/open-store.ts';
import type { RunStore, Store } from '../store/store-port.ts';
import { pausesAtLimit } from '../store/unfinished-run.ts';
import type { CrawlParts } from './parts.ts';
import type { CrawlLoop } from './run/crawl-loop.ts';
import type { Heartbeat } from './run/crew.ts';
import { extensionFailed, guardExtensions, guardTap } from './run/guard-extensions.ts';
import type { HostAllowance } from './run/host-allowance.ts';
import {
  prepareRun,
  prepareToJoin,
  projectOf,
  readStartUrls,
  storedNotes,
  storedOptions,
} from './run/prepare-run.ts';
import { type RunWork, workOnRun } from './run/run-lifecycle.ts';
import type { Slots } from './run/slots.ts';
import { createCrawlLoop } from './run-crawl.ts';
import { type Extensions, wireNormalizer, wireParts } from './wire.ts';

export interface CrawlRequest {
  config: Config;
  startUrls: readonly string[];
  /** Known pages by id: a new run visits these and what it finds besides, and no other known page. */
  due?: readonly number[];
  /** Where not all of it may be done now. */
  allowance?: HostAllowance;
  extensions?: Extensions;
  listeners?: readonly EventListener[];
  /** Hear of everything but pages, so that nothing is made to be told of them. */
  runListeners?: readonly EventListener[];
}

export interface JoinRequest {
  runId: number;
  /** Where and how this worker works: its store, and how long it waits for it. */
  worker: Pick<Config, 'storeAddress' | 'storePatience'>;
  /** Makes the options that are stored with the run into a configuration. */
  configOf: (run: { config: string; run: number }) => Promise<Config>;
  /** Shared with other crawls of this process. */
  slots?: Slots;
  extensions?: Extensions;
  listeners?: readonly EventListener[];
  /** Hear of everything but pages. */
  runListeners?: readonly EventListener[];
}

export interface CrawlHandle {
  readonly runId: number;
  readonly project: string;
  /** The event with which the run began, for who subscribes later. */
  readonly opening: RunEvent;
  /**
   * To these topics, from now on; to all unless said. Page events are made only while somebody subscribes to them. A
   * subscriber that throws is unsubscribed, and the crawl goes on.
   */
  subscribe(listener: EventListener, topics?: readonly Topic[]): Subscription;
  /** Finish what is in flight, commit, and end as interrupted. */
  stop(): void;
  /** Requests that are under way now. */
  readonly inFlight: number;
  /** How it stands now, for metrics. */
  read(): LoopReading;
  /** The link graph of a map as the run left it, once it has ended; null where it must be read. */
  readonly mapGraph: LinkGraph | null;
  /** Pages were left out, or wait for a larger allowance; known once it has ended. */
  readonly isAtLimit: boolean;
  /** Commits what is settled, at once, for a process that must end now. */
  flush(): Promise<void>;
  readonly finished: Promise<SummaryEvent>;
}

/** What a crawl has before it knows its run. */
interface Stage {
  events: EventHub;
  extensions: Extensions;
  failures: unknown[];
  store: Store;
  /** Closes a store that was opened for this crawl; that of a program stays open. */
  closeStore(): Promise<void>;
  owner: string;
  /** From now on a failure that no call can answer for ends this loop. */
  watch(loop: CrawlLoop): void;
}

export async function startCrawl(request: CrawlRequest): Promise<CrawlHandle> {
  const { config } = request;
  const normalizer = wireNormalizer(config);
  const startUrls = readStartUrls(request.startUrls, (text) => normalizer.normalize(text));
  const extensions = guardExtensions(request.extensions ?? {});
  // First, so that a folder that cannot be used leaves no database behind.
  const bodies = await bodiesOf(config, extensions);
  const stage = await openStage(extensions, request, config);
  const { store, owner } = stage;
  const { clock } = store;
  const project = projectOf(config, startUrls, clock.now());
  const session = await orClose(stage, () =>
    store.begin({
      project,
      owner,
      configHash: configHash(config),
      config: JSON.stringify(storedOptions(config, startUrls, clock.now())),
      fresh: config.fresh,
      metadata: storedNotes(config.meta),
      now: clock.now(),
    }),
  );
  const { start } = session;
  const parts = wire(stage, session, {
    ...{ config, startUrls, bodies, normalizer },
    slots: undefined,
    allowance: request.allowance,
  });
  const hasChanged = start.previousConfigHash !== null && start.previousConfigHash !== configHash(config);
  return begin(stage, parts, {
    start,
    project,
    configChanged: hasChanged,
    isJoined: false,
    isForFinds: request.due?.length === 0 && !start.resumed,
    isTick: request.due !== undefined,
    prepare: () => prepareRun(parts, start, { project, configChanged: hasChanged, due: request.due }),
  });
}

/** Of a run that pauses, whoever takes part in it knows the limit of all pages. */
const PAUSED: HostAllowance = { hostPages: () => Number.POSITIVE_INFINITY, pausesAt: ['limit'] };

/** Null when the run is over, or not yet ready for others. */
export async function joinCrawl(request: JoinRequest): Promise<CrawlHandle | null> {
  const stage = await openStage(guardExtensions(request.extensions ?? {}), request, request.worker);
  const { store, owner } = stage;
  const joined = await orClose(stage, () => store.join(request.runId, owner));
  if (joined === null) {
    await stage.closeStore();
    return null;
  }
  const parts = await orClose(stage, async () => {
    const config = await request.configOf({ config: joined.config, run: request.runId });
    const normalizer = wireNormalizer(config);
    const startUrls = readStartUrls(config.startUrls, (text) => normalizer.normalize(text));
    const bodies = await bodiesOf(config, stage.extensions);
    const allowance = pausesAtLimit(joined) ? PAUSED : undefined;
    return wire(stage, joined, { config, startUrls, bodies, normalizer, slots: request.slots, allowance });
  });
  return begin(stage, parts, {
    start: joined.start,
    project: joined.project,
    configChanged: false,
    isJoined: true,
    isForFinds: false,
    isTick: false,
    prepare: () => prepareToJoin(parts, joined.start),
  });
}

const WITHOUT_PAGES = TOPICS.filter((topic) => topic !== 'page');

async function bodiesOf(config: Config, extensions: Extensions): Promise<BodyStore | null> {
  const options = { clock: extensions.clock, patienceMs: config.storePatience * 1000 };
  return extensions.bodies ?? (await openBodies(config.bodies, options));
}

async function openStage(
  extensions: Extensions,
  { listeners = [], runListeners = [] }: Pick<CrawlRequest, 'listeners' | 'runListeners'>,
  { storeAddress, storePatience }: Pick<Config, 'storeAddress' | 'storePatience'>,
): Promise<Stage> {
  const clock = extensions.clock ?? systemClock;
  const events = createEventHub(clock);
  const failures: unknown[] = [];
  let loop: CrawlLoop | null = null;
  const fail = (error: unknown) => {
    failures.push(error);
    loop?.fail(error);
  };
  const guarded = (listener: EventListener) => (event: CrawlEvent) =>
    attempt('event listener', () => listener(event), fail);
  for (const listener of listeners) events.subscribe(guarded(listener));
  for (const listener of runListeners) events.subscribe(guarded(listener), WITHOUT_PAGES);
  for (const sink of extensions.sinks ?? [])
    attachSink(events, sink, (call) => attempt('output sink', call, fail));
  const store =
    extensions.store ??
    (await openStore({
      address: storeAddress,
      clock,
      onFailure: fail,
      patienceMs: storePatience * 1000,
    }));
  return {
    events,
    extensions:
      extensions.tap === undefined ? extensions : { ...extensions, tap: guardTap(extensions.tap, fail) },
    failures,
    store,
    closeStore: async () => {
      if (extensions.store === undefined) await store.close();
    },
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    watch(found) {
      loop = found;
      if (failures.length > 0) loop.fail(failures[0]);
    },
  };
}

/** Whatever goes wrong before the loop runs must not leave the store open. */
async function orClose<T>({ closeStore }: Stage, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await closeStore();
    throw error;
  }
}

function wire(
  stage: Stage,
  session: RunStore,
  rest: Pick<
    Parameters<typeof wireParts>[0],
    'config' | 'startUrls' | 'normalizer' | 'slots' | 'allowance'
  > & {
    bodies: BodyStore | null;
  },
): CrawlParts {
  const { owner, extensions, events, closeStore } = stage;
  const store: RunStore = {
    ...session,
    async leave() {
      await session.leave();
      await closeStore();
    },
  };
  return wireParts({ ...rest, owner, extensions, store, events, clock: store.clock });
}

function begin(
  stage: Stage,
  parts: CrawlParts,
  run: Pick<RunWork, 'start' | 'project' | 'isJoined' | 'isForFinds' | 'isTick' | 'prepare'> & {
    configChanged: boolean;
  },
): CrawlHandle {
  const { start, project } = run;
  const { events, extensions, failures } = stage;
  const { store } = parts;
  const loop = createCrawlLoop(parts, run.isJoined ? null : { isResumed: start.resumed });
  stage.watch(loop);
  events.ofRun(start.runId, project);
  const opening = events.stamp({
    type: 'run',
    resumed: start.resumed,
    config_changed: run.configChanged,
    known_urls: start.knownUrls,
  }) as RunEvent;
  events.tell(opening);
  let heartbeat: Heartbeat | null = null;
  const onHeartbeat = (started: Heartbeat) => {
    heartbeat = started;
  };
  let mapGraph: LinkGraph | null = null;
  const onGraph = (graph: LinkGraph) => {
    mapGraph = graph;
  };
  let isAtLimit = false;
  const onLimit = () => {
    isAtLimit = true;
  };
  let isOver = false;
  const work = workOnRun({ ...run, parts, loop, onHeartbeat, onGraph, onLimit }).finally(() => {
    isOver = true;
  });
  return {
    runId: start.runId,
    project,
    opening,
    subscribe: (listener, topics) => subscribe(events, listener, topics),
    stop: () => loop.stop(),
    get inFlight() {
      return loop.now.inFlight;
    },
    get isAtLimit() {
      return isAtLimit;
    },
    get mapGraph() {
      return mapGraph;
    },
    read: () => ({
      run: start.runId,
      project,
      pages: events.counters.pages - start.pagesDone,
      states: events.counters.states,
      outcomes: events.counters.outcomes,
      waiting: store.frontier.waiting(),
      ...loop.now,
      lagMs: parts.lag.lagMs,
      storeSilentMs: heartbeat?.silentMs ?? 0,
      storeAnswerMs: heartbeat?.answerMs ?? null,
    }),
    // Whoever ends the process may call when the run has ended just now: then all of it is committed.
    flush: async () => (isOver ? undefined : store.flush()),
    finished: finalizeSinks(work, extensions.sinks ?? [], failures),
  };
}

/** Listeners are also called by timers, where a throw would end the process: it ends the run instead. */
function attempt(part: string, call: () => void, fail: (error: unknown) => void): void {
  try {
    call();
  } catch (error) {
    fail(extensionFailed(part, null, error));
  }
}

/** Every sink is closed, however the run ended; the first thing that went wrong is what the caller hears. */
async function finalizeSinks(
  run: Promise<SummaryEvent>,
  sinks: readonly OutputSink[],
  failures: unknown[],
): Promise<SummaryEvent> {
  let summary: SummaryEvent | null = null;
  try {
    summary = await run;
  } catch (error) {
    failures.unshift(error);
  }
  const status = summary === null || failures.length > 0 ? 'failed' : summary.status;
  for (const sink of sinks) {
    try {
      await sink.finalize?.(status);
    } catch (error) {
      failures.push(extensionFailed('output sink', null, error));
    }
  }
  if (summary === null || failures.length > 0) throw failures[0];
  return summary;
}
