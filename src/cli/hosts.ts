/** `sumi hosts`: what is known of each host: its pages, its clock, its blocks, its robots.txt. */
import { Command } from 'commander';
import { HOST_NAMES } from '../export/list-columns.ts';
import type { Column } from '../render/render-table.ts';
import type { HostRow } from '../store/read-side.ts';
import { addReadFlags, wantsBom, withReadSide } from './read-command.ts';
import { printRows } from './write-output.ts';

const COLUMNS: readonly Column<HostRow>[] = [
  { title: 'host', value: (row) => row.host, shrinksTo: 20 },
  { title: 'known', value: (row) => row.known_urls, align: 'right' },
  { title: 'read', value: (row) => row.read, align: 'right' },
  { title: 'broken', value: (row) => row.broken, align: 'right' },
  { title: 'limited', value: (row) => row.rate_limited, align: 'right' },
  { title: 'skipped', value: (row) => row.skipped, align: 'right' },
  { title: 'waiting', value: (row) => row.waiting, align: 'right' },
  { title: 'requests', value: (row) => row.requests, align: 'right' },
  { title: 'avg ms', value: (row) => row.average_ms, align: 'right' },
  { title: 'robots', value: (row) => row.robots_status, align: 'right' },
  { title: 'blocked until', value: (row) => row.blocked_until },
  { title: 'closed', value: (row) => row.closed, shrinksTo: 10 },
];

const PORTS = `
Each port of a host has a row of its own. Requests, pace, blocks and limits are those of the host name: its ports share them.`;

export function hostsCommand(): Command {
  const command = new Command('hosts').description('list hosts: URLs, pace, blocks, robots.txt');
  return addReadFlags(command, true)
    .addHelpText('after', PORTS)
    .action(() =>
      withReadSide(command, async ({ config, side, project, limit }) => {
        const rows = side.hosts({ project, limit });
        const { format } = config;
        await printRows({
          rows,
          format,
          names: HOST_NAMES,
          columns: COLUMNS,
          bom: wantsBom(command, format),
        });
      }),
    );
}
