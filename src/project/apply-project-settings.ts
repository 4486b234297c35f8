/**
 * Puts what the project keeps under what the operator said: defaults < profile < project < file < environment < flags.
 * Which project it is depends on the options and the start URLs; so options are read first, and once more where the
 * project has settings. A store that is not there yet keeps none. Only reads, but for a shared store of an older version:
 * that is brought up to date first, as the crawl that follows would do.
 */
import { existsSync } from 'node:fs';
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { readSettings } from '../config/project-settings.ts';
import type { StartUrl } from '../crawl/parts.ts';
import { credentialNames, refuseWithoutCredentials } from '../crawl/run/credentials.ts';
import { projectOf, readStartUrls } from '../crawl/run/prepare-run.ts';
import { wireNormalizer } from '../crawl/wire.ts';
import { SumiError } from '../errors.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import { openReadSide } from '../store/open-store.ts';
import type { ProjectPort } from '../store/project-port.ts';
import type { ReadSide } from '../store/read-side.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { openSideToCrawl } from './open-side-to-crawl.ts';

export interface SettingsRequest {
  /** What `config` was made from. */
  sources: ConfigSources;
  startUrls: readonly string[];
  /** A program's own. */
  store?: { projects: Pick<ProjectPort, 'settings'> };
  /** No crawl follows: a store of an older version is refused. */
  isReadOnly?: true;
  /** A crawl goes on with the project's unfinished run: without the headers that it was begun with it would see another site. */
  isCrawl?: true;
}

export interface CrawlSettings extends Omit<SettingsRequest, 'sources' | 'startUrls'> {
  /** Start URLs beside those of the options. */
  startUrls?: readonly string[];
  /** Reads the list that the option `urls` names. */
  readList: (file: string) => Promise<readonly string[]>;
}

/** From what was told to the configuration of a crawl, and where it starts. */
export async function configureCrawl(
  sources: ConfigSources,
  { startUrls: given = [], readList, ...request }: CrawlSettings,
): Promise<{ config: Config; startUrls: string[] }> {
  const told = await loadConfig(sources);
  const listed = told.urls === null ? [] : await readList(told.urls);
  const startUrls = [...given, ...told.startUrls, ...listed];
  return { config: await applyProjectSettings(told, { ...request, sources, startUrls }), startUrls };
}

/** Errors of a store that nothing was written to yet. */
const WITHOUT_SETTINGS: ReadonlySet<string> = new Set(['db-missing', 'store-empty']);

export async function applyProjectSettings(config: Config, request: SettingsRequest): Promise<Config> {
  const { sources, startUrls, store } = request;
  // A run of its own has no past; without a start there is no project, which the crawl itself will say.
  if (config.isolated || (config.project === null && startUrls.length === 0)) return config;
  const project = config.project ?? nameFrom(config, startUrls);
  const json =
    store === undefined ? await readStored(config, project, request) : await store.projects.settings(project);
  if (json === null) return config;
  return await loadConfig({ ...sources, settings: { project, values: readSettings(json) } });
}

function nameFrom(config: Config, startUrls: readonly string[]): string {
  // The time only names isolated runs.
  return projectOf(config, readStarts(config, startUrls), 0);
}

function readStarts(config: Config, startUrls: readonly string[]): StartUrl[] {
  const normalizer = wireNormalizer(config);
  return readStartUrls(startUrls, (text) => normalizer.normalize(text));
}

async function readStored(
  config: Config,
  project: string,
  { startUrls, isReadOnly, isCrawl }: SettingsRequest,
): Promise<string | null> {
  const { storeAddress } = config;
  // The first crawl into a new file must not pay for what cannot be there.
  if (!isSharedStore(storeAddress) && !existsSync(storeAddress)) return null;
  try {
    const side = isReadOnly ? await openReadSide(storeAddress) : await openSideToCrawl(config);
    try {
      if (isCrawl && startUrls.length > 0 && !config.fresh)
        await refuseWithoutAny(side, project, config, readStarts(config, startUrls));
      return await side.projectSettings(project);
    } finally {
      await side.close();
    }
  } catch (error) {
    if (error instanceof SumiError && WITHOUT_SETTINGS.has(error.code)) return null;
    throw error;
  }
}

/** Who gives others than before means them; who gives none has most likely forgotten them. */
async function refuseWithoutAny(
  side: ReadSide,
  project: string,
  config: Config,
  startUrls: StartUrl[],
): Promise<void> {
  if (credentialNames(config, startUrls).length > 0) return;
  const row = (await side.projects()).find((known) => known.project === project);
  const run = row === undefined ? null : await side.lastRun(row.id);
  if (run !== null && isUnfinished(run)) refuseWithoutCredentials(config, run, startUrls);
}
