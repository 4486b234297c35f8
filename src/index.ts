/**
 * Sumi-Ripple for TypeScript programs: the same engine as the `sumi` command, with its extension points.
 * `crawl` starts a run and answers when it has begun; the handle tells what happens, stops it, and knows when it is
 * over. Options are those of docs/options.md in camelCase. Nothing is printed and the process is never ended from here.
 */
import { type Config, loadConfig } from './config/load-config.ts';
import { loadTerrain } from './config/load-terrain.ts';
import type { OptionValues } from './config/option-table.ts';
import type { CrawlHandle } from './crawl/run/crawl-handle.ts';
import type { Slots } from './crawl/run/slots.ts';
import { type CrawlRequest as StartRequest, startCrawl } from './crawl/start-crawl.ts';
import type { Extensions } from './crawl/wire.ts';
import { sumiError } from './errors.ts';
import { createEventStream, type ReadOptions } from './events/event-stream.ts';
import type { CrawlEvent, EventListener, SummaryEvent, Topic } from './events/events.ts';
import type { Subscription } from './events/subscribe.ts';
import { systemClock } from './primitives/clock.ts';
import { applyProjectSettings } from './project/apply-project-settings.ts';
import { startWatching, type WatchEnd, type WatchEvent } from './project/keep-watching.ts';
import { type Reclassified, reclassify as reclassifyMap } from './project/reclassify.ts';
import { configToResume } from './project/resume-run.ts';
import { watchTarget } from './project/watch-target.ts';
import type { BodyStore } from './store/bodies.ts';
import { openStore as openStoreAt } from './store/open-store.ts';
import type { Store } from './store/store-port.ts';

export type { ToldChange } from './change/told-change.ts';
export { type CheckedSettings, checkSettings, type SettingProblem } from './config/check-settings.ts';
export type { SetBy } from './config/option-spec.ts';
export type { JudgeUrls } from './crawl/discover/judge-urls.ts';
export type {
  AfterParse,
  BeforeSettle,
  ContentInput,
  ContentParser,
  PageCorrections,
  ParsedContent,
  ReadPage,
  SettlingVisit,
} from './crawl/parts.ts';
/** A limit of open requests that several crawls of a program share. */
export { createSlots as shareConnections, type Slots as Connections } from './crawl/run/slots.ts';
export { type ErrorCode, SumiError } from './errors.ts';
export type { ReadOptions } from './events/event-stream.ts';
export type {
  CrawlEvent,
  DroppedEvent,
  EventListener,
  FaultEvent,
  HostEvent,
  ModeEvent,
  PageEvent,
  ProgressEvent,
  RunEvent,
  RunStatus,
  SitemapEvent,
  StandingEvent,
  SummaryEvent,
  Topic,
} from './events/events.ts';
export type { OutputSink } from './events/output-sink.ts';
export type { Subscription } from './events/subscribe.ts';
export type { ChangeFormat } from './export/change-pieces.ts';
export type { Tap, TappedExchange, TapSink } from './fetch/tap.ts';
export type { Candidate, Claim } from './frontier/candidate.ts';
export type { PageState } from './frontier/page-state.ts';
export {
  changes,
  compare,
  mapFigures,
  mapPage,
  pageHistory,
  reportPage,
  type WhichChanges,
  type WhyOptions,
  why,
} from './library/questions.ts';
export { type RowFormat, type RowsToWrite, writeChanges, writePages, writeRows } from './library/writers.ts';
export type { AnswerForPace, PacingStrategy } from './politeness/host-pace.ts';
export { type Audit, auditRuns as audit } from './project/audit-runs.ts';
export { buildIndexes, INDEX_KINDS, type ProjectIndex } from './project/build-indexes.ts';
export type { AskedLook, WhichRuns } from './project/choose-runs.ts';
export type { Differences } from './project/compare-two-runs.ts';
export { type CopiedProject, type CopyProgress, copyProjects } from './project/copy-projects.ts';
export { describeStore, type StoreDescription } from './project/describe-store.ts';
export type { Explanation } from './project/explain-page.ts';
export { type ExportedGraph, exportLinkGraph, type GraphExport } from './project/export-link-graph.ts';
export { forgetHistory } from './project/forget-history.ts';
export { keepLook } from './project/keep-look.ts';
export {
  type KeptSettings,
  keepSettings,
  readKeptSettings,
  type SettingChanges,
} from './project/keep-settings.ts';
export type { WatchEnd, WatchEvent } from './project/keep-watching.ts';
export type { Changes, PageHistory } from './project/list-changes.ts';
export { type ListedRun, listBrokenLinks, listLinks, listRuns, listWorkers } from './project/list-rows.ts';
export { readBody, readText } from './project/read-body.ts';
export { type OpenReading, openReading, type Reading } from './project/reading.ts';
export type { Reclassified } from './project/reclassify.ts';
export { type FullReport, reportOnRun as report } from './project/report-on-run.ts';
export type { StorePlace } from './project/with-store.ts';
export type { ScopeCandidate, ScopeRule, Verdict } from './scope/classify.ts';
export { type OpenSqlRequest, openSql } from './sql/open-sql.ts';
export type { ResultFormat } from './sql/output/result-format.ts';
export type {
  CrawlProgress,
  RunScript,
  SqlOutput,
  SqlParameter,
  SqlParameters,
  SqlProgress,
  SqlSession,
} from './sql/sql-session.ts';
export type { BodyStore } from './store/bodies.ts';
export type { IndexKind } from './store/index-state.ts';
export type {
  Count,
  ListFilter,
  ListName,
  ListQuery,
  ListRow,
  Results as PageOfResults,
  SortOrder,
  StatusClass,
} from './store/list-queries.ts';
export {
  type OpenReadSideOptions as OpenResultsOptions,
  openBodies,
  openReadSide as openResults,
} from './store/open-store.ts';
export type {
  ChangeFilter,
  ChangeRow,
  HostRow,
  LinkRow,
  LoggedRequest,
  PageFilter,
  PageRow,
  ProjectRow,
  ReadSide as Results,
  RunRow,
  VisitRow,
  WorkerRow,
} from './store/read-side.ts';
export type { RunReport } from './store/run-report.ts';
export type { Settlement } from './store/settlement.ts';
export type { Store } from './store/store-port.ts';
export type { ChangeEvent, DeliveryEvent, TickEvent } from './watch/watch-event.ts';

/** Options of the command line that mean nothing to a program. */
type TerminalOption = 'urls' | 'json' | 'format' | 'quiet' | 'verbose' | 'config';
/** Options in whose place a program may give an object. */
type ReplaceableOption = 'bodies' | 'store' | 'header' | 'cookie';

export type CrawlOptions = {
  readonly [Name in keyof Omit<OptionValues, TerminalOption | ReplaceableOption>]?: OptionValues[Name];
};

const OF_THE_START = ['startUrls', 'project', 'isolated', 'fresh', 'meta', 'db'] as const;

/** Options that `adjust` takes: all but those that say which run it is and where it is stored. */
export type AdjustableOptions = Omit<CrawlOptions, (typeof OF_THE_START)[number]>;

/** One function for all events, or one for each type that is of interest. */
export type EventHandlers =
  | EventListener
  | { readonly [Type in CrawlEvent['type']]?: (event: Extract<CrawlEvent, { type: Type }>) => void };

export interface CrawlRequest
  extends CrawlOptions,
    Omit<Extensions, 'bodies' | 'store' | 'fetcher' | 'clock'> {
  /** Where to start. */
  readonly startUrls?: readonly string[];
  /** A TOML file with options; what is given here wins over it. */
  readonly config?: string;
  /** `none`, `files:DIR`, `s3://BUCKET/PREFIX`, or a body store of your own. */
  readonly bodies?: string | BodyStore;
  /** `postgres://…` in place of `db`, or an opened store, which stays open after the crawl. */
  readonly store?: string | Store;
  /** Request headers by name, for the origins of the start URLs only. Never stored: give them again to go on with a run. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Cookies by name, for the same origins; never stored either. */
  readonly cookies?: Readonly<Record<string, string>>;
  readonly on?: EventHandlers;
  /** Aborting is the same as `stop()`. */
  readonly signal?: AbortSignal;
  /** One limit of open requests for several crawls of this program: `shareConnections(20)`. */
  readonly connections?: Slots;
  /** Where SUMI_… and proxy variables are looked up; the process's own unless said. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Crawl {
  readonly runId: number;
  readonly project: string;
  /** What happens, as it happens. Ends with the summary; throws what made the run fail. */
  readonly events: AsyncIterable<CrawlEvent>;
  /** The same for some topics only, or with another bound of events that may wait to be read. */
  read(options?: ReadOptions): AsyncIterable<CrawlEvent>;
  /** Calls the listener from now on, until it is unsubscribed. One that throws is unsubscribed, and the crawl goes on. */
  subscribe(listener: EventListener, topics?: readonly Topic[]): Subscription;
  /** Finishes what is in flight and commits. The same crawl, started again, goes on from there. */
  stop(): void;
  /**
   * Stored with the run: what is in flight is finished and no worker requests anything until the run is resumed, by this
   * program or another. Resolves when this worker rests, or the run is over.
   */
  pause(): Promise<void>;
  /** Resolves when the paused run is under way again. */
  resume(): Promise<void>;
  /** Pauses, judges the waiting pages by the new options (the others stay as they were), and goes on. */
  adjust(options: AdjustableOptions): Promise<void>;
  /** Ends the run for good: what still waits is skipped, with the reason `limit: stopped`. */
  cancel(): Promise<SummaryEvent>;
  /** The summary once everything is stored and closed; rejects with what made the run fail. */
  readonly finished: Promise<SummaryEvent>;
}

export async function crawl(request: CrawlRequest): Promise<Crawl> {
  const { on, signal, connections, env, config: file, bodies, store, ...rest } = request;
  const { scopeRules, priority, parsers, pacing, tap, sinks, headers, cookies, ...others } = rest;
  const { afterParse, beforeSettle, judgeUrls, wantsHeaders, ...options } = others;
  const pairs = Object.entries(cookies ?? {}).map(([name, value]) => `${name}=${value}`);
  const sources = {
    env: env ?? process.env,
    file,
    options: {
      ...options,
      ...(headers !== undefined && {
        header: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      }),
      ...(pairs.length > 0 && { cookie: pairs.join('; ') }),
      ...(typeof bodies === 'string' && { bodies }),
      ...(typeof store === 'string' && { store }),
    },
  };
  const configWith = async (more: CrawlOptions): Promise<Config> => {
    const all = { ...sources, options: { ...sources.options, ...more } };
    const found = await loadConfig(all);
    if (found.urls !== null) {
      const place = found.sources.urls.from;
      const expected = 'none from a program: it gives startUrls';
      throw sumiError('bad-value', { option: 'urls', value: found.urls, place, expected });
    }
    return applyProjectSettings(found, {
      sources: all,
      startUrls: found.startUrls,
      store: typeof store === 'string' ? undefined : store,
      isCrawl: true,
    });
  };
  const config = await configWith({});
  const handle = await startCrawl({
    config,
    startUrls: config.startUrls,
    slots: connections,
    extensions: {
      scopeRules,
      priority,
      parsers,
      ...{ afterParse, beforeSettle, judgeUrls, wantsHeaders, tap },
      pacing,
      sinks,
      store: typeof store === 'string' ? undefined : store,
      bodies: typeof bodies === 'string' ? undefined : bodies,
    },
    ...(on !== undefined && listenersOf(on)),
  });
  return follow(handle, signal, configWith);
}

/** The handle of a crawl that has begun, for a program. */
function follow(
  handle: CrawlHandle,
  signal: AbortSignal | undefined,
  configWith: (options: CrawlOptions) => Promise<Config>,
): Crawl {
  const { runId, project, stop, pause, resume, cancel } = handle;
  let adjusted: CrawlOptions = {};
  const stream = createEventStream({
    subscribe: (listener, topics) => handle.subscribe(listener, topics).unsubscribe,
    onRead: () => void finished.catch(() => undefined),
  });
  stream.opened(handle.opening);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const end = () => signal?.removeEventListener('abort', stop);
  const finished = handle.finished.then(
    (summary) => {
      end();
      stream.end();
      return summary;
    },
    (error: unknown) => {
      end();
      stream.fail(error);
      throw error;
    },
  );
  return {
    runId,
    project,
    events: stream.read(),
    read: stream.read,
    subscribe: handle.subscribe,
    stop,
    pause,
    resume,
    cancel,
    async adjust(options) {
      const fixed = [...OF_THE_START, 'store'].find((name) => Object.hasOwn(options, name));
      if (fixed !== undefined) throw sumiError('not-adjustable', { option: fixed });
      const next = { ...adjusted, ...options };
      // Checked first: what cannot be read pauses nothing.
      const config = await configWith(next);
      await handle.adjust(config);
      adjusted = next;
    },
    finished,
  };
}

/** Options for a store, a run or a watch that is there: as in docs/options.md, in camelCase. */
export type ProgramOptions = {
  readonly [Name in keyof Omit<OptionValues, TerminalOption>]?: OptionValues[Name];
};

interface Following {
  readonly on?: EventHandlers;
  /** Aborting is the same as `stop()`. */
  readonly signal?: AbortSignal;
  /** Where SUMI_… and proxy variables are looked up; the process's own unless said. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Goes on with the last unfinished run of a store, or of one project of it, with the options stored with the run. */
export async function resume(request: ProgramOptions & Following): Promise<Crawl> {
  const { on, signal, env = process.env, ...options } = request;
  const asked = await loadConfig({ env, options });
  const place = asked.store === null ? { db: asked.db } : { store: asked.store };
  const configWith = (more: CrawlOptions) =>
    configToResume(asked, { env, options: { ...options, ...place, ...more } });
  const config = await configWith({});
  const started = { config, startUrls: config.startUrls, ...(on !== undefined && listenersOf(on)) };
  return follow(await startCrawl(started), signal, configWith);
}

export interface MapRequest extends ProgramOptions, Following {
  /** The terrain file, in TOML; options given here win over it. */
  readonly terrain: string;
}

/** Maps the web around the domains of a terrain file. `mapFigures` and `mapPage` tell what was found. */
export async function map(request: MapRequest): Promise<Crawl & { readonly warnings: readonly string[] }> {
  const { terrain: file, on, signal, env = process.env, ...options } = request;
  const terrainWith = (more: CrawlOptions) => loadTerrain({ file, env, options: { ...options, ...more } });
  const { config, warnings } = await terrainWith({});
  const startUrls = config.terrain.quality.flatMap(({ seeds }) => seeds);
  const started = { config, startUrls, ...(on !== undefined && listenersOf(on)) };
  const configWith = async (more: CrawlOptions) => (await terrainWith(more)).config;
  return { ...follow(await startCrawl(started), signal, configWith), warnings };
}

/** Applies a changed terrain file to its stored map, without a request. */
export async function reclassify(request: Omit<MapRequest, 'on' | 'signal'>): Promise<Reclassified> {
  const { terrain: file, env = process.env, ...options } = request;
  return await reclassifyMap((await loadTerrain({ file, env, options })).config);
}

export interface WatchRequest extends ProgramOptions, Omit<Following, 'on'> {
  /** A TOML file with options; what is given here wins over it. */
  readonly config?: string;
  /** Make one tick and end, as `sumi watch --once` does. */
  readonly once?: boolean;
  /** Changes, ticks, and deliveries that failed. */
  readonly on: (event: WatchEvent) => void;
}

export interface WatchHandle {
  readonly project: string;
  /** Ends the run under way in good order, then the watch. */
  stop(): void;
  readonly finished: Promise<WatchEnd>;
}

/** Keeps a project fresh: the start URLs, or, without any, the project of the store. */
export async function watch(request: WatchRequest): Promise<WatchHandle> {
  const { config: file, once: isOnce = false, on: onEvent, signal, env = process.env, ...options } = request;
  const target = await watchTarget({ env, file, options }, [], refuseList);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const watching = await startWatching({ target, isOnce, env, signal: stopping.signal, onEvent });
  const finished = watching.live().finally(() => signal?.removeEventListener('abort', stop));
  return { project: target.project, stop, finished };
}

/** A program gives its start URLs itself. */
async function refuseList(file: string): Promise<never> {
  const expected = 'none from a program: it gives startUrls';
  throw sumiError('bad-value', { option: 'urls', value: file, place: 'the options', expected });
}

/** Nobody is told of pages who has no function for them: then page events are not made. */
function listenersOf(on: EventHandlers): Pick<StartRequest, 'listeners' | 'runListeners'> {
  if (typeof on === 'function') return { listeners: [on] };
  const listener: EventListener = (event) => (on[event.type] as EventListener | undefined)?.(event);
  return on.page === undefined ? { runListeners: [listener] } : { listeners: [listener] };
}

/**
 * The built-in store (a file path: SQLite; postgres://…: PostgreSQL), to be wrapped by one of your own. `onFailure` hears of an error that no
 * call can answer for, such as a commit by the timer; stop the crawl then.
 */
export function openStore(address: string, onFailure: (error: unknown) => void): Promise<Store> {
  return openStoreAt({ address, clock: systemClock, onFailure });
}
