/**
 * The leased hosts: takes leases from the store while there is room, opens each host's robots.txt gate, runs errands
 * and lookups on any host's next slot, gives leases back. The loop asks it for nothing but "is there more?".
 */
import type { Outcome } from '../fetch/fetcher.ts';
import type { HostSchedule } from '../frontier/host-schedule.ts';
import { PAGE_STATES, type PageState, pageStateName } from '../frontier/page-state.ts';
import { HostPace } from '../politeness/host-pace.ts';
import { openRobotsGate, type RobotsAnswer } from '../politeness/robots-gate.ts';
import { parseRobotsTxt, type RobotsRules, rulesFor } from '../politeness/robots-txt.ts';
import type { HostLease } from '../store/port.ts';
import { ActiveHost, type LookupRequest, type PageTurn } from './active-host.ts';
import { keepLeases } from './keep-leases.ts';
import type { CrawlParts } from './parts.ts';

const LEASES_AT_ONCE = 256;
/** Pages set aside for a robots.txt on its way; with more the host waits as a whole. */
const MAX_PARKED = 16;
/** Timers that run so late are those of a process with more work than its processor can do. */
const BUSY_LAG_MS = 25;
/** A host that somebody else has is asked for again so soon, and then ever less often up to once a second. */
const FIRST_LEASE_PAUSE_MS = 20;
/** Hosts change places with those in the store at most so often. */
const SWAP_EVERY_MS = 1_000;

export interface HostDesk {
  readonly size: number;
  /** A lease is on its way back; what was queued for its host meanwhile can only be leased after that. */
  readonly isReleasing: boolean;
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
  /** What the robots.txt of the URL's origin says. */
  rulesOf(url: string): Promise<RobotsRules | Refused>;
  /** Asks for a sitemap on a slot of its host, wherever that host is now, if its robots.txt lets us. */
  lookUp(request: LookupRequest): Promise<Outcome | Refused>;
  /** Whether anybody answers at the URL's origin; asked once, for robots.txt or, where that is not asked for, by HEAD. */
  answers(url: string): Promise<boolean>;
  /** Ends at once when the desk is stopped. */
  pause(delayMs: number): Promise<void>;
  close(host: ActiveHost, state: PageState, reason: string): Promise<void>;
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

export interface Refused {
  refused: string;
  /** Another time there may be an answer. */
  mayPass?: boolean;
}

export interface DeskSurroundings {
  schedule: HostSchedule<ActiveHost>;
  /** No page may be asked of this host now. */
  isOutOfBudget: (hostId: number) => boolean;
  /** Something may be possible that was not. */
  onChange: () => void;
  /** A host was lost: this worker was away for longer than others wait. */
  onLost: () => void;
  onFailure: (error: unknown) => void;
}

const STOPPED: Refused = { refused: 'stopped' };
/** Of whoever asks for no robots.txt. */
const NO_RULES = rulesFor(parseRobotsTxt(''), '');

export function createHostDesk(parts: CrawlParts, around: DeskSurroundings): HostDesk {
  const { schedule, isOutOfBudget, onChange, onFailure } = around;
  const { store, clock, owner, policy, report } = parts;
  const { leaseMs, maxHosts } = parts.limits;
  const hosts = new Map<string, ActiveHost>();
  const pauses = new Set<() => void>();
  let mayHaveMore = true;
  let isStopped = false;
  let releasing = 0;
  let cancelSwap: (() => void) | null = null;
  const keeper = keepLeases({
    store,
    clock,
    owner,
    leaseMs,
    hosts: () => hosts.values(),
    onGood(host) {
      host.isLapsed = false;
      schedule.place(host);
      onChange();
    },
    onLost: leave,
    onFailure,
  });

  function activate(lease: HostLease): ActiveHost {
    const isDoubted = parts.room?.isSilent?.(lease.hostId) === true;
    const options = isDoubted ? { ...parts.pace, isDoubted } : parts.pace;
    const pace = new HostPace(lease.host, lease.state, options, clock, lease.takenOver);
    const host = new ActiveHost(lease, pace, () => isOutOfBudget(lease.hostId));
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
    for (const errand of host.errands.splice(0)) errand.done(abortedOutcome());
    for (const lookup of host.lookups.splice(0)) lookup.done('moved');
    report.host({
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
    if (!mayHaveMore || isStopped || isTooBusy()) return false;
    // Some may have become ready while the store was asked for something else: their requests are free for a moment only.
    const left = store.isShared ? free - schedule.ready : free;
    if (left <= 0) return false;
    mayHaveMore = false;
    if (hosts.size >= maxHosts && cancelSwap === null) await giveBackFurthest();
    const count = Math.min(leasesWanted(left), maxHosts - hosts.size);
    if (count <= 0) return false;
    const leases = await store.lease(owner, count, clock.now(), leaseMs);
    if (leases.length > 0) mayHaveMore = true;
    for (const lease of leases) {
      const host = activate(lease);
      if (lease.closed === null) schedule.place(host);
      else await close(host, pageStateName(lease.closed.state), lease.closed.reason);
    }
    return leases.length > 0;
  }

  /** Hosts that this process would only serve late are left to others; the next look tells whether any want them. */
  function isTooBusy(): boolean {
    return store.isShared && hosts.size > 0 && parts.lag.lagMs > BUSY_LAG_MS;
  }

  /** Where others are at work, no more than can be asked at once: what we hold is lost to them. */
  function leasesWanted(free: number): number {
    if (!store.isShared) return LEASES_AT_ONCE;
    const { delayMs, perHost } = parts.pace;
    return Math.min(LEASES_AT_ONCE, Math.max(1, delayMs > 0 ? free : Math.ceil(free / perHost)));
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
    if (claims.length > 0) await store.unclaim(host.lease, claims);
  }

  async function close(host: ActiveHost, state: PageState, reason: string): Promise<void> {
    await unclaimAll(host);
    const closed = await store.closeHost(host.lease, PAGE_STATES[state], reason);
    report.host({
      host: host.lease.host,
      what: 'closed',
      detail: `${reason} (${closed} pages)`,
      until: null,
    });
    host.isDrained = true;
    await releaseIfIdle(host);
  }

  async function releaseIfIdle(host: ActiveHost): Promise<void> {
    if (!host.isIdle || host.place !== 'out' || hosts.get(host.lease.host) !== host) return;
    await giveBack(host);
  }

  async function giveBack(host: ActiveHost): Promise<void> {
    hosts.delete(host.lease.host);
    parts.fetcher.forgetHost(host.lease.host);
    releasing++;
    await unclaimAll(host);
    await store.release(host.lease);
    releasing--;
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
      const lease = await store.leaseHost(owner, name, clock.now(), leaseMs);
      if (lease !== null) return hosts.get(name) ?? activate(lease);
      // Refused because the loop took it meanwhile: then it is ours.
      if (!hosts.has(name)) await pause(pauseMs);
    }
  }

  /** A request on the next slot of the URL's host, whoever's page asked for it. */
  async function runErrand(url: string, maxBytes: number): Promise<Outcome> {
    const target = await hold(url);
    if (target === null) return abortedOutcome();
    return new Promise((done) => {
      target.errands.push({ url, maxBytes, done });
      schedule.place(target);
      onChange();
    });
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

  /** One question at a time for each origin, whoever wants to know. */
  function learnRobots(host: ActiveHost, origin: string, isFirstTry = false): Promise<RobotsAnswer> {
    let asking = host.gates.get(origin);
    if (asking === undefined) {
      asking = askRobots(host, origin, isFirstTry).finally(() => host.gates.delete(origin));
      host.gates.set(origin, asking);
    }
    return asking;
  }

  async function askRobots(host: ActiveHost, origin: string, isFirstTry: boolean): Promise<RobotsAnswer> {
    const { robots, retry, retryRefused } = policy;
    const answer = await openRobotsGate(origin, {
      productToken: robots!.productToken,
      whenUnreachable: robots!.whenUnreachable,
      retries: isFirstTry || host.pace.isDoubted ? 0 : robots!.retries,
      connectRetries: retry.retries,
      refusedRetries: retryRefused ? retry.retries : 0,
      ttlMs: robots!.ttlMs,
      clock,
      load: (key) => store.robots(key, host.lease),
      save: (stored) => store.saveRobots(host.lease.hostId, stored),
      ask: runErrand,
      pause,
    });
    host.isGated = false;
    host.turns.unshift(...host.parked.splice(0));
    if ('rules' in answer) {
      host.robots.set(origin, answer);
      host.pace.setRobotsDelay(longestDelay(host));
    } else if ('unreachable' in answer && !isFirstTry) {
      // Only this origin: another port of the host may be well.
      const unreachable = `robots: unreachable ${answer.unreachable}`;
      if (answer.failure === null) report.counters.answers++;
      host.robots.set(origin, { unreachable });
      report.host({ host: host.lease.host, what: 'robots', detail: `${origin} ${unreachable}`, until: null });
    }
    schedule.place(host);
    await releaseIfIdle(host);
    onChange();
    return answer;
  }

  /** Does something with the URL's host, which is kept meanwhile; again with another lease where this one was given back. */
  async function withHost<T>(
    url: string,
    work: (host: ActiveHost) => Promise<T | 'moved'>,
  ): Promise<T | Refused> {
    for (;;) {
      const host = await hold(url);
      if (host === null) return STOPPED;
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

  async function rulesOn(host: ActiveHost, url: string): Promise<RobotsRules | Refused | 'moved'> {
    if (policy.robots === null) return NO_RULES;
    const { origin } = new URL(url);
    const known = host.robots.get(origin);
    if (known !== undefined && 'unreachable' in known) return { refused: known.unreachable, mayPass: true };
    if (known !== undefined && known.expiresAt > clock.now()) return known.rules;
    const answer = await learnRobots(host, origin);
    if ('rules' in answer) return answer.rules;
    return 'unreachable' in answer
      ? { refused: `robots: unreachable ${answer.unreachable}`, mayPass: true }
      : 'moved';
  }

  const rulesOf = (url: string): Promise<RobotsRules | Refused> =>
    withHost(url, (host) => rulesOn(host, url));

  const lookUp = (request: LookupRequest): Promise<Outcome | Refused> =>
    withHost<Outcome | Refused>(request.url, async (host) => {
      const rules = await rulesOn(host, request.url);
      if (rules === 'moved' || 'refused' in rules) return rules;
      const { allowed, rule } = rules.decide(request.url);
      if (!allowed) return { refused: `robots: ${rule}` };
      if (isStopped || hosts.get(host.lease.host) !== host) return 'moved';
      return new Promise((done) => {
        host.lookups.push({ ...request, done });
        schedule.place(host);
        onChange();
      });
    });

  async function answers(url: string): Promise<boolean> {
    if (policy.robots === null) {
      const outcome = await lookUp({ url, haste: 'now', maxBytes: 0, method: 'HEAD' });
      // Stopped, nobody asks any more.
      return 'refused' in outcome || outcome.head !== null;
    }
    const { origin } = new URL(url);
    const answer = await withHost(url, (host) => learnRobots(host, origin, true));
    return !('unreachable' in answer) || answer.failure === null;
  }

  return {
    get size() {
      return hosts.size;
    },
    get isReleasing() {
      return releasing > 0;
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
      if (!host.gates.has(origin)) learnRobots(host, origin).catch(onFailure);
    },
    rulesOf,
    lookUp,
    answers,
    pause,
    close,
    releaseIfIdle,
    giveBack: (host) => giveBackAll([host]),
    all: () => hosts.values(),
    stop() {
      isStopped = true;
      for (const end of [...pauses]) end();
      for (const host of hosts.values()) {
        for (const errand of host.errands.splice(0)) errand.done(abortedOutcome());
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
        await store.release(host.lease);
      }
      hosts.clear();
    },
  };
}

/** Ports of a host share its clock: the most patient robots.txt decides. */
function longestDelay(host: ActiveHost): number | null {
  let seconds: number | null = null;
  for (const robots of host.robots.values()) {
    const own = 'rules' in robots ? robots.rules.delaySeconds : null;
    if (own !== null && own > (seconds ?? 0)) seconds = own;
  }
  return seconds;
}

function abortedOutcome(): Outcome {
  return {
    head: null,
    body: null,
    bodyRefused: false,
    failure: 'aborted',
    message: null,
    sentAt: null,
    responseMs: null,
    wireBytes: 0,
  };
}
