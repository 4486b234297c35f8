/**
 * Whose turn it is: so many runs at once, the others in the order in which they were ordered. A run that rests gives its
 * place to the next. The queue is in the records: it survives a restart, and of several services one begins each run.
 */
import { SumiError, sumiError } from '../errors.ts';
import { errorOf, type RunKeeper } from './keep-runs.ts';
import type { LiveRun } from './live-run.ts';
import type { RunOrder } from './phase.ts';
import type { FailedStart } from './phase-of-run.ts';
import type { Room, RoomProject } from './room.ts';
import type { HeldTicket, Tickets } from './tickets.ts';

/** Other services put runs into the queue, too. */
const LOOK_EVERY_MS = 2_000;

/** The store is away for a moment: the run keeps its place. */
const PASSING: ReadonlySet<string> = new Set(['store-away', 'store-unreachable', 'db-locked']);
const isPassing = (error: unknown) => error instanceof SumiError && PASSING.has(error.code);

export interface QueueSurroundings {
  room: Omit<Room, 'runs'>;
  keeper: RunKeeper;
  tickets: Tickets;
  /** The run that a ticket is to go on rests here, with its handle. */
  wake: (live: LiveRun) => Promise<void>;
  /** The crawl of the project has failed, and nobody has heard of it. */
  tellFailed: (project: RoomProject) => Promise<void>;
}

export interface Queue {
  /** Puts the order into the queue. Resolves when it has begun, or waits for its turn. */
  add(project: RoomProject, order: RunOrder): Promise<void>;
  /** The run is to go on when it is its turn. Resolves as `add`. */
  addAgain(project: RoomProject, run: number): Promise<void>;
  /** Begins what may begin now. */
  advance(): Promise<void>;
  /** Resolves when the project's run, if it is just being begun here, is under way or could not begin. */
  begun(projectUid: string): Promise<void>;
  /** How many go before it. */
  before(ticket: HeldTicket): Promise<number>;
  readonly running: number;
  begin(): void;
  /** Begins nothing more; resolves when nothing is being begun. */
  end(): Promise<void>;
}

export const FAILED_START = 'failed-start';

export function createQueue({ room, keeper, tickets, wake, tellFailed }: QueueSurroundings): Queue {
  const { store, side, records, clock, options, service, report } = room;
  const beginning = new Map<string, Promise<void>>();
  /** Who waits for the beginning of a run hears why it failed. */
  const waiting = new Map<string, (error: unknown) => void>();
  let advancing: Promise<void> | null = null;
  let mustAdvance = false;
  let hasEnded = false;
  let cancelTimer = () => {};
  let lastAt = 0;

  const runningNow = () => {
    let count = beginning.size;
    for (const [uid, run] of keeper.live)
      if (!run.isPaused && !run.isAttended && !beginning.has(uid)) count++;
    return count;
  };
  /** Two orders of one millisecond keep their order. */
  const nextAt = () => {
    lastAt = Math.max(lastAt + 1, Math.floor(store.clock.now()));
    return lastAt;
  };

  function advance(): Promise<void> {
    mustAdvance = true;
    advancing ??= (async () => {
      try {
        while (mustAdvance && !hasEnded) {
          mustAdvance = false;
          await beginNext();
        }
      } finally {
        advancing = null;
      }
    })();
    return advancing;
  }

  async function beginNext(): Promise<void> {
    if (runningNow() >= options.maxRunning) return;
    for (const ticket of await tickets.list()) {
      if (ticket.state !== 'waiting' || beginning.has(ticket.project)) continue;
      if (runningNow() >= options.maxRunning || hasEnded) return;
      const claimed = await tickets.change(ticket, { state: 'begun', service });
      if (claimed === null) continue;
      const begun = beginOne(claimed).finally(() => beginning.delete(ticket.project));
      beginning.set(ticket.project, begun);
      void begun
        .catch(report)
        .then(() => advance())
        .catch(report);
    }
  }

  async function beginOne(ticket: HeldTicket): Promise<void> {
    const tell = waiting.get(ticket.project);
    try {
      const run = await beginTicket(ticket);
      if (run !== null) await tickets.change(ticket, { run: run.run });
    } catch (error) {
      if (isPassing(error) && tell === undefined) {
        await tickets.change(ticket, { state: 'waiting' });
        return;
      }
      await tickets.remove(ticket);
      if (tell === undefined) await noteFailedStart(ticket.project, error);
      tell?.(error);
    }
  }

  async function beginTicket(ticket: HeldTicket): Promise<LiveRun | null> {
    const project = await room.project(ticket.project);
    const here = keeper.live.get(ticket.project);
    if (here !== undefined) {
      await wake(here);
      return here;
    }
    if (ticket.run === null) {
      await records.remove('run-note', project.uid, FAILED_START);
      return keeper.begin(project, ticket.order);
    }
    const run = await side.run(ticket.run);
    if (run === null) return keeper.begin(project, ticket.order);
    return keeper.goOn(project, run);
  }

  /** Nobody is there to be told: the phase says it. */
  async function noteFailedStart(projectUid: string, error: unknown): Promise<void> {
    report(error);
    const failed: FailedStart = { at: new Date(store.clock.now()).toISOString(), ...errorOf(error) };
    await records.put('run-note', projectUid, FAILED_START, failed);
    await tellFailed(await room.project(projectUid));
  }

  /** As long as it has not begun, or its place is taken by others. */
  async function takeTurn(projectUid: string): Promise<void> {
    const failures: unknown[] = [];
    waiting.set(projectUid, (error) => void failures.push(error));
    try {
      await advance();
      await beginning.get(projectUid);
    } finally {
      waiting.delete(projectUid);
    }
    if (failures.length > 0) throw failures[0];
  }

  function refuseWhenEnded(): void {
    if (hasEnded) throw sumiError('engine-closing');
  }

  return {
    async add(project, order) {
      refuseWhenEnded();
      const { uid } = project;
      const ticket = { project: uid, order, at: nextAt(), state: 'waiting', run: null, service } as const;
      if ((await tickets.add(ticket)) === null)
        throw sumiError('run-under-way', { project: project.name, run: 'in the queue' });
      await takeTurn(uid);
    },
    async addAgain(project, run) {
      refuseWhenEnded();
      const { uid } = project;
      const held = await tickets.get(uid);
      const again = { state: 'waiting', run, service, at: nextAt() } as const;
      const order: RunOrder = { type: 'manual' };
      if (held === null) await tickets.add({ project: uid, order, ...again });
      else await tickets.change(held, again);
      await takeTurn(uid);
    },
    advance,
    async begun(projectUid) {
      await beginning.get(projectUid)?.catch(() => {});
    },
    async before(ticket) {
      const all = (await tickets.list()).filter(({ state }) => state === 'waiting');
      return Math.max(
        0,
        all.findIndex(({ project }) => project === ticket.project),
      );
    },
    get running() {
      return runningNow();
    },
    begin() {
      if (!store.isShared) return;
      const look = () => {
        cancelTimer = clock.after(LOOK_EVERY_MS, () => {
          advance().catch(report);
          look();
        });
      };
      look();
    },
    async end() {
      hasEnded = true;
      cancelTimer();
      await advancing?.catch(report);
      await Promise.all(beginning.values());
    },
  };
}
