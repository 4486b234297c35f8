/**
 * The domain lists of a terrain map (specification 004 sections 2.1 and 2.2): quality domains with their seeds,
 * blacklisted and stub domains, each a name or a wildcard. Refuses what is malformed; decides nothing about URLs.
 */

import { dirname, join } from 'node:path';
import { type SumiError, sumiError } from '../errors.ts';
import { compileDomainPattern, matchesDomain } from '../url/domain-pattern.ts';
import { createNormalizer, type Normalizer } from '../url/normalize.ts';
import { hyphenate, isTable } from './given-values.ts';
import { nearestName } from './nearest-name.ts';
import type { TomlTable } from './read-toml.ts';
import { showValue } from './show-value.ts';
import { withoutCredentials } from './url-credentials.ts';

interface QualityDomain {
  readonly domain: string;
  readonly seeds: readonly string[];
}

export interface TerrainLists {
  readonly quality: readonly QualityDomain[];
  readonly blacklist: readonly string[];
  readonly stub: readonly string[];
  /** Where the Markdown summary goes; null when the file does not say. */
  readonly summaryPath: string | null;
}

export const NO_TERRAIN: TerrainLists = { quality: [], blacklist: [], stub: [], summaryPath: null };

/** The order of specification 004 section 3.3: of two lists that hold a domain the first one counts. */
export const LIST_NAMES = ['blacklist', 'stub', 'quality'] as const;
export type ListName = (typeof LIST_NAMES)[number];

/** Hears what is wrong and where (`quality[0].seeds[1]`); the default stops at the first. */
export type OnProblem = (path: string, error: SumiError) => void;

const throwProblem: OnProblem = (_, error) => {
  throw error;
};

/** A file with such lists is a terrain file: the paths in it count from its own folder. */
export function isTerrainTable(table: TomlTable): boolean {
  return LIST_NAMES.some((list) => list in table);
}

export function pathFromFile(file: string, path: string): string {
  return dirname(file) === '.' ? path : join(dirname(file), path);
}

export function readTerrainLists(
  file: string,
  table: TomlTable,
  allowHttp: boolean,
  onProblem: OnProblem = throwProblem,
): TerrainLists {
  const read = (list: ListName, keys: readonly string[]) =>
    entriesOf(file, table, list, keys, onProblem).map(({ entry, path, place }) => {
      const domain = domainOf(entry, { list, path, place, onProblem });
      const seeds =
        list === 'quality' ? seedsOf(entry, domain, allowHttp, { list, path, place, onProblem }) : [];
      return { domain, seeds };
    });
  const named = (list: ListName) => [
    ...new Set(read(list, ['domain']).flatMap(({ domain }) => domain ?? [])),
  ];
  return {
    quality: mergeSeeds(read('quality', ['domain', 'seeds'])),
    blacklist: named('blacklist'),
    stub: named('stub'),
    summaryPath: readSummaryPath(file, table, onProblem),
  };
}

interface Place {
  list: ListName;
  path: string;
  place: string;
  onProblem: OnProblem;
}

/** A domain that stands twice is one origin with the seeds of both. */
function mergeSeeds(
  entries: readonly { domain: string | null; seeds: readonly string[] }[],
): QualityDomain[] {
  const seedsOfDomain = new Map<string, Set<string>>();
  for (const { domain, seeds } of entries) {
    if (domain === null) continue;
    const known = seedsOfDomain.get(domain) ?? new Set<string>();
    for (const seed of seeds) known.add(seed);
    seedsOfDomain.set(domain, known);
  }
  return [...seedsOfDomain].map(([domain, seeds]) => ({ domain, seeds: [...seeds] }));
}

function domainOf({ domain }: TomlTable, { list, path, place, onProblem }: Place): string | null {
  if (typeof domain !== 'string') {
    onProblem(`${path}.domain`, badValue(`${list}.domain`, domain, place, 'a domain such as example.com'));
    return null;
  }
  // No registry gives out names with a hyphen at either end of a label.
  if (compileDomainPattern(domain) !== null && !/(^|\.)-|-(\.|$)/.test(domain)) return domain;
  onProblem(`${path}.domain`, sumiError('invalid-domain', { domain: withoutCredentials(domain), place }));
  return null;
}

function entriesOf(
  file: string,
  table: TomlTable,
  list: ListName,
  keys: readonly string[],
  onProblem: OnProblem,
): { entry: TomlTable; path: string; place: string }[] {
  const entries = table[list] ?? [];
  if (!Array.isArray(entries)) {
    onProblem(list, badValue(list, entries, `file ${file}, key ${list}`, `sections written [[${list}]]`));
    return [];
  }
  return entries.flatMap((entry: unknown, index) => {
    const place = `file ${file}, ${list} number ${index + 1}`;
    const path = `${list}[${index}]`;
    if (!isTable(entry)) {
      onProblem(path, badValue(list, entry, place, `sections written [[${list}]]`));
      return [];
    }
    for (const key of Object.keys(entry)) {
      if (keys.includes(hyphenate(key))) continue;
      const nearest = nearestName(key, keys);
      onProblem(`${path}.${key}`, sumiError('unknown-option', { option: `${list}.${key}`, place, nearest }));
    }
    return [{ entry, path, place }];
  });
}

function seedsOf(
  { seeds }: TomlTable,
  domain: string | null,
  allowHttp: boolean,
  { list, path, place, onProblem }: Place,
): string[] {
  const at = `${path}.seeds`;
  const normalizer = createNormalizer({ preset: 'terrain' });
  const urls = allowHttp
    ? 'http or https URLs'
    : 'https URLs (allow-http = true under [crawler] admits http)';
  if (!Array.isArray(seeds) || seeds.length === 0) {
    onProblem(at, badValue(`${list}.seeds`, seeds, place, `a list of ${urls}, at least one`));
    return [];
  }
  return seeds.filter((seed: unknown, index): seed is string => {
    if (!isSeed(seed, allowHttp)) {
      onProblem(`${at}[${index}]`, badValue(`${list}.seeds`, seed, place, `a list of ${urls}`));
      return false;
    }
    if (domain === null || isUnder(seed, domain, normalizer)) return true;
    onProblem(
      `${at}[${index}]`,
      sumiError('seed-elsewhere', { seed: withoutCredentials(seed), domain, place }),
    );
    return false;
  });
}

function isSeed(seed: unknown, allowHttp: boolean): seed is string {
  return (
    typeof seed === 'string' &&
    (allowHttp ? /^https?:\/\//i : /^https:\/\//i).test(seed) &&
    URL.canParse(seed) &&
    new URL(seed).hostname !== ''
  );
}

/** By the rules of page identity: `www.` and case do not count. */
function isUnder(seed: string, domain: string, normalizer: Normalizer): boolean {
  const pattern = compileDomainPattern(domain)!;
  const own = normalizer.normalize(`https://${pattern.name}/`)?.host;
  const host = normalizer.normalize(seed)?.host;
  if (own === undefined || host === undefined) return false;
  return matchesDomain({ ...pattern, name: own }, host);
}

function readSummaryPath(file: string, table: TomlTable, onProblem: OnProblem): string | null {
  const output = table.output;
  if (!isTable(output)) return null;
  const path = output['summary-path'] ?? output.summary_path ?? null;
  if (path === null) return null;
  if (typeof path === 'string' && path.trim() !== '') return pathFromFile(file, path);
  const place = `file ${file}, key output.summary-path`;
  onProblem('output.summary-path', badValue('output.summary-path', path, place, 'the path of a file'));
  return null;
}

function badValue(option: string, value: unknown, place: string, expected: string): SumiError {
  // TOML has no word for nothing: what has no value is not there.
  if (value === undefined) return sumiError('missing-value', { option, place, expected });
  return sumiError('bad-value', { option, value: showValue(value), place, expected });
}
