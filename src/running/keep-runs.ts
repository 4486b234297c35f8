/**
 * The runs that are under way in this process: begun or gone on with here, followed to their end, noted and told. Who is
 * next is queue.ts; what an operator orders is steer-runs.ts.
 *
 * It promises that a run's note, its counts and its last events are written before anybody hears that it is over.
 */
import type { Config } from '../config/load-config.ts';
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import { startCrawl } from '../crawl/start-crawl.ts';
import { SumiError } from '../errors.ts';
import type { SummaryEvent } from '../events/events.ts';
import type { StoredRun } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import { keepCounts } from './counts.ts';
import type { LiveFeed } from './live-feed.ts';
import { createLiveRun, type LiveRun, statisticsOf } from './live-run.ts';
import type { Phase, RunOrder, RunType } from './phase.ts';
import { type CrawlPlan, planRun, planToGoOn } from './plan-run.ts';
import type { AttendedRun, Room, RoomProject, RunBegun, RunOver } from './room.ts';
import { openRunLog } from './run-log.ts';
import { createRunNotes, type RunNote, type RunNotes } from './run-notes.ts';
import { limitSlots } from './run-slots.ts';

export interface KeepSurroundings {
  room: Omit<Room, 'runs'>;
  feed: LiveFeed;
  env: Readonly<Record<string, string | undefined>>;
  tellBegun: (begun: RunBegun) => void;
  tellOver: (over: RunOver) => void;
  /** The phase of a run that is over, from the store. */
  phaseOf: (project: RoomProject, run: StoredRun, note: RunNote) => Phase;
  /** A run is over, or rests: another one may have its place. `isTaken`: it goes on at the next start. */
  onFree: (projectUid: string, run: number, end: { isOver: boolean; isTaken: boolean }) => Promise<void>;
}

export interface RunKeeper {
  readonly live: ReadonlyMap<string, LiveRun>;
  readonly notes: RunNotes;
  plan(project: RoomProject, order: RunOrder): Promise<CrawlPlan>;
  planToGoOn(project: RoomProject, run: StoredRun, adjusted: RunNote['adjusted']): Promise<CrawlPlan>;
  begin(project: RoomProject, order: RunOrder): Promise<LiveRun>;
  /** Goes on with a run of the store that rests, or was left. */
  goOn(project: RoomProject, run: StoredRun): Promise<LiveRun>;
  attend(run: AttendedRun): void;
  /** Runs finish what is in flight, and are left to go on. */
  close(): Promise<void>;
}

interface Kept {
  project: RoomProject;
  handle: CrawlHandle;
  type: RunType;
  mode: Phase['mode'];
  by: string | null;
  maxPages: number | null;
  fetchOnly: number | null;
  isInitial: boolean;
  isAttended: boolean;
}

export function createRunKeeper(around: KeepSurroundings): RunKeeper {
  const { room, feed } = around;
  const { store, side, records, clock, egress, slots, report } = room;
  const planning = { options: room.options, store, side, env: around.env };
  const notes = createRunNotes(records);
  const live = new Map<string, LiveRun>();
  const over = new Set<Promise<void>>();

  async function crawl({ config, startUrls }: CrawlPlan): Promise<CrawlHandle> {
    const handle = await startCrawl({
      ...{ config, startUrls },
      slots: limitSlots(slots, ownConcurrency(config)),
      extensions: { store, clock, egress },
    });
    // Heard below, a moment later.
    handle.finished.catch(() => {});
    return handle;
  }

  /** A run of which nothing can be noted is not left alone with nobody to steer it. */
  async function orStop(handle: CrawlHandle, keeping: Promise<LiveRun>): Promise<LiveRun> {
    try {
      return await keeping;
    } catch (error) {
      live.delete([...live].find(([, run]) => run.handle === handle)?.[0] ?? '');
      handle.stop();
      throw error;
    }
  }

  async function begin(project: RoomProject, order: RunOrder): Promise<LiveRun> {
    const plan = await planRun(planning, project, order);
    const last = await side.lastRun(project.id);
    const isFirst = last === null || !isCrawl(last);
    const handle = await crawl(plan);
    return keep({
      ...{ project, handle },
      type: isFirst ? 'initial' : order.type,
      mode: order.mode ?? plan.config.mode,
      by: order.by ?? null,
      maxPages: plan.config.maxPages,
      fetchOnly: order.fetchOnlyUrls === undefined ? null : order.fetchOnlyUrls.length,
      isInitial: isFirst || order.fresh === true,
      isAttended: false,
    });
  }

  async function goOn(project: RoomProject, run: StoredRun): Promise<LiveRun> {
    const note = await notes.get(project.uid, run.run);
    const plan = await planToGoOn(planning, project, run, note?.adjusted ?? {});
    const handle = await crawl(plan);
    const { config } = plan;
    return keep({
      ...{ project, handle, type: 'manual', mode: config.mode, by: null },
      maxPages: config.maxPages,
      fetchOnly: config.fetchOnly ? plan.startUrls.length : null,
      isInitial: note?.type === 'initial',
      isAttended: false,
    });
  }

  const keep = (kept: Kept) => orStop(kept.handle, keepNow(kept));

  async function keepNow(kept: Kept): Promise<LiveRun> {
    const { project, handle } = kept;
    const stored = await notes.get(project.uid, handle.runId);
    const note = stored ?? newNote(kept, clock.now());
    note.max_pages = kept.maxPages;
    note.error = null;
    const log = await openRunLog({ records, clock, onFailure: report }, project.uid, handle.runId);
    const row = handle.opening.resumed ? await side.run(handle.runId) : null;
    const startedAt = row === null ? clock.now() : Date.parse(row.started_at);
    const { isInitial, isAttended } = kept;
    const begun = { project, handle, note, log, startedAt, isInitial, isAttended };
    const run = createLiveRun(begun, { save, onStanding });
    live.set(project.uid, run);
    await notes.put(project.uid, note);
    const unfollow = feed.follow({
      ...{ projectUid: project.uid, run: run.run, handle, isInitial },
      phase: run.phase,
    });
    const isResumed = stored !== null;
    const phase = run.phase();
    log.add({
      type: isResumed ? 'resumed' : 'started',
      message: isResumed ? 'The run continues.' : `The run was started (${note.type}, mode ${note.mode}).`,
      detail: { type: note.type, mode: note.mode, by: note.by, max_pages: note.max_pages },
    });
    feed.tell(project.uid, { type: 'started', run: run.run, phase });
    around.tellBegun({ project, run: run.run, type: note.type, isResumed, phase });
    const end = followToEnd(run, unfollow).catch(report);
    over.add(end);
    void end.then(() => over.delete(end));
    return run;
  }

  function save(note: RunNote): void {
    const run = [...live.values()].find((one) => one.note === note);
    if (run !== undefined) notes.put(run.project.uid, note).catch(report);
  }

  function onStanding(run: LiveRun, isPaused: boolean): void {
    const type = isPaused ? 'paused' : 'resumed';
    run.log.add({ type, message: isPaused ? 'The run is paused.' : 'The run continues.', detail: {} });
    save(run.noted());
    feed.tellProgress(run.project.uid, run.run, run.phase());
    if (isPaused)
      void around.onFree(run.project.uid, run.run, { isOver: false, isTaken: true }).catch(report);
  }

  async function followToEnd(run: LiveRun, unfollow: () => void): Promise<void> {
    let summary: SummaryEvent | null = null;
    let error: unknown = null;
    try {
      summary = await run.handle.finished;
    } catch (thrown) {
      error = thrown;
    }
    run.end();
    unfollow();
    const note = run.noted();
    const isLeft = summary?.status === 'interrupted' || summary?.status === 'paused';
    const isTaken = room.closing.aborted && isLeft;
    if (error !== null) note.error = errorOf(error);
    if (summary !== null && !isLeft) note.statistics = statisticsOf(summary);
    await conclude(run, summary, isTaken);
  }

  async function conclude(run: LiveRun, summary: SummaryEvent | null, isTaken: boolean): Promise<void> {
    const { project, note, log } = run;
    const attempt = async (work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        // A store that failed keeps nothing more; what was told stays told.
        report(error);
      }
    };
    await attempt(() => notes.put(project.uid, note));
    if (summary !== null) await attempt(() => keepCounts(records, project.uid, summary));
    let phase = run.phase();
    await attempt(async () => {
      const row = await side.run(run.run);
      if (row !== null) phase = around.phaseOf(project, row, note);
    });
    if (!isTaken) log.add({ type: endOf(phase), message: phase.message, detail: { ...note.statistics } });
    await log.flush();
    live.delete(project.uid);
    await attempt(() => around.onFree(project.uid, run.run, { isOver: true, isTaken }));
    if (isTaken) return;
    const type = phase.status === 'completed' ? 'completed' : 'failed';
    feed.tell(project.uid, { type, run: run.run, phase });
    around.tellOver({ project, run: run.run, type: note.type, phase, summary });
  }

  return {
    live,
    notes,
    plan: (project, order) => planRun(planning, project, order),
    planToGoOn: (project, run, adjusted) => planToGoOn(planning, project, run, adjusted),
    begin,
    goOn,
    attend({ project, handle, type, mode, maxPages }) {
      handle.finished.catch(() => {});
      const isInitial = handle.opening.known_urls === 0;
      const given = { by: type === 'scheduled' ? 'schedule' : null, fetchOnly: null, isAttended: true };
      const first = isInitial ? 'initial' : type;
      keep({ project, handle, type: first, mode, maxPages, isInitial, ...given }).catch(report);
    },
    async close() {
      for (const run of live.values()) run.handle.stop();
      while (over.size > 0) await Promise.all(over);
    },
  };
}

function newNote(kept: Kept, now: number): RunNote {
  const { handle, type, mode, by, maxPages, fetchOnly } = kept;
  return {
    ...{ run: handle.runId, type, mode, by, at: new Date(now).toISOString() },
    ...{ max_pages: maxPages, fetch_only: fetchOnly },
    ...{ progress: 0, pages_crawled: 0, waiting: 0, failed: 0, skipped: 0 },
    ...{ adjusted: {}, error: null, statistics: null },
  };
}

/** Null: nobody said, and the run may have all requests that others leave. */
function ownConcurrency({ concurrency, sources }: Config): number | null {
  const { from } = sources.concurrency;
  return from === 'default' || from.startsWith('profile ') ? null : concurrency;
}

export function errorOf(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  return { code: error instanceof SumiError ? error.code : 'run-failed', message };
}

function endOf({ state }: Phase): 'completed' | 'stopped' | 'failed' | 'interrupted' {
  return state === 'completed' || state === 'stopped' || state === 'failed' ? state : 'interrupted';
}
