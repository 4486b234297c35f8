/** How the crawls of projects stand: of runs that are under way here, of those that wait, and of what the store knows. */

import type { StoredRun } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import type { RunKeeper } from './keep-runs.ts';
import type { Phase } from './phase.ts';
import { STATUS_OF_STATE } from './phase.ts';
import { type FailedStart, pendingPhase, queuedPhase, storedPhase } from './phase-of-run.ts';
import { FAILED_START, type Queue } from './queue.ts';
import type { Room, RoomProject } from './room.ts';
import type { HeldTicket, Tickets } from './tickets.ts';

export interface PhaseReader {
  of(project: RoomProject): Promise<Phase>;
  ofMany(projects: readonly RoomProject[]): Promise<Phase[]>;
  /** Queued, running and paused ones of all services. */
  underWay(): Promise<Phase[]>;
}

export interface PhaseSurroundings {
  room: Pick<Room, 'side' | 'store' | 'records' | 'projects'>;
  keeper: Pick<RunKeeper, 'live' | 'notes'>;
  tickets: Tickets;
  queue: Pick<Queue, 'before'>;
}

/** Questions at once: more would make the read side start threads, which cost more than they save. */
const AT_ONCE = 4;

export function createPhaseReader({ room, keeper, tickets, queue }: PhaseSurroundings): PhaseReader {
  const { side, store, records } = room;

  async function read(project: RoomProject, ticket: HeldTicket | null): Promise<Phase> {
    const here = keeper.live.get(project.uid);
    const isWaiting = ticket?.state === 'waiting';
    if (here !== undefined) {
      const phase = here.phase();
      return isWaiting ? queuedPhase(ticket, await queue.before(ticket), phase) : phase;
    }
    const run = await side.lastRun(project.id);
    const last = run === null || !isCrawl(run) ? null : await ofStored(project, run, ticket);
    if (isWaiting) return queuedPhase(ticket, await queue.before(ticket), ticket.run === null ? null : last);
    if (ticket !== null && isBeingBegun(ticket, last)) return queuedPhase(ticket, 0, null);
    return await failedStart(project, last);
  }

  async function ofStored(project: RoomProject, run: StoredRun, ticket: HeldTicket | null): Promise<Phase> {
    const note = await keeper.notes.get(project.uid, run.run);
    const isRunning = run.status === 'running';
    const workers = isRunning ? ((await store.projects.standing(run.run))?.workers ?? 0) : 0;
    const isTaken = ticket !== null && workers === 0;
    return storedPhase({ projectUid: project.uid, run, note, workers, isTaken });
  }

  /** Its turn has come, and the store has no run of it yet: what it has is an earlier one. */
  function isBeingBegun({ run, at }: HeldTicket, last: Phase | null): boolean {
    const startedAt = last?.started_at ?? null;
    return run === null && (startedAt === null || Date.parse(startedAt) < at);
  }

  async function readAll(
    projects: readonly RoomProject[],
    tickets: ReadonlyMap<string, HeldTicket>,
  ): Promise<Phase[]> {
    const phases: Phase[] = [];
    for (let from = 0; from < projects.length; from += AT_ONCE) {
      const some = projects.slice(from, from + AT_ONCE);
      phases.push(...(await Promise.all(some.map((one) => read(one, tickets.get(one.uid) ?? null)))));
    }
    return phases;
  }

  /** A start that failed after the last run. */
  async function failedStart({ uid }: RoomProject, last: Phase | null): Promise<Phase> {
    const phase = last ?? pendingPhase(uid);
    const found = await records.get<FailedStart>('run-note', uid, FAILED_START);
    if (found === null || STATUS_OF_STATE[phase.state] === 'in_progress') return phase;
    const { at, code, message } = found.value;
    if (phase.started_at !== null && phase.started_at > at) return phase;
    const state = 'failed' as const;
    return {
      ...pendingPhase(uid),
      ...{ status: STATUS_OF_STATE[state], state, completed_at: at, message, error: { code, message } },
    };
  }

  return {
    of: async (project) => read(project, await tickets.get(project.uid)),
    async ofMany(projects) {
      if (projects.length === 0) return [];
      if (projects.length === 1) return [await read(projects[0], await tickets.get(projects[0].uid))];
      const all = new Map((await tickets.list()).map((ticket) => [ticket.project, ticket]));
      return readAll(projects, all);
    },
    async underWay() {
      const held = await tickets.list();
      const wanted = new Set([...held.map(({ project }) => project), ...keeper.live.keys()]);
      const byTicket = new Map(held.map((ticket) => [ticket.project, ticket]));
      const projects = (await room.projects()).filter(({ uid }) => wanted.has(uid));
      const phases = await readAll(projects, byTicket);
      return phases.filter(({ status }) => status === 'in_progress');
    },
  };
}
