/** Opens the database for all sessions of this process: the connections that questions are asked on, the clock, the names. */
import type { Clock } from '../../primitives/clock.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { isPooled, type Sql, storeLabel } from './connection.ts';
import { createDatabaseClock } from './database-clock.ts';
import { openForWriting } from './open-database.ts';
import { ask, createHostIds, type OpenDatabase } from './session.ts';
import { createIdentityBytes, createUrlIdentity } from './url-identity.ts';

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

/** Beside those of each session for commit groups and new URLs: for questions, and for transactions of other kinds. */
const CONNECTIONS = 2;
/** A worker that is paused, or cut off, in the middle of a transaction must not hold up all others. */
const ABANDONED_AFTER_MS = 2000;
export const WORKER = { applicationName: 'sumi', abandonedAfterMs: ABANDONED_AFTER_MS };
const GOOD_CLOCK_MS = 3;
const CLOCK_TRIES = 8;

export interface SharedDatabase {
  database: OpenDatabase;
  attempts: Attempts;
}

export async function openSharedDatabase(options: PostgresStoreOptions): Promise<SharedDatabase> {
  const { address, clock: ownClock, patienceMs, readTime = databaseTime } = options;
  const { sql, hashKey } = await openForWriting(address, { ...WORKER, max: CONNECTIONS });
  const clock = createDatabaseClock(ownClock);
  const attempts = createAttempts({ sql, address, patienceMs, clock, outlivesBadValues: true });
  const setClock = async () => {
    const askedAt = ownClock.monotonic();
    return clock.set(await attempts.attempt(readTime), askedAt);
  };
  // Workers hand hosts over by this time: what they differ in is taken from the delay.
  for (let tries = 1; (await setClock()) > GOOD_CLOCK_MS && tries < CLOCK_TRIES; tries++);
  return {
    attempts,
    database: {
      ...{ address, sql, clock, setClock, hashKey },
      attempt: attempts.attempt,
      label: storeLabel(address),
      isPooled: isPooled(address),
      identityOf: createUrlIdentity(hashKey),
      identityBytes: createIdentityBytes(hashKey),
      hosts: createHostIds(),
      live: new Set(),
    },
  };
}

async function databaseTime(sql: Sql): Promise<number> {
  const [{ now }] = await ask<{ now: number }>(
    sql,
    'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
  );
  return Number(now);
}
