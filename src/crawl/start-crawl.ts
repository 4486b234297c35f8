/**
 * A run from its first moment to its last: begin or go on, put known pages before the scope where that is due, offer
 * the start URLs, run the loop, finish with a status and a summary. Every front door starts crawls here.
 */
import { type Config, configHash } from '../config/load-config.ts';
import { OPTION_NAMES, OPTIONS } from '../config/option-table.ts';
import { readStartUrl } from '../config/start-url.ts';
import { SumiError, sumiError } from '../errors.ts';
import { PAGE_STATES, type PageState, pageStateName } from '../frontier/page-state.ts';
import { systemClock } from '../primitives/clock.ts';
import type { EventListener, RunStatus, SummaryEvent } from '../report/events.ts';
import { attachSink, type OutputSink } from '../report/output-sink.ts';
import { startProgress } from '../report/progress.ts';
import { createReport, type Report } from '../report/report.ts';
import { openBodies, openStore } from '../store/open-store.ts';
import type { Reconsidered, RunCounts, RunStart, Store, Verdict } from '../store/port.ts';
import type { NormalizedUrl } from '../url/normalize.ts';
import { extensionFailed, guardExtensions } from './guard-extensions.ts';
import type { CrawlParts } from './parts.ts';
import { type CrawlLoop, createCrawlLoop, type LoopEnd } from './run-crawl.ts';
import { type Extensions, wireNormalizer, wireParts } from './wire.ts';

export interface CrawlRequest {
  config: Config;
  startUrls: readonly string[];
  extensions?: Extensions;
  listeners?: readonly EventListener[];
}

export interface CrawlHandle {
  readonly runId: number;
  /** Finish what is in flight, commit, and end as interrupted. */
  stop(): void;
  /** Requests that are under way now. */
  readonly inFlight: number;
  /** Commits what is settled, at once, for a process that must end now. */
  flush(): Promise<void>;
  readonly finished: Promise<SummaryEvent>;
}

const DEPTHS_AT_ONCE = 1024;

/** Pages in these states were asked for; a run that only goes on leaves them as they are. */
const ASKED: ReadonlySet<PageState> = new Set([
  'Processed',
  'DeadLink',
  'Unreachable',
  'Failed',
  'ContentMismatch',
  'Gone',
  'RateLimited',
]);

export async function startCrawl(request: CrawlRequest): Promise<CrawlHandle> {
  const { config } = request;
  const extensions = guardExtensions(request.extensions ?? {});
  const clock = extensions.clock ?? systemClock;
  const normalizer = wireNormalizer(config);
  const startUrls = readStartUrls(request.startUrls, (text) => normalizer.normalize(text));
  const report = createReport();
  let loop: CrawlLoop | null = null;
  const failures: unknown[] = [];
  const fail = (error: unknown) => {
    failures.push(error);
    loop?.fail(error);
  };
  for (const listener of request.listeners ?? [])
    report.listen((event) => attempt('event listener', () => listener(event), fail));
  for (const sink of extensions.sinks ?? [])
    attachSink(report, sink, (call) => attempt('output sink', call, fail));
  // First, so that a folder that cannot be used leaves no database behind.
  const bodies = extensions.bodies ?? (await openBodies(config.bodies));
  const store = extensions.store ?? (await openStore({ address: config.db, clock, onFailure: fail }));
  let start: RunStart;
  const project = config.project ?? projectName(startUrls);
  try {
    start = await store.begin({
      project,
      configHash: configHash(config),
      config: JSON.stringify(storedOptions(config, startUrls, clock.now())),
      fresh: config.fresh,
      now: clock.now(),
    });
  } catch (error) {
    await store.close();
    throw error;
  }
  const parts = wireParts({ config, startUrls, extensions, clock, store, bodies, report, normalizer });
  loop = createCrawlLoop(parts);
  const configChanged = start.previousConfigHash !== null && start.previousConfigHash !== configHash(config);
  report.tell({
    type: 'run',
    run: start.runId,
    project,
    resumed: start.resumed,
    config_changed: configChanged,
    known_urls: start.knownUrls,
  });
  return {
    runId: start.runId,
    stop: () => loop.stop(),
    get inFlight() {
      return loop.now.inFlight;
    },
    flush: () => store.flush(),
    finished: finalizeSinks(
      runToEnd(parts, loop, start, project, configChanged),
      extensions.sinks ?? [],
      failures,
    ),
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

async function runToEnd(
  parts: CrawlParts,
  loop: CrawlLoop,
  start: RunStart,
  project: string,
  configChanged: boolean,
): Promise<SummaryEvent> {
  const { store, clock, report, limits } = parts;
  const startedAt = clock.monotonic();
  const { counters } = report;
  counters.pages = start.pagesDone;
  counters.requests = start.requestsDone;
  counters.bytes = start.bytesDone;
  const look = () => ({ waiting: store.waiting(), ...loop.now });
  const summarize = (status: RunStatus, error: string | null, counts: RunCounts): SummaryEvent => ({
    type: 'summary',
    run: start.runId,
    project,
    status,
    pages: counters.pages,
    requests: counters.requests,
    bytes: counters.bytes,
    duration_ms: Math.round(clock.monotonic() - startedAt),
    by_state: counts.byState,
    known_urls: counts.known,
    waiting: counts.waiting,
    error,
  });
  const progress = startProgress({ clock, report, maxPages: limits.maxPages, look });
  try {
    await prepare(parts, start, configChanged);
    const end = await loop.run(start.pagesDone);
    if (end === 'limit') {
      while ((await store.lowerDepths(DEPTHS_AT_ONCE)) !== null);
      await store.closeWaiting(PAGE_STATES.Skipped, `limit: max-pages ${limits.maxPages}`);
    }
    const status = statusOf(end, report, start);
    const error = status === 'failed' ? 'no start URL gave any HTTP answer' : null;
    await store.finish(status, clock.now(), error);
    const summary = summarize(status, error, await store.counts());
    report.tell(summary);
    return summary;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SumiError && error.code === 'extension-failed') {
      // The store works: the run can say why it ended, and goes on when it is called again.
      await store.finish('interrupted', clock.now(), message);
    } else {
      // Who reads lines of events hears that no more come.
      report.tell(summarize('interrupted', message, await countsIfAny(store)));
    }
    throw error;
  } finally {
    progress.stop();
    parts.lag.stop();
    await parts.fetcher.close();
    await parts.bodies?.close();
    await store.close();
  }
}

/** A store that failed may refuse the question. */
async function countsIfAny(store: Store): Promise<RunCounts> {
  try {
    return await store.counts();
  } catch {
    return { byState: {}, known: 0, waiting: 0 };
  }
}

function statusOf(end: LoopEnd, report: Report, start: RunStart): RunStatus {
  if (end === 'stopped') return 'interrupted';
  return report.counters.answers === 0 && start.pagesDone === 0 ? 'failed' : 'completed';
}

/** Puts known pages before the scope when a new run begins or the configuration changed, then offers the start URLs. */
async function prepare(parts: CrawlParts, start: RunStart, configChanged: boolean): Promise<void> {
  const { store, discovery, startUrls, isStartUrl } = parts;
  const judge = (row: Reconsidered): Verdict => {
    const isNofollow = row.reason?.startsWith('nofollow') === true;
    const { state, priority, reason } = discovery.judge(
      row,
      row.depth,
      'link',
      isNofollow,
      isStartUrl(row.url),
    );
    return { state, priority, reason };
  };
  store.onLowered(judge);
  const isNewRun = !start.resumed;
  if (start.knownUrls > 0 && (isNewRun || configChanged)) {
    await store.reconsider((row) => {
      if (parts.isFetchOnly && !isStartUrl(row.url)) return null;
      if (!isNewRun && ASKED.has(pageStateName(row.state))) return null;
      return judge(row);
    });
  }
  // A start URL is welcome even where links to it were not.
  await store.offer(
    startUrls.map((found) => ({ ...discovery.judge(found, 0, 'link', false, true), reopens: true })),
  );
  await store.flush();
}

/** One a page: two spellings of a page are one start URL. */
function readStartUrls(
  texts: readonly string[],
  normalize: (text: string) => NormalizedUrl | null,
): NormalizedUrl[] {
  const found = new Map<string, NormalizedUrl>();
  for (const text of texts) {
    const url = normalize(readStartUrl(text).href);
    if (url === null) throw sumiError('url-invalid', { url: text });
    if (!found.has(url.url)) found.set(url.url, url);
  }
  if (found.size === 0) throw sumiError('no-url');
  return [...found.values()];
}

function projectName(startUrls: NormalizedUrl[]): string {
  return [...new Set(startUrls.map(({ host }) => host))].sort().join(' ');
}

/** What `sumi resume` needs to go on without the command's own words, and audit to know since when they hold. */
function storedOptions(config: Config, startUrls: NormalizedUrl[], now: number): Record<string, unknown> {
  // Passwords stay out of the file: whoever goes on gives them again.
  const values = OPTION_NAMES.map((name) => [name, OPTIONS[name].secret ? null : config.sources[name].value]);
  return {
    ...Object.fromEntries(values),
    'start-urls': startUrls.map(({ fetchUrl }) => fetchUrl),
    terrain: config.terrain,
    'configured-at': now,
  };
}
