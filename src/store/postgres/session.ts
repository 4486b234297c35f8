/** What all sessions on an opened database share, and what each has for itself: connections that write, leases, memory. */
import type { Sql, TransactionSql } from 'postgres';
import type { Reconsidered, Verdict } from '../frontier-port.ts';
import type { HostLease, StoredRobots } from '../host-port.ts';
import { rowsOf } from './cancel-queries.ts';
import type { CommitWindow } from './commit-window.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { KnownUrls } from './known-urls.ts';
import type { HeadReader } from './queue-head.ts';
import { type EntryDate, WaitingPages } from './waiting-pages.ts';

/** A host leased here: the head of its queue, and what was taken from it. */
export interface Holding {
  readonly lease: HostLease;
  readonly waiting: WaitingPages;
  /** Pages claimed and not settled: whether the database has been told, and what sitemaps said of them since. */
  readonly inFlight: Map<number, { isTold: boolean; dates?: EntryDate[] }>;
  /** Pages settled in a group that is not committed yet, by the group's number: the database may think that they wait. */
  readonly unwritten: Map<number, number>;
  /** Of the host's origins, as they were when the lease was taken. */
  readonly robots: readonly StoredRobots[];
  /** The claim that is being answered. */
  lastClaim: Promise<unknown>;
  isRefilling: boolean;
  loading: Promise<void> | null;
  /** Pages claimed since the window began to be loaded, while it is. */
  takenMeanwhile: Set<number> | null;
}

/** The database, opened once for all sessions of this process. */
export interface OpenDatabase extends Attempting {
  readonly address: string;
  /** The address without anything secret, for errors. */
  readonly label: string;
  readonly sql: Sql;
  /** Connections are PgBouncer's: what is set on one is only ours until the transaction ends. */
  readonly isPooled: boolean;
  readonly clock: DatabaseClock;
  /** Asks the database what time it is. */
  setClock(): Promise<number>;
  /** Makes the same hash of a URL for all workers. */
  readonly hashKey: string;
  /** The uuid under which a URL is unique. */
  readonly identityOf: (url: string) => string;
  readonly identityBytes: (url: string) => Uint8Array;
  readonly hosts: HostIds;
  /** The sessions that have begun and not ended. */
  readonly live: Set<Session>;
}

/** Whoever asks the database, again and again while it is away, as long as patience lasts. */
export interface Attempting {
  attempt<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

type Shared = Pick<
  OpenDatabase,
  'label' | 'sql' | 'isPooled' | 'clock' | 'identityOf' | 'identityBytes' | 'hosts'
>;

export interface Session extends Shared, Attempting {
  /** One connection, for commit groups alone: what their many statements cost to plan is paid there once. */
  readonly writer: Sql;
  /** One for new URLs alone: they do not wait for the group before. */
  readonly maker: Sql;
  readonly window: CommitWindow;
  readonly known: KnownUrls;
  /** The hosts leased here, by id. */
  readonly held: Map<number, Holding>;
  /** The clock's offset when a lease was taken: its host's times are counted with that one as long as it is held. */
  readonly offsets: WeakMap<HostLease, number>;
  /** robots.txt of the hosts leased here lately, by origin. */
  readonly robots: Map<string, StoredRobots>;
  /** The worker that this session is: the name under which hosts are leased. */
  readonly owner: string;
  readonly projectId: number;
  readonly runId: number;
  /** No run of the project came before this one: no waiting page has a visit behind it. */
  isFirstRun: boolean;
  /** Pages waiting in the project, for progress. */
  waiting: number;
  /** Monotonic time at which a window was last filled ahead of need. */
  refilledAt: number;
  /** Some pages' links may not have heard of a lowered depth. */
  mayLower: boolean;
  /** The last group that the database has confirmed. */
  confirmedGroup: number;
  /** Hosts of ours that got work from a lowered depth since the last look. */
  readonly woken: Set<string>;
  judgeLowered: (row: Reconsidered) => Verdict;
  readonly readHead: HeadReader;
  /** Hears that others may have queued pages of the run, or given a host back. */
  hearWork: () => void;
  /** Gives back what it holds; from then on every verb is answered with this. */
  end(answer: unknown): Promise<void>;
}

/** A connection inside a transaction, or outside of one. */
export type Runner = Sql | TransactionSql;

export function transaction<T>(session: Attempting, work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  return session.attempt((sql) => sql.begin(work) as Promise<T>);
}

/** One statement, prepared once a connection where that is possible. */
export async function ask<Row>(runner: Runner, text: string, values: unknown[] = []): Promise<Row[]> {
  // A connection that may not prepare (PgBouncer) does not, whatever is asked for here.
  const query = runner.unsafe(text, values as never[], { prepare: true });
  return (await rowsOf(runner, query)) as unknown as Row[];
}

/** Rows as JSON for json_to_recordset: one parameter, whatever the number of rows. PostgreSQL takes neither NUL nor half a surrogate pair. */
export function rowsJson(rows: readonly unknown[]): string {
  const json = JSON.stringify(rows);
  if (!json.includes('\\u0000') && !json.includes('\\ud')) return json;
  return JSON.stringify(rows, (_, value) =>
    typeof value === 'string' ? value.replace(/\0|\p{Surrogate}/gu, '\ufffd') : value,
  );
}

/** FROM-clause of rows given as JSON in a parameter: `recordset(1, 'id int, name text', 'r')`. */
export function recordset(parameter: number, columns: string, name: string): string {
  return `json_to_recordset($${parameter}::text::json) AS ${name}(${columns})`;
}

export function holds({ held }: Session, lease: HostLease): Holding | null {
  const holding = held.get(lease.hostId);
  return holding?.lease.fence === lease.fence ? holding : null;
}

/**
 * Several statements of one transaction, sent without waiting for each other. It ends when all of them have: one that
 * goes on behind the back of a transaction that failed would speak in the next one on its connection.
 */
export async function together<T extends readonly unknown[]>(
  work: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  await Promise.allSettled(work);
  return (await Promise.all(work)) as unknown as T;
}

// PostgreSQL takes any list of ours for a hundred rows, and so reads tables of some ten thousand pages from end to end for
// each group of a few. In a transaction, because that is all that a pooler leaves us.
const BY_INDEX = "SELECT set_config('enable_seqscan', 'off', true)";

/** From here on, in this transaction, no table is read from end to end. */
export async function findByIndex(tx: TransactionSql): Promise<void> {
  await ask(tx, BY_INDEX, []);
}

// Without these it reads the whole of an index in place of the table, as long as there are some ten thousand pages.
const BY_KEY = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true)`;

/** From here on, in this transaction, rows are found one by one, by their keys. Not for lists of new URLs, which are long. */
export async function findByKey(tx: TransactionSql): Promise<void> {
  await ask(tx, BY_KEY, []);
}

/**
 * A time of a host as another worker may rely on it: later by what the clock may be wrong by. Who gives the host back
 * counts that in, and who takes it does. 0 is none.
 */
export function handedOver({ clock, offsets }: Session, lease: HostLease, at: number): number {
  const moved = clock.offset - (offsets.get(lease) ?? clock.offset);
  return at === 0 ? 0 : at + moved + clock.errorMs;
}

export function newHolding(lease: HostLease, robots: readonly StoredRobots[]): Holding {
  return {
    lease,
    waiting: new WaitingPages(),
    inFlight: new Map(),
    unwritten: new Map(),
    robots,
    lastClaim: Promise.resolve(),
    isRefilling: false,
    loading: null,
    takenMeanwhile: null,
  };
}

const REMEMBERED_ROBOTS = 10_000;

export function rememberRobots({ robots }: Session, stored: StoredRobots): void {
  if (robots.size >= REMEMBERED_ROBOTS) robots.clear();
  robots.set(stored.origin, stored);
}

const REMEMBERED_HOSTS = 50_000;

/** Host name → id, with a bounded memory of the names used lately. */
export interface HostIds {
  find(name: string): number | undefined;
  /** Makes rows for names that have none. Sorted, so that two workers never wait for each other in a ring. */
  ensure(runner: Runner, names: Iterable<string>): Promise<Map<string, number>>;
  /** Call when what `ensure` made is committed. */
  remember(found: ReadonlyMap<string, number>): void;
  forget(): void;
}

export function createHostIds(): HostIds {
  const ids = new Map<string, number>();
  return {
    find: (name) => ids.get(name),
    async ensure(runner, names) {
      const found = new Map<string, number>();
      const unknown: string[] = [];
      for (const name of new Set(names)) {
        const id = ids.get(name);
        if (id === undefined) unknown.push(name);
        else found.set(name, id);
      }
      if (unknown.length === 0) return found;
      const rows = await ask<{ id: number; name: string }>(
        runner,
        `WITH wanted AS (SELECT unnest($1::text[]) AS name),
           made AS (INSERT INTO host (name) SELECT name FROM wanted
             WHERE NOT EXISTS (SELECT 1 FROM host h WHERE h.name = wanted.name) ORDER BY name
             ON CONFLICT DO NOTHING RETURNING id, name)
         SELECT id, name FROM made UNION ALL SELECT h.id, h.name FROM host h JOIN wanted USING (name)`,
        [unknown.sort()],
      );
      for (const { id, name } of rows) found.set(name, id);
      const missing = unknown.filter((name) => !found.has(name));
      // Made by another worker between our two looks.
      if (missing.length > 0) {
        const late = await ask<{ id: number; name: string }>(
          runner,
          'SELECT id, name FROM host WHERE name = ANY($1::text[])',
          [missing],
        );
        for (const { id, name } of late) found.set(name, id);
      }
      return found;
    },
    remember(found) {
      if (ids.size + found.size > REMEMBERED_HOSTS) ids.clear();
      for (const [name, id] of found) ids.set(name, id);
    },
    forget: () => ids.clear(),
  };
}
