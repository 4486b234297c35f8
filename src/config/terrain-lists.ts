/**
 * The domain lists of a terrain map (specification 004 sections 2.1 and 2.2): quality domains with their seeds,
 * blacklisted and stub domains, each a name or a wildcard. Refuses what is malformed; decides nothing about URLs.
 */

import { sumiError } from '../errors.ts';
import { compileDomainPattern } from '../url/domain-pattern.ts';
import { hyphenate, isTable } from './given-values.ts';
import { nearestName } from './nearest-name.ts';
import { showValue } from './parse-value.ts';
import type { TomlTable } from './read-toml.ts';

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

export function readTerrainLists(file: string, table: TomlTable, allowHttp: boolean): TerrainLists {
  return {
    quality: entriesOf(file, table, 'quality', ['domain', 'seeds']).map(({ entry, place }) => ({
      domain: domainOf(entry, place),
      seeds: readSeeds(entry.seeds, place, allowHttp),
    })),
    blacklist: entriesOf(file, table, 'blacklist', ['domain']).map(({ entry, place }) =>
      domainOf(entry, place),
    ),
    stub: entriesOf(file, table, 'stub', ['domain']).map(({ entry, place }) => domainOf(entry, place)),
    summaryPath: readSummaryPath(file, table),
  };
}

function domainOf({ domain }: TomlTable, place: string): string {
  if (typeof domain !== 'string') throw badValue('domain', domain, place, 'a domain');
  if (compileDomainPattern(domain) === null) throw sumiError('invalid-domain', { domain, place });
  return domain;
}

function entriesOf(
  file: string,
  table: TomlTable,
  list: string,
  keys: readonly string[],
): { entry: TomlTable; place: string }[] {
  const entries = table[list] ?? [];
  const wholePlace = `file ${file}, key ${list}`;
  if (!Array.isArray(entries)) throw badValue(list, entries, wholePlace, `sections written [[${list}]]`);
  return entries.map((entry: unknown, index) => {
    const place = `file ${file}, ${list} number ${index + 1}`;
    if (!isTable(entry)) throw badValue(list, entry, place, `sections written [[${list}]]`);
    for (const key of Object.keys(entry)) {
      if (keys.includes(hyphenate(key))) continue;
      throw sumiError('unknown-option', { option: `${list}.${key}`, place, nearest: nearestName(key, keys) });
    }
    return { entry, place };
  });
}

function readSeeds(seeds: unknown, place: string, allowHttp: boolean): string[] {
  const expected = allowHttp
    ? 'a list of http or https URLs, at least one'
    : 'a list of https URLs, at least one';
  if (!Array.isArray(seeds) || seeds.length === 0) throw badValue('seeds', seeds, place, expected);
  for (const seed of seeds) {
    const isSeed =
      typeof seed === 'string' &&
      (allowHttp ? /^https?:\/\//i : /^https:\/\//i).test(seed) &&
      URL.canParse(seed) &&
      new URL(seed).hostname !== '';
    if (!isSeed) throw badValue('seeds', seed, place, expected);
  }
  return seeds as string[];
}

function readSummaryPath(file: string, table: TomlTable): string | null {
  const output = table.output;
  if (!isTable(output)) return null;
  const path = output['summary-path'] ?? output.summary_path ?? null;
  if (path === null || (typeof path === 'string' && path !== '')) return path;
  throw badValue('summary-path', path, `file ${file}, key output.summary-path`, 'the path of a file');
}

function badValue(option: string, value: unknown, place: string, expected: string): Error {
  return sumiError('bad-value', { option, value: showValue(value), place, expected });
}
