/**
 * Settings of a project as programs of the service name them: seven names of their own with their own defaults, and every
 * other option that a project may keep, in snake_case. Reads them into option values with every problem named, and writes
 * them again. Changes nothing and reads no file.
 */
import { checkSettings } from './check-settings.ts';
import { nearestName } from './nearest-name.ts';
import type { OptionSpec, OptionValue } from './option-spec.ts';
import { isOptionName, OPTION_NAMES, OPTIONS, type OptionName } from './option-table.ts';
import { optionMeant } from './other-words.ts';
import { describeExpected } from './parse-value.ts';
import { isProjectOption } from './who-may-set.ts';

/** What the names of specification 002 stand for, and what holds where a project says nothing. */
export const OWN_SETTINGS = {
  max_pages: { option: 'max-pages', byDefault: 200 },
  include_patterns: { option: 'include', byDefault: '' },
  exclude_patterns: { option: 'exclude', byDefault: '' },
  max_concurrent: { option: 'per-host', byDefault: 5 },
  delay_seconds: { option: 'delay', byDefault: 0.5 },
  respect_robots_txt: { option: 'robots', byDefault: true },
} as const satisfies Record<string, { option: OptionName; byDefault: OptionValue }>;

export type OwnSetting = keyof typeof OWN_SETTINGS;
const OWN_NAMES = Object.keys(OWN_SETTINGS) as OwnSetting[];
const OWN_OPTIONS: readonly OptionName[] = OWN_NAMES.map((name) => OWN_SETTINGS[name].option);
const isOwn = (name: string): name is OwnSetting => Object.hasOwn(OWN_SETTINGS, name);

/** Whom and where a crawl asks first is told by website_url and by the order of a run. */
const NOT_ON_THE_WIRE: readonly OptionName[] = ['start-urls'];

/** Options with a name of their own kind: the option in snake_case. */
const OTHER_OPTIONS = OPTION_NAMES.filter(
  (name) => isProjectOption(name) && !OWN_OPTIONS.includes(name) && !NOT_ON_THE_WIRE.includes(name),
);

const wireName = (option: OptionName) => option.replaceAll('-', '_');

/** Every name that settings may have. */
export const WIRE_SETTINGS: readonly string[] = [
  ...OWN_NAMES,
  'fetch_only_urls',
  ...OTHER_OPTIONS.map(wireName),
];

/** The option that a name of settings stands for; of names that there are not it says nothing. */
export function wireOption(name: string): OptionName {
  return isOwn(name) ? OWN_SETTINGS[name].option : (name.replaceAll('_', '-') as OptionName);
}

/** More items than any site needs: each pattern is tried on every URL. */
export const MOST_ITEMS_OF_SETTING = 200;
const MOST_TEXT = 20_000;
/** Of one body, and of one sitemap: many of them are in memory at once. */
const MOST_BYTES = 100 * 1024 * 1024;

export interface WireLimits {
  maxPagesLimit: number;
  /** The operator lets projects ignore robots.txt. */
  allowsIgnoringRobots: boolean;
}

export interface WireProblem {
  /** As it was written. */
  name: string;
  detail: string;
  /** Only the operator could allow it. */
  isRobots?: true;
}

export interface ReadSettings {
  /** By option name; null takes a setting back to its default. */
  values: Readonly<Partial<Record<OptionName, OptionValue | null>>>;
  problems: readonly WireProblem[];
}

export function readWireSettings(given: Readonly<Record<string, unknown>>, limits: WireLimits): ReadSettings {
  const values: Partial<Record<OptionName, OptionValue | null>> = {};
  const problems: WireProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const read = readOne(name, value, limits);
    if ('problem' in read) problems.push(read.problem);
    else if (read.option !== null) values[read.option] = read.value;
  }
  return { values, problems };
}

type ReadOne = { problem: WireProblem } | { option: OptionName | null; value: OptionValue | null };

function readOne(name: string, value: unknown, limits: WireLimits): ReadOne {
  const refuse = (detail: string): ReadOne => ({ problem: { name, detail } });
  if (name === 'fetch_only_urls')
    return value === null
      ? { option: null, value: null }
      : refuse('Expected null: give the URLs with the run (POST …/phases/crawl/run).');
  const option = wireOption(name);
  if (!isOptionName(option) || !WIRE_SETTINGS.includes(name))
    return refuse(`There is no such setting; the nearest is ${nearestSetting(name)}.`);
  if (value === null) return { option, value: null };
  if (tooMuch(value))
    return refuse(`Expected at most ${MOST_ITEMS_OF_SETTING} items and ${MOST_TEXT} characters.`);
  if (option === 'robots') return readRobots(name, value, limits);
  if (isText(name) && typeof value !== 'string')
    return refuse('Expected one text; patterns are separated by commas.');
  // JSON has numbers and booleans of its own; "none" takes a limit away.
  if (typeof value === 'string' && value !== 'none' && NO_TEXT.has(OPTIONS[option].type))
    return refuse(`Expected ${describeExpected(OPTIONS[option])}, not a text.`);
  if (name === 'delay_seconds' && typeof value !== 'number') return refuse('Expected a number of seconds.');
  const checked = checkSettings({ [option]: value }, 'project');
  const [problem] = checked.problems;
  if (problem !== undefined) return refuse(`Expected ${problem.expected}; ${problem.value} is not.`);
  const read = checked.values[option] as OptionValue;
  if (tooMuch(read)) return refuse(`Expected at most ${MOST_ITEMS_OF_SETTING} items.`);
  if (OPTIONS[option].type === 'bytes' && Number(read) > MOST_BYTES)
    return refuse(`Expected at most ${MOST_BYTES} bytes.`);
  if (option === 'max-pages' && (read === null || Number(read) > limits.maxPagesLimit))
    return refuse(`Expected a whole number from 1 to ${limits.maxPagesLimit}.`);
  return { option, value: read };
}

function readRobots(name: string, value: unknown, { allowsIgnoringRobots }: WireLimits): ReadOne {
  if (typeof value !== 'boolean') return { problem: { name, detail: 'Expected true or false.' } };
  if (!value && !allowsIgnoringRobots)
    return {
      problem: {
        name,
        detail: 'Expected true: the operator has not allowed to ignore robots.txt.',
        isRobots: true,
      },
    };
  return { option: 'robots', value };
}

const NO_TEXT: ReadonlySet<OptionSpec['type']> = new Set(['boolean', 'integer', 'number', 'count']);

const isText = (name: string) => name === 'include_patterns' || name === 'exclude_patterns';

function tooMuch(value: unknown): boolean {
  if (typeof value === 'string') return value.length > MOST_TEXT;
  return Array.isArray(value) && (value.length > MOST_ITEMS_OF_SETTING || value.join().length > MOST_TEXT);
}

/** What a mistyped name can have meant; names of other programs are known as well. */
export function nearestSetting(name: string): string {
  const hyphenated = name.replaceAll('_', '-');
  const meant = optionMeant(hyphenated, [...OTHER_OPTIONS, ...OWN_OPTIONS]);
  const own = OWN_NAMES.find((known) => OWN_SETTINGS[known].option === (meant ?? hyphenated));
  return (
    own ?? (meant === null ? nearestName(name.slice(0, 100), WIRE_SETTINGS) : meant.replaceAll('-', '_'))
  );
}

/** The seven with the values that hold, and what the project keeps of others. `kept`: by option name. */
export function writeWireSettings(
  kept: Readonly<Record<string, unknown>>,
  { maxPagesLimit }: Pick<WireLimits, 'maxPagesLimit'>,
): Record<string, unknown> {
  const own = OWN_NAMES.map((name) => {
    const { option, byDefault } = OWN_SETTINGS[name];
    const value = kept[option] ?? byDefault;
    return [name, Array.isArray(value) ? value.join(',') : value];
  });
  const others = OTHER_OPTIONS.filter((option) => kept[option] !== undefined && kept[option] !== null);
  return {
    ...Object.fromEntries(own),
    // A project that was made by a command may have a higher one.
    max_pages: Math.min(Number(kept['max-pages'] ?? OWN_SETTINGS.max_pages.byDefault), maxPagesLimit),
    fetch_only_urls: null,
    ...Object.fromEntries(others.map((option) => [wireName(option), kept[option]])),
  };
}

export interface WireOption {
  name: string;
  option: OptionName;
  spec: OptionSpec;
  byDefault: OptionValue;
}

/** For lists of what can be set: the own ones first. `defaultOf`: where the table has no default. */
export function listWireSettings(defaultOf: (option: OptionName) => OptionValue): WireOption[] {
  return [
    ...OWN_NAMES.map((name) => {
      const { option, byDefault } = OWN_SETTINGS[name];
      return { name, option, spec: OPTIONS[option], byDefault };
    }),
    ...OTHER_OPTIONS.map((option) => ({
      name: wireName(option),
      option,
      spec: OPTIONS[option],
      byDefault: OPTIONS[option].default ?? defaultOf(option),
    })),
  ];
}
