/** The options that a run was made with, as they stand in the store, made into a configuration again. */
import { COMMAND_OPTIONS } from '../config/command-options.ts';
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { camelCase } from '../config/option-spec.ts';
import { OPTION_NAMES, type OptionName } from '../config/option-table.ts';
import type { TerrainLists } from '../config/terrain-lists.ts';
import type { StoredRun } from '../store/read-side.ts';

/** What belongs to a command and not to the crawl; the file and the list of URLs have been read long ago. */
const OF_THE_COMMAND: ReadonlySet<OptionName> = new Set<OptionName>([
  ...COMMAND_OPTIONS,
  // A file from elsewhere must not be able to send anything anywhere, or spend what nobody here allowed.
  'budget',
  'host-budget',
  'hours',
  'every',
  'webhook',
  'webhook-allow',
  'webhook-secret',
]);

/** What is not the run's own: options given now, and the environment that names the proxies. */
export type OwnSources = Pick<ConfigSources, 'env' | 'options'>;

/** Who asks what a run was told, and makes no request, needs no environment. */
const NO_SOURCES: OwnSources = { env: {} };

export async function configOfRun(
  run: Pick<StoredRun, 'config'>,
  { env: all, options: own }: OwnSources = NO_SOURCES,
): Promise<Config> {
  const stored = JSON.parse(run.config) as Record<string, unknown> & { terrain?: TerrainLists };
  const names = OPTION_NAMES.filter((name) => name in stored && !OF_THE_COMMAND.has(name));
  const options = Object.fromEntries(names.map((name) => [camelCase(name), stored[name]]));
  // The environment still says how to reach the web (proxies), but no longer what the crawl is.
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('SUMI_')));
  const config = await loadConfig({ env, options: { ...options, ...own } });
  return Object.freeze({ ...config, terrain: stored.terrain ?? config.terrain });
}

/** The configured delay of a run, and since when it holds: an unfinished run may have gone on with another. */
export function floorOfRun(run: Pick<StoredRun, 'config'>): { delayMs: number; sinceMs: number } {
  const stored = JSON.parse(run.config) as { delay?: number; 'configured-at'?: number };
  return { delayMs: (stored.delay ?? 0) * 1000, sinceMs: stored['configured-at'] ?? 0 };
}
