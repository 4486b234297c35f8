/** One run's session on the opened file: the ports that a crawl works through. See store-port.ts for what they promise. */
import { sumiError } from '../../errors.ts';
import { REDIRECT_PRIORITY } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { FrontierPort } from '../frontier-port.ts';
import type { HistoryPort } from '../history-port.ts';
import type { HostPort, StoredRobots } from '../host-port.ts';
import type { ModeDecision, RunPort } from '../run-port.ts';
import type { SitemapPort } from '../sitemap-port.ts';
import type { RunStore } from '../store-port.ts';
import { createClosing } from './closing.ts';
import { answered, createSessionGuard, guarded } from './failure-guard.ts';
import { KnownUrls } from './known-urls.ts';
import { createLeases } from './leases.ts';
import { createOffers, type Offers } from './offers.ts';
import { keepGone, markOrphans } from './orphans.ts';
import { createPastReader } from './past-page.ts';
import { reconsider } from './reconsider.ts';
import { createRedirects } from './redirects.ts';
import { createRequeue } from './requeue.ts';
import { countRun, countWaiting, createTotals } from './run-counts.ts';
import { loadKnownUrls, requeueInFlight, setPrepared } from './runs.ts';
import type { OpenFile, Session } from './session.ts';
import { createSettling } from './settle.ts';
import { createSitemaps } from './sitemap-entries.ts';
import { createWaitingPages, type WaitingPages } from './waiting-pages.ts';

export interface SessionRun {
  owner: string;
  projectId: number;
  runId: number;
  isFirstRun: boolean;
}

export interface OpenSession {
  session: Session;
  ports: Pick<RunStore, 'frontier' | 'run' | 'hosts' | 'sitemaps' | 'history' | 'flush' | 'leave'>;
}

export function openSession(file: OpenFile, run: SessionRun): OpenSession {
  const session = newSession(file, run);
  const waiting = createWaitingPages(session);
  const offers = createOffers(session, waiting);
  session.gathered.push(() => waiting.flush());
  const leases = createLeases(session, waiting);
  const redirects = createRedirects(file.db, (hostId, pageId) =>
    waiting.add(hostId, REDIRECT_PRIORITY, pageId),
  );
  const settling = createSettling(session, waiting, offers, redirects, leases.isHeld);
  const closing = createClosing(session, waiting, leases.isHeld, redirects.settled);
  const frontier = frontierOf(session, { waiting, offers, leases, closing });
  let hearWork = () => {};
  session.wake = () => hearWork();
  session.lose = leases.lose;
  session.end = (answer) => {
    if (session.guard.failure !== null) return;
    const hasLeft = session.held.size > 0;
    for (const lease of [...session.held.values()]) leases.release(lease);
    if (hasLeft) requeueInFlight(session, waiting);
    file.window.commit();
    file.live.delete(session);
    file.turns.forget(session);
    session.guard.failure = answer;
    session.known.drop();
  };
  const { guard } = session;
  file.live.add(session);
  try {
    if (run.projectId !== 0) openProject(file, session, waiting);
  } catch (error) {
    session.end(error);
    throw error;
  }
  return {
    session,
    ports: {
      frontier: {
        ...guarded(frontier, guard),
        ...guarded(
          {
            onWork(listener: () => void) {
              hearWork = listener;
            },
          },
          guard,
        ),
        ...answered({ claim: leases.claim, settle: settling.settle }, guard),
        // A figure for who looks at the run, also when it is over.
        waiting: () => session.waiting,
      },
      run: guarded(runOf(session), guard),
      hosts: guarded(hostsOf(session, settling.log), guard),
      sitemaps: guarded(sitemapsOf(session, offers), guard),
      history: guarded(historyOf(session), guard),
      ...guarded(
        {
          flush: async () => file.window.commit(),
          leave: async () => session.end(sumiError('session-ended', { run: session.runId })),
        },
        guard,
      ),
    },
  };
}

function newSession(file: OpenFile, run: SessionRun): Session {
  const { db, window, hosts, rows, turns, nextBlock, clock } = file;
  return {
    ...{ db, window, hosts, rows, turns, nextBlock },
    ...run,
    guard: createSessionGuard(file.guard),
    known: new KnownUrls(file.hasher, file.depths),
    waiting: 0,
    isPrepared: false,
    now: () => clock.now(),
    judgeLowered: () => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }),
    gathered: [],
    waitingDelta: new Map(),
    held: new Map(),
    retrying: new Set(),
    dirtyHosts: new Set(),
    runDelta: { pages: 0, bytes: 0, requests: 0 },
    permits: 0,
    wake() {},
    lose() {},
    end() {},
  };
}

function openProject({ db, window }: OpenFile, session: Session, waiting: WaitingPages): void {
  requeueInFlight(session, waiting);
  window.commit();
  loadKnownUrls(db, session.projectId, session.known);
  session.waiting = countWaiting(db, session.projectId);
}

interface FrontierParts {
  waiting: WaitingPages;
  offers: Offers;
  leases: ReturnType<typeof createLeases>;
  closing: ReturnType<typeof createClosing>;
}

function frontierOf(
  session: Session,
  { waiting, offers, leases, closing }: FrontierParts,
): Omit<FrontierPort, 'claim' | 'settle' | 'onWork' | 'waiting'> {
  const { window } = session;
  const requeue = createRequeue(session, waiting);
  return {
    async offer(candidates) {
      setPrepared(session);
      const ids = offers.offerAll(candidates, null);
      window.count();
      return ids;
    },
    lease: async (count, now, leaseMs) => leases.lease(count, now, leaseMs),
    leaseHost: async (host, now, leaseMs) => leases.leaseHost(host, now, leaseMs),
    renew: async (held, until) => leases.renew(held, until),
    unclaim: async (lease, claims) => leases.unclaim(lease, claims),
    release: async (lease) => leases.release(lease),
    closeHost: async (lease, state, reason, marksKnown) =>
      closing.closeHost(lease, state, reason, marksKnown),
    closeWaiting: async (state, reason) => closing.closeWaiting(state, reason),
    requeue: async (pageIds, priority) => requeue(pageIds, priority),
    async reconsider(judge) {
      window.commit();
      const { changed } = reconsider(session, waiting, judge);
      window.commit();
      return changed;
    },
    onLowered(judge) {
      session.judgeLowered = judge;
    },
    lowerDepths: async (budget) => offers.lowerDepths(budget),
  };
}

function runOf(session: Session): RunPort {
  const { db, window, runId } = session;
  const totals = createTotals(session);
  const readMode = db.prepare(
    'SELECT mode, mode_reason AS reason FROM run WHERE id = ? AND mode IS NOT NULL',
  );
  const setMode = db.prepare('UPDATE run SET mode = ?, mode_reason = ? WHERE id = ? AND mode IS NULL');
  const readStatus = db.prepare('SELECT status FROM run WHERE id = ?').pluck();
  const setEnd = db.prepare('UPDATE run SET status = ?, finished_at = ?, error = ? WHERE id = ?');
  const isBusy = db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM url WHERE project_id = @project AND state IN (1, 2)) OR EXISTS
         (SELECT 1 FROM lowering l JOIN url u ON u.id = l.page_id WHERE u.project_id = @project)`,
    )
    .pluck();
  return {
    async finish(status, now, error) {
      window.commit();
      keepGone(session);
      // An order to stop stands, whatever the worker found meanwhile.
      const end = readStatus.get(runId) === 'stopped' ? 'stopped' : status;
      setEnd.run(end, now, error, runId);
      window.commit();
      return end;
    },
    async isDone() {
      session.rows.flush();
      // Asked first, because it is asked again and again, and the pages are many.
      if (session.turns.waitsForOthers(session)) return false;
      return isBusy.get({ project: session.projectId }) === 0;
    },
    // Nobody else works on the run.
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
        setMode.run(decision.mode, decision.reason, runId);
        window.commit();
      }
      return (readMode.get(runId) as ModeDecision | undefined) ?? null;
    },
    async counts() {
      session.rows.flush();
      for (const write of session.gathered) write();
      return countRun(session, totals());
    },
  };
}

function hostsOf(session: Session, log: HostPort['log']): HostPort {
  const { db, window } = session;
  const readRobots = db.prepare(
    `SELECT origin, status, body, fetched_at AS fetchedAt, expires_at AS expiresAt, delay_seconds AS delaySeconds
     FROM robots_txt WHERE origin = ?`,
  );
  const writeRobots = db.prepare('INSERT OR REPLACE INTO robots_txt VALUES (?, ?, ?, ?, ?, ?, ?)');
  return {
    log,
    robots: async (origin) => (readRobots.get(origin) as StoredRobots | undefined) ?? null,
    async saveRobots(hostId, robots) {
      const { origin, status, body, fetchedAt, expiresAt, delaySeconds } = robots;
      writeRobots.run(origin, hostId, status, body, fetchedAt, expiresAt, delaySeconds);
      // A delay that a crash could forget would be broken by whoever goes on.
      if (delaySeconds === null) window.touch();
      else window.commit();
    },
  };
}

function sitemapsOf(session: Session, offers: Offers): SitemapPort {
  const sitemaps = createSitemaps(session, offers);
  return {
    saveEntries: async (findings, now) => sitemaps.saveEntries(findings, now),
    discovery: async (host) => sitemaps.discovery(host),
    saveDiscovery: async (host, found) => sitemaps.saveDiscovery(host, found),
  };
}

function historyOf(session: Session): HistoryPort {
  const { db, window } = session;
  const past = createPastReader(db);
  return {
    past: async (pageId, withLinks = true) => past(pageId, withLinks),
    async markOrphans(since, now) {
      window.commit();
      const orphans = markOrphans(session, since, now);
      window.commit();
      return orphans;
    },
  };
}
