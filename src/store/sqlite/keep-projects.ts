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
import { purgeProject } from './purge.ts';
import { refuseLive } from './runs.ts';
import type { OpenFile } from './session.ts';

export function createKeepingVerbs(file: OpenFile): KeepingVerbs {
  const { db, window, clock } = file;
  const now = () => Math.round(clock.now());

  function find(uid: string): KeptProject | undefined {
    return db.prepare(`SELECT ${KEPT_COLUMNS} FROM project WHERE uid = ? AND purged_at IS NULL`).get(uid) as
      | KeptProject
      | undefined;
  }

  function refuseTaken(name: string): void {
    if (db.prepare('SELECT 1 FROM project WHERE name = ?').get(name) !== undefined)
      throw sumiError('project-exists', { project: name });
  }

  function create({ name, uid, websiteUrl, settings }: NewKeptProject): number {
    refuseTaken(name);
    const at = now();
    db.prepare(
      'INSERT INTO project (name, created_at, uid, website_url, settings, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
    ).run(name, at, uid, websiteUrl, settings, at);
    window.commit();
    return at;
  }

  function change(uid: string, wanted: KeptChange): number {
    const before = find(uid);
    const { id, name, websiteUrl, settings, updatedAt } = changedProject(uid, before, wanted, now());
    if (name !== before?.name) {
      refuseTaken(name);
      // What a crawl does at its end, it does by the name.
      refuseLive(file, id, before?.name ?? name);
      db.prepare('DELETE FROM meta WHERE key = ?').run(copiedKey(before?.name ?? name));
    }
    db.prepare('UPDATE project SET name = ?, website_url = ?, settings = ?, updated_at = ? WHERE id = ?').run(
      name,
      websiteUrl,
      settings,
      updatedAt,
      id,
    );
    window.commit();
    return updatedAt;
  }

  function mark(uid: string, at: number | null): number {
    const { id, updatedAt } = changedProject(uid, find(uid), {}, now());
    db.prepare('UPDATE project SET deleted_at = ?, updated_at = ? WHERE id = ?').run(at, updatedAt, id);
    window.commit();
    return updatedAt;
  }

  function hide(uid: string): void {
    const found = find(uid);
    if (found === undefined) throw sumiError('project-unknown', { id: uid });
    refuseLive(file, found.id, found.name);
    const at = laterThan(found.updatedAt, now());
    db.prepare(
      `UPDATE project SET name = ?, deleted_at = COALESCE(deleted_at, ?), purged_at = ?, updated_at = ? WHERE id = ?`,
    ).run(nameWhilePurged(uid), at, at, at, found.id);
    db.prepare(
      `UPDATE run SET status = 'failed', error = ?, finished_at = COALESCE(finished_at, ?)
       WHERE project_id = ? AND status IN ('running', 'paused', 'interrupted')`,
    ).run(PURGED_RUN, at, found.id);
    db.prepare('DELETE FROM meta WHERE key = ?').run(copiedKey(found.name));
    window.commit();
  }

  return {
    createProject: async (project) => create(project),
    keptProject: async (uid) => find(uid) ?? null,
    changeProject: async (uid, wanted) => change(uid, wanted),
    markDeleted: async (uid, at) => mark(uid, at),
    hideProject: async (uid) => hide(uid),
    hiddenProjects: async () =>
      db.prepare('SELECT uid FROM project WHERE purged_at IS NOT NULL ORDER BY id').pluck().all() as string[],
    async purgeProject(uid, options) {
      if (find(uid) !== undefined) hide(uid);
      const id = db.prepare('SELECT id FROM project WHERE uid = ?').pluck().get(uid) as number | undefined;
      if (id !== undefined) await purgeProject(file, id, options);
    },
  };
}
