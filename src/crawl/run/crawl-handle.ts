/**
 * The handle of a run: what a front door holds while the run is under way. Work goes in stretches: from its beginning to
 * its end, or to a pause. A paused run holds no host and no session; it goes on with a new stretch, with the same
 * settings or with others, and the pages that wait are judged anew where the settings changed.
 */
import type { Config } from '../../config/load-config.ts';
import { sumiError } from '../../errors.ts';
import type { EventHub } from '../../events/event-hub.ts';
import type { EventListener, RunEvent, SummaryEvent, Topic } from '../../events/events.ts';
import type { LoopReading } from '../../events/metrics.ts';
import type { OutputSink } from '../../events/output-sink.ts';
import { type Subscription, subscribe } from '../../events/subscribe.ts';
import type { LinkGraph } from '../../graph/link-graph.ts';
import type { Clock } from '../../primitives/clock.ts';
import { type Order, type StoredStatus, statusAfter } from '../../store/steering.ts';
import type { Store } from '../../store/store-port.ts';
import { extensionFailed } from './guard-extensions.ts';
import type { Stage } from './stage.ts';
import type { Stretch } from './stretch.ts';
import { watchOrders } from './watch-orders.ts';

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
  /**
   * Stored with the run: what is in flight is finished, hosts are given back, all workers rest until it is resumed.
   * Resolves when this one rests, or the run is over.
   */
  pause(): Promise<void>;
  /**
   * Goes on with a paused run. Resolves when it is under way again. Refused when the run is over, or was left here: it
   * goes on with a new handle then.
   */
  resume(): Promise<void>;
  /**
   * Pauses, takes the new settings, judges the waiting pages by them, and goes on. With settings that cannot be taken
   * the run stays paused, and keeps those it had.
   */
  adjust(config: Config): Promise<void>;
  /** Ends the run for good: what still waits is skipped (`limit: stopped`). Resolves with its summary. */
  cancel(): Promise<SummaryEvent>;
  /** Requests that are under way now. */
  readonly inFlight: number;
  /** Pages of the run with a final answer so far, by all who work on it. */
  readonly pages: number;
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

/** Another stretch, with these settings or as before; null for a worker that took part in a run of others. */
export type NextStretch = ((config: Config | null) => Promise<Stretch>) | null;

export interface RunOfHandle {
  stage: Stage;
  first: Stretch;
  next: NextStretch;
  project: string;
}

export function createCrawlHandle({ stage, first, next, project }: RunOfHandle): CrawlHandle {
  const { events, store } = stage;
  const { clock, crew } = first.parts;
  const { runId } = first.parts.store.start;
  const rests = createRests();
  let stretch = first;
  let order: Order | null = null;
  let adjusting: Promise<void> = Promise.resolve();
  /** How the run ended here; null while it has not. */
  let ended: StoredStatus | null = null;
  const orders = watchOrders({
    ...{ store, clock, runId, onStatus, onFailure },
    askEveryMs: crew.asksForOrdersMs,
  });

  function onFailure(error: unknown): void {
    if (rests.isResting) rests.fail(error);
    else stretch.loop.fail(error);
  }

  function onStatus(status: StoredStatus): void {
    if (rests.isWaking) return;
    if (rests.isResting) {
      if (isOver(status)) rests.end(status);
      else if (status === 'running') rests.wake({ config: null, told: null });
    } else if (status === 'stopped' || (status === 'paused' && order === null)) {
      order = status === 'stopped' ? 'stop' : 'pause';
      stretch.loop.stop();
    }
  }

  async function work(): Promise<SummaryEvent> {
    try {
      for (;;) {
        stage.watch(stretch.loop);
        const summary = await stretch.work(() => order);
        if (summary.status !== 'paused' || next === null) return summary;
        const end = await rest(next);
        if (end !== null) return await told(summary, end);
        // Asked again, because orders that were given meanwhile were not heard.
        orders.ask().catch(onFailure);
      }
    } finally {
      orders.stop();
      await stage.closeStore();
    }
  }

  /** Until the run goes on: null then; otherwise why it does not. */
  async function rest(begin: NonNullable<NextStretch>): Promise<RestEnd | null> {
    events.emit({ type: 'standing', status: 'paused' });
    for (;;) {
      const waking = rests.begin();
      // It may have been resumed, or stopped, while this worker was finishing what was in flight.
      orders.ask().catch(onFailure);
      const woken = await waking;
      if (typeof woken === 'string') return woken;
      try {
        stretch = await begin(woken.config);
        order = null;
        if (rests.isLeft) stretch.loop.stop();
        woken.told?.resolve();
        return null;
      } catch (error) {
        // Whoever asked for it hears why, and the run stays paused.
        if (woken.told === null) throw error;
        woken.told.reject(error);
      } finally {
        // What was asked before knows the run as paused.
        orders.forget();
        rests.woke();
      }
    }
  }

  async function told(summary: SummaryEvent, end: RestEnd): Promise<SummaryEvent> {
    const last = end === 'left' ? summary : await summaryOfEnded(summary, end, store);
    events.tell(last);
    return last;
  }

  async function steer(given: Order): Promise<void> {
    // The store may be closed by now: it is not asked.
    if (ended !== null) statusAfter(given, { id: runId, status: ended });
    await store.projects.steer(runId, given, clock.now());
    // Nobody may be there to call us.
    await orders.ask();
  }

  const finished = finalizeSinks(work(), stage);
  const hasEnded = finished.then(
    ({ status }) => {
      ended = status;
    },
    () => {
      ended = 'failed';
    },
  );

  async function pause(): Promise<void> {
    await rests.settled();
    if (rests.isResting || ended === 'paused') return;
    const rested = rests.next();
    await steer('pause');
    await Promise.race([rested, hasEnded]);
  }

  const wake = (config: Config | null) =>
    new Promise<void>((resolve, reject) => rests.wake({ config, told: { resolve, reject } }));

  /** The handle of a run that was left, or is over, goes on with nothing. */
  function refuseEnded(): void {
    if (ended === null) return;
    statusAfter('resume', { id: runId, status: ended });
    throw sumiError('session-ended', { run: runId });
  }

  async function resume(): Promise<void> {
    if (!rests.isResting) await rests.settled();
    if (rests.isResting) return wake(null);
    refuseEnded();
    await steer('resume');
  }

  async function adjustNow(config: Config): Promise<void> {
    for (;;) {
      await pause();
      refuseEnded();
      await untilAlone(store, runId, clock);
      // Somebody else may have resumed it meanwhile: then it has to rest again.
      if (rests.isResting) return wake(config);
    }
  }

  /** Changes of settings come one after the other: the last one rules. */
  function adjust(config: Config): Promise<void> {
    const adjusted = adjusting.then(() => adjustNow(config));
    adjusting = adjusted.catch(() => {});
    return adjusted;
  }

  return {
    runId,
    project,
    opening: first.opening,
    subscribe: (listener, topics) => subscribe(events, listener, topics),
    stop() {
      stretch.loop.stop();
      rests.leave();
    },
    pause,
    resume,
    adjust,
    async cancel() {
      await rests.settled();
      await steer('stop');
      return finished;
    },
    get inFlight() {
      return stretch.loop.now.inFlight;
    },
    get pages() {
      return events.counters.pages + (stretch.heartbeat?.pagesOfOthers ?? 0);
    },
    get isAtLimit() {
      return stretch.isAtLimit;
    },
    get mapGraph() {
      return stretch.mapGraph;
    },
    read: () => readingOf(stretch, events, project),
    // Whoever ends the process may call when the run has ended just now: then all of it is committed.
    flush: async () => (ended === null ? store.flush() : undefined),
    finished,
  };
}

interface Resumption {
  config: Config | null;
  /** Whoever asked for it, if anybody did. */
  told: { resolve: () => void; reject: (error: unknown) => void } | null;
}

/** A run that others have ended. */
type Over = 'stopped' | 'completed' | 'failed';

const isOver = (status: StoredStatus): status is Over =>
  status === 'stopped' || status === 'completed' || status === 'failed';

/** Why a rest ends without going on. */
type RestEnd = 'left' | Over;

type Waking = Resumption | RestEnd;

/** The pauses of a handle: one at a time, each ended by whoever comes first. */
function createRests() {
  let ending: { resolve: (waking: Waking) => void; reject: (error: unknown) => void } | null = null;
  let isLeft = false;
  let isWaking = false;
  const waiting = new Set<() => void>();
  const settling = new Set<() => void>();
  const callAll = (called: Set<() => void>) => {
    for (const call of called) call();
    called.clear();
  };
  const take = () => {
    const taken = ending;
    ending = null;
    return taken;
  };
  return {
    get isResting() {
      return ending !== null;
    },
    get isLeft() {
      return isLeft;
    },
    /** From `wake` to `woke`: the next stretch is being begun. */
    get isWaking() {
      return isWaking;
    },
    begin(): Promise<Waking> {
      if (isLeft) return Promise.resolve('left');
      const waking = new Promise<Waking>((resolve, reject) => {
        ending = { resolve, reject };
      });
      callAll(waiting);
      return waking;
    },
    /** Resolves when the next one begins. */
    next: () => new Promise<void>((resolve) => waiting.add(resolve)),
    wake(resumption: Resumption): void {
      const taken = take();
      if (taken === null) return;
      isWaking = true;
      taken.resolve(resumption);
    },
    /** The next stretch has begun, or could not begin. */
    woke(): void {
      isWaking = false;
      callAll(settling);
    },
    /** Resolves when no stretch is being begun. */
    async settled(): Promise<void> {
      while (isWaking) await new Promise<void>((resolve) => settling.add(resolve));
    },
    end: (how: RestEnd) => take()?.resolve(how),
    fail: (error: unknown) => take()?.reject(error),
    leave(): void {
      isLeft = true;
      take()?.resolve('left');
    },
  };
}

const ASK_AGAIN_MS = 250;

/** Workers that took part leave a paused run within seconds: until then its pages are not judged by other settings. */
async function untilAlone(store: Store, runId: number, clock: Clock): Promise<void> {
  for (;;) {
    const standing = await store.projects.standing(runId);
    if (standing === null || standing.workers === 0) return;
    await new Promise<void>((resolve) => clock.after(ASK_AGAIN_MS, resolve));
  }
}

/** What waited when the run was paused has been skipped since, or visited by others. */
async function summaryOfEnded(summary: SummaryEvent, status: Over, store: Store): Promise<SummaryEvent> {
  const side = await store.openSide();
  try {
    const { by_state, known_urls, read, broken, rate_limited, skipped, waiting } = await side.totals(
      summary.project,
    );
    const counts = { known_urls, read, broken, rate_limited, skipped, waiting };
    return { ...summary, ...counts, by_state, status };
  } finally {
    await side.close();
  }
}

function readingOf(
  { parts, loop, heartbeat }: Stretch,
  { counters }: EventHub,
  project: string,
): LoopReading {
  return {
    run: parts.store.start.runId,
    project,
    pages: counters.pages - parts.store.start.pagesDone,
    states: counters.states,
    outcomes: counters.outcomes,
    waiting: parts.store.frontier.waiting(),
    ...loop.now,
    lagMs: parts.lag.lagMs,
    storeSilentMs: heartbeat?.silentMs ?? 0,
    storeAnswerMs: heartbeat?.answerMs ?? null,
  };
}

/** Every sink is closed, however the run ended; the first thing that went wrong is what the caller hears. */
async function finalizeSinks(
  run: Promise<SummaryEvent>,
  { extensions, failures }: Stage,
): Promise<SummaryEvent> {
  const sinks: readonly OutputSink[] = extensions.sinks ?? [];
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
