/** What all sessions on an opened file share, and what each of them has for itself: its project, its seen-table, its counters. */
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../primitives/clock.ts';
import type { UrlHasher } from '../../primitives/url-hash.ts';
import type { Reconsidered, Verdict } from '../frontier-port.ts';
import type { HostLease } from '../host-port.ts';
import type { CommitWindow } from './commit-window.ts';
import type { FailureGuard } from './failure-guard.ts';
import type { HostHolder, HostTurns } from './host-turns.ts';
import type { KnownUrls } from './known-urls.ts';
import type { PageDepths } from './page-depths.ts';
import type { PageRows } from './page-rows.ts';

/** The file, opened once for all sessions: one connection that writes, one commit window, one source of ids. */
export interface OpenFile {
  readonly path: string;
  readonly db: Database;
  readonly clock: Clock;
  readonly guard: FailureGuard;
  /** Its groups have the writes of all sessions. */
  readonly window: CommitWindow;
  readonly hosts: HostIds;
  readonly hasher: UrlHasher;
  readonly depths: PageDepths;
  readonly rows: PageRows;
  readonly turns: HostTurns;
  /** The sessions that have begun and not ended, in this order. */
  readonly live: Set<Session>;
  /** Numbers the blocks of waiting pages. */
  nextBlock(): number;
}

type Shared = Pick<OpenFile, 'db' | 'window' | 'hosts' | 'rows' | 'turns' | 'nextBlock'>;

export interface Session extends Shared, HostHolder {
  /** The name under which hosts are leased. */
  readonly owner: string;
  readonly projectId: number;
  readonly runId: number;
  readonly guard: FailureGuard;
  readonly known: KnownUrls;
  /** Pages waiting in the project, for progress. */
  waiting: number;
  /** No run of the project came before this one. */
  isFirstRun: boolean;
  /** Known pages were judged for this run, or new ones offered: what `begin` noted as left to do is done. */
  isPrepared: boolean;
  now(): number;
  /** Judges a page that a shorter path opened again; set by the crawl. */
  judgeLowered: (row: Reconsidered) => Verdict;
  /** Writers of what the parts gathered, called before each commit. */
  readonly gathered: (() => void)[];
  /** Waiting pages gained or lost by host since the last commit. */
  readonly waitingDelta: Map<number, number>;
  /** The leases that were taken here, by host id. */
  readonly held: Map<number, HostLease>;
  /** Hosts held here of which a page may wait for its time: no other is asked for one. */
  readonly retrying: Set<number>;
  /** Hosts whose state must be written with the next commit. */
  readonly dirtyHosts: Set<HostLease>;
  readonly runDelta: { pages: number; bytes: number; requests: number };
  /** Page GETs that were permitted and have neither counted nor been given back. */
  permits: number;
  /** Gives back what it holds; from then on every verb is answered with this. */
  end(answer: unknown): void;
}

/** As much of a session as counts waiting pages. */
type Counting = Pick<Session, 'waiting' | 'waitingDelta'>;

export function addWaiting(session: Counting, hostId: number, delta: number): void {
  session.waiting += delta;
  session.waitingDelta.set(hostId, (session.waitingDelta.get(hostId) ?? 0) + delta);
}

/**
 * For rows that nobody reads before the commit: they wait for it and are written one after the other, which takes half
 * the time it takes between other statements.
 */
export function writtenWithCommit<Row>({ gathered }: Session, write: (row: Row) => void): (row: Row) => void {
  let rows: Row[] = [];
  gathered.push(() => {
    const waiting = rows;
    rows = [];
    for (let i = 0; i < waiting.length; i++) write(waiting[i]);
  });
  return (row) => void rows.push(row);
}

const REMEMBERED_HOSTS = 50_000;

/** Host name ↔ id, with a bounded memory of the names used lately. */
export interface HostIds {
  idOf(name: string): number;
  nameOf(id: number): string;
}

export function createHostIds(db: Database): HostIds {
  const ids = new Map<string, number>();
  const find = db.prepare('SELECT id FROM host WHERE name = ?').pluck();
  const insert = db.prepare('INSERT INTO host (name) VALUES (?)');
  const name = db.prepare('SELECT name FROM host WHERE id = ?').pluck();
  // Candidates come in runs of one host.
  let lastHost = '';
  let lastId = 0;
  return {
    idOf(host) {
      if (host === lastHost) return lastId;
      let id = ids.get(host);
      if (id === undefined) {
        id = (find.get(host) as number | undefined) ?? Number(insert.run(host).lastInsertRowid);
        if (ids.size >= REMEMBERED_HOSTS) ids.clear();
        ids.set(host, id);
      }
      lastHost = host;
      lastId = id;
      return id;
    },
    nameOf: (id) => name.get(id) as string,
  };
}
