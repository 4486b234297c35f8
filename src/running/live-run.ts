/**
 * A run that is under way in this process: its handle, and how it stands in the words of a phase. What must outlive the
 * process (how far it was told to be, what it counted) is noted as it grows.
 */
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import type { CrawlEvent, SummaryEvent } from '../events/events.ts';
import { CRAWLED_PAGES_STATUS } from '../frontier/counting-words.ts';
import { explainProgress } from './explain-progress.ts';
import { type Phase, type PhaseState, type PhaseStatistics, STATUS_OF_STATE } from './phase.ts';
import { createProgressMeter } from './progress-meter.ts';
import type { RoomProject } from './room.ts';
import type { RunLog } from './run-log.ts';
import type { RunNote } from './run-notes.ts';

export interface LiveRun {
  readonly project: RoomProject;
  readonly handle: CrawlHandle;
  readonly run: number;
  readonly note: RunNote;
  readonly log: RunLog;
  /** Everything in it is new. */
  readonly isInitial: boolean;
  /** Somebody else than the queue began it, and goes on with it after a restart. */
  readonly isAttended: boolean;
  /** It rests, or will when what is in flight is finished. */
  readonly isPaused: boolean;
  /** An order was given and is not obeyed yet. */
  ordered: 'pause' | 'stop' | null;
  /** It rests for a moment, to take other settings, and keeps its place. */
  isAdjusting: boolean;
  phase(): Phase;
  setMaxPages(maxPages: number | null): void;
  /** What the note would say now. */
  noted(): RunNote;
  end(): void;
}

export interface BegunRun {
  project: RoomProject;
  handle: CrawlHandle;
  note: RunNote;
  log: RunLog;
  /** Wall milliseconds; of a run that goes on, its first beginning. */
  startedAt: number;
  isInitial: boolean;
  isAttended: boolean;
}

export interface LiveSurroundings {
  /** Keeps the note. */
  save: (note: RunNote) => void;
  /** The run rests, or goes on after that. */
  onStanding: (live: LiveRun, isPaused: boolean) => void;
}

/** So many percent may be told before the note has to be written again. */
const NOTED_AHEAD = 3;
const MOST_NOTED = 99.9;

export function createLiveRun(begun: BegunRun, { save, onStanding }: LiveSurroundings): LiveRun {
  const { project, handle, log, startedAt } = begun;
  const { note } = begun;
  const run = handle.runId;
  const meter = createProgressMeter(mostPages(note), note.progress);
  const before = { failed: note.failed, skipped: note.skipped };
  let noted = note.progress;
  let isResting = false;
  let last: Extract<CrawlEvent, { type: 'progress' }> | null = null;
  const subscription = handle.subscribe(hear, ['run', 'host', 'progress']);

  function hear(event: CrawlEvent): void {
    if (event.type === 'progress') last = event;
    else if (event.type === 'standing') {
      isResting = true;
      live.ordered = null;
      onStanding(live, true);
    } else if (event.type === 'run') {
      isResting = false;
      live.ordered = null;
      onStanding(live, false);
    } else logEvent(log, event);
  }

  function counted(): { failed: number; skipped: number } {
    const counts = { ...before };
    for (const [state, pages] of handle.read().states) {
      const status = CRAWLED_PAGES_STATUS[state];
      if (status === 'failed' || status === 'skipped') counts[status] += pages;
    }
    return counts;
  }

  function phase(): Phase {
    const { pages } = handle;
    const { waiting, inFlight } = handle.read();
    const queued = waiting + inFlight;
    const { progress, estimatedTotal } = meter.read(pages, queued, noted);
    if (meter.wanted > noted - 1) noteAhead();
    const state: PhaseState = live.isPaused ? 'paused' : 'running';
    const perSecond = state === 'running' ? (last?.pages_per_second ?? 0) : 0;
    const left = Math.max(0, estimatedTotal - pages);
    return {
      project_id: project.uid,
      status: STATUS_OF_STATE[state],
      state,
      run,
      type: note.type,
      mode: note.mode,
      progress,
      pages_crawled: pages,
      estimated_total: estimatedTotal,
      waiting: queued,
      ...counted(),
      pages_per_second: perSecond,
      seconds_left: perSecond > 0 ? Math.round(left / perSecond) : null,
      started_at: new Date(startedAt).toISOString(),
      completed_at: null,
      message: explainProgress({ state, ordered: live.ordered, inFlight, pages, last }),
      error: null,
      statistics: null,
    };
  }

  /** Before more is told, so that a crash cannot make it fall. */
  function noteAhead(): void {
    if (noted >= MOST_NOTED) return;
    noted = Math.min(MOST_NOTED, meter.wanted + NOTED_AHEAD);
    save(live.noted());
  }

  const live: LiveRun = {
    ...{ project, handle, run, note, log },
    isInitial: begun.isInitial,
    isAttended: begun.isAttended,
    ordered: null,
    isAdjusting: false,
    get isPaused() {
      return (isResting && !live.isAdjusting) || live.ordered === 'pause';
    },
    phase,
    setMaxPages(maxPages) {
      note.max_pages = maxPages;
      meter.setMaxPages(mostPages(note));
    },
    noted() {
      const { waiting, inFlight } = handle.read();
      Object.assign(note, counted(), {
        progress: noted,
        pages_crawled: handle.pages,
        waiting: waiting + inFlight,
      });
      return note;
    },
    end: () => subscription.unsubscribe(),
  };
  return live;
}

function mostPages({ max_pages, fetch_only }: RunNote): number | null {
  if (fetch_only === null) return max_pages;
  return max_pages === null ? fetch_only : Math.min(max_pages, fetch_only);
}

function logEvent(log: RunLog, event: CrawlEvent): void {
  switch (event.type) {
    case 'mode': {
      const { mode, reason } = event;
      log.add({ type: 'mode', message: `Mode ${mode}: ${reason}.`, detail: { mode, reason } });
      break;
    }
    case 'host': {
      const { host, what, detail, until } = event;
      log.add({ type: 'host', message: `${host}: ${detail}`, detail: { host, what, detail, until } });
      break;
    }
    case 'sitemap': {
      const { url, found_by, problem, entries } = event;
      if (problem === null) break;
      log.add({
        type: 'sitemap',
        message: `${url}: ${problem}`,
        detail: { url, found_by, problem, entries },
      });
      break;
    }
    case 'fault': {
      const { url, reason } = event;
      log.add({ type: 'fault', message: reason, detail: { url, reason } });
      break;
    }
    case 'summary':
      for (const { url, reason, message, advice } of event.refused_starts)
        log.add({ type: 'refused', message: `${message}.`, detail: { url, reason, advice } });
      break;
  }
}

export function statisticsOf(summary: SummaryEvent): PhaseStatistics {
  const { pages, requests, bytes, duration_ms, by_state, known_urls, read, broken, rate_limited } = summary;
  const { skipped, waiting, left_out, changed, unchanged, gone, failed, not_transferred } = summary;
  return {
    ...{ pages, requests, bytes, duration_ms, by_state, known_urls, read, broken, rate_limited },
    ...{ skipped, waiting, left_out, new: summary.new, changed, unchanged, gone, failed, not_transferred },
    bytes_saved: summary.bytes_saved,
  };
}
