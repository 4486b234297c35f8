/**
 * Runs whose service is gone: they go on by themselves, or have failed, as the operator wants. Asked at the beginning, and
 * on a store that several services share again and again, so that a run does not wait for its own service to come back.
 */
import type { Clock } from '../primitives/clock.ts';
import type { StoredRun } from '../store/read-side.ts';
import { isCrawl, isUnfinished } from '../store/unfinished-run.ts';
import type { RunKeeper } from './keep-runs.ts';
import type { FailedStart } from './phase-of-run.ts';
import { FAILED_START, type Queue } from './queue.ts';
import type { Room, RoomProject } from './room.ts';
import type { Services } from './services.ts';
import type { HeldTicket, Tickets } from './tickets.ts';

const LOOK_EVERY_MS = 10_000;

const LEFT_MESSAGE = 'The service ended while the run was under way.';
const LEFT_CODE = 'run-interrupted';

export interface RestartSurroundings {
  room: Omit<Room, 'runs'>;
  keeper: Pick<RunKeeper, 'live' | 'notes'>;
  tickets: Tickets;
  queue: Pick<Queue, 'advance'>;
  services: Services;
  /** The crawl of the project has failed, and nobody has heard of it. */
  tellFailed: (project: RoomProject) => Promise<void>;
}

export interface Restart {
  /** Takes what dead services left; resolves when what may begin now has begun. */
  begin(): Promise<void>;
  end(): Promise<void>;
}

export function createRestart(around: RestartSurroundings): Restart {
  const { room, keeper, tickets, queue, services, tellFailed } = around;
  const { store, side, records, options, clock, report } = room;
  let cancel = () => {};
  let looking: Promise<void> = Promise.resolve();
  let hasEnded = false;

  async function takeAll(): Promise<void> {
    const own = new Set(keeper.live.keys());
    for (const ticket of await tickets.list()) {
      if (hasEnded) return;
      if (own.has(ticket.project) || (await services.isAlive(ticket.service))) continue;
      try {
        await take(ticket);
      } catch (error) {
        report(error);
      }
    }
  }

  async function take(ticket: HeldTicket): Promise<void> {
    const project = (await room.projects()).find(({ uid }) => uid === ticket.project);
    if (project === undefined || project.isDeleted) return void (await tickets.remove(ticket));
    const left = await runOf(ticket, project);
    if (left === 'over') return void (await tickets.remove(ticket));
    // A run that somebody paused stays paused.
    if (left !== null && left.status === 'paused' && ticket.state === 'begun') {
      await tickets.change(ticket, { service: services.own, run: left.run });
      return;
    }
    if (options.onRestart === 'fail') return fail(ticket, project, left);
    await tickets.change(ticket, { service: services.own, run: left?.run ?? null, state: 'waiting' });
  }

  /** The run that the ticket stands for; null: it has still to begin. */
  async function runOf(ticket: HeldTicket, project: RoomProject): Promise<StoredRun | 'over' | null> {
    const last = await side.lastRun(project.id);
    if (last === null || !isCrawl(last)) return null;
    if (ticket.run !== null) return isUnfinished(last) && last.run === ticket.run ? last : 'over';
    if (ticket.state === 'waiting') return null;
    // The service was killed between the beginning of the run and its note.
    if (isUnfinished(last)) return last;
    return Date.parse(last.started_at) >= ticket.at ? 'over' : null;
  }

  async function fail(ticket: HeldTicket, project: RoomProject, left: StoredRun | null): Promise<void> {
    const now = store.clock.now();
    const error = { code: LEFT_CODE, message: LEFT_MESSAGE };
    if (left === null) {
      const failed: FailedStart = { at: new Date(now).toISOString(), ...error };
      await records.put('run-note', project.uid, FAILED_START, failed);
    } else {
      await store.projects.giveUp(left.run, LEFT_MESSAGE, now);
      const note = await keeper.notes.get(project.uid, left.run);
      if (note !== null) await keeper.notes.put(project.uid, { ...note, error });
    }
    await tickets.remove(ticket);
    await tellFailed(project);
  }

  function lookLater(clockOf: Clock): void {
    cancel = clockOf.after(LOOK_EVERY_MS, () => {
      looking = takeAll()
        .then(() => queue.advance())
        .catch(report);
      void looking.then(() => {
        if (!hasEnded) lookLater(clockOf);
      });
    });
  }

  return {
    async begin() {
      await takeAll();
      await queue.advance();
      if (store.isShared) lookLater(clock);
    },
    async end() {
      hasEnded = true;
      cancel();
      await looking;
    },
  };
}
