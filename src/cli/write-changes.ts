/** What the commands that tell changes have in common: runs by number, and the format and file asked for. */
import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import type { Config } from '../config/load-config.ts';
import { sumiError } from '../errors.ts';
import {
  CHANGE_FORMATS,
  type ChangeFormat,
  changePieces,
  type TellableChanges,
} from '../export/change-pieces.ts';
import { printable } from '../render/terminal-text.ts';
import { BOM_DOC, wantsBom } from './read-command.ts';
import { printPieces, screenOf, writeOutputFiles } from './write-output.ts';

export interface ChangeOutput {
  format: ChangeFormat;
  /** Null is standard output. */
  file: string | null;
  bom: boolean;
}

export function addOutputFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--format <FORMAT>', 'the format (default: by the ending of --out, else text)').choices(
        CHANGE_FORMATS,
      ),
    )
    .option('--bom', BOM_DOC)
    .option('--out <FILE>', 'the file to write (default: -, standard output)');
}

const ENDINGS: Record<string, ChangeFormat> = {
  '.txt': 'text',
  '.log': 'text',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.csv': 'csv',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.html': 'html',
  '.htm': 'html',
};

/** The flag, else the ending of the file, else the format of lists where one was chosen, else text. */
export function outputOf(
  flags: { format?: ChangeFormat; out?: string },
  { format, sources }: Pick<Config, 'format' | 'sources'>,
  command: Command,
): ChangeOutput {
  const file = flags.out === undefined || flags.out === '-' ? null : flags.out;
  const ending = file === null ? '' : extname(file).toLowerCase();
  const chosen = flags.format ?? ENDINGS[ending] ?? (sources.format.from === 'default' ? undefined : format);
  // A name like that promises what is not written; a date or a number at its end promises nothing.
  if (chosen === undefined && /^\.[a-z]/.test(ending))
    throw sumiError('bad-flag', {
      flag: '--out',
      value: file!,
      expected: `a file that ends in ${Object.keys(ENDINGS).join(', ')}, or --format beside it`,
      command: `sumi ${command.name()}`,
    });
  const written = chosen ?? 'text';
  return { file, format: written, bom: wantsBom(command, written) };
}

export async function writeChanges(
  changes: TellableChanges,
  { format, file, bom }: ChangeOutput,
): Promise<void> {
  if (file === null) return printPieces(changePieces(changes, { format, bom, screen: screenOf() }));
  await writeOutputFiles([{ path: file, pieces: changePieces(changes, { format, bom }) }]);
  process.stdout.write(`${printable(`written to ${file}`)}\n`);
}

/** A number alone is a run: years are written with a month. */
export const isRunNumber = (text: string) => /^\d{1,9}$/.test(text);

export function readRunNumber(text: string, command: string): number {
  if (isRunNumber(text)) return Number(text);
  throw sumiError('usage', { reason: `"${text}" is not the number of a run`, command });
}
