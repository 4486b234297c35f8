/**
 * The leased hosts: takes leases from the store while there is room, has their robots.txt learned (learn-robots.ts), runs errands
 * and lookups (ask-hosts.ts) on any host's next slot, gives leases back. The loop asks it for nothing but "is there more?".
 */
import type { Outcome } from '../../fetch/fetcher.ts';
import type { HostSchedule } from '../../frontier/host-schedule.ts';
import { PAGE_STATES, type PageState, pageStateName } from '../../frontier/page-state.ts';
import { HostPace } from '../../politeness/host-pace.ts';
import type { HostLease } from '../../store/host-port.ts';
import type { CrawlParts } from '../parts.ts';
import { LEASES_AT_ONCE } from '../run/crew.ts';
import type { PagePermits } from '../run/page-permits.ts';
import { createHostQuestions, type HostQuestions } from './ask-hosts.ts';
import { wasNotTaken } from './exchange.ts';
import { keepLeases } from './keep-leases.ts';
import { createRobotsLearner, unaskedOutcome } from './learn-robots.ts';
import { ActiveHost, type PageTurn, type Refused } from './leased-host.ts';

/** Pages set aside for a robots.txt on its way; with more the host waits as a whole. */
const MAX_PARKED = 16;
/** A host that somebody else has is asked for again so soon, and then ever less often up to once a second. */
const FIRST_LEASE_PAUSE_MS = 20;
/** Hosts change places with those in the store at most so often. */
const SWAP_EVERY_MS = 1_000;

export interface HostDesk extends HostQuestions {
  readonly size: number;
  /** A lease is on its way, back or here for a lookup: until then nobody finds the pages that wait for its host. */
  readonly isExchanging: boolean;
  /** Leases hosts with pages waiting, enough for so many requests; false when there are none to have. */
  leaseMore(free: number): Promise<boolean>;
  /** Others may have queued pages or given hosts back. */
  lookAgain(): void;
  /** Hosts that could be asked now but for which no request is free go back, for whoever has more room. */
  giveBackUnserved(): Promise<void>;
  /** Pages were queued for a host. */
  wake(host: string): void;
  /** Gets the host's robots.txt; pages wait until it is here. */
  openGate(host: ActiveHost, turn: PageTurn, origin: string): void;
  /** Ends at once when the desk is stopped. */
  pause(delayMs: number): Promise<void>;
  close(host: ActiveHost, state: PageState, reason: string): Promise<void>;
  /** The host is to be left alone for longer than the run waits. */
  isPausedTooLong(host: ActiveHost): boolean;
  /** Gives such a host up for this run. */
  closePaused(host: ActiveHost): Promise<void>;
  releaseIfIdle(host: ActiveHost): Promise<void>;
  /** The host goes back as soon as nothing is under way there: another project waits for it. */
  giveBack(host: ActiveHost): Promise<void>;
  all(): Iterable<ActiveHost>;
  /** Lets waiting robots.txt questions end. */
  stop(): void;
  /** Renews no more; what is held is left to run out, or given back. */
  end(): void;
  releaseAll(): Promise<void>;
}

export interface DeskSurroundings {
  schedule: HostSchedule<ActiveHost>;
  permits: Pick<PagePermits, 'isOutFor'>;
  /** Something may be possible that was not. */
  onChange: () => void;
  /** A host was lost: this worker was away for longer than others wait. */
  onLost: () => void;
  onFailure: (error: unknown) => void;
}

const STOPPED: Refused = { refused: 'stopped' };
const PAUSED: Refused = {
  refused: 'rate-limit: the host is to be left alone for longer than is waited',
  mayPass: true,
};

export function createHostDesk(parts: CrawlParts, around: DeskSurroundings): HostDesk {
  const { schedule, permits, onChange, onFailure } = around;
  const { store, clock, owner, events } = parts;
  const { leaseMs, maxHosts } = parts.limits;
  const hosts = new Map<string, ActiveHost>();
  const pauses = new Set<() => void>();
  let mayHaveMore = true;
  let isStopped = false;
  /** Leases on their way. */
  let exchanging = 0;
  let cancelSwap: (() => void) | null = null;
  const keeper = keepLeases({
    ...{ frontier: store.frontier, clock, owner, leaseMs },
    hosts: () => hosts.values(),
    onGood(host) {
      host.isLapsed = false;
      place(host);
    },
    onLost: leave,
    onFailure,
  });
  const learnRobots = createRobotsLearner(parts, {
    ...{ ask: runErrand, pause, isPausedTooLong, close, onLearned },
  });
  const questions = createHostQuestions(parts, { withHost, learnRobots, isHere, place });

  function activate(lease: HostLease): ActiveHost {
    const isDoubted = parts.allowance?.isSilent?.(lease.hostId) === true;
    const options = isDoubted ? { ...parts.pace, isDoubted } : parts.pace;
    const pace = new HostPace(lease.host, lease.state, options, clock, lease.takenOver);
    const host = new ActiveHost(lease, pace, () => permits.isOutFor(lease.hostId));
    host.leaseEnds = keeper.endsAt(lease);
    hosts.set(lease.host, host);
    return host;
  }

  /** The host is somebody else's now, and whoever took it has its pages too: nothing is given back. */
  function leave(host: ActiveHost): void {
    if (hosts.get(host.lease.host) !== host) return;
    host.isLapsed = true;
    hosts.delete(host.lease.host);
    schedule.remove(host);
    parts.fetcher.forgetHost(host.lease.host);
    host.takeClaims();
    for (const errand of host.errands.splice(0)) errand.done(unaskedOutcome('aborted', null));
    for (const lookup of host.lookups.splice(0)) lookup.done('moved');
    events.host({
      host: host.lease.host,
      what: 'lost',
      detail: 'the lease is another worker’s',
      until: null,
    });
    around.onLost();
    lookAgain();
  }

  function lookAgain(): void {
    mayHaveMore = true;
    onChange();
  }

  async function leaseMore(free: number): Promise<boolean> {
    if (!mayHaveMore || isStopped) return false;
    const wanted = parts.crew.leaseCount({ free, ready: schedule.ready, held: hosts.size });
    if (wanted <= 0) return false;
    mayHaveMore = false;
    if (hosts.size >= maxHosts && cancelSwap === null) await giveBackFurthest();
    const count = Math.min(wanted, maxHosts - hosts.size);
    if (count <= 0) return false;
    const leases = await store.frontier.lease(owner, count, clock.now(), leaseMs);
    if (leases.length > 0) mayHaveMore = true;
    for (const lease of leases) {
      const host = activate(lease);
      if (lease.closed !== null) await close(host, pageStateName(lease.closed.state), lease.closed.reason);
      else if (isPausedTooLong(host)) await closePaused(host);
      else schedule.place(host);
    }
    return leases.length > 0;
  }

  /** Room for hosts that may ask sooner: those that must wait longest, and have nothing open, go back to the store. */
  async function giveBackFurthest(): Promise<void> {
    cancelSwap = clock.after(SWAP_EVERY_MS, () => {
      cancelSwap = null;
      lookAgain();
    });
    const resting = [...hosts.values()].filter((host) => host.place === 'heap' && host.isResting);
    resting.sort((a, b) => b.readyAt() - a.readyAt());
    await giveBackAll(resting.slice(0, LEASES_AT_ONCE));
  }

  async function giveBackUnserved(): Promise<void> {
    const unserved = [...hosts.values()].filter((host) => host.place === 'ring' && host.isResting);
    await giveBackAll(unserved.slice(parts.slots.total, parts.slots.total + LEASES_AT_ONCE));
  }

  async function giveBackAll(given: ActiveHost[]): Promise<void> {
    for (const host of given) {
      // It may have got a turn while others were given back.
      if (host.place === 'out' || !host.isResting) continue;
      schedule.remove(host);
      await giveBack(host);
    }
  }

  async function unclaimAll(host: ActiveHost): Promise<void> {
    const claims = host.takeClaims();
    if (claims.length > 0) await store.frontier.unclaim(host.lease, claims);
  }

  async function close(host: ActiveHost, state: PageState, reason: string): Promise<void> {
    await unclaimAll(host);
    // Whoever spends a budget learns from the pages themselves which hosts were silent; a limit says nothing of that.
    const marksKnown = parts.allowance !== null && state !== 'RequestLimitHit';
    const closed = await store.frontier.closeHost(host.lease, PAGE_STATES[state], reason, marksKnown);
    events.host({
      host: host.lease.host,
      what: 'closed',
      detail: `${reason} (${closed} pages)`,
      until: null,
    });
    host.isDrained = true;
    for (const lookup of host.lookups.splice(0)) lookup.done({ refused: reason, mayPass: true });
    // It may stand in the schedule for the end of its block.
    place(host);
    await releaseIfIdle(host);
  }

  function isPausedTooLong({ pace }: ActiveHost): boolean {
    const { allowance } = parts;
    return allowance?.patienceMs !== undefined && pace.blockedUntil - clock.now() > allowance.patienceMs;
  }

  async function closePaused(host: ActiveHost): Promise<void> {
    schedule.remove(host);
    for (const asked of [...host.errands.splice(0), ...host.lookups.splice(0)]) asked.done(PAUSED);
    // Its silence brings a pause, too, which it did not ask for.
    if (host.pace.isBreakerOpen)
      return close(host, 'Unreachable', `network: no answer from ${host.lease.host}`);
    // To ask for a pause is to answer, though it may have been another day.
    events.counters.answers++;
    await close(host, 'RateLimited', PAUSED.refused);
  }

  /** Nothing is asked of it: the pages that wait for it are given up on its next turn, and it goes back. */
  async function passOver(host: ActiveHost): Promise<Refused> {
    place(host);
    await releaseIfIdle(host);
    return PAUSED;
  }

  async function releaseIfIdle(host: ActiveHost): Promise<void> {
    if (!host.isIdle || host.place !== 'out' || hosts.get(host.lease.host) !== host) return;
    await giveBack(host);
  }

  async function giveBack(host: ActiveHost): Promise<void> {
    hosts.delete(host.lease.host);
    parts.fetcher.forgetHost(host.lease.host);
    exchanging++;
    await unclaimAll(host);
    await store.frontier.release(host.lease);
    exchanging--;
    for (const lookup of host.lookups.splice(0)) lookup.done('moved');
    // Pages may have been queued while the lease was on its way back.
    lookAgain();
  }

  /** The URL's host, leased if need be; null when there is no time left for that. */
  async function hold(url: string): Promise<ActiveHost | null> {
    const name = parts.normalizer.normalize(url)?.host ?? new URL(url).hostname;
    for (let pauseMs = FIRST_LEASE_PAUSE_MS; ; pauseMs = Math.min(1000, pauseMs * 2)) {
      if (isStopped) return null;
      const held = hosts.get(name);
      if (held !== undefined) return held;
      exchanging++;
      const lease = await store.frontier.leaseHost(owner, name, clock.now(), leaseMs);
      exchanging--;
      if (lease !== null) return hosts.get(name) ?? activate(lease);
      // Whoever waited for the answer before calling the run over.
      onChange();
      // Refused because the loop took it meanwhile: then it is ours.
      if (!hosts.has(name)) await pause(pauseMs);
    }
  }

  /** A request on the next slot of the URL's host, whoever's page asked for it. */
  async function runErrand(url: string, maxBytes: number, isResent = false): Promise<Outcome | Refused> {
    const target = await hold(url);
    if (target === null) return unaskedOutcome('aborted', null);
    if (isPausedTooLong(target)) return passOver(target);
    const answer = await new Promise<Outcome | Refused>((done) => {
      target.errands.push({ url, maxBytes, isResent, done });
      place(target);
    });
    return wasNotTaken(answer) ? runErrand(url, maxBytes, true) : answer;
  }

  function place(host: ActiveHost): void {
    host.giveUpGuesses(clock.now());
    schedule.place(host);
    onChange();
  }

  function isHere(host: ActiveHost): boolean {
    return !isStopped && hosts.get(host.lease.host) === host && !isPausedTooLong(host);
  }

  async function onLearned(host: ActiveHost): Promise<void> {
    schedule.place(host);
    await releaseIfIdle(host);
    onChange();
  }

  function pause(delayMs: number): Promise<void> {
    if (isStopped) return Promise.resolve();
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

  /** Does something with the URL's host, which is kept meanwhile; again with another lease where this one was given back. */
  async function withHost<T>(
    url: string,
    work: (host: ActiveHost) => Promise<T | 'moved'>,
  ): Promise<T | Refused> {
    for (;;) {
      const host = await hold(url);
      if (host === null) return STOPPED;
      if (isPausedTooLong(host)) return passOver(host);
      host.users++;
      try {
        const answer = await work(host);
        if (answer !== 'moved') return answer;
      } finally {
        host.users--;
        await releaseIfIdle(host);
      }
    }
  }

  return {
    get size() {
      return hosts.size;
    },
    get isExchanging() {
      return exchanging > 0;
    },
    leaseMore,
    lookAgain,
    giveBackUnserved,
    wake(name) {
      const host = hosts.get(name);
      if (host === undefined) {
        mayHaveMore = true;
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
      const asked = learnRobots(host, origin).then(() => releaseIfIdle(host));
      asked.catch(onFailure);
    },
    ...questions,
    pause,
    close,
    isPausedTooLong,
    closePaused,
    releaseIfIdle,
    giveBack: (host) => giveBackAll([host]),
    all: () => hosts.values(),
    stop() {
      isStopped = true;
      for (const end of [...pauses]) end();
      for (const host of hosts.values()) {
        for (const errand of host.errands.splice(0)) errand.done(unaskedOutcome('aborted', null));
        for (const lookup of host.lookups.splice(0)) lookup.done(STOPPED);
      }
    },
    end() {
      keeper.stop();
      cancelSwap?.();
    },
    async releaseAll() {
      for (const host of hosts.values()) {
        await unclaimAll(host);
        await store.frontier.release(host.lease);
      }
      hosts.clear();
    },
  };
}
