/** One ear for all sessions: who queues pages of a run, or gives a host back, says so on a channel, by the run's number. */

import type { OpenDatabase } from './session.ts';
import { WORK_CHANNEL } from './write-rows.ts';

export interface WorkChannel {
  /** Begins to listen, once. */
  listen(): void;
  stop(): Promise<void>;
}

export function openWorkChannel({ sql, isPooled, live }: OpenDatabase): WorkChannel {
  let listening: ReturnType<typeof sql.listen> | null = null;
  const hear = (payload: string) => {
    for (const session of live) if (session.runId === Number(payload)) session.hearWork();
  };
  return {
    listen() {
      // Through PgBouncer there is nothing to hear.
      if (isPooled || listening !== null) return;
      // A connection that is lost is made again by the client.
      listening = sql.listen(WORK_CHANNEL, hear);
      // Without it a worker looks every second: nothing depends on it.
      listening.catch(() => {});
    },
    async stop() {
      const meta = await listening?.catch(() => null);
      await meta?.unlisten();
    },
  };
}
