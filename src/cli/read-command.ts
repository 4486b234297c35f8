/** What the commands that only read have in common: which store, which project, how many rows, and how to print them. */
import type { Command } from 'commander';
import { type Config, loadConfig } from '../config/load-config.ts';
import type { OptionName } from '../config/option-table.ts';
import { sumiError } from '../errors.ts';
import { type Reading as OpenStore, openReading } from '../project/reading.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';

export interface Reading extends OpenStore {
  config: Config;
  limit: number | undefined;
}

const READ_OPTIONS: readonly OptionName[] = ['db', 'store', 'config', 'project', 'format'];

/** What a command that answers with one thing can print it as. */
export const ANSWER_FORMATS: readonly string[] = ['table', 'json'];

/** `formats`: what --format takes; all formats of lists for a list, those of one answer for one. */
export function addReadFlags(
  command: Command,
  isList: boolean,
  others: readonly OptionName[] = [],
  formats = isList ? undefined : ANSWER_FORMATS,
): Command {
  addOptionFlags(command, [...READ_OPTIONS, ...others], { formats });
  if (!isList) return command;
  return command.option('--bom', BOM_DOC).option('--limit <N>', 'print at most so many rows (default: all)');
}

export const BOM_DOC = 'begin CSV with a byte order mark, for Excel';

/** Of a list: whether its CSV begins with a byte order mark. */
export function wantsBom(command: Command, format: string): boolean {
  if (command.getOptionValue('bom') !== true) return false;
  if (format === 'csv') return true;
  const reason = `--bom is for CSV, and this is ${format}; expected --format csv beside it`;
  throw sumiError('usage', { reason, command: `sumi ${command.name()}` });
}

/**
 * Opens the store for reading, checks what was asked, and closes it whatever happens. `ownFlags`: flags that the command
 * reads itself, though an option has the same name.
 */
export async function withReadSide(
  command: Command,
  use: (reading: Reading) => Promise<void>,
  ownFlags: readonly OptionName[] = [],
): Promise<void> {
  const flags = flagsGiven(command);
  for (const name of ownFlags) delete flags[name];
  const config = await loadConfig({ env: process.env, flags });
  const limit = readWholeNumber(command, '--limit', command.getOptionValue('limit') as string | undefined);
  const reading = await openReading(config.storeAddress, config.project);
  try {
    await use({ ...reading, config, limit });
  } finally {
    await reading.close();
  }
}

/** Of a flag or an argument that this command has and no configuration file. */
export function readWholeNumber(
  command: Command,
  flag: string,
  text: string | undefined,
): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const name = `sumi ${command.name()}`;
  throw sumiError('bad-flag', { flag, command: name, value: text, expected: 'a whole number' });
}

/** The commands that answer with one thing print it for people or as JSON. */
export function wantsJson(config: Config): boolean {
  if (config.format === 'json') return true;
  if (config.format === 'table') return false;
  const place = config.sources.format.from;
  throw sumiError('bad-value', { option: 'format', value: config.format, place, expected: 'table or json' });
}

export function collect(text: string, before: string[] | undefined): string[] {
  const items = text.split(',').map((item) => item.trim());
  return [...(before ?? []), ...items.filter((item) => item !== '')];
}
