/**
 * The one table of options. A name here is the flag (--max-pages), the TOML key (max-pages) and, in capitals, the
 * environment variable (SUMI_MAX_PAGES). Names of the specifications are aliases. The table holds data only: reading
 * the sources is load-config.ts, values are parse-value.ts, per-profile defaults are profiles.ts.
 */

import type { CamelCase, OptionSpec, ValueOf } from './option-spec.ts';
import { changeOptions } from './options/change-options.ts';
import { fetchOptions } from './options/fetch-options.ts';
import { pageOptions } from './options/page-options.ts';
import { politenessOptions } from './options/politeness-options.ts';
import { runOptions } from './options/run-options.ts';
import { scopeOptions } from './options/scope-options.ts';
import { serviceOptions } from './options/serve-options.ts';
import { sitemapOptions } from './options/sitemap-options.ts';
import { watchOptions } from './options/watch-options.ts';
import { workerOptions } from './options/worker-options.ts';

export const OPTION_GROUPS = {
  scope: { title: 'What is crawled', options: scopeOptions },
  politeness: { title: 'Politeness and retries', options: politenessOptions },
  fetch: { title: 'Requests', options: fetchOptions },
  page: { title: 'Pages', options: pageOptions },
  sitemap: { title: 'Sitemaps', options: sitemapOptions },
  change: { title: 'Pages visited before', options: changeOptions },
  watch: { title: 'Watching', options: watchOptions },
  run: { title: 'Run and output', options: runOptions },
  workers: { title: 'Many workers', options: workerOptions },
  service: { title: 'Service', options: serviceOptions },
} as const;

export type GroupName = keyof typeof OPTION_GROUPS;

const table = {
  ...scopeOptions,
  ...politenessOptions,
  ...fetchOptions,
  ...pageOptions,
  ...sitemapOptions,
  ...changeOptions,
  ...watchOptions,
  ...runOptions,
  ...workerOptions,
  ...serviceOptions,
};

type Table = typeof table;
export type OptionName = keyof Table;

export const OPTIONS: Readonly<Record<OptionName, OptionSpec>> = table;
export const OPTION_NAMES = Object.keys(table) as OptionName[];

/** Every option under its camelCase name. */
export type OptionValues = {
  readonly [Name in OptionName as CamelCase<Name>]: ValueOf<Table[Name]>;
};

/** The options whose default depends on the profile: those without one in the table. */
export type ProfiledName = {
  [Name in OptionName]: 'default' extends keyof Table[Name] ? never : Name;
}[OptionName];

export type ProfileDefaults = { readonly [Name in ProfiledName]: ValueOf<Table[Name]> };

interface Alias {
  option: OptionName;
  /** The alias counts in milliseconds where the option counts in seconds. */
  unit?: 'ms';
  /** Options that the alias sets besides. */
  also?: Partial<Record<OptionName, boolean>>;
}

/** Names that the specifications use for our options (number of the specification behind each). */
export const ALIASES: Readonly<Record<string, Alias>> = {
  'max-concurrent-pages-open': { option: 'concurrency' }, // 004
  'minimum-time-on-page': { option: 'delay', unit: 'ms' }, // 004
  'database-path': { option: 'db' }, // 004
  'max-parallel-per-domain': { option: 'per-host' }, // 000
  'max-total-connections': { option: 'concurrency' }, // 000
  'max-response-bytes': { option: 'max-body-bytes' }, // 000
  'accept-content-types': { option: 'accept-types' }, // 000
  'reject-content-types': { option: 'reject-types' }, // 000
  'max-crawl-depth': { option: 'max-depth' }, // 000
  'max-crawl-pages': { option: 'max-pages' }, // 000
  'max-retry-backoff-seconds': { option: 'max-retry-backoff' }, // 000
  'http-timeout': { option: 'timeout' }, // 000
  'http-keep-alive': { option: 'keep-alive' }, // 000
  'http-proxy': { option: 'proxy' }, // 000
  'max-concurrent': { option: 'concurrency' }, // 002
  'delay-seconds': { option: 'delay' }, // 002
  'include-patterns': { option: 'include' }, // 002
  'exclude-patterns': { option: 'exclude' }, // 002
  'respect-robots-txt': { option: 'robots' }, // 002
  'fetch-only-urls': { option: 'start-urls', also: { 'fetch-only': true } }, // 002
};

/** Environment variables that begin with SUMI_ but are not options: they steer tests and benchmarks. */
export const OTHER_ENVIRONMENT: readonly string[] = ['SUMI_SEED', 'SUMI_FLAGS'];

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}
