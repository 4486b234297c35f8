/**
 * A run that has begun, to its end: the loop, the heartbeat, the progress, the status and the summary. Where others
 * work on the same run, what is told of it is the run's, not only this worker's part.
 */
import { SumiError } from '../../errors.ts';
import { countChanges } from '../../events/change-counts.ts';
import type { EventHub } from '../../events/event-hub.ts';
import type { RefusedStart, RunStatus, SummaryEvent } from '../../events/events.ts';
import { startProgress } from '../../events/progress.ts';
import { countUrls } from '../../frontier/counting-words.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { LinkGraph } from '../../graph/link-graph.ts';
import type { RunCounts, RunStart } from '../../store/run-port.ts';
import { type Order, STOPPED_REASON } from '../../store/steering.ts';
import type { RunStore } from '../../store/store-port.ts';
import type { NormalizedUrl } from '../../url/normalize.ts';
import type { CrawlParts } from '../parts.ts';
import { readMapGraph, saveOriginDepths } from './compute-depths.ts';
import type { CrawlLoop } from './crawl-loop.ts';
import type { Heartbeat } from './crew.ts';
import { findOrphans } from './find-orphans.ts';
import type { LoopEnd } from './loop-end.ts';
import { findRefusedStarts, summarizeRefused } from './refused-starts.ts';

const DEPTHS_AT_ONCE = 1024;

/** `paused`: it goes on when its allowance is larger. */
type RunLeft = LoopEnd | 'paused';

export interface RunWork {
  parts: CrawlParts;
  loop: CrawlLoop;
  start: RunStart;
  project: string;
  /** Others began the run: told to stop, this worker leaves it to whoever comes next. */
  isJoined: boolean;
  /** No page was due: none is requested unless it is found, and nobody's silence makes the run a failure. */
  isForFinds: boolean;
  /** Somebody chose the pages that are due: the others are not this run's business. */
  isTick: boolean;
  /** Before the first turn. */
  prepare: () => Promise<void>;
  /** The order that ended this stretch of work, if one did. */
  given: () => Order | null;
  /** Hears of the link graph of a map as the run leaves it, so that nobody reads it twice. */
  onGraph: (graph: LinkGraph) => void;
  /** Hears when the run ends for want of pages that it may request. */
  onLimit: () => void;
  /** Hears of what knows how the store answers. */
  onHeartbeat: (heartbeat: Heartbeat) => void;
}

type Summarize = (
  status: RunStatus,
  error: string | null,
  counts: RunCounts,
  refused?: RefusedStart[],
) => SummaryEvent;

export async function workOnRun(work: RunWork): Promise<SummaryEvent> {
  const { parts, loop, start } = work;
  const { store, crew, clock, events, limits } = parts;
  const startedAt = clock.monotonic();
  const begunAt = clock.now();
  const { counters } = events;
  counters.pages = start.pagesDone;
  counters.requests = start.requestsDone;
  counters.bytes = start.bytesDone;
  const heartbeat = crew.startHeartbeat({
    // Only for who watches the run itself: counting costs.
    wantsCounts: events.wantsPages && !work.isJoined,
    pagesHere: () => counters.pages,
    report: () => ({ hosts: loop.now.hosts, pages: counters.pages - start.pagesDone }),
    onFailure: (error) => loop.fail(error),
  });
  work.onHeartbeat(heartbeat);
  const summarize: Summarize = (status, error, counts, refused = []) =>
    events.stamp({
      type: 'summary',
      status,
      ...crew.totals({ pages: counters.pages, requests: counters.requests, bytes: counters.bytes }, counts),
      duration_ms: Math.round(clock.monotonic() - startedAt),
      by_state: counts.byState,
      ...countUrls(counts.byState),
      known_urls: counts.known,
      waiting: counts.waiting,
      left_out: counts.leftOut,
      error,
      mode: parts.modes.mode ?? 'smart',
      mode_reason: parts.modes.reason,
      ...countChanges(counts.ledger),
      average_change_frequency: counts.averageChangeFrequency,
      refused_starts: refused,
    }) as SummaryEvent;
  const progress = startProgress({
    clock,
    events,
    maxPages: limits.maxPages,
    pages: () => counters.pages + heartbeat.pagesOfOthers,
    look: () => ({ waiting: store.frontier.waiting(), ...loop.now }),
    waitingFor: loop.waitingFor,
  });
  try {
    await work.prepare();
    const end = await leftAt(await loop.run(), work);
    const summary = await finish(end, work, begunAt, summarize);
    // A paused run may go on: its listeners hear the summary when it does not.
    if (summary.status !== 'paused') events.tell(summary);
    return summary;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SumiError && isOfTheProgram(error)) {
      // The store works: the run can say why it ended, and goes on when it is called again.
      await store.run.finish('interrupted', clock.now(), message);
    } else {
      // Who reads lines of events hears that no more come.
      events.tell(summarize('interrupted', message, await countsIfAny(store)));
    }
    throw error;
  } finally {
    progress.stop();
    heartbeat.stop();
    parts.lag.stop();
    await parts.fetcher.close();
    await parts.bodies?.close();
    await store.leave();
  }
}

/** Nothing is wrong with the store. */
function isOfTheProgram({ code }: SumiError): boolean {
  return code === 'extension-failed' || code === 'internal-failures';
}

/** Where a larger allowance is to come, a run that has spent its own is left as an interrupted one, unless nothing can be left of it. */
async function leftAt(end: LoopEnd, { parts, loop, isJoined, onLimit }: RunWork): Promise<RunLeft> {
  if (end === 'limit' || end === 'host-limit') onLimit();
  if (!parts.allowance?.pausesAt.includes(end)) return end;
  // What others have still to find out, only they know.
  if (loop.hasMoreToFind() || isJoined) return 'paused';
  await parts.store.flush();
  // Others may have found some: only the store knows.
  const { waiting } = await parts.store.run.counts();
  return waiting === 0 ? 'done' : 'paused';
}

async function finish(
  end: RunLeft,
  { parts, loop, start, project, isJoined, isTick, given, onGraph, ...work }: RunWork,
  begunAt: number,
  summarize: Summarize,
): Promise<SummaryEvent> {
  const { store, clock, events, limits } = parts;
  const order = end === 'stopped' ? given() : null;
  if (order === 'stop') await store.frontier.closeWaiting(PAGE_STATES.Skipped, STOPPED_REASON);
  if (order === 'pause' && !isJoined) {
    // The store has it as paused already, or as running again: that is for whoever ordered it.
    await store.flush();
    return summarize('paused', null, await store.run.counts());
  }
  if (end === 'stopped' && isJoined) {
    // Time is short: what all have done is not counted for a goodbye.
    await store.flush();
    return summarize('interrupted', null, ownCounts(events, start, store.frontier.waiting()));
  }
  let leftOut = 0;
  if (end === 'limit' || end === 'host-limit') {
    while ((await store.frontier.lowerDepths(DEPTHS_AT_ONCE)) !== null);
    const reason = end === 'limit' ? `max-pages ${limits.maxPages}` : 'host-budget';
    leftOut = await store.frontier.closeWaiting(PAGE_STATES.Skipped, `limit: ${reason}`);
  }
  if (end === 'done') await parts.modes.close('all pages were visited');
  else if (end === 'limit' || end === 'host-limit') await parts.modes.close('the run had its pages');
  // Of pages that were left out, one may lead to what looks lost.
  const isAllKnown = end === 'done' || ((end === 'limit' || end === 'host-limit') && leftOut === 0);
  // A first run has nothing to lose.
  if (isAllKnown && start.knownUrls > 0) await findOrphans(store.history, begunAt, clock.now());
  await saveDepths(parts, project, onGraph);
  const isForFinds = work.isForFinds && !loop.hadFurtherPages();
  const { wanted, error, refused } =
    order === 'stop' ? STOPPED : await judgeEnd(end, { parts, start, project, isForFinds, isTick });
  const status = await store.run.finish(wanted, clock.now(), error);
  // Before anything of this run could be cleared.
  const counts = await store.run.counts();
  if (limits.keepHistoryMs !== null && status !== 'running')
    await store.projects.forget(project, clock.now() - limits.keepHistoryMs);
  if (status !== 'running')
    for (const kind of limits.indexes) await store.projects.buildIndex(project, kind, 'worth-it');
  return summarize(status === 'running' ? leftAs(wanted) : status, error, counts, refused);
}

const STOPPED: RunVerdict = { wanted: 'stopped', error: null, refused: [] };

interface RunVerdict {
  wanted: RunStatus;
  error: string | null;
  refused: RefusedStart[];
}

/** A run in which no start URL gave an answer has failed; so has one that was refused everywhere and read no page. */
async function judgeEnd(
  end: RunLeft,
  work: Pick<RunWork, 'parts' | 'start' | 'project' | 'isForFinds' | 'isTick'>,
): Promise<RunVerdict> {
  const { parts, start, project, isForFinds, isTick } = work;
  const wanted = await statusOf(end, work);
  if (wanted === 'interrupted' || isForFinds) return { wanted, error: null, refused: [] };
  const { store } = parts;
  await store.flush();
  // A watch requests some pages at a time: what others were refused long ago is no news.
  const { runId } = start;
  const { refused, hasPages } = await findRefusedStarts(parts, project, { runId, isTick });
  const error = summarizeRefused(refused, wanted !== 'failed');
  if (wanted === 'failed') return { wanted, error, refused };
  if (refused.length === 0 || (hasPages && hasRead(await store.run.counts())))
    return { wanted, error, refused };
  return { wanted: 'failed', error, refused };
}

const READ: ReadonlySet<string> = new Set(['new', 'changed', 'unchanged']);

const hasRead = ({ ledger }: RunCounts) =>
  ledger.some(({ outcome, visits }) => READ.has(outcome) && visits > 0);

/** Before the run ends, so that one that ended has them: whoever is killed here goes on with the run. */
async function saveDepths(
  { map, store, crew }: CrawlParts,
  project: string,
  onGraph: RunWork['onGraph'],
): Promise<void> {
  if (map === null) return;
  await store.flush();
  const side = await map.openSide();
  try {
    const graph = await readMapGraph(side, project, map);
    await saveOriginDepths(store.projects, store.start.projectId, graph, map);
    // Others may go on with a shared map: then it is not as it was left.
    if (!crew.othersMayHaveMore) onGraph(graph.whole);
  } finally {
    await side.close();
  }
}

/** Others go on with the run: for who was told to stop it is interrupted, for who found nothing more to do it is done. */
function leftAs(wanted: RunStatus): RunStatus {
  return wanted === 'failed' ? 'completed' : wanted;
}

/** A run fails when no start URL gave any answer, to anybody. */
async function statusOf(
  end: RunLeft,
  { parts, start, isForFinds }: Pick<RunWork, 'parts' | 'start' | 'isForFinds'>,
): Promise<RunStatus> {
  const { crew, events, startUrls, discovery } = parts;
  if (end === 'stopped' || end === 'paused') return 'interrupted';
  if (isForFinds || events.counters.answers > 0 || start.pagesDone > 0) return 'completed';
  // Nothing was to be requested: every start URL is in a list of those to leave alone.
  const isWelcome = (url: NormalizedUrl) =>
    discovery.judge(url, 0, 'link', false, true).state === PAGE_STATES.Queued;
  if (!startUrls.some(isWelcome)) return 'completed';
  return (await crew.wasAnswered()) ? 'completed' : 'failed';
}

function ownCounts({ counters }: EventHub, start: RunStart, waiting: number): RunCounts {
  return {
    byState: Object.fromEntries(counters.states),
    known: start.knownUrls,
    waiting,
    pages: counters.pages - start.pagesDone,
    requests: counters.requests - start.requestsDone,
    bytes: counters.bytes - start.bytesDone,
    ledger: [],
    leftOut: 0,
    averageChangeFrequency: 0,
  };
}

/** A store that failed may refuse the question. */
async function countsIfAny(store: RunStore): Promise<RunCounts> {
  try {
    return await store.run.counts();
  } catch {
    return {
      byState: {},
      known: 0,
      waiting: 0,
      pages: 0,
      requests: 0,
      bytes: 0,
      ledger: [],
      leftOut: 0,
      averageChangeFrequency: 0,
    };
  }
}
