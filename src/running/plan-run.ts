/**
 * With which options a run of the service is begun: its defaults < what the project keeps < the order; the operator's
 * options are those that the service was started with. Limits of the service hold for every run, whoever made the project.
 */
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { camelCase, type OptionValue } from '../config/option-spec.ts';
import type { OptionName } from '../config/option-table.ts';
import { readSettings } from '../config/project-settings.ts';
import { OPERATOR_CRAWL_OPTIONS, splitSettings } from '../config/who-may-set.ts';
import { refuseWithoutCredentials, wantedHeaders } from '../crawl/run/credentials.ts';
import { sumiError } from '../errors.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import { configLikeRun, configOfRun } from '../project/config-of-run.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import type { Store } from '../store/store-port.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import type { EngineOptions, SettingChange } from './engine.ts';
import type { RunOrder } from './phase.ts';

type Options = NonNullable<ConfigSources['options']>;
type Environment = ConfigSources['env'];

export interface CrawlPlan {
  config: Config;
  startUrls: readonly string[];
}

export interface Planning {
  options: EngineOptions;
  store: Pick<Store, 'projects'>;
  side: Pick<ReadSide, 'lastRun'>;
  /** Names the proxies. */
  env: Environment;
}

/** Of a project in the service, where neither project nor order say otherwise. */
export const SERVICE_DEFAULTS: Partial<Record<OptionName, OptionValue>> = {
  'max-pages': 200,
  'full-text': true,
  'reverse-links': true,
  sections: true,
};

export interface PlannedProject {
  id: number;
  name: string;
  websiteUrl: string | null;
}

export async function planRun(
  planning: Planning,
  project: PlannedProject,
  order: RunOrder,
): Promise<CrawlPlan> {
  const { options, store, side } = planning;
  const kept = readSettings(await store.projects.settings(project.name));
  const last = project.websiteUrl === null ? await side.lastRun(project.id) : null;
  const like = last !== null && isCrawl(last) ? last : null;
  const told: Options = {
    ...ownOptions(options, kept),
    ...ordered(order),
    maxPages: pagesOf(order, kept, like, options.maxPagesLimit),
    project: project.name,
  };
  const env = withoutOptions(planning.env);
  if (like !== null) {
    const options = { ...SERVICE_INDEXES, ...asOptions(splitSettings(kept).used), ...told };
    const config = await configLikeRun(like, { env, options });
    return { config, startUrls: order.fetchOnlyUrls ?? config.startUrls };
  }
  if (project.websiteUrl === null && order.fetchOnlyUrls === undefined)
    throw sumiError('project-without-start', { project: project.name });
  const settings = { project: project.name, values: kept };
  const config = await loadConfig({ env, defaults: SERVICE_DEFAULTS, settings, options: told });
  return { config, startUrls: order.fetchOnlyUrls ?? [project.websiteUrl!] };
}

/** To look at a site before there is a project: `limits` are of the look, whatever the settings say. */
export async function planPreview(
  { options, env }: Pick<Planning, 'options' | 'env'>,
  settings: SettingChange,
  limits: Options,
): Promise<Config> {
  const kept = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  const maxPages = pagesOf({ type: 'manual' }, kept, null, options.maxPagesLimit);
  return await loadConfig({
    env: withoutOptions(env),
    defaults: SERVICE_DEFAULTS,
    settings: { project: 'preview', values: kept },
    options: { ...ownOptions(options, kept), maxPages, ...limits },
  });
}

const { 'max-pages': DEFAULT_PAGES, ...INDEXES } = SERVICE_DEFAULTS;
const SERVICE_INDEXES: Options = asOptions(INDEXES);

/** To go on with a stored run. `adjusted`: settings that it was given while it was under way. */
export async function planToGoOn(
  { options, env }: Pick<Planning, 'options' | 'env'>,
  project: PlannedProject,
  run: StoredRun,
  adjusted: SettingChange,
): Promise<CrawlPlan> {
  const most = adjusted['max-pages'];
  const limit = typeof most === 'number' ? { maxPages: Math.min(most, options.maxPagesLimit) } : {};
  const told = { ...asOptions(adjusted), ...limit, project: project.name };
  const own = { ...howToWork(options), ...placeOf(options), ...told };
  const config = await configOfRun(run, {
    env: withoutOptions(env),
    options: own,
    here: options.operator,
  });
  refuseWithoutCredentials(config, run);
  const requestHeaders = wantedHeaders(config, run);
  return { config: { ...config, requestHeaders, fresh: false, meta: [] }, startUrls: config.startUrls };
}

function pagesOf(
  { maxPages }: RunOrder,
  kept: Readonly<Record<string, unknown>>,
  like: StoredRun | null,
  most: number,
): number {
  const stored = like === null ? null : (JSON.parse(like.config) as Record<string, unknown>)['max-pages'];
  const wanted = [maxPages, kept['max-pages'], stored, DEFAULT_PAGES].find(
    (value) => typeof value === 'number',
  );
  return Math.min(wanted as number, most);
}

function ordered({ mode, fetchOnlyUrls, fresh, meta }: RunOrder): Options {
  return {
    ...(mode !== undefined && { mode }),
    ...(fetchOnlyUrls !== undefined && { fetchOnly: true }),
    ...(fresh !== undefined && { fresh }),
    ...(meta !== undefined && { meta: Object.entries(meta).map(([name, value]) => `${name}=${value}`) }),
  };
}

/** robots.txt is ignored only where both want that: the operator of the service, and the project. */
function ownOptions(options: EngineOptions, kept: Readonly<Record<string, unknown>>): Options {
  const robots = !(options.operator.robots === false && kept.robots === false);
  return { ...options.operator, ...placeOf(options), robots };
}

/** What no run keeps: how to reach the web and the bodies, credentials, how much to hold at once. */
function howToWork({ operator }: EngineOptions): Options {
  const ofRuns = new Set<string>(OPERATOR_CRAWL_OPTIONS.map(camelCase));
  return Object.fromEntries(
    Object.entries(operator).filter(([name]) => name === 'bodies' || !ofRuns.has(name)),
  );
}

function placeOf({ storeAddress }: EngineOptions): Options {
  return isSharedStore(storeAddress) ? { store: storeAddress } : { db: storeAddress };
}

export function asOptions(settings: Readonly<Record<string, unknown>>): Options {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [camelCase(name), value]));
}

/** The environment says how to reach the web, but not what a project of the service is. */
function withoutOptions(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SUMI_')));
}
