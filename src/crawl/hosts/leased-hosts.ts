/**
 * The hosts that this loop holds: leased (lease-hosts.ts), kept (keep-leases.ts), given back (give-back-hosts.ts) or
 * closed for the run (close-hosts.ts). Whoever wants something of a host that is no page requests it here
 * (request-from-host.ts, learn-robots.ts), wherever that host is now. The loop asks for nothing but "is there more?".
 */
import type { HostSchedule } from '../../frontier/host-schedule.ts';
import type { CrawlParts } from '../parts.ts';
import type { PagePermits } from '../run/page-permits.ts';
import { createHostEnds, type HostEnds } from './close-hosts.ts';
import { createHostReturns, type HostReturns } from './give-back-hosts.ts';
import { HeldHosts } from './held-hosts.ts';
import { keepLeases } from './keep-leases.ts';
import { createRobotsLearner } from './learn-robots.ts';
import { createHostLeases } from './lease-hosts.ts';
import type { LeasedHost, PageTurn } from './leased-host.ts';
import { STOPPED } from './queue-request.ts';
import { createHostQuestions, type HostQuestions } from './request-from-host.ts';

/** Pages set aside for a robots.txt on its way; with more the host waits as a whole. */
const MAX_PARKED = 16;

export interface LeasedHosts
  extends HostQuestions,
    Pick<HostReturns, 'releaseIfIdle' | 'giveBack' | 'giveBackUnserved' | 'releaseAll'>,
    Pick<HostEnds, 'close' | 'isPausedTooLong' | 'closePaused'> {
  readonly size: number;
  /** A lease is on its way, back or here: until then nobody finds the pages that wait for its host. */
  readonly isMoving: boolean;
  /** Leases hosts with pages waiting, enough for so many requests; false when there are none to have. */
  leaseMore(free: number): Promise<boolean>;
  /** Others may have queued pages or given hosts back. */
  recheck(): void;
  /** Pages were queued for a host. */
  wake(host: string): void;
  /** Gets the host's robots.txt; pages wait until it is here. */
  openGate(host: LeasedHost, turn: PageTurn, origin: string): void;
  /** Ends at once when the loop is stopped. */
  pause(delayMs: number): Promise<void>;
  all(): Iterable<LeasedHost>;
  /** What waits to be requested for no page is given up. */
  stop(): void;
  /** Renews no more; what is held is left to run out, or given back. */
  end(): void;
}

export interface HostSurroundings {
  schedule: HostSchedule<LeasedHost>;
  permits: Pick<PagePermits, 'isOutFor'>;
  /** Something may be possible that was not. */
  onChange: () => void;
  /** A host was lost: this worker was away for longer than others wait. */
  onLost: () => void;
  onFailure: (error: unknown) => void;
}

export function createLeasedHosts(parts: CrawlParts, around: HostSurroundings): LeasedHosts {
  const { schedule, permits, onChange, onFailure } = around;
  const { store, clock, events } = parts;
  const held = new HeldHosts();
  const pauses = new Set<() => void>();
  const keeper = keepLeases({
    ...{ frontier: store.frontier, clock, leaseMs: parts.limits.leaseMs },
    hosts: () => held.byName.values(),
    onGood(host) {
      host.isLapsed = false;
      place(host);
    },
    onLost: lose,
    onFailure,
  });
  const returns = createHostReturns(parts, { held, schedule, recheck });
  const ends = createHostEnds(parts, { returns, place, remove: (host) => schedule.remove(host) });
  const leases = createHostLeases(parts, {
    ...{ held, schedule, permits, keeper, returns, ends, pause, onChange },
  });
  const questionParts = { held, leases, ends, returns, place };
  const learnRobots = createRobotsLearner(parts, { ...questionParts, pause, onLearned });
  const questions = createHostQuestions(parts, { ...questionParts, learnRobots });

  /** The host is somebody else's now, and whoever took it has its pages too: nothing is given back. */
  function lose(host: LeasedHost): void {
    if (!held.has(host)) return;
    host.isLapsed = true;
    held.byName.delete(host.lease.host);
    schedule.remove(host);
    parts.fetcher.forgetHost(host.lease.host);
    host.takeClaims();
    host.requests.answer('moved');
    const detail = 'the lease is another worker’s';
    events.host({ host: host.lease.host, what: 'lost', detail, until: null });
    around.onLost();
    recheck();
  }

  function recheck(): void {
    held.mayHaveMore = true;
    onChange();
  }

  function place(host: LeasedHost): void {
    host.giveUpGuesses(clock.now());
    schedule.place(host);
    onChange();
  }

  async function onLearned(host: LeasedHost): Promise<void> {
    schedule.place(host);
    await returns.releaseIfIdle(host);
    onChange();
  }

  function pause(delayMs: number): Promise<void> {
    if (held.isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        pauses.delete(end);
        cancel();
        resolve();
      };
      const cancel = clock.after(delayMs, end);
      pauses.add(end);
    });
  }

  return {
    get size() {
      return held.byName.size;
    },
    get isMoving() {
      return held.moving > 0;
    },
    ...{ ...questions, ...returns, ...ends },
    leaseMore: leases.leaseMore,
    recheck,
    wake(name) {
      const host = held.byName.get(name);
      if (host === undefined) {
        held.mayHaveMore = true;
        return;
      }
      host.isDrained = false;
      host.retryAt = 0;
      schedule.place(host);
    },
    openGate(host, turn, origin) {
      host.parked.push(turn);
      // The first robots.txt of a host holds all its pages; that of a further origin only its own, up to a number.
      host.isGated = host.robots.size === 0 || host.parked.length >= MAX_PARKED;
      if (host.gates.has(origin)) return;
      // A host that was closed meanwhile gets no turn that could give it back.
      const learned = learnRobots(host, origin).then(() => returns.releaseIfIdle(host));
      learned.catch(onFailure);
    },
    pause,
    all: () => held.byName.values(),
    stop() {
      held.isStopped = true;
      for (const end of [...pauses]) end();
      for (const host of held.byName.values()) host.requests.answer(STOPPED);
    },
    end() {
      keeper.stop();
      returns.end();
    },
  };
}
