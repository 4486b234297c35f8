/** Writes a list of changes in the format asked for, to standard output or to a file. */
import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import type { Config } from '../config/load-config.ts';
import { sumiError } from '../errors.ts';
import { renderChanges } from '../render/render-changes.ts';
import { renderChangesMarkdown } from '../render/render-changes-markdown.ts';
import type { Column } from '../render/render-table.ts';
import { painterFor, printable } from '../render/terminal-text.ts';
import { type ChangesList, explainOutcome, type ToldChange } from '../render/told-change.ts';
import { BOM_DOC, wantsBom } from './read-command.ts';
import { writeFiles } from './write-files.ts';
import { type ListFormat, rowPieces, writePieces } from './write-rows.ts';

export const CHANGE_FORMATS = ['text', 'table', 'json', 'jsonl', 'csv', 'markdown', 'html'] as const;
export type ChangeFormat = (typeof CHANGE_FORMATS)[number];

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

/** Programs get rows in their order; people get them in sections. */
export interface TellableChanges {
  rows: () => AsyncIterable<ToldChange>;
  list: () => ChangesList;
  /** Of a row's columns. */
  names: readonly (keyof ToldChange)[];
  /** What JSON says of all rows together; the rows are its `pages` then. */
  summary?: Readonly<Record<string, unknown>>;
}

const COLUMNS: readonly Column<ToldChange>[] = [
  { title: 'run', value: (row) => row.run, align: 'right' },
  { title: 'outcome', value: (row) => row.outcome },
  { title: 'known by', value: (row) => row.known_by },
  { title: 'status', value: (row) => row.status_code, align: 'right' },
  { title: 'url', value: (row) => row.url, shrinksTo: 20, keepsEnd: true },
  { title: 'what', value: (row) => explainOutcome(row), shrinksTo: 10 },
];

export async function writeChanges(
  changes: TellableChanges,
  { format, file, bom }: ChangeOutput,
): Promise<void> {
  if (file === null) return writePieces(piecesOf(changes, format, bom, process.stdout));
  await writeFiles([{ path: file, pieces: piecesOf(changes, format, bom, PLAIN) }]);
  process.stdout.write(`${printable(`written to ${file}`)}\n`);
}

/** A file is read by nobody's terminal: no colours, nothing cut. */
const PLAIN = { isTTY: false } as NodeJS.WriteStream;

function piecesOf(
  changes: TellableChanges,
  format: ChangeFormat,
  bom: boolean,
  out: NodeJS.WriteStream,
): AsyncIterable<string> {
  switch (format) {
    case 'text':
      return renderChanges(changes.list(), painterFor(out, process.env), out.isTTY ? out.columns : null);
    case 'markdown':
      return renderChangesMarkdown(changes.list());
    case 'html':
      return pageOf(changes.list());
    default:
      return format === 'json' && changes.summary !== undefined
        ? summaryPieces(changes.summary, listPieces(changes, format, bom, out))
        : listPieces(changes, format, bom, out);
  }
}

/** Only who asks for the page loads what draws it. */
async function* pageOf(list: ChangesList): AsyncGenerator<string> {
  const { renderChangesPage } = await import('../pages/changes/render-changes-page.ts');
  yield* renderChangesPage(list);
}

function listPieces(changes: TellableChanges, format: ListFormat, bom: boolean, out: NodeJS.WriteStream) {
  const { names } = changes;
  return rowPieces<ToldChange>({ rows: changes.rows(), format, names, columns: COLUMNS, bom }, out);
}

async function* summaryPieces(
  summary: Readonly<Record<string, unknown>>,
  list: AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(summary).slice(0, -1)},"pages":`;
  yield* list;
  yield '}\n';
}
