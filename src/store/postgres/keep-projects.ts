/** Projects as programs make, change and delete them; see project-port.ts. */
import { sumiError } from '../../errors.ts';
import { copiedKey } from '../copy-port.ts';
import {
  changedProject,
  KEPT_COLUMNS,
  type KeptChange,
  type KeptProject,
  laterThan,
  type NewKeptProject,
  nameWhilePurged,
  PURGED_RUN,
} from '../kept-project.ts';
import type { KeepingVerbs } from '../project-port.ts';
import type { TransactionSql } from './connection.ts';
import { purgeProject } from './purge.ts';
import { refuseBusy } from './runs.ts';
import { ask, type OpenDatabase, type Runner, transaction } from './session.ts';

const FIND = `SELECT ${KEPT_COLUMNS} FROM project WHERE uid = $1 AND purged_at IS NULL`;
const CREATE = `
INSERT INTO project (name, created_at, uid, website_url, settings, updated_at) VALUES ($1, $2, $3, $4, $5, $2)
ON CONFLICT (name) DO NOTHING RETURNING id`;
/** A project is its maker's, too, when the answer to its making was lost. */
const CREATED = 'SELECT updated_at AS "updatedAt" FROM project WHERE uid = $1 AND name = $2';
const CHANGE = 'UPDATE project SET name = $2, website_url = $3, settings = $4, updated_at = $5 WHERE id = $1';
const MARK = 'UPDATE project SET deleted_at = $2, updated_at = $3 WHERE id = $1';
const HIDE = `
UPDATE project SET name = $2, deleted_at = COALESCE(deleted_at, $3), purged_at = $3, updated_at = $3 WHERE id = $1`;
const CLOSE_RUNS = `
UPDATE run SET status = 'failed', error = $2, finished_at = COALESCE(finished_at, $3)
WHERE project_id = $1 AND status IN ('running', 'paused', 'interrupted')`;

const NAME_TAKEN = '23505';

export function createKeepingVerbs(database: OpenDatabase): KeepingVerbs {
  const now = () => Math.round(database.clock.now());
  const forgetCopy = (tx: TransactionSql, name: string) =>
    ask(tx, 'DELETE FROM meta WHERE key = $1', [copiedKey(name)]);

  /** Whoever begins a run of it waits, and then finds what was made of it. */
  async function locked(tx: TransactionSql, uid: string): Promise<KeptProject | undefined> {
    return (await ask<KeptProject>(tx, `${FIND} FOR UPDATE`, [uid]))[0];
  }

  async function create({ name, uid, websiteUrl, settings }: NewKeptProject): Promise<number> {
    const at = now();
    const made = await database.attempt((sql) => ask(sql, CREATE, [name, at, uid, websiteUrl, settings]));
    if (made.length > 0) return at;
    const [own] = await database.attempt((sql) => ask<{ updatedAt: number }>(sql, CREATED, [uid, name]));
    if (own === undefined) throw sumiError('project-exists', { project: name });
    return own.updatedAt;
  }

  async function change(tx: TransactionSql, uid: string, wanted: KeptChange): Promise<number> {
    const before = await locked(tx, uid);
    const { id, name, websiteUrl, settings, updatedAt } = changedProject(uid, before, wanted, now());
    if (name !== before?.name) {
      // What a crawl does at its end, it does by the name.
      await refuseBusy(tx, id, before?.name ?? name, now());
      await forgetCopy(tx, before?.name ?? name);
      await refuseTaken(tx, name);
    }
    try {
      await tx.savepoint((part) => ask(part, CHANGE, [id, name, websiteUrl, settings, updatedAt]));
    } catch (error) {
      // Somebody else took the name in the same moment.
      if ((error as { code?: unknown }).code === NAME_TAKEN)
        throw sumiError('project-exists', { project: name }, error);
      throw error;
    }
    return updatedAt;
  }

  async function hide(tx: TransactionSql, uid: string): Promise<void> {
    const found = await locked(tx, uid);
    if (found === undefined) throw sumiError('project-unknown', { id: uid });
    await refuseBusy(tx, found.id, found.name, now());
    const at = laterThan(found.updatedAt, now());
    await ask(tx, HIDE, [found.id, nameWhilePurged(uid), at]);
    await ask(tx, CLOSE_RUNS, [found.id, PURGED_RUN, at]);
    await forgetCopy(tx, found.name);
  }

  return {
    createProject: create,
    keptProject: async (uid) =>
      (await database.attempt((sql) => ask<KeptProject>(sql, FIND, [uid])))[0] ?? null,
    changeProject: (uid, wanted) => transaction(database, (tx) => change(tx, uid, wanted)),
    markDeleted: (uid, at) =>
      transaction(database, async (tx) => {
        const { id, updatedAt } = changedProject(uid, await locked(tx, uid), {}, now());
        await ask(tx, MARK, [id, at === null ? null : Math.round(at), updatedAt]);
        return updatedAt;
      }),
    hideProject: (uid) => transaction(database, (tx) => hide(tx, uid)),
    async hiddenProjects() {
      const rows = await database.attempt((sql) =>
        ask<{ uid: string }>(sql, 'SELECT uid FROM project WHERE purged_at IS NOT NULL ORDER BY id'),
      );
      return rows.map(({ uid }) => uid);
    },
    async purgeProject(uid, options) {
      const seen = await database.attempt((sql) => ask<KeptProject>(sql, FIND, [uid]));
      if (seen.length > 0) await transaction(database, (tx) => hide(tx, uid));
      const id = await database.attempt((sql) => idOf(sql, uid));
      if (id !== null) await purgeProject(database, id, options);
    },
  };
}

async function idOf(runner: Runner, uid: string): Promise<number | null> {
  return (await ask<{ id: number }>(runner, 'SELECT id FROM project WHERE uid = $1', [uid]))[0]?.id ?? null;
}

async function refuseTaken(tx: TransactionSql, name: string): Promise<void> {
  const taken = await ask(tx, 'SELECT 1 FROM project WHERE name = $1', [name]);
  if (taken.length > 0) throw sumiError('project-exists', { project: name });
}
