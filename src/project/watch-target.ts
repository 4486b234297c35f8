/**
 * What a watch is about: start URLs with the options that were told, or, without any, a project of the store with the
 * options of its last run, what it keeps, and what was told now.
 */
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { camelCase } from '../config/option-spec.ts';
import { OPTION_NAMES, type OptionName } from '../config/option-table.ts';
import { refuseWithoutCredentials } from '../crawl/run/credentials.ts';
import { projectOf, readStartUrls } from '../crawl/run/prepare-run.ts';
import { wireNormalizer } from '../crawl/wire.ts';
import { sumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import type { StoredRun } from '../store/read-side.ts';
import { applyProjectSettings } from './apply-project-settings.ts';
import { configOfRun } from './config-of-run.ts';
import { openSideToCrawl } from './open-side-to-crawl.ts';
import { requireProject } from './reading.ts';

export interface WatchTarget {
  config: Config;
  startUrls: readonly string[];
  project: string;
}

/** `startUrls`: beside those of the options. `readList` reads the list that the option `urls` names. */
export async function watchTarget(
  sources: ConfigSources,
  startUrls: readonly string[],
  readList: (file: string) => Promise<readonly string[]>,
): Promise<WatchTarget> {
  const told = await loadConfig(sources);
  const listed = told.urls === null ? [] : await readList(told.urls);
  const given = [...startUrls, ...told.startUrls, ...listed];
  return given.length > 0
    ? withUrls(await applyProjectSettings(told, { sources, startUrls: given }), given)
    : await withStored(told, sources);
}

function withUrls(config: Config, startUrls: readonly string[]): WatchTarget {
  const normalizer = wireNormalizer(config);
  const found = readStartUrls(startUrls, (text) => normalizer.normalize(text));
  return { config, startUrls, project: projectOf(config, found, systemClock.now()) };
}

/** A project of the store, with the options of its last run, what it keeps, and this command's own. */
async function withStored(told: Config, sources: ConfigSources): Promise<WatchTarget> {
  const run = await runToWatch(told);
  const asked = await applyProjectSettings({ ...told, project: run.project }, { sources, startUrls: [] });
  const given = OPTION_NAMES.filter((name) => isGiven(asked, name));
  const options: ConfigSources['options'] = {
    ...(asked.store === null ? { db: asked.db } : { store: asked.store }),
    ...Object.fromEntries(given.map((name) => [camelCase(name), asked.sources[name].value])),
    project: run.project,
  };
  const found = await configOfRun(run, { env: sources.env, options });
  refuseWithoutCredentials(found, run);
  // What is wrong with a value is told of the place where it was written.
  const places = Object.fromEntries(given.map((name) => [name, asked.sources[name]]));
  const { unusedSettings } = asked;
  const config = Object.freeze({ ...found, unusedSettings, sources: { ...found.sources, ...places } });
  return { config, startUrls: config.startUrls, project: run.project };
}

/** Where options are read from has been read by now. */
const READ: ReadonlySet<OptionName> = new Set<OptionName>(['config', 'urls', 'db', 'store']);

function isGiven({ sources }: Config, name: OptionName): boolean {
  const { from } = sources[name];
  return !READ.has(name) && from !== 'default' && !from.startsWith('profile ');
}

async function runToWatch(config: Config): Promise<StoredRun> {
  const { storeLabel: file, project } = config;
  const side = await openSideToCrawl(config);
  try {
    if (project !== null) await requireProject(side, project, file);
    const projects = (await side.projects()).filter((row) =>
      project === null ? row.deleted_at === null : row.project === project,
    );
    if (projects.length > 1) {
      const known = projects.map((row) => `"${row.project}"`).join(', ');
      throw sumiError('several-projects', { file, known });
    }
    const run = projects.length === 0 ? null : await side.lastRun(projects[0].id);
    if (run === null) throw sumiError('no-url');
    return run;
  } finally {
    await side.close();
  }
}
