/**
 * Which session of this process has which host, and whose turn is next. The file keeps the leases; this keeps what only
 * the sessions beside each other need to know.
 *
 * It promises that no session waits for a host for ever: one that another session waits for is marked as wanted, and when
 * it is given back, it is for a while that one's turn only. Turns go round in the order in which the sessions began.
 */
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../primitives/clock.ts';
import type { HostLease } from '../host-port.ts';

/** So long a session may keep a host before one that waits for it calls. */
const SLICE_MS = 1_000;
/** Whoever does not take its turn, or does not call again, in this time is taken to want the host no more. */
const TURN_MS = 3_000;

/** A session, as far as hosts are concerned. */
export interface HostHolder {
  readonly projectId: number;
  /** Waiting pages gained or lost by host since the last commit. */
  readonly waitingDelta: ReadonlyMap<number, number>;
  /** A host that it waits for is free, and it is its turn. */
  wake(): void;
  /** The host is another's now: what was in flight there waits again. */
  lose(hostId: number): void;
}

export interface HostTurns {
  /** The lease was written. Whoever had the host before has lost it. */
  take(holder: HostHolder, lease: HostLease): void;
  /** The host is free again. */
  giveBack(holder: HostHolder, hostId: number): void;
  /** Free hosts that are to be left to others, whose turn it is. */
  keptFor(holder: HostHolder): number[];
  mayTake(holder: HostHolder, hostId: number): boolean;
  /** It asked for the host by name, in vain. */
  call(holder: HostHolder, hostId: number): void;
  /** It found no host to take: those that it has pages for are called. */
  callAll(holder: HostHolder): void;
  /** Whether another session waits for this host. */
  isWanted(holder: HostHolder, hostId: number): boolean;
  /** Whether a page of its project waits for a host that another session has. */
  waitsForOthers(holder: HostHolder): boolean;
  /** The session has ended. */
  forget(holder: HostHolder): void;
}

interface Holding {
  readonly holder: HostHolder;
  readonly lease: HostLease;
  readonly since: number;
}

interface Turn {
  readonly holder: HostHolder;
  readonly until: number;
}

/** `live`: the sessions in the order in which they began. */
export function createHostTurns(db: Database, clock: Clock, live: ReadonlySet<HostHolder>): HostTurns {
  const holdings = new Map<number, Holding>();
  const turns = new Map<number, Turn>();
  /** Sessions that asked for a host by name, and when they did so last. */
  const calls = new Map<number, Map<HostHolder, number>>();
  /** Sessions that did not come when it was their turn (a paused run, say): nothing is kept for them until they ask. */
  const absent = new Set<HostHolder>();
  const waitingAt = db.prepare('SELECT waiting FROM host_queue WHERE project_id = ? AND host_id = ?').pluck();
  const waitingHosts = db
    .prepare('SELECT host_id FROM host_queue WHERE project_id = ? AND waiting > 0')
    .pluck();

  function waits(holder: HostHolder, hostId: number): boolean {
    if (absent.has(holder)) return false;
    const calledAt = calls.get(hostId)?.get(holder);
    if (calledAt !== undefined && clock.monotonic() - calledAt <= TURN_MS) return true;
    const stored = (waitingAt.get(holder.projectId, hostId) as number | undefined) ?? 0;
    return stored + (holder.waitingDelta.get(hostId) ?? 0) > 0;
  }

  /** The next session after this one that waits for the host. */
  function nextAfter(holder: HostHolder, hostId: number): HostHolder | null {
    const all = [...live];
    const at = all.indexOf(holder);
    const inTurn = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))];
    return inTurn.find((other) => waits(other, hostId)) ?? null;
  }

  function mayTake(holder: HostHolder, hostId: number): boolean {
    const turn = turns.get(hostId);
    if (turn === undefined || turn.holder === holder) return true;
    if (turn.until > clock.monotonic()) return false;
    turns.delete(hostId);
    absent.add(turn.holder);
    return true;
  }

  function markWanted(holder: HostHolder, hostId: number): void {
    const holding = holdings.get(hostId);
    if (holding === undefined || holding.holder === holder) return;
    if (clock.monotonic() - holding.since >= SLICE_MS) holding.lease.isWanted = true;
  }

  return {
    take(holder, lease) {
      const { hostId } = lease;
      holdings.get(hostId)?.holder.lose(hostId);
      holdings.set(hostId, { holder, lease, since: clock.monotonic() });
      turns.delete(hostId);
      calls.get(hostId)?.delete(holder);
    },
    giveBack(holder, hostId) {
      if (holdings.get(hostId)?.holder !== holder) return;
      holdings.delete(hostId);
      if (live.size < 2) return;
      const next = nextAfter(holder, hostId);
      if (next === null) return;
      turns.set(hostId, { holder: next, until: clock.monotonic() + TURN_MS });
      next.wake();
    },
    keptFor(holder) {
      absent.delete(holder);
      return [...turns.keys()].filter((hostId) => !mayTake(holder, hostId));
    },
    mayTake,
    call(holder, hostId) {
      absent.delete(holder);
      if (live.size < 2) return;
      const callers = calls.get(hostId) ?? new Map<HostHolder, number>();
      calls.set(hostId, callers.set(holder, clock.monotonic()));
      markWanted(holder, hostId);
    },
    callAll(holder) {
      if (live.size < 2) return;
      for (const hostId of waitingHosts.all(holder.projectId) as number[]) markWanted(holder, hostId);
    },
    isWanted: (holder, hostId) => live.size > 1 && nextAfter(holder, hostId) !== null,
    waitsForOthers(holder) {
      if (live.size < 2) return false;
      const isElsewhere = (hostId: number) => {
        const holding = holdings.get(hostId);
        return holding !== undefined && holding.holder !== holder;
      };
      return (waitingHosts.all(holder.projectId) as number[]).some(isElsewhere);
    },
    forget(holder) {
      absent.delete(holder);
      for (const [hostId, turn] of turns) if (turn.holder === holder) turns.delete(hostId);
      for (const [hostId, callers] of calls) {
        callers.delete(holder);
        if (callers.size === 0) calls.delete(hostId);
      }
    },
  };
}
