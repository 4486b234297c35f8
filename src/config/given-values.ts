/**
 * Collects what each source gives (project, file, environment, flags, a program) as one kind of entry: which option, which raw
 * value, from where. Aliases are resolved and unknown names refused here; values are not looked at.
 */

import { sumiError } from '../errors.ts';
import { nearestName } from './nearest-name.ts';
import { camelCase, environmentName } from './option-spec.ts';
import { ALIASES, isOptionName, OPTION_NAMES, type OptionName, OTHER_ENVIRONMENT } from './option-table.ts';
import { optionMeant } from './other-words.ts';
import type { TomlTable } from './read-toml.ts';

export interface GivenValue {
  option: OptionName;
  raw: unknown;
  /** Set when the name used counts in milliseconds. */
  unit?: 'ms';
  /** The option as the source writes it: --delay, SUMI_DELAY, crawler.minimum-time-on-page. */
  written: string;
  /** Short form for listings: "file x.toml", "env SUMI_DELAY", "flag --delay". */
  from: string;
  /** Long form for errors, with the key. */
  place: string;
}

interface SourceName {
  written: string;
  from: string;
  place: string;
}

/** Sections of specification 004 that only group options. */
export const OPTION_SECTIONS = ['crawler', 'user-agent', 'output'];
/** Sections of specification 004 that list domains: terrain-lists.ts reads them. */
const LIST_SECTIONS = ['quality', 'blacklist', 'stub'];

export function givenByFile(file: string, table: TomlTable): GivenValue[] {
  const given: GivenValue[] = [];
  const known = [...knownNames(), ...OPTION_SECTIONS, ...LIST_SECTIONS];
  for (const [key, value] of Object.entries(table)) {
    const name = hyphenate(key);
    if (LIST_SECTIONS.includes(name)) continue;
    if (OPTION_SECTIONS.includes(name) && isTable(value)) {
      for (const [inner, raw] of Object.entries(value)) {
        if (name === 'output' && hyphenate(inner) === 'summary-path') continue;
        addGiven(given, inner, raw, fileSource(file, `${key}.${inner}`), { known });
      }
    } else {
      addGiven(given, key, value, fileSource(file, key), { known });
    }
  }
  return given;
}

function fileSource(file: string, key: string): SourceName {
  return { written: key, from: `file ${file}`, place: `file ${file}, key ${key}` };
}

export function givenByEnvironment(env: Readonly<Record<string, string | undefined>>): GivenValue[] {
  const given: GivenValue[] = [];
  for (const [variable, value] of Object.entries(env)) {
    // An empty variable is the shell's way to unset one.
    if (!variable.startsWith('SUMI_') || value === undefined || value === '') continue;
    if (OTHER_ENVIRONMENT.includes(variable)) continue;
    const source = { written: variable, from: `env ${variable}`, place: `env ${variable}` };
    const key = variable.slice('SUMI_'.length).toLowerCase();
    addGiven(given, key, value, source, { spell: environmentName });
  }
  return given;
}

/** Keys are option names: what was kept is spelled by the table. */
export function givenByProject(project: string, values: Readonly<Record<string, unknown>>): GivenValue[] {
  const given: GivenValue[] = [];
  for (const [key, value] of Object.entries(values)) {
    const source = {
      written: key,
      from: `project ${project}`,
      place: `project ${project}, setting ${key}`,
    };
    addGiven(given, key, value, source);
  }
  return given;
}

/** Keys are flag names without the dashes. */
export function givenByFlags(flags: Readonly<Record<string, unknown>>): GivenValue[] {
  const given: GivenValue[] = [];
  for (const [flag, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const written = `${value === false ? '--no-' : '--'}${flag}`;
    const source = { written, from: `flag ${written}`, place: `flag ${written}` };
    addGiven(given, flag, value, source, { spell: (nearest) => `--${nearest}` });
  }
  return given;
}

/** Keys are the camelCase names of Config, for programs that use the library. */
export function givenByProgram(options: Readonly<Record<string, unknown>>): GivenValue[] {
  const given: GivenValue[] = [];
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const name = OPTION_NAMES.find((option) => camelCase(option) === key) ?? key;
    const source = { written: key, from: `option ${key}`, place: `option ${key}` };
    addGiven(given, name, value, source, { spell: camelCase });
  }
  return given;
}

/** Which names a source may use, and how a message spells the nearest one. */
interface Spelling {
  known?: readonly string[];
  spell?: (nearest: string) => string;
}

function addGiven(
  given: GivenValue[],
  key: string,
  raw: unknown,
  source: SourceName,
  { known = knownNames(), spell = (nearest) => nearest }: Spelling = {},
): void {
  const name = hyphenate(key);
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
  const option = alias?.option ?? name;
  if (!isOptionName(option)) {
    const nearest = spell(optionMeant(name, known) ?? nearestName(name, known));
    throw sumiError('unknown-option', { option: source.written, place: source.place, nearest });
  }
  const entries: GivenValue[] = [{ option, raw, unit: alias?.unit, ...source }];
  for (const [also, value] of Object.entries(alias?.also ?? {})) {
    entries.push({ option: also as OptionName, raw: value, ...source });
  }
  for (const entry of entries) {
    const other = given.find((earlier) => earlier.option === entry.option);
    if (other !== undefined) {
      throw sumiError('option-twice', { option: entry.written, place: entry.place, other: other.written });
    }
    given.push(entry);
  }
}

function knownNames(): string[] {
  return [...OPTION_NAMES, ...Object.keys(ALIASES)];
}

export function hyphenate(key: string): string {
  return key.replaceAll('_', '-');
}

export function isTable(value: unknown): value is TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
