/** Projects made and changed by programs. A project that is being crawled keeps its name and its address until that is over. */
import { withoutCredentials } from '../config/url-credentials.ts';
import { SumiError, sumiError } from '../errors.ts';
import { checkEgress } from '../fetch/egress.ts';
import {
  changeProject,
  createProject,
  goOnPurging,
  purgeProject,
  removeProject,
  restoreProject,
} from '../project/keep-projects.ts';
import { checkChange } from './change-settings.ts';
import type { ProjectChange, ProjectVerbs } from './engine.ts';
import type { RunKeeper } from './keep-runs.ts';
import type { PhaseReader } from './read-phases.ts';
import type { Room, RoomProject } from './room.ts';
import type { Steering } from './steer-runs.ts';
import type { Tickets } from './tickets.ts';

const OVER: ReadonlySet<string> = new Set(['run-not-under-way', 'run-not-steerable']);
/** A run that was stopped has so long to settle what is in flight, before its project is purged. */
const MOST_WAIT_MS = 60_000;
const LOOK_EVERY_MS = 50;

export interface ProjectSurroundings {
  room: Omit<Room, 'runs'>;
  steering: Pick<Steering, 'stop'>;
  phases: PhaseReader;
  tickets: Tickets;
  keeper: Pick<RunKeeper, 'live'>;
  /** Its settings, name or existence changed. */
  tellProject: (projectUid: string) => void;
}

export interface KeptProjects extends ProjectVerbs {
  /** Goes on with purges that were cut short. */
  begin(): Promise<void>;
  /** Resolves when no purge is at work. */
  end(): Promise<void>;
}

export function createProjectVerbs(around: ProjectSurroundings): KeptProjects {
  const { room, steering, phases, tickets, keeper, tellProject } = around;
  const { store, side, records, egress, clock, report } = room;
  const purges = new Set<Promise<void>>();

  /** What a run goes by must not change under it. */
  async function refuseWhenCrawled(project: RoomProject, { name, websiteUrl }: ProjectChange): Promise<void> {
    const isOther =
      (name !== undefined && name !== project.name) ||
      (websiteUrl !== undefined && websiteUrl !== project.websiteUrl);
    if (!isOther) return;
    const { status, state, run } = await phases.of(project);
    if (status === 'in_progress' && state !== 'queued')
      throw sumiError('project-crawled', { project: project.name, run: run ?? 'of the service' });
  }

  async function endRun(project: RoomProject): Promise<void> {
    const { status } = await phases.of(project);
    if (status !== 'in_progress') return;
    try {
      await steering.stop(project.uid);
    } catch (error) {
      // It has ended by itself in this moment.
      if (!(error instanceof SumiError) || !OVER.has(error.code)) throw error;
    }
  }

  /** Here, or in another process on the store. */
  async function isAtWork({ uid, id }: RoomProject): Promise<boolean> {
    if (keeper.live.has(uid)) return true;
    const last = store.isShared ? await side.lastRun(id) : null;
    return last !== null && ((await store.projects.standing(last.run))?.workers ?? 0) > 0;
  }

  /** What it had in flight is settled. */
  async function untilOver(project: RoomProject): Promise<void> {
    for (let waited = 0; waited < MOST_WAIT_MS && (await isAtWork(project)); waited += LOOK_EVERY_MS)
      await new Promise<void>((resolve) => void clock.after(LOOK_EVERY_MS, resolve));
  }

  const purging = { forget: (uid: string) => records.removeScope(uid), signal: room.closing };

  function follow(done: Promise<void>): void {
    const purge = done.catch(report);
    purges.add(purge);
    void purge.then(() => purges.delete(purge));
  }

  return {
    async create({ name, websiteUrl, settings }) {
      checkChange(settings);
      await checkEgress(egress, websiteUrl);
      const uid = await createProject(store, { name, websiteUrl: clean(websiteUrl), settings });
      tellProject(uid);
      return uid;
    },
    async change(id, change) {
      const { name, websiteUrl, settings, ifUpdatedAt } = change;
      const project = await room.project(id);
      await refuseWhenCrawled(project, change);
      if (settings !== undefined) checkChange(settings);
      if (websiteUrl !== undefined) await checkEgress(egress, websiteUrl);
      await changeProject(store, project.uid, {
        ...{ name, settings, ifUpdatedAt },
        websiteUrl: websiteUrl === undefined ? undefined : clean(websiteUrl),
      });
      tellProject(project.uid);
    },
    async remove(id) {
      const project = await room.project(id);
      await endRun(project);
      await removeProject(store, project.uid, store.clock);
      tellProject(project.uid);
    },
    async restore(id) {
      const project = await room.anyProject(id);
      if (project.isDeleted) await restoreProject(store, project.uid);
      tellProject(project.uid);
    },
    async purge(id) {
      const project = await room.anyProject(id);
      if (!project.isDeleted) await endRun(project);
      await untilOver(project);
      await tickets.remove({ project: project.uid });
      const { done } = await purgeProject(store, project.uid, purging);
      tellProject(project.uid);
      follow(done);
    },
    async begin() {
      follow(goOnPurging(store, purging));
    },
    async end() {
      await Promise.all(purges);
    },
  };
}

/** Passwords are no part of an address: nobody who reads the project may see them. */
const clean = (url: string) => withoutCredentials(url);
