/**
 * The engine in this process: opens the store as its one writer, the records, and everything that lives on them. A door
 * has it in a thread of its own (start-engine.ts); tests may have it here. See engine.ts for what it promises.
 */
import { readResolveRule } from '../config/check-meaning.ts';
import { resolvedNames } from '../config/resolve-rules.ts';
import { createSlots } from '../crawl/run/slots.ts';
import { sumiError } from '../errors.ts';
import { createEgressGuard } from '../fetch/egress.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import { openReadSide, openRecords, openStore } from '../store/open-store.ts';
import type { ReadSide } from '../store/read-side.ts';
import type { RecordPort } from '../store/record-port.ts';
import type { Store } from '../store/store-port.ts';
import { createAdjustElsewhere } from './adjust-elsewhere.ts';
import type { Engine, EngineOptions } from './engine.ts';
import { renderEngineMetrics } from './engine-metrics.ts';
import { createRunKeeper, type RunKeeper } from './keep-runs.ts';
import { createLiveFeed, type LiveFeed } from './live-feed.ts';
import { createOthersFeed } from './others-feed.ts';
import { storedPhase } from './phase-of-run.ts';
import { createPreviews } from './preview.ts';
import { createProjectVerbs } from './project-verbs.ts';
import { createQueue, type Queue } from './queue.ts';
import { createPhaseReader, type PhaseReader } from './read-phases.ts';
import { createRestart } from './restart.ts';
import { isUuid, type Room, type RoomProject, type RoomRuns, type RunHearer, roomProject } from './room.ts';
import { createSchedules } from './schedule/create-schedules.ts';
import { createServices } from './services.ts';
import { createSteering, type Steering } from './steer-runs.ts';
import { createTickets } from './tickets.ts';
import { createWebhooks } from './webhooks/create-webhooks.ts';

export interface EngineSurroundings {
  clock?: Clock;
  /** From 0 up to 1. */
  random?: () => number;
  /** Names the proxies. */
  env?: Readonly<Record<string, string | undefined>>;
  /** What went wrong and no caller can be told. */
  onReport?: (error: unknown) => void;
  /** The store has failed: nothing more can be written, and the engine is of no more use. */
  onFailure?: (error: unknown) => void;
}

interface Opened {
  store: Store;
  side: ReadSide;
  records: RecordPort;
  close(): Promise<void>;
}

async function openAll({ storeAddress }: EngineOptions, clock: Clock, fail: (error: unknown) => void) {
  const closings: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of closings.reverse()) await end();
  };
  const opened = async <Part extends { close(): Promise<void> }>(opening: Promise<Part>): Promise<Part> => {
    const part = await opening;
    closings.push(() => part.close());
    return part;
  };
  try {
    const store = await opened(openStore({ address: storeAddress, clock, onFailure: fail }));
    await store.projects.prepareLists();
    const side = await opened(openReadSide(storeAddress, { thread: true }));
    const records = await opened(openRecords(storeAddress, clock));
    return { store, side, records, close } satisfies Opened;
  } catch (error) {
    await close();
    throw error;
  }
}

interface Parts {
  keeper: RunKeeper;
  queue: Queue;
  phases: PhaseReader;
  steering: Steering;
  feed: LiveFeed;
}

export async function createEngine(options: EngineOptions, around: EngineSurroundings = {}): Promise<Engine> {
  const { clock = systemClock, random = Math.random, env = process.env } = around;
  const report = around.onReport ?? (() => {});
  const opened = await openAll(options, clock, (error) => {
    report(error);
    around.onFailure?.(error);
  });
  const { store, side, records } = opened;
  const closing = new AbortController();
  const services = createServices(records, clock, report);
  const tickets = createTickets(records);
  const hearers = createHearers(report);
  const feed = createLiveFeed(clock, report);
  const shared: Omit<Room, 'runs'> = {
    ...{ options, store, side, records, clock, random, report, service: services.own },
    egress: egressOf(options),
    slots: createSlots(options.concurrency),
    closing: closing.signal,
    project: (uid) => findProject(store, uid, false),
    anyProject: (uid) => findProject(store, uid, true),
    projects: () => allProjects(side),
    hear: hearers.add,
    tellChanges: ({ uid }, changes) => feed.tellChanges(uid, changes),
    wantsChanges: (uid) => feed.wantsPages(uid),
  };
  const keeper: RunKeeper = createRunKeeper({
    ...{ room: shared, feed, env },
    tellBegun: (begun) => hearers.tell(({ onBegun }) => onBegun?.(begun)),
    tellOver: (over) => hearers.tell(({ onOver }) => onOver?.(over)),
    phaseOf: ({ uid: projectUid }, run, note) =>
      storedPhase({ projectUid, run, note, workers: 0, isTaken: false }),
    async onFree(projectUid, run, { isOver, isTaken }) {
      const ticket = isOver && !isTaken ? await tickets.get(projectUid) : null;
      if (ticket?.run === run || (ticket?.state === 'begun' && ticket.run === null))
        await tickets.remove(ticket);
      if (!closing.signal.aborted) await parts.queue.advance();
    },
  });
  async function tellFailed(project: RoomProject): Promise<void> {
    const phase = await phases.of(project);
    const { run, type } = phase;
    feed.tell(project.uid, { type: 'failed', run, phase });
    const over = run !== null && { project, run, type: type ?? 'manual', phase, summary: null };
    if (over !== false) hearers.tell(({ onOver }) => onOver?.(over));
  }
  const wake: Steering['wake'] = (live) => parts.steering.wake(live);
  const queue = createQueue({ room: shared, keeper, tickets, wake, tellFailed });
  const phases = createPhaseReader({ room: shared, keeper, tickets, queue });
  const elsewhere = createAdjustElsewhere({ room: shared, keeper });
  const steering = createSteering({
    room: shared,
    keeper,
    tickets,
    queue,
    phases,
    feed,
    services,
    elsewhere,
  });
  const parts: Parts = { keeper, queue, phases, steering, feed };
  const room: Room = { ...shared, runs: runsOf(shared, parts) };
  const tellProject = (uid: string) => hearers.tell(({ onProject }) => onProject?.(uid));
  const projects = createProjectVerbs({
    ...{ room: shared, steering, phases, tickets, keeper },
    tellProject,
  });
  const restart = createRestart({ room: shared, keeper, tickets, queue, services, tellFailed });
  const others = createOthersFeed({ room, keeper, tickets, phases, feed });
  const schedules = createSchedules(room);
  const webhooks = createWebhooks(room);
  const startedAt = new Date(clock.now()).toISOString();
  try {
    await services.begin();
    await webhooks.begin();
    queue.begin();
    await restart.begin();
    await projects.begin();
    await schedules.begin();
    others.begin();
    elsewhere.begin(steering.adjust);
  } catch (error) {
    await opened.close();
    throw error;
  }
  let closed: Promise<void> | null = null;

  async function close(): Promise<void> {
    closing.abort(sumiError('engine-closing'));
    await others.end();
    await elsewhere.end();
    await schedules.end();
    await restart.end();
    await queue.end();
    await keeper.close();
    await webhooks.end();
    await projects.end();
    await services.end();
    await opened.close();
  }

  return {
    projects,
    runs: steering,
    schedules: schedules.verbs,
    webhooks: webhooks.verbs,
    async listen(id, { pages }, listener) {
      const project = id === null ? null : await shared.project(id);
      const phase = project === null ? null : await phases.of(project);
      return { phase, ...feed.listen(project?.uid ?? null, pages, listener) };
    },
    async missed(id, afterSeq) {
      return feed.missed((await shared.project(id)).uid, afterSeq);
    },
    preview: createPreviews({ room: shared, env }),
    async state() {
      const queued = (await tickets.list()).filter(({ state }) => state === 'waiting').length;
      const { maxRunning, concurrency } = options;
      const { total, free } = shared.slots;
      return { running: queue.running, queued, maxRunning, concurrency, inFlight: total - free, startedAt };
    },
    metrics: () => renderEngineMetrics([...keeper.live.values()], tickets),
    close() {
      closed ??= close();
      return closed;
    },
  };
}

function egressOf({ egressAllow: allow, ownPort, operator }: EngineOptions) {
  const given = (operator.resolve ?? []) as readonly string[];
  const resolveRules = given.map((text) => readResolveRule(text, 'option resolve'));
  return createEgressGuard({ allow, ownPort, resolve: resolvedNames({ resolveRules }) });
}

async function findProject(store: Store, uid: string, mayBeDeleted: boolean): Promise<RoomProject> {
  const kept = isUuid(uid) ? await store.projects.keptProject(uid.toLowerCase()) : null;
  if (kept === null || (kept.deletedAt !== null && !mayBeDeleted))
    throw sumiError('project-unknown', { id: uid });
  return roomProject(kept);
}

async function allProjects(side: ReadSide): Promise<RoomProject[]> {
  return (await side.projects()).map(({ id, uid, project, website_url, deleted_at }) => ({
    ...{ id, uid, name: project, websiteUrl: website_url, isDeleted: deleted_at !== null },
  }));
}

function runsOf({ project }: Pick<Room, 'project'>, { keeper, phases, steering }: Parts): RoomRuns {
  return {
    start: (uid, order) => steering.start(uid, order),
    phase: async (uid) => phases.of(await project(uid)),
    attend: (run) => keeper.attend(run),
    plan: (found, order) => keeper.plan(found, order),
    isUnderWay: async (uid) => steering.isUnderWay(await project(uid)),
  };
}

function createHearers(report: (error: unknown) => void) {
  const hearers = new Set<RunHearer>();
  return {
    add(hearer: RunHearer) {
      hearers.add(hearer);
      return () => void hearers.delete(hearer);
    },
    /** In a later turn: whoever hears holds up nobody. */
    tell(call: (hearer: RunHearer) => void | Promise<void>): void {
      for (const hearer of hearers)
        void Promise.resolve()
          .then(() => call(hearer))
          .catch(report);
    },
  };
}
