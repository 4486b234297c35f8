/** Shows and keeps how a project is crawled, so that every later crawl and watch of it needs no options. */
import type { Config } from '../config/load-config.ts';
import {
  changeSettings,
  type ProjectSettings,
  readSettings,
  type SettingChanges,
  writeSettings,
} from '../config/project-settings.ts';
import { systemClock } from '../primitives/clock.ts';
import { openStore } from '../store/open-store.ts';
import type { Reading } from './reading.ts';

export type { ProjectSettings, SettingChanges } from '../config/project-settings.ts';

export interface KeptSettings {
  project: string;
  settings: ProjectSettings;
}

/** Every change is checked before anything is written, and before a file is made. A new name makes a new project. */
export async function keepSettings(
  { storeAddress, storePatience }: Pick<Config, 'storeAddress' | 'storePatience'>,
  project: string,
  changes: SettingChanges,
): Promise<void> {
  await changeSettings(project, {}, { ...changes, unset: [] });
  const store = await openStore({
    address: storeAddress,
    clock: systemClock,
    patienceMs: storePatience * 1000,
    onFailure: (error) => {
      throw error;
    },
  });
  try {
    const stored = readSettings(await store.projects.settings(project));
    await store.projects.saveSettings(project, writeSettings(await changeSettings(project, stored, changes)));
  } finally {
    await store.close();
  }
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
