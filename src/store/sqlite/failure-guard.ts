/**
 * What every verb is asked through: SQLite's errors are told in the words of errors.ts, and no verb runs after one has
 * failed, or after its session or the store has ended.
 */
import type { Database } from 'better-sqlite3';
import Sqlite from './driver.ts';
import { storeError } from './open-database.ts';

export interface FailureGuard {
  /** What every further call is answered with; null while all is well. */
  failure: unknown;
  /** The error to answer with. One of SQLite's is final. */
  fail(error: unknown): unknown;
}

/**
 * A failed write (a full disk, say) has rolled the open group back or left half of a settlement in it, while memory
 * still believes in all of it. So the group is dropped whole and the connection closed, for all sessions: nothing that
 * comes after can commit a part without the rest, and the next run begins from the last commit.
 */
export function createFileGuard(
  db: Database,
  path: string,
  sessions: Iterable<{ readonly guard: FailureGuard }>,
): FailureGuard {
  const guard: FailureGuard = {
    failure: null,
    fail(error) {
      if (guard.failure !== null) return guard.failure;
      if (!(error instanceof Sqlite.SqliteError)) return error;
      guard.failure = storeError(error, path);
      for (const session of sessions) session.guard.failure = guard.failure;
      if (db.inTransaction) db.exec('ROLLBACK');
      db.close();
      return guard.failure;
    },
  };
  return guard;
}

/** Of a session: it ends with the file, or before. */
export function createSessionGuard({ fail }: FailureGuard): FailureGuard {
  return { failure: null, fail };
}

/** Verbs that end something: what has ended already is no error. */
const ENDS = new Set(['close', 'leave']);

export function guarded<Verbs extends object>(store: Verbs, guard: FailureGuard): Verbs {
  const guardVerb =
    (name: string, verb: (...args: never[]) => unknown) =>
    (...args: never[]) => {
      if (guard.failure !== null) {
        if (ENDS.has(name)) return Promise.resolve();
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
export function answered<Verbs extends Record<string, (...args: never[]) => unknown>>(
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
