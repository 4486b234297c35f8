/** `sumi hosts`: what is known of each host: its pages, its clock, its blocks, its robots.txt. */
import { Command } from 'commander';
import type { Column } from '../report/render-table.ts';
import type { HostRow } from '../store/read-side.ts';
import { addReadFlags, wantsBom, withReadSide } from './read-command.ts';
import { writeRows } from './write-rows.ts';

const NAMES: readonly (keyof HostRow)[] = [
  'host',
  'pages',
  'processed',
  'waiting',
  'errors',
  'requests',
  'average_ms',
  'adaptive_delay_ms',
  'next_slot_at',
  'blocked_until',
  'consecutive_429',
  'failures',
  'robots_status',
  'robots_fetched_at',
  'closed',
];

const COLUMNS: readonly Column<HostRow>[] = [
  { title: 'host', value: (row) => row.host, shrinksTo: 20 },
  { title: 'pages', value: (row) => row.pages, align: 'right' },
  { title: 'processed', value: (row) => row.processed, align: 'right' },
  { title: 'waiting', value: (row) => row.waiting, align: 'right' },
  { title: 'errors', value: (row) => row.errors, align: 'right' },
  { title: 'requests', value: (row) => row.requests, align: 'right' },
  { title: 'avg ms', value: (row) => row.average_ms, align: 'right' },
  { title: 'robots', value: (row) => row.robots_status, align: 'right' },
  { title: 'blocked until', value: (row) => row.blocked_until },
  { title: 'closed', value: (row) => row.closed, shrinksTo: 10 },
];

export function hostsCommand(): Command {
  const command = new Command('hosts').description('list hosts: pages, pace, blocks, robots.txt');
  return addReadFlags(command, true).action(() =>
    withReadSide(command, async ({ config, side, project, limit }) => {
      const rows = side.hosts({ project, limit });
      const { format } = config;
      await writeRows({ rows, format, names: NAMES, columns: COLUMNS, bom: wantsBom(command, format) });
    }),
  );
}
