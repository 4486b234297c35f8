/**
 * What may be ordered of runs. An order is stored with the run, so that all workers obey it wherever they are; a run whose
 * handle is here hears it at once. An answer waits for what is in flight only for a moment: the phase says what is left.
 */
import { sumiError } from '../errors.ts';
import type { StoredRun } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import type { AdjustElsewhere } from './adjust-elsewhere.ts';
import { createAdjusting } from './adjust-runs.ts';
import { checkChange, keepSettings } from './change-settings.ts';
import type { RunVerbs, SettingChange } from './engine.ts';
import type { RunKeeper } from './keep-runs.ts';
import type { LiveFeed } from './live-feed.ts';
import type { LiveRun } from './live-run.ts';
import type { Phase, RunOrder } from './phase.ts';
import type { Queue } from './queue.ts';
import type { PhaseReader } from './read-phases.ts';
import type { Room, RoomProject } from './room.ts';
import type { Services } from './services.ts';
import { soonOver } from './soon-over.ts';
import type { HeldTicket, Tickets } from './tickets.ts';

/** Whoever has a paused run in another process has gone on with it by then. */
const OTHERS_MS = 3_000;

export interface SteerSurroundings {
  room: Omit<Room, 'runs'>;
  keeper: RunKeeper;
  tickets: Tickets;
  queue: Queue;
  phases: PhaseReader;
  feed: LiveFeed;
  services: Services;
  elsewhere: Pick<AdjustElsewhere, 'give'>;
}

export interface Steering extends RunVerbs {
  /** Goes on with a run that rests here; with other settings where they were changed meanwhile. */
  wake(live: LiveRun): Promise<void>;
  isUnderWay(project: RoomProject): Promise<boolean>;
}

interface Standing {
  live: LiveRun | null;
  ticket: HeldTicket | null;
  /** The project's last crawl. */
  last: StoredRun | null;
  phase: Phase;
}

export function createSteering(around: SteerSurroundings): Steering {
  const { room, keeper, tickets, queue, phases, feed, services, elsewhere } = around;
  const { store, side, clock, report } = room;
  const adjusting = createAdjusting({ room, keeper });

  const soon = (work: Promise<unknown>) => soonOver(work, clock);

  async function standingOf(project: RoomProject): Promise<Standing> {
    await queue.begun(project.uid);
    const live = keeper.live.get(project.uid) ?? null;
    const ticket = await tickets.get(project.uid);
    const run = await side.lastRun(project.id);
    const last = run === null || !isCrawl(run) ? null : run;
    return { live, ticket, last, phase: await phases.of(project) };
  }

  function refuse(project: RoomProject, order: string, { phase }: Standing, allowed: string): never {
    throw sumiError('run-not-under-way', { project: project.name, order, state: phase.state, allowed });
  }

  async function isUnderWay(project: RoomProject): Promise<boolean> {
    return (await standingOf(project)).phase.status === 'in_progress';
  }

  async function start(id: string, order: RunOrder): Promise<Phase> {
    const project = await room.project(id);
    const { phase } = await standingOf(project);
    if (phase.status === 'in_progress')
      throw sumiError('run-under-way', { project: project.name, run: phase.run ?? 'in the queue' });
    // What is wrong with its settings is told now, however long it has to wait.
    await keeper.plan(project, order);
    await queue.add(project, order);
    return tellQueued(project);
  }

  /** Who listens hears that it waits; that it began is told anyway. */
  async function tellQueued(project: RoomProject): Promise<Phase> {
    const phase = await phases.of(project);
    if (phase.state === 'queued') feed.tellProgress(project.uid, phase.run, phase);
    return phase;
  }

  async function order(live: LiveRun, given: 'pause' | 'stop'): Promise<void> {
    const before = live.ordered;
    live.ordered = given;
    try {
      await store.projects.steer(live.run, given, store.clock.now());
    } catch (error) {
      live.ordered = before;
      throw error;
    }
    const obeyed = given === 'pause' ? live.handle.pause() : live.handle.cancel();
    obeyed.catch(() => {});
    await soon(given === 'pause' ? obeyed : untilOver(live));
  }

  /** Its end is noted and told, too. */
  async function untilOver(live: LiveRun): Promise<void> {
    await live.handle.finished.catch(() => {});
    while (keeper.live.get(live.project.uid) === live) await new Promise<void>((next) => setImmediate(next));
  }

  async function pause(id: string): Promise<Phase> {
    const project = await room.project(id);
    const standing = await standingOf(project);
    const { live, ticket, last, phase } = standing;
    if (ticket?.state === 'waiting') {
      // It rests, and waits to go on: it rests on.
      if (ticket.run === null || last?.status !== 'paused') refuse(project, 'pause', standing, 'running');
      // Its turn came in this moment.
      if ((await tickets.change(ticket, { state: 'begun' })) === null) return pause(id);
    } else if (live !== null) {
      if (!live.isPaused) await order(live, 'pause');
    } else if (last !== null && (phase.state === 'running' || phase.state === 'paused'))
      await store.projects.steer(last.run, 'pause', store.clock.now());
    else refuse(project, 'pause', standing, 'running');
    return phases.of(project);
  }

  async function resume(id: string): Promise<Phase> {
    const project = await room.project(id);
    const standing = await standingOf(project);
    const { live, last, phase } = standing;
    if (phase.state !== 'paused' && phase.state !== 'interrupted')
      refuse(project, 'resume', standing, 'paused or interrupted');
    if (live !== null && live.ordered === 'pause') {
      // What is in flight is finished; then it goes on.
      live.ordered = null;
      const woken = adjusting.wake(live);
      woken.catch(report);
      await soon(woken);
      return phases.of(project);
    }
    if (live === null && (await isWokenElsewhere(project, standing))) return phases.of(project);
    await queue.addAgain(project, live?.run ?? last!.run);
    return tellQueued(project);
  }

  /** The run is in the hands of another process, which hears the order through the store. */
  async function isWokenElsewhere(_: RoomProject, { ticket, last }: Standing): Promise<boolean> {
    if (!store.isShared || last === null || last.status !== 'paused') return false;
    const isOfService = ticket !== null && ticket.service !== services.own;
    if (isOfService && !(await services.isAlive(ticket.service))) return false;
    if (ticket !== null && !isOfService) return false;
    await store.projects.steer(last.run, 'resume', store.clock.now());
    for (let waited = 0; waited < OTHERS_MS; waited += OTHERS_MS / 10) {
      if (((await store.projects.standing(last.run))?.workers ?? 0) > 0) return true;
      await new Promise<void>((resolve) => void clock.after(OTHERS_MS / 10, resolve));
    }
    return false;
  }

  async function stop(id: string): Promise<Phase> {
    const project = await room.project(id);
    const standing = await standingOf(project);
    const { live, ticket, last, phase } = standing;
    const isWaiting = ticket?.state === 'waiting';
    // Its turn came in this moment.
    if (isWaiting && !(await tickets.remove(ticket))) return stop(id);
    if (live !== null) await order(live, 'stop');
    else if (isWaiting && ticket.run === null) {
      const now = await phases.of(project);
      feed.tellProgress(project.uid, now.run, now);
    } else if (last !== null && (phase.status === 'in_progress' || phase.state === 'interrupted')) {
      await store.projects.steer(last.run, 'stop', store.clock.now());
      if (!isWaiting) await tickets.remove({ project: project.uid });
    } else refuse(project, 'stop', standing, 'queued, running, paused or interrupted');
    await queue.advance();
    return phases.of(project);
  }

  async function adjust(id: string, settings: SettingChange): Promise<Phase> {
    checkChange(settings);
    const project = await room.project(id);
    const standing = await standingOf(project);
    const { live, last, ticket, phase } = standing;
    if (phase.status !== 'in_progress') refuse(project, 'adjust', standing, 'queued, running or paused');
    const isOurs = live !== null || ticket !== null;
    if (last !== null && !isOurs) throw sumiError('run-elsewhere', { run: last.run });
    // A run that has not begun begins with what the project keeps.
    if (ticket?.state === 'waiting' && ticket.run === null) {
      await keepSettings(store, project.uid, settings);
      return phases.of(project);
    }
    const run = await side.run(live?.run ?? last!.run);
    if (run === null) refuse(project, 'adjust', standing, 'queued, running or paused');
    await adjusting.adjust({ project, run, live }, settings);
    // Whoever has its handle hears of it, too.
    const isOthers = live === null && ticket !== null && ticket.service !== services.own;
    if (isOthers) await elsewhere.give(project.uid, run.run, settings);
    return phases.of(project);
  }

  return {
    ...{ start, pause, resume, stop, adjust, isUnderWay },
    wake: adjusting.wake,
    phase: async (id) => phases.of(await room.anyProject(id)),
    async phases(ids) {
      return phases.ofMany(await Promise.all(ids.map((id) => room.anyProject(id))));
    },
    underWay: () => phases.underWay(),
  };
}
