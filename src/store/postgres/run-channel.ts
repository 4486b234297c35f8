/**
 * One ear on a channel for all sessions. On `WORK_CHANNEL`, who queues pages of a run, or gives a host back, says so by the
 * run's number; on `STEER_CHANNEL`, who gives a run an order.
 */
import type { OpenDatabase } from './session.ts';

export interface RunChannel {
  /** Begins to listen, once. */
  listen(): void;
  stop(): Promise<void>;
}

export function openRunChannel(
  { sql, isPooled }: OpenDatabase,
  channel: string,
  hear: (runId: number) => void,
): RunChannel {
  let listening: ReturnType<typeof sql.listen> | null = null;
  return {
    listen() {
      // Through PgBouncer there is nothing to hear.
      if (isPooled || listening !== null) return;
      // A connection that is lost is made again by the client.
      listening = sql.listen(channel, (payload) => hear(Number(payload)));
      // Without it a worker asks every second or two: nothing depends on it.
      listening.catch(() => {});
    },
    async stop() {
      const meta = await listening?.catch(() => null);
      await meta?.unlisten();
    },
  };
}
