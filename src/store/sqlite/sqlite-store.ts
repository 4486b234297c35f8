/**
 * The store on one machine: one SQLite file, written by the thread that settles. See store-port.ts for what it promises;
 * the parts beside this file each keep one of the promises.
 */
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { REDIRECT_PRIORITY } from '../../frontier/candidate.ts';
import { PAGE_STATES, pageStateName } from '../../frontier/page-state.ts';
import type { Clock } from '../../primitives/clock.ts';
import { createUrlHasher, type UrlHasher } from '../../primitives/url-hash.ts';
import type { FrontierPort } from '../frontier-port.ts';
import type { HistoryPort } from '../history-port.ts';
import type { HostLease, HostPort, StoredRobots } from '../host-port.ts';
import { NO_RUN } from '../no-run.ts';
import type { ProjectPort } from '../project-port.ts';
import type { ModeDecision, RunCounts, RunPort, RunRequest } from '../run-port.ts';
import type { SitemapPort } from '../sitemap-port.ts';
import type { JoinedRun, RunStore, Store } from '../store-port.ts';
import { buildIndex } from './build-index.ts';
import { createClosing } from './closing.ts';
import { openCommitWindow } from './commit-window.ts';
import Sqlite from './driver.ts';
import { forget } from './forget.ts';
import { KnownUrls } from './known-urls.ts';
import { createLeases } from './leases.ts';
import { createOffers } from './offers.ts';
import { openForWriting, storeError } from './open-database.ts';
import { keepGone, markOrphans } from './orphans.ts';
import { createPastReader } from './past-page.ts';
import { readSettings, saveSettings } from './project-settings.ts';
import { readLedger } from './read-history.ts';
import { saveLook } from './reader-looks.ts';
import { reconsider } from './reconsider.ts';
import { createRedirects } from './redirects.ts';
import { createRequeue } from './requeue.ts';
import { saveRevisits } from './revisits.ts';
import { beginRun, joinRun, leaveOpen, loadKnownUrls, openRun, setPrepared } from './runs.ts';
import { saveDepths } from './save-depths.ts';
import { createHostIds, type FailureGuard, type Session } from './session.ts';
import { createSettling } from './settle.ts';
import { createSitemaps } from './sitemap-entries.ts';
import { createWaitingPages } from './waiting-pages.ts';

export interface SqliteStoreOptions {
  path: string;
  clock: Clock;
  /** Hears of an error that no call can answer for (a commit by the timer). */
  onFailure: (error: unknown) => void;
  /** What pages of the file may take in memory; as much as a crawl needs unless said. */
  cacheKib?: number;
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path } = options;
  const db = openForWriting(path, options.cacheKib);
  const hasher = createUrlHasher(secretKey(db));
  const guard = createFailureGuard(db, path);
  const session = openSession(db, hasher, options, guard);
  const waiting = createWaitingPages(session);
  const offers = createOffers(session, waiting);
  session.gathered.push(offers.flush, () => waiting.flush());
  const redirects = createRedirects(db, (hostId, pageId) => waiting.add(hostId, REDIRECT_PRIORITY, pageId));
  const leases = createLeases(session, waiting, offers.flush);
  const closing = createClosing(session, waiting, offers.flush, leases.isHeld, redirects.settled);
  const settling = createSettling(session, waiting, offers, redirects, leases.isHeld);
  const requeue = createRequeue(session, waiting, offers.flush);
  const sitemaps = createSitemaps(session, offers);
  const past = createPastReader(db);
  const readMode = db.prepare(
    'SELECT mode, mode_reason AS reason FROM run WHERE id = ? AND mode IS NOT NULL',
  );
  const setMode = db.prepare('UPDATE run SET mode = ?, mode_reason = ? WHERE id = ? AND mode IS NULL');
  const readRobots = db.prepare(
    `SELECT origin, status, body, fetched_at AS fetchedAt, expires_at AS expiresAt, delay_seconds AS delaySeconds
     FROM robots_txt WHERE origin = ?`,
  );
  const isBusy = db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM url WHERE project_id = @project AND state IN (1, 2)) OR EXISTS
         (SELECT 1 FROM lowering l JOIN url u ON u.id = l.page_id WHERE u.project_id = @project)`,
    )
    .pluck();
  const runTotals = db.prepare('SELECT pages, requests, bytes, left_out AS leftOut FROM run WHERE id = ?');
  const totals = (): RunTotals => {
    const stored = runTotals.get(session.runId) as RunTotals | undefined;
    const { pages, requests, bytes } = session.runDelta;
    return {
      pages: (stored?.pages ?? 0) + pages,
      requests: (stored?.requests ?? 0) + requests,
      bytes: (stored?.bytes ?? 0) + bytes,
      leftOut: stored?.leftOut ?? 0,
    };
  };
  const openProject = () => {
    offers.begin();
    loadKnownUrls(db, session.projectId, session.known);
    session.waiting = countWaiting(db, session.projectId);
  };
  const writeRobots = db.prepare('INSERT OR REPLACE INTO robots_txt VALUES (?, ?, ?, ?, ?, ?, ?)');
  const perPage = { claim: leases.claim, settle: settling.settle };
  const frontier: Omit<FrontierPort, keyof typeof perPage> = {
    async offer(candidates) {
      setPrepared(session);
      const ids = offers.offerAll(candidates, null);
      session.window.count();
      return ids;
    },
    lease: async (owner, count, now, leaseMs) => leases.lease(owner, count, now, leaseMs),
    leaseHost: async (owner, host, now, leaseMs) => leases.leaseHost(owner, host, now, leaseMs),
    renew: async (owner, held, until) => leases.renew(owner, held, until),
    unclaim: async (lease, claims) => leases.unclaim(lease, claims),
    release: async (lease) => leases.release(lease),
    closeHost: async (lease, state, reason, marksKnown) =>
      closing.closeHost(lease, state, reason, marksKnown),
    closeWaiting: async (state, reason) => closing.closeWaiting(state, reason),
    requeue: async (pageIds, priority) => requeue(pageIds, priority),
    async reconsider(judge) {
      session.window.commit();
      const { changed } = reconsider(session, waiting, judge);
      session.window.commit();
      session.waiting = countWaiting(db, session.projectId);
      return changed;
    },
    onLowered(judge) {
      session.judgeLowered = judge;
    },
    lowerDepths: async (budget) => offers.lowerDepths(budget),
    onWork() {},
    waiting: () => session.waiting,
  };
  const run: RunPort = {
    async finish(status, now, error) {
      session.window.commit();
      keepGone(session);
      db.prepare('UPDATE run SET status = ?, finished_at = ?, error = ? WHERE id = ?').run(
        status,
        now,
        error,
        session.runId,
      );
      session.window.commit();
      return status;
    },
    async isDone() {
      offers.flush();
      return isBusy.get({ project: session.projectId }) === 0;
    },
    // Nobody else works on the file.
    async knowsNoMore() {},
    async reservePages(count, limit) {
      const left = limit - totals().pages - session.permits;
      const given = Math.max(0, Math.min(count, left));
      session.permits += given;
      return given;
    },
    async returnPages(count) {
      session.permits = Math.max(0, session.permits - count);
    },
    async heartbeat() {},
    async decideMode(decision) {
      if (decision !== null) {
        setMode.run(decision.mode, decision.reason, session.runId);
        session.window.commit();
      }
      return (readMode.get(session.runId) as ModeDecision | undefined) ?? null;
    },
    async counts() {
      for (const write of session.gathered) write();
      return {
        ...countStates(db, session.projectId),
        ...totals(),
        ledger: readLedger(db, session.runId),
        averageChangeFrequency: session.isFirstRun ? 0 : averageFrequency(db, session.projectId),
      };
    },
  };
  const hosts: HostPort = {
    log: (entry) => settling.log(entry),
    robots: async (origin) => (readRobots.get(origin) as StoredRobots | undefined) ?? null,
    async saveRobots(hostId, robots) {
      const { origin, status, body, fetchedAt, expiresAt, delaySeconds } = robots;
      writeRobots.run(origin, hostId, status, body, fetchedAt, expiresAt, delaySeconds);
      // A delay that a crash could forget would be broken by whoever goes on.
      if (delaySeconds === null) session.window.touch();
      else session.window.commit();
    },
  };
  const sitemapPort: SitemapPort = {
    saveEntries: async (findings, now) => sitemaps.saveEntries(findings, now),
    discovery: async (host) => sitemaps.discovery(host),
    saveDiscovery: async (host, found) => sitemaps.saveDiscovery(host, found),
  };
  const history: HistoryPort = {
    past: async (pageId, withLinks = true) => past(pageId, withLinks),
    async markOrphans(since, now) {
      session.window.commit();
      const orphans = markOrphans(session, since, now);
      session.window.commit();
      return orphans;
    },
  };
  const projectPort: ProjectPort = {
    settings: async (project) => readSettings(db, project),
    saveSettings: async (project, settings) => saveSettings(session, project, settings),
    async revise(request, judge) {
      if (!openRun(session, waiting, request)) return null;
      openProject();
      const { moves } = reconsider(session, waiting, judge);
      session.waiting = countWaiting(db, session.projectId);
      if (session.waiting > 0) leaveOpen(session);
      session.window.commit();
      const { runId, projectId } = session;
      return { runId, projectId, moves, waiting: session.waiting };
    },
    async saveDepths(projectId, origins, batches) {
      session.window.commit();
      saveDepths(session, projectId, origins, batches);
    },
    saveRevisits: async (...kept) => saveRevisits(session, ...kept),
    forget: async (project, before) => forget(session, project, before),
    buildIndex: (project, kind) => buildIndex(session, project, kind),
    saveLook: async (...kept) => saveLook(session, ...kept),
  };
  const isShared = false; // The file has one writer: nobody else can be at work on it.
  const { clock } = options;
  const projects = guarded(projectPort, guard);
  const openSide = async () => (await import('./read-side.ts')).openSqliteReadSide(path);
  const openedRun = {
    ...{ clock, isShared, projects, openSide },
    frontier: {
      ...guarded(frontier, guard),
      ...answered(perPage, guard),
    },
    run: guarded(run, guard),
    hosts: guarded(hosts, guard),
    sitemaps: guarded(sitemapPort, guard),
    history: guarded(history, guard),
    ...guarded(
      {
        flush: async () => session.window.commit(),
        leave: async () => session.window.commit(),
      },
      guard,
    ),
  };
  const store = guarded(
    {
      async begin(request: RunRequest): Promise<RunStore> {
        session.window.commit();
        const start = beginRun(session, waiting, request);
        openProject();
        return { ...openedRun, start: { ...start, knownUrls: session.known.size } };
      },
      async join(runId: number): Promise<JoinedRun | null> {
        session.window.commit();
        const joined = joinRun(session, waiting, runId, session.now());
        if (joined === null) return null;
        openProject();
        const { project, config, metadata } = joined;
        const start = { ...joined.start, knownUrls: session.known.size };
        return { ...openedRun, start, project, config, metadata };
      },
      async withoutRun(): Promise<RunStore> {
        return { ...openedRun, start: NO_RUN };
      },
      flush: async () => session.window.commit(),
      async close() {
        db.prepare("DELETE FROM meta WHERE key = 'holder'").run();
        session.window.close();
        db.close();
      },
    },
    guard,
  );
  return { ...store, clock, isShared, projects, openSide };
}

function openSession(
  db: Database,
  hasher: UrlHasher,
  options: SqliteStoreOptions,
  guard: FailureGuard,
): Session {
  const addWaiting = db.prepare(
    `INSERT INTO host_queue (project_id, host_id, waiting) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET waiting = waiting + excluded.waiting`,
  );
  const saveHost = db.prepare(
    `UPDATE host SET not_before = ?, blocked_until = ?, consecutive_429 = ?, adaptive_ms = ?, average_ms = ?, samples = ?,
       failures = ?, probes = ?, distrusted_until = ?, announced = ?, unannounced = ?,
       head_checks = ? WHERE id = ? AND fence = ?`,
  );
  const saveRequests = db.prepare('UPDATE host_queue SET requests = ? WHERE project_id = ? AND host_id = ?');
  const saveRun = db.prepare(
    'UPDATE run SET pages = pages + ?, bytes = bytes + ?, requests = requests + ? WHERE id = ?',
  );

  function writeGathered(): void {
    for (const write of session.gathered) write();
    for (const [hostId, delta] of session.waitingDelta)
      if (delta !== 0) addWaiting.run(session.projectId, hostId, delta);
    session.waitingDelta.clear();
    for (const { state, hostId, fence } of session.dirtyHosts) {
      saveHost.run(
        Math.round(state.notBefore),
        Math.round(state.blockedUntil),
        state.consecutive429,
        state.adaptiveMs,
        state.averageMs,
        state.samples,
        state.failures,
        state.probes,
        Math.round(state.distrustedUntil),
        state.announced,
        state.unannounced,
        state.headChecks,
        hostId,
        fence,
      );
      saveRequests.run(state.requests, session.projectId, hostId);
    }
    session.dirtyHosts.clear();
    const { pages, bytes, requests } = session.runDelta;
    if (pages + bytes + requests > 0) saveRun.run(pages, bytes, requests, session.runId);
    Object.assign(session.runDelta, { pages: 0, bytes: 0, requests: 0 });
  }

  const session: Session = {
    db,
    guard,
    window: openCommitWindow(db, options.clock, writeGathered, (error) =>
      options.onFailure(guard.fail(error)),
    ),
    hosts: createHostIds(db),
    known: new KnownUrls(hasher),
    waiting: 0,
    projectId: 0,
    runId: 0,
    isFirstRun: false,
    isPrepared: false,
    now: () => options.clock.now(),
    judgeLowered: () => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }),
    gathered: [],
    waitingDelta: new Map(),
    held: new Map<number, HostLease>(),
    retrying: new Set<number>(),
    dirtyHosts: new Set<HostLease>(),
    runDelta: { pages: 0, bytes: 0, requests: 0 },
    permits: 0,
  };
  return session;
}

function secretKey(db: Database): Uint32Array {
  db.prepare("INSERT OR IGNORE INTO meta VALUES ('hash_key', ?)").run(randomBytes(16));
  const key = db.prepare("SELECT value FROM meta WHERE key = 'hash_key'").pluck().get() as Buffer;
  return Uint32Array.of(key.readUInt32LE(0), key.readUInt32LE(4), key.readUInt32LE(8), key.readUInt32LE(12));
}

function countWaiting(db: Database, projectId: number): number {
  const sum = db.prepare('SELECT sum(waiting) FROM host_queue WHERE project_id = ?').pluck().get(projectId);
  return (sum as number | null) ?? 0;
}

/** Of pages that have a visit to compare with. */
function averageFrequency(db: Database, projectId: number): number {
  const mean = db
    .prepare(
      `SELECT avg(f.change_frequency) FROM fetched f JOIN url u ON u.id = f.page_id WHERE u.project_id = ?
         AND (f.change IN ('changed', 'unchanged', 'gone') OR f.change_frequency > 0)`,
    )
    .pluck()
    .get(projectId);
  return (mean as number | null) ?? 0;
}

function countStates(db: Database, projectId: number): Pick<RunCounts, 'byState' | 'waiting' | 'known'> {
  const rows = db
    .prepare('SELECT state, count(*) AS n FROM url WHERE project_id = ? GROUP BY state')
    .all(projectId) as {
    state: number;
    n: number;
  }[];
  const byState = Object.fromEntries(rows.map(({ state, n }) => [pageStateName(state), n]));
  const waiting = (byState.Queued ?? 0) + (byState.Fetching ?? 0);
  return { byState, waiting, known: rows.reduce((sum, { n }) => sum + n, 0) };
}

type RunTotals = Pick<RunCounts, 'pages' | 'requests' | 'bytes' | 'leftOut'>;

/**
 * A failed write (a full disk, say) has rolled the open group back or left half of a settlement in it, while memory
 * still believes in all of it. So the group is dropped whole and the connection closed: nothing that comes after can
 * commit a part without the rest, and the next run begins from the last commit.
 */
function createFailureGuard(db: Database, path: string): FailureGuard {
  let failure: unknown = null;
  return {
    get failure() {
      return failure;
    },
    fail(error) {
      if (failure !== null) return failure;
      if (!(error instanceof Sqlite.SqliteError)) return error;
      failure = storeError(error, path);
      if (db.inTransaction) db.exec('ROLLBACK');
      db.close();
      return failure;
    },
  };
}

/** Every verb answers SQLite's errors in the words of errors.ts, and none runs after one has failed. */
function guarded<Verbs extends object>(store: Verbs, guard: FailureGuard): Verbs {
  const guardVerb =
    (name: string, verb: (...args: never[]) => unknown) =>
    (...args: never[]) => {
      if (guard.failure !== null) {
        if (name === 'close') return Promise.resolve();
        throw guard.failure;
      }
      try {
        const answer = verb(...args);
        return answer instanceof Promise
          ? answer.catch((error) => {
              throw guard.fail(error);
            })
          : answer;
      } catch (error) {
        throw guard.fail(error);
      }
    };
  return Object.fromEntries(
    Object.entries(store).map(([name, part]) => [
      name,
      typeof part === 'function' ? guardVerb(name, part) : part,
    ]),
  ) as unknown as Verbs;
}

type Answered<Verbs> = {
  [Name in keyof Verbs]: Verbs[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Answer>
    : never;
};

/** The same for what is asked for every page, with one promise in place of three. */
function answered<Verbs extends Record<string, (...args: never[]) => unknown>>(
  verbs: Verbs,
  guard: FailureGuard,
): Answered<Verbs> {
  const answer = (verb: (...args: never[]) => unknown) => (first: never, second: never, third: never) => {
    if (guard.failure !== null) return Promise.reject(guard.failure);
    try {
      return Promise.resolve(verb(first, second, third));
    } catch (error) {
      return Promise.reject(guard.fail(error));
    }
  };
  return Object.fromEntries(
    Object.entries(verbs).map(([name, verb]) => [name, answer(verb)]),
  ) as Answered<Verbs>;
}
