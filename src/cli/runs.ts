/** `sumi runs`: every crawl of the store, oldest first. */
import { Command } from 'commander';
import { RUN_NAMES } from '../export/list-columns.ts';
import { type ListedRun, listRuns } from '../project/list-rows.ts';
import type { Column } from '../render/render-table.ts';
import { showBytes } from '../render/terminal-text.ts';
import { addReadFlags, wantsBom, withReadSide } from './read-command.ts';
import { printRows } from './write-output.ts';

const COLUMNS: readonly Column<ListedRun>[] = [
  { title: 'run', value: (row) => row.run, align: 'right' },
  { title: 'project', value: (row) => row.project, shrinksTo: 15 },
  { title: 'status', value: (row) => row.status, colour: statusColour },
  { title: 'started', value: (row) => row.started_at.slice(0, 19) },
  { title: 'finished', value: (row) => row.finished_at?.slice(0, 19) },
  { title: 'pages', value: (row) => row.pages, align: 'right' },
  { title: 'requests', value: (row) => row.requests, align: 'right' },
  { title: 'bytes', value: (row) => showBytes(row.bytes), align: 'right' },
  { title: 'left out', value: (row) => (row.left_out === 0 ? null : row.left_out), align: 'right' },
  { title: 'error', value: (row) => row.error, shrinksTo: 10 },
  { title: 'notes', value: (row) => showNotes(row.metadata), shrinksTo: 10 },
];

function showNotes(metadata: ListedRun['metadata']): string {
  return Object.entries(metadata ?? {})
    .map(([name, text]) => `${name}=${text}`)
    .join(' ');
}

function statusColour({ status }: ListedRun): 'green' | 'yellow' {
  return status === 'completed' ? 'green' : 'yellow';
}

export function runsCommand(): Command {
  const command = new Command('runs').description('list crawls (runs): when, how they ended, how much');
  return addReadFlags(command, true).action(() =>
    withReadSide(command, async (reading) => {
      const rows = listRuns(reading, reading.limit);
      const { format } = reading.config;
      await printRows({ rows, format, names: RUN_NAMES, columns: COLUMNS, bom: wantsBom(command, format) });
    }),
  );
}
