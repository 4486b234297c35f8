/**
 * Where every front door starts crawls: `startCrawl` begins a run or goes on with one, `joinCrawl` takes part in one
 * that others have begun. Both open the store, wire the parts and run the same loop; what they give back is a handle.
 */
import { type Config, configHash } from '../config/load-config.ts';
import type { BodyStore } from '../store/bodies.ts';
import { openBodies } from '../store/open-store.ts';
import type { RunStore } from '../store/store-port.ts';
import { pausesAtLimit } from '../store/unfinished-run.ts';
import type { CrawlParts, StartMeaning, StartUrl } from './parts.ts';
import { type CrawlHandle, createCrawlHandle } from './run/crawl-handle.ts';
import { guardExtensions } from './run/guard-extensions.ts';
import type { HostAllowance } from './run/host-allowance.ts';
import {
  type Due,
  prepareRun,
  prepareToJoin,
  projectOf,
  readStartUrls,
  storedNotes,
  storedOptions,
} from './run/prepare-run.ts';
import type { Slots } from './run/slots.ts';
import { type Listeners, openStage, orClose, type Stage } from './run/stage.ts';
import { createStretch, type Stretch } from './run/stretch.ts';
import { type Extensions, type Wiring, wireNormalizer, wireParts } from './wire.ts';

export interface CrawlRequest extends Listeners {
  config: Config;
  startUrls: readonly string[];
  /** What start URLs stand for, by their identity, where that is not decided by what they look like. */
  meanings?: ReadonlyMap<string, StartMeaning>;
  /** Known pages, by id or as a question: a run visits these and what it finds besides, and no other known page. */
  due?: Due;
  /** Where not all of it may be done now. */
  allowance?: HostAllowance;
  /** Shared with other crawls of this process. */
  slots?: Slots;
  extensions?: Extensions;
}

export interface JoinRequest extends Listeners {
  runId: number;
  /** Where and how this worker works: its store, and how long it waits for it. */
  worker: Pick<Config, 'storeAddress' | 'storePatience'>;
  /** Makes the options that are stored with the run into a configuration. */
  configOf: (run: { config: string; run: number }) => Promise<Config>;
  /** Shared with other crawls of this process. */
  slots?: Slots;
  extensions?: Extensions;
}

export async function startCrawl(request: CrawlRequest): Promise<CrawlHandle> {
  const { config } = request;
  const startUrls = startsOf(request, config);
  const extensions = guardExtensions(request.extensions ?? {});
  // First, so that a folder that cannot be used leaves no database behind.
  const bodies = await bodiesOf(config, extensions);
  const stage = await openStage(extensions, request, config);
  const project = projectOf(config, startUrls, stage.store.clock.now());
  const { due, allowance, slots } = request;
  const first = await orClose(stage, () =>
    beginStretch(stage, { config, startUrls, bodies, project, due, allowance, slots }),
  );
  let settings = config;
  const goesOn = first.parts.store.start.runId;
  const next = async (changed: Config | null): Promise<Stretch> => {
    const wanted = changed ?? settings;
    const stretch = await beginStretch(stage, {
      config: { ...wanted, fresh: false, meta: [] },
      startUrls: startsOf(request, wanted),
      bodies: await bodiesOf(wanted, extensions),
      ...{ project, allowance, slots, goesOn },
    });
    // Settings that could not be taken are not kept.
    settings = wanted;
    return stretch;
  };
  return createCrawlHandle({ stage, first, next, project });
}

interface StretchRequest {
  config: Config;
  startUrls: StartUrl[];
  bodies: BodyStore | null;
  project: string;
  due?: Due;
  allowance?: HostAllowance;
  slots?: Slots;
  /** The run that is to go on, and no other. */
  goesOn?: number;
}

/** Begins the project's run, or goes on with it. */
async function beginStretch(stage: Stage, request: StretchRequest): Promise<Stretch> {
  const { config, startUrls, bodies, project, due, allowance, slots } = request;
  const { store, owner } = stage;
  const { clock } = store;
  const session = await store.begin({
    project,
    owner,
    configHash: configHash(config),
    config: JSON.stringify(storedOptions(config, startUrls, clock.now())),
    fresh: config.fresh,
    metadata: storedNotes(config.meta),
    now: clock.now(),
    goesOn: request.goesOn,
  });
  const { start } = session;
  return orLeave(session, async () => {
    const parts = wire(stage, session, { config, startUrls, bodies, slots, allowance });
    const { previousConfigHash } = start;
    const configChanged = previousConfigHash !== null && previousConfigHash !== configHash(config);
    return createStretch(stage, parts, {
      project,
      configChanged,
      isJoined: false,
      isForFinds: due !== undefined && (typeof due === 'function' || due.length === 0) && !start.resumed,
      isTick: due !== undefined,
      prepare: () => prepareRun(parts, start, { project, configChanged, due }),
    });
  });
}

/** A session on which no work can begin is not kept: on a store that stays open nobody else could begin its run. */
async function orLeave<T>(session: RunStore, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await session.leave();
    throw error;
  }
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
  const { project, start } = joined;
  const wired = async () => {
    const config = await request.configOf({ config: joined.config, run: request.runId });
    const startUrls = startUrlsOf(config.startUrls, config);
    const bodies = await bodiesOf(config, stage.extensions);
    const allowance = pausesAtLimit(joined) ? PAUSED : undefined;
    return wire(stage, joined, { config, startUrls, bodies, slots: request.slots, allowance });
  };
  const parts = await orClose(stage, () => orLeave(joined, wired));
  const first = createStretch(stage, parts, {
    project,
    configChanged: false,
    isJoined: true,
    isForFinds: false,
    isTick: false,
    prepare: () => prepareToJoin(parts, start),
  });
  return createCrawlHandle({ stage, first, next: null, project });
}

function startUrlsOf(texts: readonly string[], config: Config): StartUrl[] {
  const normalizer = wireNormalizer(config);
  return readStartUrls(texts, (text) => normalizer.normalize(text));
}

/** Only where pages are due there may be none. */
function startsOf({ startUrls: texts, meanings, due }: CrawlRequest, config: Config): StartUrl[] {
  if (texts.length === 0 && due !== undefined) return [];
  const startUrls = startUrlsOf(texts, config);
  if (meanings === undefined) return startUrls;
  return startUrls.map((start) => ({ ...start, meaning: meanings.get(start.url) }));
}

async function bodiesOf(config: Config, extensions: Extensions): Promise<BodyStore | null> {
  const options = { clock: extensions.clock, patienceMs: config.storePatience * 1000 };
  return extensions.bodies ?? (await openBodies(config.bodies, options));
}

function wire(
  { extensions, events }: Stage,
  store: RunStore,
  rest: Pick<Wiring, 'config' | 'startUrls' | 'slots' | 'allowance' | 'bodies'>,
): CrawlParts {
  const normalizer = wireNormalizer(rest.config);
  return wireParts({ ...rest, normalizer, extensions, store, events, clock: store.clock });
}
