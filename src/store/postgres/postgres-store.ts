/**
 * The store that many workers share: one PostgreSQL database. See store-port.ts for what it promises; the parts beside this
 * file each keep one of the promises. Every verb waits while the database is away, as long as patience lasts.
 */
import { sumiError } from '../../errors.ts';
import { PAGE_STATES, pageStateName } from '../../frontier/page-state.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { FrontierPort } from '../frontier-port.ts';
import type { HistoryPort } from '../history-port.ts';
import type { HostLease, HostPort, StoredRobots } from '../host-port.ts';
import { NO_RUN } from '../no-run.ts';
import type { ProjectPort } from '../project-port.ts';
import type { RunCounts, RunPort } from '../run-port.ts';
import type { SitemapPort } from '../sitemap-port.ts';
import type { Store } from '../store-port.ts';
import { buildIndex } from './build-index.ts';
import { closeHost, closeWaiting } from './closing.ts';
import { openCommitWindow } from './commit-window.ts';
import {
  connect,
  disconnect,
  isPooled,
  isTransient,
  postgresError,
  type Sql,
  storeLabel,
} from './connection.ts';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';
import { forget } from './forget.ts';
import { KnownUrls } from './known-urls.ts';
import { claim, lease, leaseHost, release, renew, unclaim } from './leases.ts';
import { gather, lowerDepths } from './offers.ts';
import { openForWriting } from './open-database.ts';
import { markOrphans } from './orphans.ts';
import { readPast } from './past-page.ts';
import { prepareGroup } from './prepare-group.ts';
import { readProjectSettings, saveProjectSettings } from './project-settings.ts';
import { createHeadReader } from './read-heads.ts';
import { readLedger } from './read-history.ts';
import { saveLook } from './reader-looks.ts';
import { reconsider, revise } from './reconsider.ts';
import { requeue } from './requeue.ts';
import { saveRevisits } from './revisits.ts';
import {
  beginRun,
  countQueued,
  countStates,
  decideMode,
  finishRun,
  isDone,
  joinRun,
  knowsNoMore,
  setPrepared,
} from './runs.ts';
import { saveDepths } from './save-depths.ts';
import { ask, createHostIds, holds, rememberRobots, type Session } from './session.ts';
import { log, settle } from './settle.ts';
import { readDiscovery, saveDiscovery, saveEntries } from './sitemap-entries.ts';
import { createIdentityBytes, createKeyedHasher, createUrlIdentity } from './url-identity.ts';
import { endWorker, heartbeat, reservePages, returnPages } from './workers.ts';
import { closeGroup, writeGroup } from './write-group.ts';
import { WORK_CHANNEL } from './write-rows.ts';

export interface PostgresStoreOptions {
  address: string;
  clock: Clock;
  /** Hears of an error that no call can answer for (a commit by the timer). */
  onFailure: (error: unknown) => void;
  /** How long a database that does not answer is waited for. */
  patienceMs: number;
  /** The time that rules; the database's, unless a test has its own. */
  readTime?: (sql: Sql) => Promise<number>;
}

export interface PostgresStore extends Store {
  /** Resolves when the commits that have begun are over. */
  rest(): Promise<void>;
}

/** Beside those for commit groups and new URLs: for questions, and for transactions of other kinds. */
const CONNECTIONS = 2;
/** A worker that is paused, or cut off, in the middle of a transaction must not hold up all others. */
const ABANDONED_AFTER_MS = 2000;
const GOOD_CLOCK_MS = 3;
const CLOCK_TRIES = 8;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { address, clock } = options;
  const worker = { applicationName: 'sumi', abandonedAfterMs: ABANDONED_AFTER_MS };
  const { sql, hashKey } = await openForWriting(address, { ...worker, max: CONNECTIONS });
  const [writer, maker] = [0, 1].map(() => connect(address, { ...worker, max: 1, findsByIndex: true }));
  const databaseClock = createDatabaseClock(clock);
  const attempt = createAttempts(sql, options, databaseClock);
  const session = openSession({ sql, writer, maker, attempt }, options, hashKey, databaseClock);
  const readTime = options.readTime ?? databaseTime;
  const setClock = async () => {
    const askedAt = clock.monotonic();
    return databaseClock.set(await attempt(readTime), askedAt);
  };
  // Workers hand hosts over by this time: what they differ in is taken from the delay.
  for (let tries = 1; (await setClock()) > GOOD_CLOCK_MS && tries < CLOCK_TRIES; tries++);
  // They connect while the run is being begun; what goes wrong is met by whoever asks first.
  for (const connection of [writer, maker]) ask(connection, 'SELECT 1').catch(() => {});
  let stopListening = async () => {};

  const frontier: FrontierPort = {
    async offer(candidates) {
      await setPrepared(session);
      const { group } = session.window;
      const targets = candidates.map((candidate) => gather(session, group, candidate, null, 0));
      for (const target of targets) if (target < 0) group.offered.add(~target);
      session.window.touch();
      await session.window.flush();
      return candidates.map(({ url }, i) => (targets[i] > 0 ? targets[i] : session.known.find(url)));
    },
    lease: (owner, count, now, leaseMs) => lease(session, owner, count, now, leaseMs),
    leaseHost: (owner, host, now, leaseMs) => leaseHost(session, owner, host, now, leaseMs),
    renew: (owner, leases, until) => renew(session, owner, leases, until),
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
      if (isPooled(address)) return;
      stopListening = listen(sql, WORK_CHANNEL, (runId) => {
        if (Number(runId) === session.runId) listener();
      });
    },
    waiting: () => session.waiting,
  };
  const run: RunPort = {
    finish: (status, now, error) => finishRun(session, status, now, error),
    isDone: () => isDone(session),
    knowsNoMore: () => knowsNoMore(session),
    reservePages: (count, limit) => reservePages(session, count, limit),
    returnPages: (count) => returnPages(session, count),
    async heartbeat(report) {
      await heartbeat(session, report);
      await setClock();
      session.waiting = await countQueued(session);
    },
    decideMode: (decision) => decideMode(session, decision),
    counts: () => counts(session),
  };
  const hosts: HostPort = {
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
  const sitemaps: SitemapPort = {
    saveEntries: (findings, now) => saveEntries(session, findings, now),
    discovery: (host) => readDiscovery(session, host),
    saveDiscovery: (host, found) => saveDiscovery(session, host, found),
  };
  const history: HistoryPort = {
    past: (pageId, withLinks = true) => readPast(session, pageId, withLinks),
    markOrphans: (since, now) => markOrphans(session, since, now),
  };
  const projects: ProjectPort = {
    settings: (project) => attempt((runner) => readProjectSettings(runner, project)),
    saveSettings: (project, settings) => saveProjectSettings(session, project, settings),
    revise: (request, judge) => revise(session, request, judge),
    saveDepths: (projectId, origins, batches) => saveDepths(session, projectId, origins, batches),
    saveRevisits: (...kept) => saveRevisits(session, ...kept),
    forget: (project, before) => forget(session, project, before),
    buildIndex: (project, kind) => buildIndex(session, project, kind),
    saveLook: (...kept) => saveLook(session, ...kept),
  };
  const isShared = true;
  const openSide = async () => (await import('./read-side.ts')).openPostgresReadSide(address);
  const openedRun = {
    ...{ clock: databaseClock, isShared, projects, openSide, frontier, run, hosts, sitemaps, history },
    flush: () => session.window.flush(),
    leave: () => session.window.flush(),
  };

  return {
    clock: databaseClock,
    isShared,
    projects,
    openSide,
    async begin(request) {
      return { ...openedRun, start: await beginRun(session, request) };
    },
    async join(runId, owner) {
      const joined = await joinRun(session, runId, owner);
      return joined === null ? null : { ...openedRun, ...joined };
    },
    async withoutRun() {
      return { ...openedRun, start: NO_RUN };
    },
    flush: () => session.window.flush(),
    rest: () => session.window.rest(),
    async close() {
      try {
        await session.window.flush();
        if (session.owner !== '') await endWorker(session);
      } finally {
        session.window.stop();
        await Promise.all([stopListening(), disconnect(writer), disconnect(maker)]);
        await disconnect(sql);
      }
    },
  };
}

function openSession(
  connections: Pick<Session, 'sql' | 'writer' | 'maker' | 'attempt'>,
  { address, onFailure }: PostgresStoreOptions,
  hashKey: string,
  clock: DatabaseClock,
): Session {
  const session: Session = {
    ...connections,
    isPooled: isPooled(address),
    clock,
    window: openCommitWindow(clock, {
      close: (group) => closeGroup(session, group),
      prepare: (group) => prepareGroup(session, group),
      write: (group) => writeGroup(session, group),
      onFailure,
    }),
    known: new KnownUrls(createKeyedHasher(hashKey)),
    identityOf: createUrlIdentity(hashKey),
    identityBytes: createIdentityBytes(hashKey),
    hosts: createHostIds(),
    held: new Map(),
    offsets: new WeakMap(),
    robots: new Map(),
    owner: '',
    projectId: 0,
    runId: 0,
    isFirstRun: false,
    waiting: 0,
    refilledAt: Number.NEGATIVE_INFINITY,
    mayLower: false,
    woken: new Set(),
    judgeLowered: () => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }),
    readHead: (hostId, wanted) => readHead(hostId, wanted),
  };
  const readHead = createHeadReader(session);
  return session;
}

async function databaseTime(sql: Sql): Promise<number> {
  const [{ now }] = await ask<{ now: number }>(
    sql,
    'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
  );
  return Number(now);
}

/** Tries again while the database is away. One failure that is not passing, or the end of patience, is final. */
function createAttempts(
  sql: Sql,
  { address, patienceMs }: PostgresStoreOptions,
  clock: Clock,
): Session['attempt'] {
  let failure: unknown = null;
  return async (work) => {
    const startedAt = clock.monotonic();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      if (failure !== null) throw failure;
      try {
        return await work(sql);
      } catch (error) {
        if (!isTransient(error)) {
          const told = postgresError(error, address);
          // What is no complaint of the database (a program's own judge that failed) leaves the store in order.
          if (told !== error) failure = told;
          throw told;
        }
        if (clock.monotonic() - startedAt >= patienceMs) {
          failure = sumiError(
            'store-away',
            { store: storeLabel(address), seconds: patienceMs / 1000 },
            error,
          );
          throw failure;
        }
      }
      await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
    }
  };
}

/** Answers how to stop it. A connection that is lost is made again by the client. */
function listen(sql: Sql, channel: string, listener: (payload: string) => void): () => Promise<void> {
  const listening = sql.listen(channel, listener, () => listener(''));
  // Without it a worker looks every second: nothing depends on it.
  listening.catch(() => {});
  return async () => {
    const meta = await listening.catch(() => null);
    await meta?.unlisten();
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

const COUNT_RUN = `
SELECT pages, requests, bytes, left_out AS "leftOut", COALESCE((SELECT avg(f.change_frequency) FROM url u
  JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id
  WHERE NOT $3 AND u.project_id = $2 AND (f.change IN ('changed', 'unchanged', 'gone') OR f.change_frequency > 0)), 0) AS "averageChangeFrequency"
FROM run WHERE id = $1`;

async function counts(session: Session): Promise<RunCounts> {
  // Pages in flight are told with a group.
  if ([...session.held.values()].some(({ inFlight }) => inFlight.size > 0)) session.window.touch();
  await session.window.flush();
  const { runId, projectId, isFirstRun } = session;
  const [states, [run], ledger] = await session.attempt((sql) =>
    Promise.all([
      countStates(sql, projectId),
      ask<Pick<RunCounts, 'pages' | 'requests' | 'bytes' | 'leftOut' | 'averageChangeFrequency'>>(
        sql,
        COUNT_RUN,
        [runId, projectId, isFirstRun],
      ),
      readLedger(sql, runId),
    ]),
  );
  const byState: Record<string, number> = {};
  let known = 0;
  for (const { state, n } of states) {
    byState[pageStateName(state)] = n;
    known += n;
  }
  const waiting = (byState.Queued ?? 0) + (byState.Fetching ?? 0);
  return { byState, waiting, known, ledger, ...run };
}
