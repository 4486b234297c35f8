/**
 * The runs of the database, seen by one that looks for work. Asked about once a second; a notification makes it
 * sooner, where the connection can carry one (not through PgBouncer in transaction mode).
 *
 * It promises to outlast a restart of the server: while that is away the last known answer holds, as long as patience
 * lasts.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { RunList } from '../run-list.ts';
import { isForOne } from '../unfinished-run.ts';
import { connect, disconnect, isPooled, isTransient, postgresError, type Sql } from './connection.ts';
import { openForWriting } from './open-database.ts';
import { RUN_CHANNEL } from './runs.ts';

export interface RunListOptions {
  address: string;
  clock: Clock;
  /** How long a database that does not answer is waited for. */
  patienceMs: number;
}

export async function openRunList(options: RunListOptions): Promise<RunList> {
  const { address, clock, patienceMs } = options;
  const { sql } = await openForWriting(address, { max: 1, applicationName: 'sumi worker' });
  let known: { running: number[]; hostsWaiting: number } = { running: [], hostsWaiting: 0 };
  let answeredAt = clock.monotonic();
  let listener = () => {};
  const ears = isPooled(address) ? null : await listen(address, () => listener());

  async function ask<T>(question: (sql: Sql) => Promise<T>, otherwise: T): Promise<T> {
    try {
      const answer = await question(sql);
      answeredAt = clock.monotonic();
      return answer;
    } catch (error) {
      if (isTransient(error) && clock.monotonic() - answeredAt <= patienceMs) return otherwise;
      throw postgresError(error, address);
    }
  }

  async function running(): Promise<number[]> {
    const found = await ask(async (sql) => {
      const rows = await sql<{ id: number; metadata: string | null }[]>`
        SELECT id, metadata FROM run WHERE status = 'running' ORDER BY id`;
      return rows.filter((run) => !isForOne(run)).map(({ id }) => id);
    }, known.running);
    known = { ...known, running: found };
    return found;
  }

  return {
    running,
    async hostsWaiting() {
      const runs = await running();
      const hostsWaiting = await ask(async (sql) => {
        const [{ count }] = await sql`
            WITH now AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms)
            SELECT count(DISTINCT q.host_id) FROM run r JOIN host_queue q ON q.project_id = r.project_id, now
            WHERE r.id = ANY (${runs}::int[]) AND q.waiting > 0 AND q.closed_state IS NULL
              AND q.leased_until <= now.ms AND q.ready_at <= now.ms`;
        return count as number;
      }, known.hostsWaiting);
      known = { ...known, hostsWaiting };
      return hostsWaiting;
    },
    onChange(heard) {
      listener = heard;
    },
    get silentMs() {
      return clock.monotonic() - answeredAt;
    },
    async close() {
      if (ears !== null) await disconnect(ears);
      await disconnect(sql);
    },
  };
}

/** On a connection of its own: it is busy for as long as it listens. */
async function listen(address: string, onNotice: () => void): Promise<Sql> {
  const ears = connect(address, { max: 1, applicationName: 'sumi worker, listening' });
  try {
    // The driver listens again by itself when the connection was cut.
    await ears.listen(RUN_CHANNEL, onNotice);
    return ears;
  } catch (error) {
    await disconnect(ears);
    throw postgresError(error, address);
  }
}
