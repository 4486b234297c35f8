/** Shows and keeps how a project is crawled, so that every later crawl and watch of it needs no options. */
import {
  changeSettings,
  type ProjectSettings,
  readSettings,
  type SettingChanges,
  writeSettings,
} from '../config/project-settings.ts';
import type { Reading } from './reading.ts';
import { type StorePlace, withStore } from './with-store.ts';

export type { ProjectSettings, SettingChanges } from '../config/project-settings.ts';

export interface KeptSettings {
  project: string;
  settings: ProjectSettings;
}

/** Every change is checked before anything is written, and before a file is made. A new name makes a new project. */
export async function keepSettings(
  place: StorePlace,
  project: string,
  changes: SettingChanges,
): Promise<void> {
  await changeSettings(project, {}, { ...changes, unset: [] });
  await withStore(place, async (store) => {
    const stored = readSettings(await store.projects.settings(project));
    await store.projects.saveSettings(project, writeSettings(await changeSettings(project, stored, changes)));
  });
}

/** Of the project asked for, or of all. */
export async function readKeptSettings({ side, project }: Reading): Promise<KeptSettings[]> {
  const kept: KeptSettings[] = [];
  for (const row of await side.projects()) {
    if (project !== undefined && row.project !== project) continue;
    kept.push({ project: row.project, settings: readSettings(await side.projectSettings(row.project)) });
  }
  return kept;
}
