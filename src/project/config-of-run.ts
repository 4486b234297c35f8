/** The options that a run was made with, as they stand in the store, made into a configuration again. */
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { camelCase } from '../config/option-spec.ts';
import { OPTION_NAMES, OPTIONS, type OptionName } from '../config/option-table.ts';
import { showValue } from '../config/show-value.ts';
import type { TerrainLists } from '../config/terrain-lists.ts';
import { isPassedOn, isProjectOption, OPERATOR_CRAWL_OPTIONS } from '../config/who-may-set.ts';
import { sumiError } from '../errors.ts';
import type { StoredRun } from '../store/read-side.ts';

type Stored = Record<string, unknown> & { terrain?: TerrainLists };
type Options = NonNullable<ConfigSources['options']>;

const START_URLS: OptionName = 'start-urls';

/** What is not the run's own. */
export interface OwnSources {
  /** Names the proxies. */
  env: ConfigSources['env'];
  /** Options given now: they win over what is stored. */
  options?: Options;
  /** What this machine was given of the operator's options: used only where the run was begun with the same option. */
  here?: Options;
}

/**
 * To go on with the run. The store is never believed about options that only the operator may set: where the run was begun
 * with one of them, it has to be given by `options` or `here`; else the run is refused.
 */
export async function configOfRun(
  run: Pick<StoredRun, 'config'> & { run?: number },
  { env, options = {}, here = {} }: OwnSources,
): Promise<Config> {
  const stored = JSON.parse(run.config) as Stored;
  const missing: OptionName[] = [];
  const given: Record<string, unknown> = {};
  for (const name of OPERATOR_CRAWL_OPTIONS) {
    const key = camelCase(name);
    // A run that was begun without keeps to that: robots.txt is ignored only where both say so.
    if (key in options || !isOtherThanDefault(name, stored)) continue;
    if (key in here) given[key] = here[key];
    else missing.push(name);
  }
  if (missing.length > 0)
    throw sumiError('operator-options-missing', {
      run: run.run ?? 'of the store',
      options: missing.map((name) => flagFor(name, stored[name]).split(' ', 1)[0]).join(', '),
      how: missing.map((name) => flagFor(name, stored[name])).join(' '),
    });
  return await makeConfig(stored, isPassedOn, { env, options: { ...given, ...options } });
}

/**
 * For a new run of the same project: the options of the old one that a project may set, with `options` over them. What only
 * the operator may set is what `options` says.
 */
export async function configLikeRun(
  run: Pick<StoredRun, 'config'>,
  { env, options = {} }: Omit<OwnSources, 'here'>,
): Promise<Config> {
  return await makeConfig(JSON.parse(run.config) as Stored, isPassedOn, { env, options });
}

/** To tell of the run: its options as they were, whoever set them. Nothing is crawled with it. */
export async function recordedConfig(run: Pick<StoredRun, 'config'>): Promise<Config> {
  const isRecorded = (name: OptionName) => isProjectOption(name) || OPERATOR_CRAWL_OPTIONS.includes(name);
  return await makeConfig(JSON.parse(run.config) as Stored, isRecorded, { env: {} });
}

/** What this machine was given of the options that no run passes on: by file, environment or flag. */
export function operatorOptions({ sources }: Config): Options {
  const given = OPERATOR_CRAWL_OPTIONS.filter((name) => sources[name].from !== 'default');
  return Object.fromEntries(given.map((name) => [camelCase(name), sources[name].value]));
}

async function makeConfig(
  stored: Stored,
  isTaken: (name: OptionName) => boolean,
  own: Pick<ConfigSources, 'env' | 'options'>,
): Promise<Config> {
  // The start URLs belong to the run, not to the command that began it.
  const names = OPTION_NAMES.filter((name) => name in stored && (isTaken(name) || name === START_URLS));
  const options = Object.fromEntries(names.map((name) => [camelCase(name), stored[name]]));
  // The environment still says how to reach the web (proxies), but no longer what the crawl is.
  const env = Object.fromEntries(Object.entries(own.env).filter(([name]) => !name.startsWith('SUMI_')));
  const config = await loadConfig({ env, options: { ...options, ...own.options } });
  return Object.freeze({ ...config, terrain: stored.terrain ?? config.terrain });
}

function isOtherThanDefault(name: OptionName, stored: Stored): boolean {
  return name in stored && JSON.stringify(stored[name]) !== JSON.stringify(OPTIONS[name].default);
}

function flagFor(name: OptionName, value: unknown): string {
  if (typeof value === 'boolean') return value ? `--${name}` : `--no-${name}`;
  if (Array.isArray(value)) return value.map((item) => `--${name} ${showValue(item)}`).join(' ');
  return `--${name} ${showValue(value)}`;
}

/** The configured delay of a run, and since when it holds: an unfinished run may have gone on with another. */
export function floorOfRun(run: Pick<StoredRun, 'config'>): { delayMs: number; sinceMs: number } {
  const stored = JSON.parse(run.config) as { delay?: number; 'configured-at'?: number };
  return { delayMs: (stored.delay ?? 0) * 1000, sinceMs: stored['configured-at'] ?? 0 };
}
