/**
 * One run's session on the opened database: a worker of its own, with its own connections for writing, its own commit
 * groups and leases. See store-port.ts for what its ports promise.
 */
import { sumiError } from '../../errors.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { FrontierPort } from '../frontier-port.ts';
import type { HistoryPort } from '../history-port.ts';
import type { HostLease, HostPort, StoredRobots } from '../host-port.ts';
import type { RunPort, RunStart } from '../run-port.ts';
import type { SitemapPort } from '../sitemap-port.ts';
import type { RunStore } from '../store-port.ts';
import { type Attempts, createAttempts, untilEnded } from './attempts.ts';
import { closeHost, closeWaiting } from './closing.ts';
import { openCommitWindow } from './commit-window.ts';
import { connect, disconnect, type Sql } from './connection.ts';
import { KnownUrls } from './known-urls.ts';
import { claim, lease, leaseHost, release, renew, unclaim } from './leases.ts';
import { gather, lowerDepths } from './offers.ts';
import { markOrphans } from './orphans.ts';
import { readPast } from './past-page.ts';
import { prepareGroup } from './prepare-group.ts';
import { createHeadReader } from './read-heads.ts';
import { reconsider } from './reconsider.ts';
import { requeue } from './requeue.ts';
import type { RunChannel } from './run-channel.ts';
import { counts } from './run-counts.ts';
import { countQueued, decideMode, enter, finishRun, isDone, knowsNoMore, setPrepared } from './runs.ts';
import { ask, holds, type OpenDatabase, rememberRobots, type Session } from './session.ts';
import { log, settle } from './settle.ts';
import { type PostgresStoreOptions, WORKER } from './shared-database.ts';
import { readDiscovery, saveDiscovery, saveEntries } from './sitemap-entries.ts';
import { createKeyedHasher } from './url-identity.ts';
import { endWorker, heartbeat, reservePages, returnPages } from './workers.ts';
import { closeGroup, writeGroup } from './write-group.ts';

/** The connections of a session to be, on their way while its run is being begun. */
export interface SessionConnections {
  readonly writer: Sql;
  readonly maker: Sql;
}

export function connectSession(address: string): SessionConnections {
  const [writer, maker] = [0, 1].map(() => connect(address, { ...WORKER, max: 1, findsByIndex: true }));
  // What goes wrong is met by whoever asks first.
  for (const connection of [writer, maker]) ask(connection, 'SELECT 1').catch(() => {});
  return { writer, maker };
}

export async function disconnectSession({ writer, maker }: SessionConnections): Promise<void> {
  await Promise.all([disconnect(writer), disconnect(maker)]);
}

export type SessionPorts = Pick<
  RunStore,
  'frontier' | 'run' | 'hosts' | 'sitemaps' | 'history' | 'flush' | 'leave'
>;

export interface SessionSurroundings {
  database: OpenDatabase;
  channel: RunChannel;
  options: PostgresStoreOptions;
}

export async function openSession(
  { database, channel, options }: SessionSurroundings,
  connections: SessionConnections,
  owner: string,
  start: RunStart,
): Promise<SessionPorts> {
  const { sql, address, clock, live } = database;
  const attempts = createAttempts({ sql, address, patienceMs: options.patienceMs, clock });
  const leasing = new Set<Promise<unknown>>();
  const session = newSession(database, connections, attempts, {
    ...{ owner, projectId: start.projectId, runId: start.runId },
    onFailure: options.onFailure,
  });
  session.end = async (answer) => {
    if (!live.delete(session)) return;
    attempts.refuse(answer);
    try {
      // A lease that is on its way would be nobody's.
      await Promise.allSettled(leasing);
      if (attempts.failure === null) await giveBack(session);
    } finally {
      attempts.end(answer);
      session.window.stop();
      session.known.clear();
      await disconnectSession(connections);
    }
  };
  live.add(session);
  try {
    if (start.runId !== 0) await enter(session, start);
  } catch (error) {
    await session.end(error);
    throw error;
  }
  const ended = sumiError('session-ended', { run: session.runId });
  return {
    // A figure for who looks at the run, also when it is over.
    frontier: {
      ...untilEnded(frontierOf(session, channel, leasing), attempts),
      waiting: () => session.waiting,
    },
    run: untilEnded(runOf(session, database), attempts),
    hosts: untilEnded(hostsOf(session), attempts),
    sitemaps: untilEnded(sitemapsOf(session), attempts),
    history: untilEnded(historyOf(session), attempts),
    ...untilEnded({ flush: () => session.window.flush() }, attempts),
    leave: () => session.end(ended),
  };
}

/** Everything that it holds: pages in flight wait again, hosts are free, and the worker is no more. */
async function giveBack(session: Session): Promise<void> {
  for (const { lease, inFlight } of [...session.held.values()]) {
    for (const pageId of inFlight.keys()) session.window.group.unclaimed.push({ pageId, lease });
    inFlight.clear();
    release(session, lease);
  }
  await session.window.flush();
  await endWorker(session);
}

interface SessionOf {
  owner: string;
  projectId: number;
  runId: number;
  onFailure: (error: unknown) => void;
}

function newSession(
  database: OpenDatabase,
  connections: SessionConnections,
  { attempt }: Attempts,
  { onFailure, ...run }: SessionOf,
): Session {
  const { label, sql, isPooled, clock, identityOf, identityBytes, hosts, hashKey } = database;
  const session: Session = {
    ...{ label, sql, isPooled, clock, identityOf, identityBytes, hosts },
    ...connections,
    ...run,
    attempt,
    window: openCommitWindow(clock, {
      close: (group) => closeGroup(session, group),
      prepare: (group) => prepareGroup(session, group),
      write: (group) => writeGroup(session, group),
      onFailure,
    }),
    known: new KnownUrls(createKeyedHasher(hashKey)),
    held: new Map(),
    offsets: new WeakMap(),
    robots: new Map(),
    isFirstRun: false,
    waiting: 0,
    refilledAt: Number.NEGATIVE_INFINITY,
    mayLower: false,
    confirmedGroup: 0,
    woken: new Set(),
    judgeLowered: () => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }),
    readHead: (hostId, wanted) => readHead(hostId, wanted),
    hearWork() {},
    async end() {},
  };
  const readHead = createHeadReader(session);
  return session;
}

/** `leasing`: the leases that are on their way. */
function frontierOf(
  session: Session,
  channel: RunChannel,
  leasing: Set<Promise<unknown>>,
): Omit<FrontierPort, 'waiting'> {
  async function noted<T>(asked: Promise<T>): Promise<T> {
    leasing.add(asked);
    try {
      return await asked;
    } finally {
      leasing.delete(asked);
    }
  }
  return {
    async offer(candidates) {
      await setPrepared(session);
      const { group } = session.window;
      const targets = candidates.map((candidate) => gather(session, group, candidate, null, 0));
      for (const target of targets) if (target < 0) group.offered.add(~target);
      session.window.touch();
      await session.window.flush();
      return candidates.map(({ url }, i) => (targets[i] > 0 ? targets[i] : session.known.find(url)));
    },
    lease: (count, now, leaseMs) => noted(lease(session, count, now, leaseMs)),
    leaseHost: (host, now, leaseMs) => noted(leaseHost(session, host, now, leaseMs)),
    renew: (leases, until) => renew(session, leases, until),
    claim: (held, count, now) => claim(session, held, count, now),
    settle: (held, settlement) => settle(session, held, settlement),
    unclaim: async (held, claims) => unclaim(session, held, claims),
    release: async (held) => release(session, held),
    closeHost: (held, state, reason, marksKnown) => closeHost(session, held, state, reason, marksKnown),
    closeWaiting: (state, reason) => closeWaiting(session, state, reason),
    requeue: (pageIds, priority) => requeue(session, pageIds, priority),
    reconsider: (judge) => reconsider(session, judge),
    onLowered(judge) {
      session.judgeLowered = judge;
    },
    lowerDepths: (budget) => lowerDepths(session, budget),
    onWork(listener) {
      session.hearWork = listener;
      channel.listen();
    },
  };
}

function runOf(session: Session, database: OpenDatabase): RunPort {
  return {
    finish: (status, now, error) => finishRun(session, status, now, error),
    isDone: () => isDone(session),
    knowsNoMore: () => knowsNoMore(session),
    reservePages: (count, limit) => reservePages(session, count, limit),
    returnPages: (count) => returnPages(session, count),
    async heartbeat(report) {
      await heartbeat(session, report);
      await database.setClock();
      session.waiting = await countQueued(session);
    },
    decideMode: (decision) => decideMode(session, decision),
    counts: () => counts(session),
  };
}

function hostsOf(session: Session): HostPort {
  return {
    log: (entry) => log(session, entry),
    robots: (origin, lease) => readRobots(session, origin, lease),
    async saveRobots(hostId, robots) {
      rememberRobots(session, robots);
      session.window.group.robots.push({ hostId, robots });
      session.window.touch();
      // A delay that a crash could forget would be broken by whoever goes on.
      if (robots.delaySeconds !== null) await session.window.flush();
    },
  };
}

function sitemapsOf(session: Session): SitemapPort {
  return {
    saveEntries: (findings, now) => saveEntries(session, findings, now),
    discovery: (host) => readDiscovery(session, host),
    saveDiscovery: (host, found) => saveDiscovery(session, host, found),
  };
}

function historyOf(session: Session): HistoryPort {
  return {
    past: (pageId, withLinks = true) => readPast(session, pageId, withLinks),
    markOrphans: (since, now) => markOrphans(session, since, now),
  };
}

async function readRobots(session: Session, origin: string, lease?: HostLease): Promise<StoredRobots | null> {
  const known = session.robots.get(origin);
  if (known !== undefined) return known;
  const holding = lease === undefined ? null : holds(session, lease);
  if (holding !== null) return holding.robots.find((stored) => stored.origin === origin) ?? null;
  const [found] = await session.attempt((sql) =>
    ask<StoredRobots>(
      sql,
      `SELECT origin, status, body, fetched_at AS "fetchedAt", expires_at AS "expiresAt", delay_seconds AS "delaySeconds"
       FROM robots_txt WHERE origin = $1`,
      [origin],
    ),
  );
  return found ?? null;
}
