/**
 * `sumi copy --from … --to …`: moves projects between stores and compares both sides at the end. Exit code 1 when they
 * differ. The same command goes on with what was interrupted.
 */
import { Command } from 'commander';
import { loadConfig } from '../config/load-config.ts';
import { storeLabel } from '../primitives/store-address.ts';
import { type CopiedProject, type CopyProgress, copyProjects } from '../project/copy-projects.ts';
import { type Column, layOutTable } from '../render/render-table.ts';
import { painterFor, printable, showCount, showMany, showSeconds } from '../render/terminal-text.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { ANSWER_FORMATS, wantsJson } from './read-command.ts';

const EXAMPLES = `
Examples:
  sumi copy --from sumi.db --to postgres://crawl@db.example.com/crawl     all projects of a file
  sumi copy --from postgres://… --to shop.db --project shop               one project, back into a file
  sumi copy --from a.db --to b.db --project shop --as shop-2024           under another name
The same command continues an interrupted copy. Stored bodies are not copied: give crawls of the copy the same --bodies.`;

interface CopyFlags {
  from: string;
  to: string;
  as?: string;
  restart?: boolean;
  json?: boolean;
}

export function copyCommand(): Command {
  const command = new Command('copy')
    .description('copy projects to another database, and compare both')
    .requiredOption('--from <FILE|URL>', 'the database to read: an SQLite file or postgres://…')
    .requiredOption('--to <FILE|URL>', 'the database to write; a file is created if there is none')
    .option('--as <NAME>', 'the name of the copy, with --project')
    .option('--restart', 'delete what an interrupted copy left, and start again');
  addOptionFlags(command, ['project', 'format'], { formats: ANSWER_FORMATS });
  return command
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: CopyFlags) => {
      const config = await loadConfig({ env: process.env, flags: flagsGiven(command) });
      const isJson = flags.json === true || wantsJson(config);
      const { from, to, as } = flags;
      const order = { from, to, as, project: config.project, restart: flags.restart === true };
      const copied = await copyProjects(
        order,
        (progress) => void process.stderr.write(`${printable(lineOf(progress))}\n`),
      );
      process.stdout.write(isJson ? toJson(copied, flags) : toText(copied));
    });
}

function lineOf(progress: CopyProgress): string {
  switch (progress.type) {
    case 'begun': {
      const { project, to, pages, resumedAt } = progress;
      const where = resumedAt === null ? '' : `, continues in ${resumedAt}`;
      return `copying project "${project}" to ${to}: ${showMany(pages, 'page')}${where}`;
    }
    case 'table': {
      const { table, rows, seconds } = progress;
      return `  ${table}: ${showMany(rows, 'row')} in ${showSeconds(seconds)}`;
    }
    case 'comparing':
      return '  comparing both sides';
    case 'there-already':
      return `project "${progress.project}" is in ${progress.to} already, as it is here`;
  }
}

function toJson(copied: readonly CopiedProject[], { from, to }: CopyFlags): string {
  const projects = copied.map(({ project, name, written, writingSeconds, seconds, tables }) => ({
    project,
    name,
    rows_written: written,
    writing_seconds: writingSeconds,
    seconds,
    tables: tables.map(({ table, rows, rowsCopied, checksum, checksumCopied }) => ({
      table,
      rows,
      rows_copied: rowsCopied,
      checksum,
      checksum_copied: checksumCopied,
    })),
  }));
  return `${JSON.stringify({ from: storeLabel(from), to: storeLabel(to), projects })}\n`;
}

const COLUMNS: readonly Column<CopiedProject['tables'][number]>[] = [
  { title: 'table', value: (row) => row.table },
  { title: 'rows', value: (row) => showCount(row.rows), align: 'right' },
  { title: 'copied', value: (row) => showCount(row.rowsCopied), align: 'right' },
  { title: 'checksum', value: (row) => row.checksum },
  { title: 'checksum of copy', value: (row) => row.checksumCopied },
];

function toText(copied: readonly CopiedProject[]): string {
  const paint = painterFor(process.stdout, process.env);
  return copied
    .map(({ project, name, written, writingSeconds, seconds, tables }) => {
      const { head, line } = layOutTable(COLUMNS, tables, null, paint);
      const pace = showCount(Math.round(written / Math.max(writingSeconds, 0.001)));
      const title = `project "${project}" copied${name === project ? '' : ` as "${name}"`}`;
      const summary = `${title}: ${showMany(written, 'row')} written at ${pace}/s, both sides equal, in ${showSeconds(seconds)}`;
      return `${[head, ...tables.map(line), paint('green', printable(summary))].join('\n')}\n`;
    })
    .join('');
}
