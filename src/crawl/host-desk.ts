/**
 * The leased hosts: takes leases from the store while there is room, opens each host's robots.txt gate, runs errands
 * on any host's next slot, gives leases back. The loop asks it for nothing but "is there more?".
 */
import type { Outcome } from '../fetch/fetcher.ts';
import type { HostSchedule } from '../frontier/host-schedule.ts';
import { PAGE_STATES, type PageState, pageStateName } from '../frontier/page-state.ts';
import { HostPace } from '../politeness/host-pace.ts';
import { openRobotsGate } from '../politeness/robots-gate.ts';
import type { HostLease } from '../store/port.ts';
import { ActiveHost, type PageTurn } from './active-host.ts';
import type { CrawlParts } from './parts.ts';

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;
/** The clock of whoever judges the lease may differ from ours by so much. */
const LEASE_MARGIN_MS = 2_000;
const LEASES_AT_ONCE = 256;
/** Pages set aside for a robots.txt on its way; with more the host waits as a whole. */
const MAX_PARKED = 16;

export interface HostDesk {
  readonly size: number;
  /** A lease is on its way back; what was queued for its host meanwhile can only be leased after that. */
  readonly isReleasing: boolean;
  /** Leases hosts with pages waiting; false when there are none to have. */
  leaseMore(): Promise<boolean>;
  /** Pages were queued for a host. */
  wake(host: string): void;
  /** Gets the host's robots.txt; pages wait until it is here. */
  openGate(host: ActiveHost, turn: PageTurn, origin: string): void;
  close(host: ActiveHost, state: PageState, reason: string): Promise<void>;
  releaseIfIdle(host: ActiveHost): Promise<void>;
  all(): Iterable<ActiveHost>;
  /** Lets waiting robots.txt questions end and stops renewing. */
  stop(): void;
  releaseAll(): Promise<void>;
}

export function createHostDesk(
  parts: CrawlParts,
  schedule: HostSchedule<ActiveHost>,
  isOutOfBudget: () => boolean,
  onChange: () => void,
  onFailure: (error: unknown) => void,
): HostDesk {
  const { store, clock, owner, policy, report } = parts;
  const hosts = new Map<string, ActiveHost>();
  const pauses = new Set<() => void>();
  let mayHaveMore = true;
  let isStopped = false;
  let releasing = 0;
  let cancelRenewal = scheduleRenewal();

  function scheduleRenewal(): () => void {
    return clock.after(RENEW_EVERY_MS, () => {
      renew().catch(onFailure);
      if (!isStopped) cancelRenewal = scheduleRenewal();
    });
  }

  async function renew(): Promise<void> {
    const held = [...hosts.values()];
    const askedAt = clock.monotonic();
    const until = clock.now() + LEASE_MS;
    await store.renew(
      owner,
      held.map(({ lease }) => lease),
      until,
    );
    for (const host of held)
      if (host.lease.until === until) host.leaseEnds = askedAt + LEASE_MS - LEASE_MARGIN_MS;
  }

  function activate(lease: HostLease): ActiveHost {
    const pace = new HostPace(lease.host, lease.state, parts.pace, clock, lease.takenOver);
    const host = new ActiveHost(lease, pace, isOutOfBudget);
    host.leaseEnds = clock.monotonic() + LEASE_MS - LEASE_MARGIN_MS;
    hosts.set(lease.host, host);
    return host;
  }

  async function leaseMore(): Promise<boolean> {
    if (!mayHaveMore || isStopped) return false;
    mayHaveMore = false;
    const { maxHosts } = parts.limits;
    if (hosts.size >= maxHosts) await giveBackFurthest();
    const count = Math.min(LEASES_AT_ONCE, maxHosts - hosts.size);
    if (count <= 0) return false;
    const leases = await store.lease(owner, count, clock.now(), LEASE_MS);
    if (leases.length > 0) mayHaveMore = true;
    for (const lease of leases) {
      const host = activate(lease);
      if (lease.closed === null) schedule.place(host);
      else await close(host, pageStateName(lease.closed.state), lease.closed.reason);
    }
    return leases.length > 0;
  }

  /** Room for hosts that may ask sooner: those that must wait longest, and have nothing open, go back to the store. */
  async function giveBackFurthest(): Promise<void> {
    const resting = [...hosts.values()].filter((host) => host.place === 'heap' && host.isResting);
    resting.sort((a, b) => b.readyAt() - a.readyAt());
    for (const host of resting.slice(0, LEASES_AT_ONCE)) {
      schedule.remove(host);
      await giveBack(host);
    }
  }

  async function close(host: ActiveHost, state: PageState, reason: string): Promise<void> {
    const waiting = [...host.parked.splice(0), ...host.turns.splice(0)];
    if (waiting.length > 0)
      await store.unclaim(
        host.lease,
        waiting.map(({ claim }) => claim),
      );
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
    if (host.turns.length > 0)
      await store.unclaim(
        host.lease,
        host.turns.splice(0).map(({ claim }) => claim),
      );
    await store.release(host.lease);
    releasing--;
    // Pages may have been queued while the lease was on its way back.
    mayHaveMore = true;
    onChange();
  }

  /** A request on the next slot of the URL's host, whoever's page asked for it. */
  async function runErrand(url: string, maxBytes: number): Promise<Outcome> {
    const name = parts.normalizer.normalize(url)?.host ?? new URL(url).hostname;
    let host = hosts.get(name);
    while (host === undefined) {
      if (isStopped) return abortedOutcome(clock.now());
      const lease = await store.leaseHost(owner, name, clock.now(), LEASE_MS);
      if (lease === null) await pause(1000);
      else host = hosts.get(name) ?? activate(lease);
    }
    const target = host;
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

  async function askRobots(host: ActiveHost, origin: string): Promise<void> {
    const { robots, retry, retryRefused } = policy;
    const answer = await openRobotsGate(origin, {
      productToken: robots!.productToken,
      whenUnreachable: robots!.whenUnreachable,
      retries: robots!.retries,
      connectRetries: retryRefused ? retry.retries : 0,
      ttlMs: robots!.ttlMs,
      clock,
      load: (key) => store.robots(key),
      save: (stored) => store.saveRobots(host.lease.hostId, stored),
      ask: runErrand,
      pause,
    });
    host.isWaiting = false;
    host.turns.unshift(...host.parked.splice(0));
    if ('rules' in answer) {
      host.robots.set(origin, answer);
      host.pace.setRobotsDelay(longestDelay(host));
    } else if ('unreachable' in answer) {
      // Only this origin: another port of the host may be well.
      const unreachable = `robots: unreachable ${answer.unreachable}`;
      if (answer.failure === null) report.counters.answers++;
      host.robots.set(origin, { unreachable });
      report.host({ host: host.lease.host, what: 'robots', detail: `${origin} ${unreachable}`, until: null });
    }
    schedule.place(host);
    await releaseIfIdle(host);
    onChange();
  }

  return {
    get size() {
      return hosts.size;
    },
    get isReleasing() {
      return releasing > 0;
    },
    leaseMore,
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
      host.isWaiting = host.robots.size === 0 || host.parked.length >= MAX_PARKED;
      if (host.gates.has(origin)) return;
      host.gates.add(origin);
      askRobots(host, origin)
        .finally(() => host.gates.delete(origin))
        .catch(onFailure);
    },
    close,
    releaseIfIdle,
    all: () => hosts.values(),
    stop() {
      isStopped = true;
      cancelRenewal();
      for (const end of [...pauses]) end();
      for (const host of hosts.values()) {
        for (const errand of host.errands.splice(0)) errand.done(abortedOutcome(clock.now()));
      }
    },
    async releaseAll() {
      for (const host of hosts.values()) {
        const waiting = [...host.parked, ...host.turns];
        if (waiting.length > 0)
          await store.unclaim(
            host.lease,
            waiting.map(({ claim }) => claim),
          );
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

function abortedOutcome(now: number): Outcome {
  return {
    head: null,
    body: null,
    bodyRefused: false,
    failure: 'aborted',
    message: null,
    sentAt: null,
    endedAt: now,
    responseMs: null,
    wireBytes: 0,
  };
}
