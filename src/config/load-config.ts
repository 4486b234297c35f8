/**
 * Makes the configuration of a run: defaults < profile < project < TOML file < environment < flags < a program's own
 * options.
 * Promises a complete, valid, frozen Config and, for every option, where its value came from. Any mistake is a
 * SumiError with value, limits and place, before anything is opened or written. Later stages read Config and never
 * look at the sources again.
 */

import { createHash } from 'node:crypto';
import { sumiError } from '../errors.ts';
import { storeLabel } from '../primitives/store-address.ts';
import { checkMeaning, readResolveRule } from './check-meaning.ts';
import {
  type GivenValue,
  givenByEnvironment,
  givenByFile,
  givenByFlags,
  givenByProgram,
  givenByProject,
} from './given-values.ts';
import { nearestName } from './nearest-name.ts';
import { camelCase, type OptionSpec, type OptionValue } from './option-spec.ts';
import {
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  type OptionValues,
  type ProfiledName,
} from './option-table.ts';
import { describeExpected, parseValue } from './parse-value.ts';
import { PROFILES } from './profiles.ts';
import { PROFILE_NAMES, type ProfileName } from './program.ts';
import { chooseProxies, type Proxies } from './proxies.ts';
import { readToml, type TomlTable } from './read-toml.ts';
import { type RequestHeaders, readRequestHeaders } from './request-headers.ts';
import type { ResolveRule } from './resolve-rules.ts';
import { showValue } from './show-value.ts';
import {
  isTerrainTable,
  NO_TERRAIN,
  pathFromFile,
  readTerrainLists,
  type TerrainLists,
} from './terrain-lists.ts';
import { withoutLogin } from './url-credentials.ts';
import { buildUserAgent } from './user-agent.ts';
import { splitSettings } from './who-may-set.ts';

interface OptionSource {
  readonly value: OptionValue;
  /** default | profile site | project shop | file x.toml | env SUMI_X | flag --x | option x */
  readonly from: string;
}

export interface Config extends Omit<OptionValues, 'userAgent'> {
  /** Always filled: as given, or built from name, version, URL and e-mail. */
  readonly userAgent: string;
  /** `resolve`, read. */
  readonly resolveRules: readonly ResolveRule[];
  /** `proxy` or the environment's proxies. */
  readonly proxies: Proxies;
  /** `header`, `cookie` and `auth`, read: for the origins of the start URLs. */
  readonly requestHeaders: RequestHeaders;
  /** The domain lists of a terrain file; empty without. */
  readonly terrain: TerrainLists;
  /** Where the crawl is kept: `store`, else `db`. May hold a password. */
  readonly storeAddress: string;
  /** The same for messages and output, without password. */
  readonly storeLabel: string;
  readonly sources: Readonly<Record<OptionName, OptionSource>>;
  /** What the project keeps from an older version although a project may not set it: it is not used. */
  readonly unusedSettings: readonly OptionName[];
}

export interface ConfigSources {
  /** The profile when no source names one; site unless said. */
  profile?: ProfileName;
  /** The TOML file when no flag or variable names one. */
  file?: string;
  /** What the project keeps of options, by their names. */
  settings?: { readonly project: string; readonly values: Readonly<Record<string, unknown>> };
  /** Defaults of a front door, in place of those of the table. */
  defaults?: Partial<Readonly<Record<OptionName, OptionValue>>>;
  env: Readonly<Record<string, string | undefined>>;
  /** Flags really given, by flag name (flagsGiven). */
  flags?: Readonly<Record<string, unknown>>;
  /** Options of a program, by their camelCase name. */
  options?: { readonly [Name in keyof OptionValues]?: OptionValues[Name] };
}

export async function loadConfig(input: ConfigSources): Promise<Config> {
  const program = givenByProgram(input.options ?? {});
  const flags = givenByFlags(input.flags ?? {});
  const environment = givenByEnvironment(input.env);
  const direct = [...environment, ...flags, ...program];
  const file = lastGiven(direct, 'config', input.file ?? null);
  const table: TomlTable = file === null ? {} : await readToml(file);
  const inFile = file === null ? [] : fromItsFolder(file, table, givenByFile(file, table));
  const { used, unused } = splitSettings(input.settings?.values ?? {});
  const kept = input.settings === undefined ? [] : givenByProject(input.settings.project, used);
  const given = [...kept, ...inFile, ...direct];

  const profile = chooseProfile(given, input.profile ?? 'site');
  const sources = defaultSources(profile, input.defaults ?? {});
  for (const entry of given) {
    sources[entry.option] = { value: readGiven(entry, profile), from: entry.from };
  }
  chooseStore([program, flags, environment, inFile], sources);
  if (file !== null && sources.config.value === null) sources.config = { value: file, from: 'argument' };
  if (sources.profile.from === 'default') sources.profile = { value: profile, from: 'default' };
  const config = finish(sources, table, file, input.env);
  return unused.length === 0 ? config : Object.freeze({ ...config, unusedSettings: unused });
}

/** A terrain file may be used from any folder: the files it names are found from its own. */
function fromItsFolder(file: string, table: TomlTable, given: GivenValue[]): GivenValue[] {
  if (!isTerrainTable(table)) return given;
  return given.map((entry) => {
    const { option, raw } = entry;
    if (typeof raw !== 'string' || raw === '') return entry;
    if (option === 'db' && !raw.includes('://')) return { ...entry, raw: pathFromFile(file, raw) };
    if (option === 'bodies' && raw.startsWith('files:'))
      return { ...entry, raw: `files:${pathFromFile(file, raw.slice('files:'.length))}` };
    return entry;
  });
}

/** A crawl is kept in one place: whichever of `db` and `store` the strongest source names. */
function chooseStore(strongestFirst: GivenValue[][], sources: Record<OptionName, OptionSource>): void {
  for (const given of strongestFirst) {
    const db = given.find(({ option }) => option === 'db');
    const store = given.find(({ option, raw }) => option === 'store' && raw !== null);
    if (db !== undefined && store !== undefined)
      throw sumiError('two-stores', { option: store.written, other: db.written, place: store.from });
    if (store !== undefined) return;
    if (db !== undefined) {
      sources.store = { value: null, from: db.from };
      return;
    }
  }
}

function lastGiven(
  given: readonly GivenValue[],
  option: OptionName,
  otherwise: string | null,
): string | null {
  const entry = given.findLast((candidate) => candidate.option === option);
  return entry === undefined ? otherwise : (readGiven(entry, 'site') as string | null);
}

function chooseProfile(given: readonly GivenValue[], otherwise: ProfileName): ProfileName {
  const entry = given.findLast((candidate) => candidate.option === 'profile');
  if (entry === undefined) return otherwise;
  const name = String(entry.raw);
  const profile = PROFILE_NAMES.find((known) => known === name);
  if (profile !== undefined) return profile;
  const nearest = nearestName(name, PROFILE_NAMES);
  throw sumiError('unknown-profile', { name, place: entry.place, known: PROFILE_NAMES.join(', '), nearest });
}

function defaultSources(
  profile: ProfileName,
  defaults: NonNullable<ConfigSources['defaults']>,
): Record<OptionName, OptionSource> {
  const sources = {} as Record<OptionName, OptionSource>;
  const profiled: Partial<Record<OptionName, OptionValue>> = PROFILES[profile].defaults;
  for (const name of OPTION_NAMES) {
    const value = defaults[name] ?? OPTIONS[name].default;
    sources[name] =
      value === undefined
        ? { value: profiled[name as ProfiledName]!, from: `profile ${profile}` }
        : { value, from: 'default' };
  }
  return sources;
}

export function readGiven(entry: GivenValue, profile: ProfileName): OptionValue {
  const limits = PROFILES[profile].limits[entry.option];
  const spec: OptionSpec = { ...OPTIONS[entry.option], ...limits };
  if (entry.option === 'config' && entry.place.startsWith('file ')) {
    throw badValue(entry, entry.raw, 'no further file named inside a file');
  }
  if (entry.unit === 'ms') return readMilliseconds(entry, spec);
  const parsed = parseValue(spec, entry.raw);
  if ('value' in parsed) return parsed.value;
  // Its error names the nearest one.
  if (entry.option === 'preset' && typeof parsed.bad === 'string')
    checkMeaning('preset', parsed.bad, entry.from);
  throw badValue(entry, parsed.bad, `${parsed.expected}${limits ? ` in profile ${profile}` : ''}`);
}

function readMilliseconds(entry: GivenValue, spec: OptionSpec): OptionValue {
  const toMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
  const inMs: OptionSpec = { ...spec, type: 'integer', min: toMs(spec.min), max: toMs(spec.max) };
  const parsed = parseValue(inMs, entry.raw);
  if ('value' in parsed) return (parsed.value as number) / 1000;
  throw badValue(entry, parsed.bad, `${describeExpected(inMs)}, in milliseconds`);
}

function badValue(entry: GivenValue, value: unknown, expected: string): Error {
  const shown = showValue(value, OPTIONS[entry.option]);
  return sumiError('bad-value', { option: entry.written, value: shown, place: entry.place, expected });
}

function finish(
  sources: Record<OptionName, OptionSource>,
  table: TomlTable,
  file: string | null,
  env: ConfigSources['env'],
): Config {
  const values: Record<string, OptionValue> = {};
  for (const name of OPTION_NAMES) values[camelCase(name)] = freezeValue(sources[name].value);
  const options = values as unknown as OptionValues;
  for (const name of OPTION_NAMES) checkMeaning(name, sources[name].value, sources[name].from);
  const config: Config = {
    ...options,
    userAgent:
      options.userAgent ??
      buildUserAgent({
        name: options.crawlerName,
        version: options.crawlerVersion,
        url: options.contactUrl,
        email: options.contactEmail,
      }),
    resolveRules: Object.freeze(options.resolve.map((text) => readResolveRule(text, sources.resolve.from))),
    proxies: Object.freeze(chooseProxies(options.proxy, sources.proxy.from, env)),
    requestHeaders: readRequestHeaders(options, (option) => sources[option].from),
    terrain: file === null ? NO_TERRAIN : readTerrainLists(file, table, options.allowHttp),
    storeAddress: options.store ?? options.db,
    storeLabel: storeLabel(options.store ?? options.db),
    sources: Object.freeze(sources),
    unusedSettings: [],
  };
  return Object.freeze(config);
}

function freezeValue(value: OptionValue): OptionValue {
  return Array.isArray(value) ? Object.freeze([...value]) : value;
}

/** SHA-256 over what changes a crawl: equal hashes mean the same crawl, wherever the values came from. */
export function configHash(config: Config): string {
  const { blacklist, stub } = config.terrain;
  const quality = config.terrain.quality.map(({ domain, seeds }) => ({
    domain,
    seeds: seeds.map(withoutLogin),
  }));
  const values: Record<string, unknown> = { quality, blacklist, stub };
  for (const name of OPTION_NAMES) {
    // The value as given, not as built: a new version of the program is no change of the configuration.
    if (OPTIONS[name].hashed !== false) values[name] = config.sources[name].value;
  }
  // Their names, never their values, which a hash would let others try out.
  if (config.requestHeaders.size > 0) values.headers = [...config.requestHeaders.keys()].sort();
  return createHash('sha256').update(canonicalJson(values)).digest('hex');
}

/** JSON with keys in order, so that the order of the table is no part of the hash. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
