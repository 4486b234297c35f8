/**
 * The names that WITH takes: those of CRAWL, with what each sets, its default, and the setting of the session that it
 * comes from; then all other options of a crawl. What makes no sense in CRAWL is refused with its reason. Data only.
 */
import { nearestName } from '../../config/nearest-name.ts';
import type { OptionSpec, OptionValue } from '../../config/option-spec.ts';
import { ALIASES, OPTION_GROUPS, OPTION_NAMES, OPTIONS, type OptionName } from '../../config/option-table.ts';
import { optionMeant } from '../../config/other-words.ts';
import { PROFILES } from '../../config/profiles.ts';

/** Settings of the session that a CRAWL reads when it starts. */
export type SettingName =
  | 'threads'
  | 'http_timeout'
  | 'http_keep_alive'
  | 'http_proxy'
  | 'http_proxy_username'
  | 'http_proxy_password';

export interface CrawlOption {
  name: string;
  /** The option of the crawl that it sets; null: it has a meaning in CRAWL alone. */
  option: OptionName | null;
  spec: OptionSpec;
  default: OptionValue;
  setting: SettingName | null;
}

type Row = Pick<CrawlOption, 'default'> & Partial<CrawlOption>;

const yesOrNo: OptionSpec = { setBy: 'command', type: 'boolean', doc: '' };
const whole = (min: number, max: number): OptionSpec => ({
  setBy: 'command',
  type: 'integer',
  min,
  max,
  doc: '',
});

export const MAX_THREADS = 32;

const ROWS = {
  user_agent: { option: 'user-agent', default: null },
  threads: { spec: whole(1, MAX_THREADS), default: MAX_THREADS, setting: 'threads' },
  max_total_connections: { option: 'concurrency', default: 32 },
  max_parallel_per_domain: { option: 'per-host', default: 8 },
  default_crawl_delay: { option: 'delay', default: 1 },
  min_crawl_delay: { spec: OPTIONS.delay, default: 0 },
  max_crawl_delay: { option: 'max-crawl-delay', default: 60 },
  respect_robots_txt: { option: 'robots', default: true },
  log_skipped: { spec: yesOrNo, default: true },
  max_response_bytes: { option: 'max-body-bytes', default: 10_485_760 },
  accept_content_types: { option: 'accept-types', default: [] },
  reject_content_types: { option: 'reject-types', default: [] },
  compress: { option: 'compress', default: true },
  http2: { option: 'http2', default: false },
  follow_links: { spec: yesOrNo, default: false },
  allow_subdomains: { option: 'allowed-hosts', spec: yesOrNo, default: false },
  max_crawl_depth: { option: 'max-depth', default: 10 },
  max_crawl_pages: { option: 'max-pages', default: null },
  respect_nofollow: { option: 'respect-nofollow', default: true },
  follow_canonical: { option: 'follow-canonical', default: true },
  sitemaps: {
    spec: { setBy: 'command', type: 'enum', choices: ['auto', 'always', 'never'], doc: '' },
    default: 'auto',
  },
  sitemap_cache_hours: { option: 'sitemap-cache-hours', default: 24 },
  update_stale: { spec: yesOrNo, default: false },
  max_retries: { option: 'retries', default: 5 },
  max_retry_backoff_seconds: { option: 'max-retry-backoff', default: 600 },
  timeout_seconds: { option: 'timeout', default: 30, setting: 'http_timeout' },
  http_keep_alive: { option: 'keep-alive', default: true, setting: 'http_keep_alive' },
  http_proxy: { option: 'proxy', default: null, setting: 'http_proxy' },
  batch_size: { spec: whole(1, 100_000), default: 100 },
  background: { spec: yesOrNo, default: false },
} as const satisfies Readonly<Record<string, Row>>;

export type NamedOption = keyof typeof ROWS;

/** Those of CRAWL, in the order in which they are shown. */
export const NAMED_OPTIONS: readonly CrawlOption[] = Object.entries<Row>(ROWS).map(([name, row]) => ({
  option: null,
  setting: null,
  spec: OPTIONS[row.option ?? 'delay'],
  ...row,
  name,
}));

const underscored = (name: string) => name.replaceAll('-', '_');

const STORE = 'what a CRAWL keeps is its table and the file beside it';
const OUTPUT = 'results come as rows';
const INPUT = 'the URLs come from the query of CRAWL';
const REVISITS = 'which known rows are requested again is decided by update_stale';
const WATCHING = 'it belongs to sumi watch';
const SERVING = 'it belongs to sumi serve';

/** Why some options of a crawl have no meaning here. */
const REASONS: Partial<Record<OptionName, string>> = {
  bodies: 'bodies are in the column body',
  'store-text': 'the text is stored where the table has a column text',
  'keep-history': STORE,
  'full-text': STORE,
  'reverse-links': STORE,
  sections: STORE,
  mode: REVISITS,
  'smart-threshold': REVISITS,
  'smart-confidence': REVISITS,
  'smart-sample': REVISITS,
  'start-urls': INPUT,
  urls: INPUT,
  'fetch-only': 'follow_links decides whether links are followed',
  discover: 'follow_links and sitemaps decide how pages are found',
  config: 'settings of a session are made with SET',
  profile: 'a CRAWL has a profile of its own, sql',
  json: OUTPUT,
  format: OUTPUT,
  quiet: OUTPUT,
  verbose: OUTPUT,
};

const REFUSED: ReadonlyMap<string, string> = new Map<string, string>([
  ...Object.keys(OPTION_GROUPS.run.options).map((name) => [underscored(name), STORE] as const),
  ...Object.keys(OPTION_GROUPS.workers.options).map((name) => [underscored(name), STORE] as const),
  ...Object.keys(OPTION_GROUPS.watch.options).map((name) => [underscored(name), WATCHING] as const),
  ...Object.keys(OPTION_GROUPS.service.options).map((name) => [underscored(name), SERVING] as const),
  ...Object.entries(REASONS).map(([name, reason]) => [underscored(name), reason] as const),
  ...(['http_proxy_username', 'http_proxy_password'] as const).map(
    (name) => [name, `it is a setting (SET ${name}), or a part of http_proxy`] as const,
  ),
]);

const BY_OPTION = new Map(
  NAMED_OPTIONS.flatMap(({ name, option }) =>
    option === null || name === 'allow_subdomains' ? [] : [[option, name]],
  ),
);

const OTHERS: readonly CrawlOption[] = OPTION_NAMES.filter(
  (option) => !BY_OPTION.has(option) && !REFUSED.has(underscored(option)),
).map((option) => {
  const spec: OptionSpec = OPTIONS[option];
  const profiled: Readonly<Partial<Record<OptionName, OptionValue>>> = PROFILES.sql.defaults;
  const value = spec.default === undefined ? profiled[option]! : spec.default;
  return { name: underscored(option), option, spec, default: value, setting: null };
});

export const CRAWL_OPTIONS: ReadonlyMap<string, CrawlOption> = new Map(
  [...NAMED_OPTIONS, ...OTHERS].map((option) => [option.name, option]),
);

/** Every name that is taken → the one in the table. */
const NAMES: ReadonlyMap<string, string> = new Map<string, string>([
  ...[...BY_OPTION].map(([option, name]) => [underscored(option), name] as const),
  ...Object.entries(ALIASES).flatMap(([alias, { option, unit, also }]) => {
    const name = BY_OPTION.get(option) ?? underscored(option);
    const isTaken = unit === undefined && also === undefined && CRAWL_OPTIONS.has(name);
    return isTaken ? [[underscored(alias), name] as const] : [];
  }),
  ...[...CRAWL_OPTIONS.keys()].map((name) => [name, name] as const),
]);

const spelled = (written: string) => underscored(written).toLowerCase();

/** The option that a name means, in any case, with `_` or `-`; null when there is none that may be given. */
export function findOption(written: string): string | null {
  return NAMES.get(spelled(written)) ?? null;
}

/** Names that cannot stand together, because both set the same option. */
export function isSameOption(name: string, other: string): boolean {
  if (name === other) return true;
  const option = CRAWL_OPTIONS.get(name)?.option ?? null;
  return option !== null && option === CRAWL_OPTIONS.get(other)?.option;
}

/** Of a name that findOption does not know: why, and what to write. */
export function whyNoOption(written: string): { problem: string; advice: string } {
  const name = spelled(written);
  const reason = REFUSED.get(name) ?? aliasReason(name);
  if (reason !== undefined)
    return {
      problem: `${written} cannot be set in CRAWL: ${reason}`,
      advice: `Take ${written} out of WITH.`,
    };
  return {
    problem: `WITH has no option ${written}; expected one of CRAWL or of docs/options.md`,
    advice: `Try ${nearestOption(name)}. docs/sql.md lists the names.`,
  };
}

function aliasReason(name: string): string | undefined {
  const alias = Object.entries(ALIASES).find(([other]) => underscored(other) === name)?.[1];
  return alias === undefined ? undefined : REFUSED.get(underscored(alias.option));
}

function nearestOption(name: string): string {
  const hyphened = name.replaceAll('_', '-');
  const meant = optionMeant(hyphened, OPTION_NAMES);
  return findOption(meant ?? '') ?? nearestName(name, [...NAMES.keys()]);
}
