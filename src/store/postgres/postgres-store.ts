/**
 * The store that many workers share: one PostgreSQL database, opened once for all sessions of this process. See
 * store-port.ts for what it promises; the parts beside this file each keep one of the promises. Every verb waits while
 * the database is away, as long as patience lasts.
 */
import { sumiError } from '../../errors.ts';
import { NO_RUN } from '../no-run.ts';
import type { RunStart } from '../run-port.ts';
import type { RunStore, Store } from '../store-port.ts';
import { untilEnded } from './attempts.ts';
import { disconnect } from './connection.ts';
import { createProjectVerbs } from './project-verbs.ts';
import { openRunChannel } from './run-channel.ts';
import { connectSession, disconnectSession, openSession } from './run-session.ts';
import { beginRun, joinRun } from './runs.ts';
import { openSharedDatabase, type PostgresStoreOptions } from './shared-database.ts';
import { createSteering } from './steer.ts';
import { WORK_CHANNEL } from './write-rows.ts';

export interface PostgresStore extends Store {
  /** Resolves when the commits that have begun are over. */
  rest(): Promise<void>;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { database, attempts } = await openSharedDatabase(options);
  const { address, clock, live, sql, label } = database;
  const channel = openRunChannel(database, WORK_CHANNEL, (runId) => {
    for (const session of live) if (session.runId === runId) session.hearWork();
  });
  const steering = createSteering(database);
  const isShared = true;
  const projects = untilEnded({ ...createProjectVerbs(database), ...steering.verbs }, attempts);
  const openSide = async () => (await import('./read-side.ts')).openPostgresReadSide(address);
  const common = { clock, isShared, projects, openSide };
  const surroundings = { database, channel, options };

  /** A session on the run that `begin` answers; null where it answers null. */
  async function workOn<Begun extends { start: RunStart }>(
    owner: string,
    begin: () => Promise<Begun | null>,
  ): Promise<(Begun & RunStore) | null> {
    const connections = connectSession(address);
    let begun: Begun | null = null;
    try {
      begun = await begin();
    } finally {
      if (begun === null) await disconnectSession(connections);
    }
    if (begun === null) return null;
    return { ...common, ...(await openSession(surroundings, connections, owner, begun.start)), ...begun };
  }

  const verbs: Omit<PostgresStore, keyof typeof common> = {
    async begin(request) {
      return (await workOn(request.owner, async () => ({ start: await beginRun(database, request) })))!;
    },
    join: (runId, owner) => workOn(owner, () => joinRun(database, runId, owner)),
    async withoutRun(owner) {
      return (await workOn(owner, async () => ({ start: NO_RUN })))!;
    },
    async flush() {
      await Promise.all([...live].map(({ window }) => window.flush()));
    },
    async rest() {
      await Promise.all([...live].map(({ window }) => window.rest()));
    },
    async close() {
      const answer = sumiError('store-closed', { store: label });
      // Side by side: sessions give back what they hold on connections of their own.
      const sessions = [...live].map((session) => session.end(answer));
      const ended = await Promise.allSettled([...sessions, channel.stop(), steering.stop()]);
      attempts.end(answer);
      await disconnect(sql);
      for (const result of ended) if (result.status === 'rejected') throw result.reason;
    },
  };
  return { ...common, ...untilEnded(verbs, attempts), close: verbs.close };
}
