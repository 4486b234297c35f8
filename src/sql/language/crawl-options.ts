/**
 * Makes the options of a crawl from those of WITH and the settings of the session: default < SET < WITH. Values are
 * checked as those of every other source are. Nothing is looked up here: SETTINGS_QUERY asks DuckDB for the settings.
 */
import { checkMeaning } from '../../config/check-meaning.ts';
import type { ConfigSources } from '../../config/load-config.ts';
import { camelCase, type OptionSpec, type OptionValue } from '../../config/option-spec.ts';
import { OPTIONS, type OptionName } from '../../config/option-table.ts';
import { parseValue } from '../../config/parse-value.ts';
import { showValue, withoutSecret } from '../../config/show-value.ts';
import { buildUserAgent } from '../../config/user-agent.ts';
import { SumiError, sumiError } from '../../errors.ts';
import {
  CRAWL_OPTIONS,
  type CrawlOption,
  findOption,
  isSameOption,
  MAX_THREADS,
  NAMED_OPTIONS,
  type NamedOption,
  type SettingName,
  whyNoOption,
} from './option-names.ts';
import { syntaxError } from './place.ts';
import type { OptionEntry } from './read-options.ts';

/** As DuckDB gives them; null, undefined and '' are settings that nobody made. */
export type SessionSettings = Partial<Readonly<Record<SettingName, unknown>>> & {
  /** `threads` before any SET, to tell whether there was one. */
  readonly defaultThreads?: unknown;
};

/** What has a meaning in CRAWL alone. */
export interface OwnOptions {
  /** As asked for: `concurrency` of the configuration is the lesser of it and max_total_connections. */
  threads: number;
  logSkipped: boolean;
  followLinks: boolean;
  sitemaps: 'auto' | 'always' | 'never';
  updateStale: boolean;
  batchSize: number;
  background: boolean;
}

export interface ShownOption {
  name: string;
  /** As text; passwords masked. */
  value: string;
  source: 'default' | 'SET' | 'WITH';
}

export interface ResolvedOptions {
  /** For `loadConfig({ profile: 'sql', options })`. */
  config: NonNullable<ConfigSources['options']>;
  own: OwnOptions;
  /** Every option of CRAWL, then what WITH sets besides. */
  shown: readonly ShownOption[];
}

interface Chosen {
  value: OptionValue;
  source: ShownOption['source'];
}

export function resolveOptions(entries: readonly OptionEntry[], settings: SessionSettings): ResolvedOptions {
  const chosen = new Map<string, Chosen>();
  for (const option of NAMED_OPTIONS) chosen.set(option.name, chooseBefore(option, settings));
  for (const entry of entries) chosen.set(entry.name, { value: checkEntry(entry), source: 'WITH' });
  const chosenValue = <Value extends OptionValue>(name: NamedOption) => chosen.get(name)!.value as Value;

  const own: OwnOptions = {
    threads: chosenValue('threads'),
    logSkipped: chosenValue('log_skipped'),
    followLinks: chosenValue('follow_links'),
    sitemaps: chosenValue('sitemaps'),
    updateStale: chosenValue('update_stale'),
    batchSize: chosenValue('batch_size'),
    background: chosenValue('background'),
  };
  const timeout = chosenValue<number>('timeout_seconds');
  const acceptTypes = chosenValue<readonly string[]>('accept_content_types');
  const config: Partial<Record<OptionName, OptionValue>> = {
    // Who waits longer for a page waits longer for its parts.
    'headers-timeout': partTimeout('headers-timeout', timeout),
    'body-timeout': partTimeout('body-timeout', timeout),
    ...plainOptions(chosen),
    concurrency: Math.min(own.threads, chosenValue<number>('max_total_connections')),
    delay: Math.max(chosenValue<number>('default_crawl_delay'), chosenValue<number>('min_crawl_delay')),
    // An empty list takes all types.
    'accept-types': acceptTypes.length === 0 ? ['*/*'] : acceptTypes,
    'allowed-hosts': chosen.get('allowed_hosts')?.value ?? [
      chosenValue('allow_subdomains') ? 'subdomains' : 'host',
    ],
    ...ways(own),
  };
  const options = Object.fromEntries(Object.entries(config).map(([name, value]) => [camelCase(name), value]));
  return { config: options as ResolvedOptions['config'], own, shown: show(chosen) };
}

/** Options that take the value as it is. */
function plainOptions(chosen: ReadonlyMap<string, Chosen>): Partial<Record<OptionName, OptionValue>> {
  const values: Partial<Record<OptionName, OptionValue>> = {};
  for (const [name, { value }] of chosen) {
    const { option } = CRAWL_OPTIONS.get(name)!;
    if (option !== null) values[option] = value;
  }
  return values;
}

function partTimeout(name: OptionName, timeout: number): number {
  const spec: OptionSpec = OPTIONS[name];
  return Math.min(Math.max(Number(spec.default), timeout), spec.max!);
}

/** Without links and sitemaps there is only the input itself. */
function ways({ followLinks, sitemaps }: OwnOptions): Partial<Record<OptionName, OptionValue>> {
  const discover = [...(sitemaps === 'never' ? [] : ['sitemap']), ...(followLinks ? ['links'] : [])];
  return discover.length === 0 ? { 'fetch-only': true } : { discover };
}

/** What holds without WITH. */
function chooseBefore(option: CrawlOption, settings: SessionSettings): Chosen {
  const given = option.setting === null ? undefined : settings[option.setting];
  if (option.setting === null || isUnset(given)) return { value: option.default, source: 'default' };
  if (option.setting === 'threads') return threadsOf(Number(given), Number(settings.defaultThreads));
  const text = option.setting === 'http_proxy' ? proxyOf(String(given), settings) : String(given);
  return { value: checkSetting(option, text), source: 'SET' };
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** DuckDB takes any number of threads; a crawl of ours takes up to its limit. */
function threadsOf(threads: number, before: number): Chosen {
  const value = Math.max(1, Math.min(MAX_THREADS, Math.floor(threads)));
  return { value, source: threads === before ? 'default' : 'SET' };
}

/** User and password are settings of their own in DuckDB. */
function proxyOf(
  proxy: string,
  { http_proxy_username: user, http_proxy_password: password }: SessionSettings,
): string {
  if (isUnset(user) || proxy.includes('@')) return proxy;
  const login = [user, ...(isUnset(password) ? [] : [password])].map((part) =>
    encodeURIComponent(String(part)),
  );
  const [scheme, rest] = proxy.includes('://') ? splitScheme(proxy) : ['http://', proxy];
  return `${scheme}${login.join(':')}@${rest}`;
}

function splitScheme(url: string): [string, string] {
  const end = url.indexOf('://') + 3;
  return [url.slice(0, end), url.slice(end)];
}

function checkSetting(option: CrawlOption, text: string): OptionValue {
  const found = check(option, text);
  if ('value' in found) return found.value;
  const { setting } = option;
  throw sumiError('sql-failed', {
    problem: `The setting ${setting} is ${showValue(text, option.spec)}; expected ${found.expected}.`,
    advice: `Set another value (SET ${setting} = …), or take the default with RESET ${setting}.`,
  });
}

function checkEntry(entry: OptionEntry): OptionValue {
  const option = CRAWL_OPTIONS.get(entry.name)!;
  const { spec } = option;
  const isNone = entry.isWord && spec.nullable && entry.name !== 'http_proxy' && isWord(entry.value, 'none');
  const found = check(option, isNone ? null : entry.value);
  if ('value' in found) return found.value;
  throw entryError(
    entry,
    `${entry.written} is ${shownValue(found.bad, spec)}; expected ${found.expected}`,
    `Change the value of ${entry.written}. docs/options.md and docs/sql.md explain the options.`,
  );
}

function entryError(entry: OptionEntry, problem: string, advice: string): SumiError {
  if (entry.valuePlace !== null) return syntaxError(entry.valuePlace, problem, advice);
  return sumiError('sql-failed', { problem: `${problem[0].toUpperCase()}${problem.slice(1)}.`, advice });
}

function isWord(value: OptionEntry['value'], word: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === word;
}

function check(
  { option, spec }: CrawlOption,
  written: OptionEntry['value'],
): { value: OptionValue } | { bad: unknown; expected: string } {
  // A text may be any text; words and units may be written in any case.
  const isFree = spec.type === 'string' || (spec.type === 'list' && spec.choices === undefined);
  const parsed = parseValue(spec, isFree ? written : lowerCase(written));
  if (!('value' in parsed)) return { ...parsed, bad: Array.isArray(written) ? parsed.bad : written };
  if (option === null || spec !== OPTIONS[option]) return parsed;
  try {
    checkMeaning(option, parsed.value, 'WITH');
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    return { bad: written, expected: `${meaningOf(option)} (${error.message.replace(/\.$/, '')})` };
  }
  return parsed;
}

function meaningOf(option: OptionName): string {
  const { expected }: OptionSpec = OPTIONS[option];
  return expected ?? 'a value that can be used';
}

function lowerCase(value: OptionEntry['value']): OptionEntry['value'] {
  if (typeof value === 'string') return value.toLowerCase();
  return value === null ? null : value.map((item) => item.toLowerCase());
}

/** Numbers and words as they were written, without the quotes that texts have. */
function shownValue(value: unknown, spec: OptionSpec): string {
  if (typeof value === 'string' && /^-?[\w.]+$/.test(value) && !spec.secret) return value;
  return showValue(value, spec);
}

function show(chosen: ReadonlyMap<string, Chosen>): ShownOption[] {
  return [...chosen].map(([name, { value, source }]) => {
    const { spec } = CRAWL_OPTIONS.get(name)!;
    const text = value === null && name === 'user_agent' ? ourUserAgent(chosen) : showText(value, spec);
    return { name, value: text, source };
  });
}

function ourUserAgent(chosen: ReadonlyMap<string, Chosen>): string {
  const part = (name: string) => (chosen.get(name)?.value ?? null) as string | null;
  return buildUserAgent({
    name: part('crawler_name'),
    version: part('crawler_version'),
    url: part('contact_url'),
    email: part('contact_email'),
  });
}

function showText(value: OptionValue, spec: OptionSpec): string {
  const safe = withoutSecret(value, spec);
  if (safe === null) return 'none';
  return Array.isArray(safe) ? safe.join(', ') : String(safe);
}

/** Options that a program gives by name, as if they had been written in WITH. */
export function entriesOf(values: Readonly<Record<string, unknown>>): OptionEntry[] {
  const entries: OptionEntry[] = [];
  for (const [written, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const name = findOption(written);
    const why = name === null ? whyNoOption(written) : null;
    if (name === null || why !== null)
      throw sumiError('sql-failed', { problem: `${why!.problem}.`, advice: why!.advice });
    const same = entries.find((entry) => isSameOption(entry.name, name));
    if (same !== undefined)
      throw sumiError('sql-failed', {
        problem: `${same.written} and ${written} set the same; expected one of them.`,
        advice: 'Take one of the two away.',
      });
    const text = Array.isArray(value) ? value.map(String) : value === null ? null : String(value);
    entries.push({ name, written, value: text, isWord: false, place: null, valuePlace: null });
  }
  return entries;
}
