/**
 * Reads a terrain file (specification 004 section 2) for `sumi map` and `sumi reclassify`: the configuration of a map
 * in profile terrain. Promises that everything wrong in the file is told at once, each with its line and key, before
 * anything is opened or written; what is only doubtful comes back as warnings.
 */
import { basename, extname } from 'node:path';
import { SumiError, sumiError } from '../errors.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import { compileDomainPattern, type DomainPattern } from '../url/domain-pattern.ts';
import {
  type GivenValue,
  givenByEnvironment,
  givenByFile,
  givenByFlags,
  hyphenate,
  isTable,
  OPTION_SECTIONS,
} from './given-values.ts';
import { type Config, type ConfigSources, loadConfig, readGiven } from './load-config.ts';
import { isOptionName, OPTIONS } from './option-table.ts';
import { readTomlText, type TomlTable } from './read-toml.ts';
import { showValue } from './show-value.ts';
import {
  LIST_NAMES,
  type ListName,
  type OnProblem,
  pathFromFile,
  readTerrainLists,
} from './terrain-lists.ts';
import { indexTomlLines, type TomlLines } from './toml-lines.ts';

export interface Terrain {
  /** With the name of the project, which is `terrain` in a file of its own and that of the file in a shared store. */
  config: Config & { readonly project: string };
  /** Whole sentences, each with file and line. */
  warnings: readonly string[];
  /** Where the Markdown summary goes: as the file says, else beside it. */
  summaryPath: string;
}

type TerrainSources = Pick<ConfigSources, 'env' | 'flags' | 'options'> & { file: string };

export async function loadTerrain({ file, env, flags = {}, options }: TerrainSources): Promise<Terrain> {
  const { text, table } = await readTomlText(file);
  const lines = indexTomlLines(text);
  refuseProblems(
    file,
    lines,
    findProblems(file, table, [...givenByEnvironment(env), ...givenByFlags(flags)]),
  );
  const config = await loadConfig({
    env,
    flags,
    defaults: { db: pathFromFile(file, './sumi.db') },
    // The file is the command's argument, and a map is a map, whatever the environment says.
    options: { ...options, config: file, profile: 'terrain' },
  });
  return {
    config: Object.freeze({ ...config, project: config.project ?? projectFor(config, file) }),
    warnings: findDoubts(table).map(({ path, text }) => `${file} line ${lines.lineOf(path)}: ${text(lines)}`),
    summaryPath: config.terrain.summaryPath ?? pathFromFile(file, './crawl-summary.md'),
  };
}

/**
 * A database file is one map, whatever the terrain file is called by now; in a shared store two maps must not become one
 * because nobody gave them names.
 */
function projectFor({ storeAddress }: Config, file: string): string {
  return isSharedStore(storeAddress) ? basename(file, extname(file)) : 'terrain';
}

interface Problem {
  path: string;
  error: SumiError;
}

function findProblems(file: string, table: TomlTable, direct: readonly GivenValue[]): Problem[] {
  const problems: Problem[] = [];
  const onProblem: OnProblem = (path, error) => problems.push({ path, error });
  const inFile = checkOptions(file, table, onProblem);
  const allowHttp = [...inFile, ...direct].findLast(({ option }) => option === 'allow-http');
  readTerrainLists(
    file,
    table,
    allowHttp !== undefined && readGiven(allowHttp, 'terrain') === true,
    onProblem,
  );
  const { quality = [] } = table;
  if (Array.isArray(quality) && quality.length === 0)
    onProblem('quality', sumiError('no-quality', { place: `file ${file}` }));
  return problems;
}

/** Key by key, so that one mistake does not hide the next; gives back what is right. */
function checkOptions(file: string, table: TomlTable, onProblem: OnProblem): GivenValue[] {
  const good: GivenValue[] = [];
  for (const [path, part] of singleKeys(table)) {
    try {
      if (isMisusedSection(path, part))
        throw sumiError('bad-value', {
          option: path,
          value: showValue(part[path]),
          place: `file ${file}`,
          expected: `a section written [${path}]`,
        });
      for (const entry of givenByFile(file, part)) {
        const other = good.find(({ option }) => option === entry.option);
        if (other !== undefined) {
          const { written: option, place } = entry;
          throw sumiError('option-twice', { option, place, other: other.written });
        }
        refuseQuotedNumber(entry);
        readGiven(entry, 'terrain');
        good.push(entry);
      }
    } catch (error) {
      if (!(error instanceof SumiError)) throw error;
      onProblem(path, error);
    }
  }
  return good;
}

/** Flags and variables are texts; a file can say a number, and specification 004 section 2.2 wants it to. */
function refuseQuotedNumber({ option, raw, unit, written, place }: GivenValue): void {
  const isNumber = unit === 'ms' || OPTIONS[option].type === 'integer';
  if (!isNumber || typeof raw !== 'string' || raw === 'none') return;
  const expected = 'a number without quotes';
  throw sumiError('bad-value', { option: written, value: showValue(raw), place, expected });
}

function isMisusedSection(path: string, part: TomlTable): boolean {
  const name = hyphenate(path);
  return OPTION_SECTIONS.includes(name) && !isOptionName(name) && !isTable(part[path]);
}

/** The table taken apart: the path of each key, and a table that holds nothing else. */
function* singleKeys(table: TomlTable): Generator<[string, TomlTable]> {
  for (const [key, value] of Object.entries(table)) {
    if (OPTION_SECTIONS.includes(hyphenate(key)) && isTable(value))
      for (const [inner, raw] of Object.entries(value))
        yield [`${key}.${inner}`, { [key]: { [inner]: raw } }];
    else yield [key, { [key]: value }];
  }
}

function refuseProblems(file: string, lines: TomlLines, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const told = problems
    .map(({ path, error }) => ({ line: lines.lineOf(path), text: describe(path, error) }))
    .sort((a, b) => a.line - b.line)
    .map(({ line, text }) => `\n        line ${line}: ${text}`);
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  throw sumiError('terrain-invalid', { file, count, problems: told.join('').replace(/\.$/, '') });
}

/** The line stands before it, so the place need not be told again; of the hint what is not said yet. */
function describe(path: string, error: SumiError): string {
  const key = path.replace(/\[\d+\]/g, '');
  const message = error.message.replace(` (${error.details.place})`, '');
  const whole = message.includes(key) ? message : `${key}: ${message}`;
  return error.code === 'bad-value' || error.code === 'missing-value'
    ? whole
    : `${whole} ${error.hint.replace(/;.*$/, '.')}`;
}

interface Doubt {
  path: string;
  text: (lines: TomlLines) => string;
}

interface Listed {
  list: ListName;
  path: string;
  domain: string;
  pattern: DomainPattern;
}

/** Specification 004 section 3.3: what a stronger list takes whole never counts in a weaker one. */
function findDoubts(table: TomlTable): Doubt[] {
  const listed = LIST_NAMES.flatMap((list) => domainsOf(table, list));
  const doubts: Doubt[] = [];
  for (const [at, entry] of listed.entries()) {
    const stronger = listed.slice(0, at).find((other) => covers(other, entry));
    if (stronger === undefined) continue;
    const { list, domain, path } = entry;
    const where = (lines: TomlLines) => `line ${lines.lineOf(stronger.path)}`;
    if (list !== stronger.list)
      doubts.push({
        path,
        text: (lines) =>
          `${showValue(domain)} in [[${list}]] counts for nothing, because [[${stronger.list}]] has ` +
          `${showValue(stronger.domain)} (${where(lines)}) and is asked first.`,
      });
    else if (domain === stronger.domain)
      doubts.push({
        path,
        text: (lines) =>
          `${showValue(domain)} stands twice in [[${list}]] (also ${where(lines)}); it counts once.`,
      });
  }
  return doubts;
}

function domainsOf(table: TomlTable, list: ListName): Listed[] {
  const entries = (table[list] ?? []) as { domain: string }[];
  return entries.map(({ domain }, index) => ({
    list,
    path: `${list}[${index}].domain`,
    domain,
    pattern: compileDomainPattern(domain)!,
  }));
}

function covers(strong: Listed, weak: Listed): boolean {
  const [a, b] = [strong.pattern, weak.pattern];
  if (a.name === b.name) return a.isWildcard || !b.isWildcard;
  return a.isWildcard && b.name.endsWith(`.${a.name}`);
}
