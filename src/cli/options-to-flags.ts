/**
 * Makes commander flags from the option table, gives back the flags a user really wrote, and turns commander's
 * complaints into SumiErrors. Values stay as written: load-config.ts reads and checks them, as for every source.
 */

import { type Command, CommanderError, Option } from 'commander';
import { similarName } from '../config/nearest-name.ts';
import { camelCase, type OptionSpec } from '../config/option-spec.ts';
import { ALIASES, type GroupName, OPTION_GROUPS, OPTIONS, type OptionName } from '../config/option-table.ts';
import { commandMeant, flagMeant } from '../config/other-words.ts';
import type { ProfileName } from '../config/program.ts';
import { showDefault } from '../config/show-default.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import { EXIT_CODES, sumiError } from '../errors.ts';

/**
 * Adds the flags of whole groups or of single options; aliases are taken too but not shown in help. `profile` is the one
 * whose defaults help shows. `formats`: what --format takes here, for commands that do not print lists; none: there is no
 * such flag.
 */
export function addOptionFlags(
  command: Command,
  wanted: readonly (GroupName | OptionName)[],
  { profile = 'site', formats }: { profile?: ProfileName; formats?: readonly string[] } = {},
): Command {
  const names = new Set(wanted.flatMap(namesOf));
  if (formats?.length === 0) names.delete('format');
  for (const name of names) addFlag(command, name, name, profile, name === 'format' ? formats : undefined);
  for (const [alias, { option }] of Object.entries(ALIASES)) {
    if (names.has(option)) addFlag(command, alias, option, null);
  }
  return command.addHelpText(
    'after',
    '\nMost options can also be set in a TOML file (--config) or by variables, for\nexample max-pages = 10 or SUMI_MAX_PAGES=10. docs/options.md lists them.',
  );
}

function namesOf(wanted: GroupName | OptionName): OptionName[] {
  // "path" and the like are options, never groups: the two sets of names do not meet (a test sees to it).
  return wanted in OPTION_GROUPS
    ? (Object.keys(OPTION_GROUPS[wanted as GroupName].options) as OptionName[])
    : [wanted as OptionName];
}

/** `profile` null: an alias, which help leaves out. */
function addFlag(
  command: Command,
  flag: string,
  name: OptionName,
  profile: ProfileName | null,
  choices?: readonly string[],
): void {
  const spec = choices === undefined ? OPTIONS[name] : { ...OPTIONS[name], choices };
  const isHidden = profile === null;
  const byDefault = isHidden ? null : showDefault(name, profile);
  const short = spec.short !== undefined && !isHidden ? `-${spec.short}, ` : '';
  const group = `${groupTitle(name)}:`;
  const add = (flags: string, doc: string | null, parse?: (text: string, before: unknown) => unknown) => {
    const text = doc === null || byDefault === null ? (doc ?? '') : `${doc} (default: ${byDefault})`;
    const option = new Option(flags, text).helpGroup(group).hideHelp(isHidden || doc === null);
    if (parse !== undefined) option.argParser(parse);
    command.addOption(option);
  };
  if (spec.type === 'boolean') {
    // Help shows the form that changes something; where that depends on the profile one line tells of both.
    const onDoc = spec.default === undefined ? `${spec.doc} Off: --no-${flag}.` : spec.doc;
    add(`${short}--${flag}`, spec.default === true ? null : onDoc);
    add(`--no-${flag}`, spec.default === true ? spec.offDoc! : null);
  } else if (spec.type === 'count') {
    add(`${short}--${flag}`, spec.doc, (_, before) => Number(before ?? 0) + 1);
  } else if (spec.type === 'list') {
    add(`${short}--${flag} <${placeholder(spec)}>`, spec.doc, collect);
  } else {
    add(`${short}--${flag} <${placeholder(spec)}>`, spec.doc);
  }
}

function collect(text: string, before: unknown): string[] {
  return [...((before as string[] | undefined) ?? []), text];
}

function groupTitle(name: OptionName): string {
  return Object.values(OPTION_GROUPS).find(({ options }) => name in options)!.title;
}

function placeholder(spec: OptionSpec): string {
  if (spec.placeholder !== undefined) return spec.placeholder;
  return spec.choices?.join('|') ?? spec.type.toUpperCase();
}

/** The flags that stood on the command line, by flag name, values as written. Defaults are not among them. */
export function flagsGiven(command: Command): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const flag of [...Object.keys(OPTIONS), ...Object.keys(ALIASES)]) {
    const attribute = camelCase(flag);
    if (command.getOptionValueSource(attribute) === 'cli') given[flag] = command.getOptionValue(attribute);
  }
  return given;
}

/** For commands whose argument is the configuration file: a second one would be passed over without a word. */
export function flagsBesideFile(command: Command): Record<string, unknown> {
  const given = flagsGiven(command);
  if (!('config' in given)) return given;
  const reason =
    '--config is given beside a terrain file, which is itself the configuration; expected one file';
  throw sumiError('usage', { reason, command: pathOf(command) });
}

/** Underscores count as hyphens in flag names: --max_pages is --max-pages. Values are left alone. */
export function hyphenateFlags(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    // A value may begin with two hyphens, too: a comment in SQL does.
    if (!/^--[\w-]+(?:=|$)/.test(arg) || (end !== -1 && index >= end)) return arg;
    const [flag] = arg.split('=', 1);
    return flag.replaceAll('_', '-') + arg.slice(flag.length);
  });
}

/**
 * Makes a program and its commands throw: a SumiError for wrong usage, and commander's own CommanderError (nothing
 * left to print, `exitCode` to leave with) after help or version were shown. Call it once all commands are added.
 */
export function throwUsageErrors(program: Command): Command {
  program.exitOverride((error) => {
    throw usageError(program, error);
  });
  // Help asked for goes to standard output; what commander says about mistakes is said by our error instead.
  program.configureOutput({ outputError: () => {} });
  for (const command of program.commands) throwUsageErrors(command);
  return program;
}

function usageError(command: Command, error: CommanderError): Error {
  if (error.exitCode === 0) return error;
  // `sumi` alone shows its help as a complaint: wrong usage, not a failed crawl.
  if (error.code === 'commander.help') return new CommanderError(EXIT_CODES.usage, error.code, error.message);
  const name = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  if (error.code === 'commander.unknownOption') {
    // Help leaves flags out that are taken all the same; where two are as near, the one it shows is meant.
    const [shown, hidden] = [false, true].map((isHidden) =>
      command.options
        .filter((option) => option.hidden === isHidden)
        .map((option) => option.long ?? option.short!),
    );
    // Without its value, which may be a password.
    const [option] = name.split('=', 1);
    const names = [...shown, '--help', ...hidden];
    const meant = formatMeant(command, option) ?? flagMeant(option, names);
    if (meant === null && isOfOthers(option)) {
      return sumiError('other-option', { option, command: pathOf(command) }, error);
    }
    const nearest = meant ?? similarName(option, names) ?? '--help';
    return sumiError('unknown-option', { option, place: `command ${pathOf(command)}`, nearest }, error);
  }
  if (error.code === 'commander.unknownCommand') {
    const names = command.commands.map((known) => known.name());
    return sumiError(
      'unknown-command',
      {
        // A start URL without `crawl` before it may have a password in it.
        name: withoutCredentials(name),
        nearest: commandMeant(name) ?? similarName(name, names) ?? 'help',
      },
      error,
    );
  }
  const reason = error.message.replace(/^error: /, '').split('\n', 1)[0];
  return sumiError('usage', { reason, command: pathOf(command) }, error);
}

/** `--json` where that is a value of --format. */
function formatMeant(command: Command, option: string): string | null {
  const format = command.options.find(({ long }) => long === '--format');
  const choices: readonly string[] = format?.argChoices ?? OPTIONS.format.choices ?? [];
  const name = option.slice('--'.length);
  return format !== undefined && choices.includes(name) ? `--format ${name}` : null;
}

/** Written as it should be, for a command that does not take it. */
function isOfOthers(option: string): boolean {
  const name = option.replace(/^--(?:no-)?/, '');
  return option.startsWith('--') && (name in OPTIONS || name in ALIASES);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
