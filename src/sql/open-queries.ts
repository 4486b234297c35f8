/**
 * Questions in SQL of programs that are not trusted, about one project of a store. Each is answered by a DuckDB of its own
 * that sees this project's views and nothing else, in a process that can be ended at any moment. At most three are answered
 * at once, two of one asker; others wait, and their waiting counts. Reads only, and never holds up who writes.
 */

import type { SqlAnswer, SqlQueries, SqlQuestion } from '../answers/sql-queries.ts';
import { SumiError, sumiError } from '../errors.ts';
import { createTurns } from '../primitives/take-turns.ts';
import { type QueryChild, startQueryChild } from './queries/query-child.ts';
import type { QueryParameter, QueryTask } from './queries/query-messages.ts';

export interface OpenQueries {
  storeAddress: string;
  /** Answered at once, at most. */
  most?: number;
}

const MOST_AT_ONCE = 3;
const MOST_ROWS = 10_000;
/** A process that nobody has asked anything for so long is ended. */
const REST_MS = 60_000;

export function openQueries({ storeAddress, most = MOST_AT_ONCE }: OpenQueries): SqlQueries {
  const idle: QueryChild[] = [];
  const all = new Set<QueryChild>();
  const resting = new WeakMap<QueryChild, NodeJS.Timeout>();
  const takeTurn = createTurns(most);
  /** Of the questions under way: each stops one. */
  const closing = new Set<() => void>();
  let isClosed = false;

  /** With a turn there is one that is free, or room for another. */
  function takeChild(): QueryChild {
    for (let child = idle.pop(); child !== undefined; child = idle.pop()) {
      clearTimeout(resting.get(child));
      if (!child.isEnded()) return child;
    }
    for (const child of all) if (child.isEnded()) all.delete(child);
    const child = startQueryChild();
    all.add(child);
    return child;
  }

  function giveBack(child: QueryChild): void {
    if (child.isEnded()) return;
    idle.push(child);
    const rest = setTimeout(() => {
      if (!idle.includes(child)) return;
      idle.splice(idle.indexOf(child), 1);
      void child.end();
    }, REST_MS);
    resting.set(child, rest.unref());
  }

  async function answer(question: SqlQuestion, signal: AbortSignal): Promise<SqlAnswer> {
    const begunAt = performance.now();
    const endTurn = await takeTurn(signal, question.asker ?? '');
    const child = takeChild();
    try {
      const found = await child.ask(taskOf(question, storeAddress), signal);
      return { ...found, milliseconds: Math.round(performance.now() - begunAt) };
    } finally {
      // It still closes what the query had open.
      void child.rested().then(() => {
        giveBack(child);
        endTurn();
      });
    }
  }

  return {
    async ask(question) {
      if (isClosed) throw sumiError('query-stopped');
      const timeout = new AbortController();
      const timer = setTimeout(
        () => timeout.abort(sumiError('query-timeout', { seconds: question.timeoutMs / 1000 })),
        question.timeoutMs,
      );
      const stop = () => timeout.abort(sumiError('query-stopped'));
      if (question.signal?.aborted) stop();
      question.signal?.addEventListener('abort', stop, { once: true });
      closing.add(stop);
      try {
        return await answer(question, timeout.signal);
      } catch (error) {
        throw error instanceof SumiError ? error : sumiError('query-failed', {}, error);
      } finally {
        clearTimeout(timer);
        closing.delete(stop);
        question.signal?.removeEventListener('abort', stop);
      }
    },
    async close() {
      isClosed = true;
      for (const stop of [...closing]) stop();
      await Promise.all([...all].map((child) => child.end()));
    },
  };
}

function taskOf({ project, sql, params, limit }: SqlQuestion, address: string): QueryTask {
  return {
    ...{ address, project, sql },
    params: (params as readonly QueryParameter[] | undefined) ?? null,
    limit: Math.min(limit, MOST_ROWS),
  };
}
