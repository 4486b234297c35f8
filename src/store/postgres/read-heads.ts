/**
 * The heads of hosts' queues, from the database. A worker that leases hundreds of hosts wants them all at once, and again
 * when their first pages are read: whoever asks in one turn of the event loop is answered by the same statements.
 */
import { LAST_COLUMNS, lastJoins } from './last-visit.ts';
import type { HeadReader, QueueHead, WaitingRow } from './queue-head.ts';
import { ask, type Session } from './session.ts';

const PAGE = `u.id AS "pageId", u.rank, u.priority, u.url, u.fetch_url AS "fetchUrl", u.depth, u.attempts, u.hops,
  u.retry_at`;
export const WITH_LAST = `SELECT ${PAGE}, ${LAST_COLUMNS} FROM url u ${lastJoins('u.id', 'u.host_id')}`;
export const WITHOUT_LAST = `SELECT ${PAGE}, NULL AS visited_at FROM url u`;

const ASKED = 'unnest($1::int[], $2::int[]) WITH ORDINALITY AS r(h, n, place)';
const HEAD = `WHERE u.host_id = r.h AND u.project_id = $3 AND u.state = 1 AND u.retry_at IS NULL
  ORDER BY u.rank, u.id LIMIT r.n`;
const headsOf = (from: string) =>
  `SELECT r.place::int AS place, p.* FROM ${ASKED} CROSS JOIN LATERAL (${from} ${HEAD}) p`;
const QUEUES = `
SELECT r.place::int AS place, (SELECT u.retry_at FROM url u WHERE u.host_id = r.h AND u.project_id = $2 AND u.state = 1
    AND u.retry_at IS NOT NULL ORDER BY u.retry_at LIMIT 1) AS "retryAt",
  COALESCE((SELECT q.waiting FROM host_queue q WHERE q.host_id = r.h AND q.project_id = $2), 0) AS counted
FROM unnest($1::int[]) WITH ORDINALITY AS r(h, place)`;

/** So many hosts share a statement at most. */
const MOST_HOSTS = 256;

/** Of whose question it is, counted from 1. */
interface Placed {
  place: number;
}

interface Question {
  hostId: number;
  wanted: number;
  resolve: (head: QueueHead) => void;
  reject: (error: unknown) => void;
}

export function createHeadReader(session: Session): HeadReader {
  let questions: Question[] = [];

  function answerAll(): void {
    const asked = questions;
    questions = [];
    for (let at = 0; at < asked.length; at += MOST_HOSTS) {
      const some = asked.slice(at, at + MOST_HOSTS);
      readHeads(session, some).catch((error: unknown) => {
        for (const { reject } of some) reject(error);
      });
    }
  }

  return (hostId, wanted) =>
    new Promise((resolve, reject) => {
      if (questions.length === 0) setImmediate(answerAll);
      questions.push({ hostId, wanted, resolve, reject });
    });
}

async function readHeads(session: Session, questions: readonly Question[]): Promise<void> {
  const { projectId, isFirstRun } = session;
  const hosts = questions.map(({ hostId }) => hostId);
  const wanted = questions.map((question) => question.wanted);
  const text = headsOf(isFirstRun ? WITHOUT_LAST : WITH_LAST);
  const [rows, queues] = await session.attempt((sql) =>
    Promise.all([
      ask<WaitingRow & Placed>(sql, text, [hosts, wanted, projectId]),
      ask<Omit<QueueHead, 'pages'> & Placed>(sql, QUEUES, [hosts, projectId]),
    ]),
  );
  const heads = questions.map((): QueueHead => ({ pages: [], retryAt: null, counted: 0 }));
  for (const { place, retryAt, counted } of queues) Object.assign(heads[place - 1], { retryAt, counted });
  for (const row of rows) heads[row.place - 1].pages.push(row);
  for (const [i, { resolve }] of questions.entries()) resolve(heads[i]);
}
