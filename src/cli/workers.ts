/** `sumi workers`: who is at work on which run, and how fast. */
import { Command } from 'commander';
import { WORKER_NAMES } from '../export/list-columns.ts';
import { listWorkers } from '../project/list-rows.ts';
import type { Column } from '../render/render-table.ts';
import type { WorkerRow } from '../store/read-side.ts';
import { addReadFlags, wantsBom, withReadSide } from './read-command.ts';
import { printRows } from './write-output.ts';

const EXAMPLES = `
Examples:
  sumi workers --store postgres://sumi@db.example.com/crawl    who is at work
  sumi workers --all --format json                             also those that have ended, for programs
A worker is late when it has given no sign of life for too long. Its hosts then go to others.`;

const COLUMNS: readonly Column<WorkerRow>[] = [
  { title: 'process', value: (row) => row.process, shrinksTo: 12 },
  { title: 'state', value: (row) => row.state, colour: stateColour },
  { title: 'run', value: (row) => row.run, align: 'right' },
  { title: 'project', value: (row) => row.project, shrinksTo: 12 },
  { title: 'hosts', value: (row) => row.hosts, align: 'right' },
  { title: 'pages', value: (row) => row.pages, align: 'right' },
  { title: 'pages/s', value: (row) => row.pages_per_second.toFixed(1), align: 'right' },
  { title: 'started', value: (row) => row.started_at.slice(0, 19) },
  { title: 'seen', value: (row) => row.seen_at.slice(0, 19) },
];

function stateColour({ state }: WorkerRow): 'green' | 'yellow' | 'dim' {
  if (state === 'alive') return 'green';
  return state === 'late' ? 'yellow' : 'dim';
}

export function workersCommand(): Command {
  const command = new Command('workers').description('list workers: alive or not, hosts, pages per second');
  return addReadFlags(command, true)
    .option('--all', 'also those that have ended')
    .addHelpText('after', EXAMPLES)
    .action(() =>
      withReadSide(command, (reading) =>
        printRows({
          rows: listWorkers(reading, {
            isAll: command.getOptionValue('all') === true,
            limit: reading.limit,
          }),
          format: reading.config.format,
          names: WORKER_NAMES,
          columns: COLUMNS,
          bom: wantsBom(command, reading.config.format),
        }),
      ),
    );
}
