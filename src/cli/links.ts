/** `sumi links [URL]`: who links where; with a URL the links from it and to it. */
import { Command } from 'commander';
import { withoutCredentials } from '../config/url-credentials.ts';
import { sumiError } from '../errors.ts';
import type { Column } from '../report/render-table.ts';
import type { LinkRow } from '../store/read-side.ts';
import { findPages } from './find-pages.ts';
import { addReadFlags, type Reading, wantsBom, withReadSide } from './read-command.ts';
import { writeRows } from './write-rows.ts';

const EXAMPLES = `
Examples:
  sumi links --format csv > links.csv      every link
  sumi links https://example.com/about     the links from a page and to it`;

const NAMES: readonly (keyof LinkRow)[] = [
  'from_url',
  'to_url',
  'direction',
  'nofollow',
  'rel',
  'anchor',
  'discovered_run',
];

const COLUMNS: readonly Column<LinkRow>[] = [
  { title: 'dir', value: (row) => row.direction },
  { title: 'from', value: (row) => row.from_url, shrinksTo: 20, keepsEnd: true },
  { title: 'to', value: (row) => row.to_url, shrinksTo: 20, keepsEnd: true },
  { title: 'rel', value: (row) => row.rel },
  { title: 'run', value: (row) => row.discovered_run, align: 'right' },
  { title: 'anchor', value: (row) => row.anchor, shrinksTo: 10 },
];

export function linksCommand(): Command {
  const command = new Command('links')
    .description('list links; with a URL those from it and to it')
    .argument('[url]', 'the page, in any spelling');
  return addReadFlags(command, true)
    .addHelpText('after', EXAMPLES)
    .action((url: string | undefined) =>
      withReadSide(command, (reading) =>
        writeRows({
          rows: url === undefined ? reading.side.links(reading) : linksOf(url, reading),
          format: reading.config.format,
          names: NAMES,
          columns: COLUMNS,
          bom: wantsBom(command, reading.config.format),
        }),
      ),
    );
}

async function* linksOf(url: string, { side, project, limit, config }: Reading): AsyncGenerator<LinkRow> {
  const pages = await findPages(side, url, project);
  if (pages.length === 0)
    throw sumiError('unknown-url', { url: withoutCredentials(url), file: config.storeLabel });
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (const page of pages) {
    for await (const row of side.linksOf(page.id, {})) {
      if (left-- <= 0) return;
      yield row;
    }
  }
}
