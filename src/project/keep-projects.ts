/**
 * Makes, changes, deletes and purges projects for programs, which name them by UUID. Settings are option values that were
 * checked already; they are merged into those that are kept. A deleted project is kept until it is purged, which cannot be
 * undone.
 */
import { randomUUID } from 'node:crypto';
import type { OptionValue } from '../config/option-spec.ts';
import type { OptionName } from '../config/option-table.ts';
import { type ProjectSettings, readSettings, writeSettings } from '../config/project-settings.ts';
import { SumiError, sumiError } from '../errors.ts';
import type { Clock } from '../primitives/clock.ts';
import type { KeptChange } from '../store/kept-project.ts';
import type { ProjectPort } from '../store/project-port.ts';

/** By option name; null takes a setting back to its default. */
type Settings = Readonly<Partial<Record<OptionName, OptionValue | null>>>;

interface ProjectStore {
  readonly projects: ProjectPort;
}

/** Answers the new project's UUID. */
export async function createProject(
  { projects }: ProjectStore,
  { name, websiteUrl, settings }: { name: string; websiteUrl: string | null; settings: Settings },
): Promise<string> {
  const uid = randomUUID();
  await projects.createProject({ name, uid, websiteUrl, settings: merged({}, settings) });
  return uid;
}

export interface ProjectChanges {
  name?: string;
  websiteUrl?: string | null;
  settings?: Settings;
  /** Another time of the last change is refused (`project-changed`). */
  ifUpdatedAt?: number;
}

/** Several may change one project at once: settings are merged anew where another was faster. */
const TRIES = 10;

/** Answers when it was changed, in wall milliseconds: a later time than that of any change before. */
export async function changeProject(
  { projects }: ProjectStore,
  uid: string,
  { name, websiteUrl, settings, ifUpdatedAt }: ProjectChanges,
): Promise<number> {
  for (let tries = 1; ; tries++) {
    const kept = await projects.keptProject(uid);
    if (kept === null) throw sumiError('project-unknown', { id: uid });
    const change: KeptChange = { name, websiteUrl, ifUpdatedAt: ifUpdatedAt ?? kept.updatedAt };
    if (settings !== undefined) change.settings = merged(readSettings(kept.settings), settings);
    try {
      return await projects.changeProject(uid, change);
    } catch (error) {
      const wasSlower = error instanceof SumiError && error.code === 'project-changed';
      if (!wasSlower || ifUpdatedAt !== undefined || tries === TRIES) throw error;
    }
  }
}

/** It is no longer crawled or listed. Its run is the caller's to stop, before or after. */
export async function removeProject(
  { projects }: ProjectStore,
  uid: string,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await projects.markDeleted(uid, clock.now());
}

export async function restoreProject({ projects }: ProjectStore, uid: string): Promise<void> {
  await projects.markDeleted(uid, null);
}

/** Rows deleted in one go: some milliseconds, in which crawls beside wait. */
const ROWS_AT_ONCE = 500;

export interface Purging {
  /** Drops what is kept of the project elsewhere, such as its records. */
  forget(uid: string): Promise<void>;
  /** Aborted: what is left to do is gone on with at the next start. */
  signal?: AbortSignal;
}

export interface Purge {
  /** Resolves when nothing is left of the project, or the signal has cut it short. */
  readonly done: Promise<void>;
}

/**
 * Resolves when nobody sees the project any more; the rest is done in the background. Refused while somebody is at work on it.
 */
export async function purgeProject(store: ProjectStore, uid: string, purging: Purging): Promise<Purge> {
  await store.projects.hideProject(uid);
  return { done: purge(store, uid, purging) };
}

/** Goes on with what was cut short when the program ended. */
export async function goOnPurging(store: ProjectStore, purging: Purging): Promise<void> {
  for (const uid of await store.projects.hiddenProjects()) {
    if (purging.signal?.aborted) return;
    await purge(store, uid, purging);
  }
}

/** The project's row goes last: as long as it is there, a purge that is cut short is gone on with. */
async function purge({ projects }: ProjectStore, uid: string, { forget, signal }: Purging): Promise<void> {
  await forget(uid);
  await projects.purgeProject(uid, { batch: ROWS_AT_ONCE, signal });
  // What somebody was about to write when the project was hidden.
  if (!signal?.aborted) await forget(uid);
}

function merged(kept: ProjectSettings, settings: Settings): string | null {
  const values: Record<string, unknown> = { ...kept };
  for (const [name, value] of Object.entries(settings)) {
    if (value === null) delete values[name];
    else if (value !== undefined) values[name] = value;
  }
  const names = Object.keys(values).sort();
  return writeSettings(Object.fromEntries(names.map((name) => [name, values[name]])));
}
