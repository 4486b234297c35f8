/**
 * Asks DuckDB what a condition says of URLs, all of a page in one prepared query. Answers come in the order of the URLs;
 * one that stands twice is answered twice. An answer needs no event loop: pages of a background CRAWL are judged also while
 * the thread waits inside a function, or that function and the CRAWL would wait for each other. Only a condition that calls
 * functions of ours, which this thread runs, is answered later: while the thread stood still for it, it would wait for ever.
 */
import { type DuckDBConnection, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import { runNow } from '../table/run-now.ts';
import { carry, toConditionError } from './condition-errors.ts';
import { functionsOfOurs } from './functions-of-ours.ts';

type Verdicts = (boolean | null)[];

export interface ConditionAsker {
  /** True, false, or null for NULL. A promise where the condition calls functions of ours. */
  judge(urls: readonly string[]): Verdicts | Promise<Verdicts>;
  /** Waits for what is asked. */
  close(): Promise<void>;
}

/** The driver gives results by promises only, and errors at once: so the answers come as an error. */
const MARK = 'sumi judged ';
const ANSWER = new RegExp(`${MARK}([tfn]+)`);
const AS_ERROR = `SELECT error('${MARK}' || string_agg(CASE WHEN said IS NULL THEN 'n' WHEN said THEN 't' ELSE 'f' END, ''
  ORDER BY place)) FROM (SELECT found."place in the list", `;
const FROM_URLS =
  'FROM (SELECT unnest($1) AS url, generate_subscripts($1, 1) AS "place in the list") AS found) AS judged(place, said)';
const VERDICTS: Readonly<Record<string, boolean | null>> = { t: true, f: false, n: null };

export async function askCondition(connection: DuckDBConnection, condition: string): Promise<ConditionAsker> {
  const carrier = carry(AS_ERROR, condition, ` ${FROM_URLS}`);
  const type = LIST(VARCHAR);
  const statement = await connection.prepare(carrier.text).catch((error) => {
    throw toConditionError(error, carrier);
  });

  function bind(urls: readonly string[]): void {
    statement.bindList(1, listValue([...urls]), type);
  }

  function answerOf(error: unknown, count: number): Verdicts {
    const answer = ANSWER.exec((error as Error).message)?.[1];
    if (answer?.length === count) return [...answer].map((letter) => VERDICTS[letter]);
    throw toConditionError(withoutPrefix(error), carrier);
  }

  const noAnswer = () => new Error('DuckDB judged URLs and gave no answer');

  function judgeNow(urls: readonly string[]): Verdicts {
    bind(urls);
    try {
      runNow(statement);
    } catch (error) {
      return answerOf(error, urls.length);
    }
    throw noAnswer();
  }

  async function judgeLater(urls: readonly string[]): Promise<Verdicts> {
    bind(urls);
    try {
      await statement.run();
    } catch (error) {
      return answerOf(error, urls.length);
    }
    throw noAnswer();
  }

  const isLater = (await functionsOfOurs(connection, condition)).length > 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    judge(urls) {
      if (urls.length === 0) return [];
      if (!isLater) return judgeNow(urls);
      // One after the other: there is one statement.
      const turn = last.then(() => judgeLater(urls));
      last = turn.catch(() => {});
      return turn;
    },
    async close() {
      await last;
      statement.destroySync();
    },
  };
}

/** Pending results put words before what DuckDB says. */
function withoutPrefix(error: unknown): Error {
  const { message } = error as Error;
  return new Error(message.slice(Math.max(0, message.indexOf('{"exception_type"'))), { cause: error });
}
