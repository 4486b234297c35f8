/**
 * `sumi copy --from … --to …`: moves projects between stores and compares both sides at the end. Exit code 1 when they
 * differ. The same command goes on with what was interrupted.
 */
import { realpathSync } from 'node:fs';
import { Command } from 'commander';
import { loadConfig } from '../config/load-config.ts';
import { sumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import { isSharedStore, storeLabel } from '../primitives/store-address.ts';
import { type Column, layOutTable } from '../render/render-table.ts';
import { painterFor, printable, showCount, showMany, showSeconds } from '../render/terminal-text.ts';
import type { CopySide } from '../store/copy-port.ts';
import { type ComparedTable, type CopyEvent, type CopyResult, copyProject } from '../store/copy-project.ts';
import { openCopySide } from '../store/open-store.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { ANSWER_FORMATS, wantsJson } from './read-command.ts';

const EXAMPLES = `
Examples:
  sumi copy --from sumi.db --to postgres://crawl@db.example.com/crawl     all projects of a file
  sumi copy --from postgres://… --to shop.db --project shop               one project, back into a file
  sumi copy --from a.db --to b.db --project shop --as shop-2024           under another name
The same command goes on with an interrupted copy. Stored bodies are not copied: give crawls of the copy the same --bodies.`;

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
      refuseSameFile(flags);
      const copied = await withSides(flags, (from, to) =>
        copyAll(from, to, { project: config.project, as: flags.as, restart: flags.restart === true }),
      );
      process.stdout.write(isJson ? toJson(copied, flags) : toText(copied));
    });
}

async function withSides<T>(
  { from, to }: CopyFlags,
  use: (from: CopySide, to: CopySide) => Promise<T>,
): Promise<T> {
  const source = await openCopySide(from, 'from');
  try {
    const target = await openCopySide(to, 'to');
    try {
      const isOneDatabase =
        isSharedStore(from) && isSharedStore(to) && (await source.identity()) === (await target.identity());
      if (isOneDatabase) throw sameStore({ from, to });
      return await use(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function sameStore({ from, to }: Pick<CopyFlags, 'from' | 'to'>) {
  return sumiError('copy-same', { from: storeLabel(from), to: storeLabel(to) });
}

function refuseSameFile({ from, to }: CopyFlags): void {
  if (isSharedStore(from) || isSharedStore(to)) return;
  const realPath = (path: string) => realpathSync.native(path);
  try {
    if (realPath(from) !== realPath(to)) return;
  } catch (error) {
    // A file that is not there is no other file; opening says which one is missing.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  throw sameStore({ from, to });
}

interface Wanted {
  project: string | null;
  as: string | undefined;
  restart: boolean;
}

interface Copied extends CopyResult {
  /** How long the rows took to be written, and all of it with the comparison. */
  writingSeconds: number;
  seconds: number;
}

async function copyAll(from: CopySide, to: CopySide, { project, as, restart }: Wanted): Promise<Copied[]> {
  const all = await from.projects();
  const chosen = project === null ? all : all.filter(({ name }) => name === project);
  if (chosen.length === 0) {
    const known = all.map(({ name }) => `"${name}"`).join(', ') || 'none';
    throw sumiError('unknown-project', { project: project ?? '', file: from.label, known });
  }
  if (as !== undefined && chosen.length > 1)
    throw sumiError('usage', { reason: '--as names one project, give --project too', command: 'sumi copy' });
  const results: Copied[] = [];
  for (const one of chosen) {
    const name = as ?? one.name;
    const teller = createTeller(to.label);
    const result = await copyProject({ from, to, project: one, name, restart, onEvent: teller.hear });
    if (result === null) say(`project "${one.name}" is in ${to.label} already, as it is here`);
    else results.push({ ...result, ...teller.times() });
  }
  return results;
}

function say(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** Tells of each table when it is done, and keeps the time. */
function createTeller(target: string) {
  const seconds = (since: number) => (systemClock.monotonic() - since) / 1000;
  const started = systemClock.monotonic();
  let tableStarted = started;
  let writingSeconds = 0;
  return {
    hear(event: CopyEvent): void {
      if (event.type === 'begun') {
        const where = event.resumedAt === null ? '' : `, goes on in ${event.resumedAt}`;
        say(`copying project "${event.project}" to ${target}: ${showMany(event.pages, 'page')}${where}`);
      }
      if (event.type === 'wrote' && event.isDone) {
        say(`  ${event.table}: ${showMany(event.rows, 'row')} in ${showSeconds(seconds(tableStarted))}`);
        tableStarted = systemClock.monotonic();
        writingSeconds = seconds(started);
      }
      if (event.type === 'written') say('  comparing both sides');
    },
    times: () => ({ writingSeconds, seconds: seconds(started) }),
  };
}

function toJson(copied: readonly Copied[], { from, to }: CopyFlags): string {
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

const COLUMNS: readonly Column<ComparedTable>[] = [
  { title: 'table', value: (row) => row.table },
  { title: 'rows', value: (row) => showCount(row.rows), align: 'right' },
  { title: 'copied', value: (row) => showCount(row.rowsCopied), align: 'right' },
  { title: 'checksum', value: (row) => row.checksum },
  { title: 'checksum of copy', value: (row) => row.checksumCopied },
];

function toText(copied: readonly Copied[]): string {
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
