/**
 * The store on one machine: one SQLite file, written by one connection of one process for all its sessions. See
 * store-port.ts for what it promises; the parts beside this file each keep one of the promises.
 */
import { sumiError } from '../../errors.ts';
import { NO_RUN } from '../no-run.ts';
import type { RunStart } from '../run-port.ts';
import type { RunStore, Store } from '../store-port.ts';
import { guarded } from './failure-guard.ts';
import { openFile, type SqliteStoreOptions } from './open-file.ts';
import { createProjectVerbs } from './project-verbs.ts';
import { openSession } from './run-session.ts';
import { beginRun, joinRun, type OpenedRun } from './runs.ts';

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const file = openFile(options);
  const { path, clock, db, window, guard, live } = file;
  const isShared = false; // The file has one writer: nobody else can be at work on a run of it.
  const projects = guarded(createProjectVerbs(file), guard);
  const openSide = async () => (await import('./read-side.ts')).openSqliteReadSide(path);
  const common = { clock, isShared, projects, openSide };

  function openRunStore(owner: string, start: RunStart, isFirstRun: boolean): RunStore {
    const { projectId, runId } = start;
    const { session, ports } = openSession(file, { owner, projectId, runId, isFirstRun });
    return { ...common, ...ports, start: { ...start, knownUrls: session.known.size } };
  }
  const workOn = (owner: string, { start, isFirstRun }: OpenedRun) => openRunStore(owner, start, isFirstRun);

  const verbs: Pick<Store, 'begin' | 'join' | 'withoutRun' | 'flush' | 'close'> = {
    begin: async (request) => workOn(request.owner, beginRun(file, request)),
    async join(runId, owner) {
      const joined = joinRun(file, runId);
      if (joined === null) return null;
      const { project, config, metadata } = joined;
      return { ...workOn(owner, joined), project, config, metadata };
    },
    withoutRun: async (owner) => openRunStore(owner, NO_RUN, false),
    flush: async () => window.commit(),
    async close() {
      const answer = sumiError('store-closed', { store: path });
      for (const session of [...live]) session.end(answer);
      db.prepare("DELETE FROM meta WHERE key = 'holder'").run();
      window.close();
      db.close();
      guard.failure = answer;
    },
  };
  return { ...common, ...guarded(verbs, guard) };
}
