/**
 * The heads of hosts' queues, from the database. Whoever asks in the same moment is answered by the same two
 * statements: a thousand hosts that begin, or come to their end, within a second would else be two thousand journeys.
 */
import { ask, recordset, rowsJson, type Session } from './session.ts';

export interface Head<Row> {
  /** The first pages that wait, at most as many as were asked for. */
  rows: Row[];
  /** When the first retry is due; null for none. */
  nextRetryAt: number | null;
  /** How many pages of the host wait or are in flight, by its count. */
  counted: number;
}

interface Question {
  hostId: number;
  window: number;
  answer(head: Head<never>): void;
  fail(error: unknown): void;
}

/** `pages` selects what is wanted of a page from `url u`; the same text for all who ask at once. */
export type HeadReader = <Row>(pages: string, hostId: number, window: number) => Promise<Head<Row>>;

export function createHeadReader(attempt: Session['attempt'], projectId: () => number): HeadReader {
  const questions = new Map<string, Question[]>();

  async function answerAll(pages: string): Promise<void> {
    const asked = questions.get(pages)!;
    questions.delete(pages);
    try {
      const hosts = rowsJson(asked.map(({ hostId, window }) => ({ h: hostId, n: window })));
      const values = [hosts, projectId()];
      const [rows, queues] = await attempt((sql) =>
        Promise.all([
          ask<{ hostId: number }>(sql, headsOf(pages), values),
          ask<{ hostId: number; retryAt: number | null; counted: number }>(sql, QUEUES, values),
        ]),
      );
      const byHost = new Map<number, never[]>();
      for (const row of rows) {
        const found = byHost.get(row.hostId);
        if (found === undefined) byHost.set(row.hostId, [row as never]);
        else found.push(row as never);
      }
      const queueOf = new Map(queues.map((queue) => [queue.hostId, queue]));
      for (const { hostId, answer } of asked) {
        const { retryAt, counted } = queueOf.get(hostId)!;
        answer({ rows: byHost.get(hostId) ?? [], nextRetryAt: retryAt, counted });
      }
    } catch (error) {
      for (const { fail } of asked) fail(error);
    }
  }

  return (pages, hostId, window) =>
    new Promise((resolve, reject) => {
      const question: Question = { hostId, window, answer: resolve, fail: reject };
      const others = questions.get(pages);
      if (others !== undefined) {
        others.push(question);
        return;
      }
      questions.set(pages, [question]);
      setImmediate(() => void answerAll(pages));
    });
}

const ASKED = recordset(1, 'h int, n int', 'w');
const isWaiting = 'WHERE u.host_id = w.h AND u.project_id = $2 AND u.state = 1';

function headsOf(pages: string): string {
  return `SELECT w.h AS "hostId", p.* FROM ${ASKED} CROSS JOIN LATERAL (
    ${pages} ${isWaiting} AND u.retry_at IS NULL ORDER BY u.rank, u.id LIMIT w.n) p`;
}

const QUEUES = `SELECT w.h AS "hostId", COALESCE(q.waiting, 0) AS counted,
  (SELECT u.retry_at FROM url u ${isWaiting} AND u.retry_at IS NOT NULL ORDER BY u.retry_at LIMIT 1) AS "retryAt"
  FROM ${ASKED} LEFT JOIN host_queue q ON q.host_id = w.h AND q.project_id = $2`;
