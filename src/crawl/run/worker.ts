/**
 * A worker: takes part in every run of a shared store that is under way, as long as it is told to. All runs share its
 * requests; each has a loop of its own. It looks for runs about once a second, and sooner when the store says so.
 *
 * It promises to drain when it is told to stop: what is in flight is settled or given back within the drain time,
 * leases are released, the runs stay running for whoever comes next. A run that it cannot work on (its options are
 * not understood, its bodies cannot be stored) is told and left alone for a while; a store that fails, or is away for longer
 * than patience lasts, ends the worker.
 */
import type { Config } from '../../config/load-config.ts';
import { SumiError } from '../../errors.ts';
import type { EventListener, SummaryEvent } from '../../events/events.ts';
import type { LoopReading } from '../../events/metrics.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { RunList } from '../../store/run-list.ts';
import { joinCrawl } from '../start-crawl.ts';
import type { CrawlHandle } from './crawl-handle.ts';
import { createSlots } from './slots.ts';

const LOOK_EVERY_MS = 1_000;
/** A run that ended for us and is still under way has nothing for us now. */
const REJOIN_AFTER_MS = 5_000;
const FORGIVE_AFTER_MS = 60_000;

export interface WorkerRequest {
  worker: Config;
  runs: RunList;
  clock: Clock;
  configOf: (run: { config: string; run: number }) => Promise<Config>;
  /** End when no run is under way. */
  isOnce: boolean;
  listenTo: (runId: number) => readonly EventListener[];
  /** As `listenTo`, for everything but pages. */
  listenToRun?: (runId: number) => readonly EventListener[];
  onJoined: (run: CrawlHandle) => void;
  onLeft: (summary: SummaryEvent) => void;
  /** The run cannot be worked on here. */
  onRefused: (runId: number, error: unknown) => void;
  /** Nothing is under way. */
  onIdle: () => void;
}

export interface Worker {
  stop(): void;
  readonly inFlight: number;
  read(): LoopReading[];
  /** Commits what is settled, at once, for a process that must end now. */
  flush(): Promise<void>;
  readonly finished: Promise<void>;
}

export function startWorker(request: WorkerRequest): Worker {
  const { runs, clock, worker } = request;
  const slots = createSlots(worker.concurrency);
  const active = new Map<number, CrawlHandle>();
  /** When (monotonic) a run may be joined again. */
  const leftAlone = new Map<number, number>();
  const ends = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  let isStopped = false;
  let isIdle = false;
  /** Since when (monotonic) the store lets us into no run. */
  let shutOutAt: number | null = null;
  let wake: () => void = () => {};
  runs.onChange(() => wake());

  async function work(): Promise<void> {
    try {
      while (!isStopped && failure === null) {
        const running = await runs.running();
        for (const runId of running) if (mayJoin(runId)) await join(runId);
        if (running.length === 0 && active.size === 0) {
          if (request.isOnce) break;
          if (!isIdle) request.onIdle();
          isIdle = true;
        } else isIdle = false;
        await pause();
      }
    } catch (error) {
      failure ??= { error };
    }
    for (const handle of active.values()) handle.stop();
    await Promise.all(ends);
    await runs.close();
    if (failure !== null) throw failure.error;
  }

  function mayJoin(runId: number): boolean {
    if (isStopped || failure !== null || active.has(runId)) return false;
    const from = leftAlone.get(runId);
    if (from === undefined) return true;
    if (from > clock.monotonic()) return false;
    leftAlone.delete(runId);
    return true;
  }

  async function join(runId: number): Promise<void> {
    let handle: CrawlHandle | null;
    try {
      handle = await joinCrawl({
        runId,
        worker,
        configOf: request.configOf,
        slots,
        extensions: { clock },
        listeners: request.listenTo(runId),
        runListeners: request.listenToRun?.(runId),
      });
      shutOutAt = null;
    } catch (error) {
      // The next round tries again, as every question does that meets a restart of the server.
      if (isAway(error) && isPatient()) return;
      if (isOfTheStore(error)) throw error;
      leftAlone.set(runId, clock.monotonic() + FORGIVE_AFTER_MS);
      request.onRefused(runId, error);
      return;
    }
    if (handle === null) return;
    active.set(runId, handle);
    request.onJoined(handle);
    const end = watch(runId, handle).finally(() => ends.delete(end));
    ends.add(end);
  }

  function isPatient(): boolean {
    shutOutAt ??= clock.monotonic();
    return clock.monotonic() - shutOutAt < worker.storePatience * 1000;
  }

  async function watch(runId: number, handle: CrawlHandle): Promise<void> {
    try {
      request.onLeft(await handle.finished);
    } catch (error) {
      failure ??= { error };
    }
    active.delete(runId);
    leftAlone.set(runId, clock.monotonic() + REJOIN_AFTER_MS);
    wake();
  }

  function pause(): Promise<void> {
    if (isStopped || failure !== null) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = clock.after(LOOK_EVERY_MS, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }

  return {
    finished: work(),
    stop() {
      isStopped = true;
      for (const handle of active.values()) handle.stop();
      wake();
    },
    get inFlight() {
      return slots.total - slots.free;
    },
    read: () => [...active.values()].map((handle) => handle.read()),
    async flush() {
      await Promise.all([...active.values()].map((handle) => handle.flush()));
    },
  };
}

function isAway(error: unknown): boolean {
  return error instanceof SumiError && error.code === 'store-unreachable';
}

/** What no other run would fare better with. */
function isOfTheStore(error: unknown): boolean {
  return !(error instanceof SumiError) || error.code.startsWith('store-') || error.code === 'disk-full';
}
