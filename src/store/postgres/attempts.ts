/** Tries again while the database is away, as long as patience lasts. What ended a session, or the store, is final. */
import { SumiError, sumiError } from '../../errors.ts';
import type { Clock } from '../../primitives/clock.ts';
import { isTransient, postgresError, type Sql, storeLabel } from './connection.ts';
import type { Attempting } from './session.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

export interface AttemptOptions {
  sql: Sql;
  address: string;
  /** How long a database that does not answer is waited for. */
  patienceMs: number;
  clock: Clock;
  /** For verbs that are each a transaction of their own: a value that PostgreSQL cannot take fails that one verb only. */
  outlivesBadValues?: boolean;
}

export interface Attempts extends Attempting {
  /** What every further attempt is answered with; null while all is well. */
  readonly failure: unknown;
  /** What every further verb is answered with: before the last attempts are made already. */
  readonly answer: unknown;
  /** No verb is begun any more. */
  refuse(answer: unknown): void;
  /** Nothing is asked any more. */
  end(answer: unknown): void;
}

export function createAttempts(options: AttemptOptions): Attempts {
  const { sql, address, patienceMs, clock, outlivesBadValues = false } = options;
  let failure: unknown = null;
  let answer: unknown = null;
  return {
    get failure() {
      return failure;
    },
    get answer() {
      return failure ?? answer;
    },
    refuse(last) {
      answer ??= last;
    },
    end(last) {
      failure ??= last;
    },
    async attempt(work) {
      const startedAt = clock.monotonic();
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        if (failure !== null) throw failure;
        try {
          return await work(sql);
        } catch (error) {
          if (!isTransient(error)) {
            const told = postgresError(error, address);
            if (outlivesBadValues && isBadValue(error)) throw told;
            // What is no complaint of the database (a program's own judge that failed) leaves the store in order.
            if (told !== error || isOfTheServer(error)) failure ??= told;
            throw told;
          }
          if (clock.monotonic() - startedAt >= patienceMs) {
            const seconds = patienceMs / 1000;
            failure ??= sumiError('store-away', { store: storeLabel(address), seconds }, error);
            throw failure;
          }
        }
        await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      }
    },
  };
}

/** SQLSTATE class 22, data exceptions: a number out of range, a text with NUL. */
function isBadValue(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^22...$/.test(code);
}

/** Our own word for what the server did. */
function isOfTheServer(error: unknown): boolean {
  return error instanceof SumiError && error.code === 'store-lost-commits';
}

/** Verbs that end something: what has ended already is no error. */
const ENDS = new Set(['close', 'leave']);

/** Every verb asks first whether all is well. Four arguments are the most that any of them takes. */
export function untilEnded<Verbs extends object>(verbs: Verbs, attempts: Attempts): Verbs {
  const guard =
    (name: string, verb: (...args: unknown[]) => unknown) =>
    (first: unknown, second: unknown, third: unknown, fourth: unknown) => {
      if (attempts.answer === null) return verb(first, second, third, fourth);
      if (ENDS.has(name)) return Promise.resolve();
      throw attempts.answer;
    };
  return Object.fromEntries(
    Object.entries(verbs).map(([name, verb]) => [
      name,
      typeof verb === 'function' ? guard(name, verb) : verb,
    ]),
  ) as unknown as Verbs;
}
