/** `sumi links [URL]`: who links where; with a URL the links from it and to it; with --broken only to what is broken. */
import { Command } from 'commander';
import { BROKEN_LINK_NAMES, LINK_NAMES } from '../export/list-columns.ts';
import type { BrokenLink } from '../graph/broken-links.ts';
import { hasSeveralProjects, isRefused, listBrokenLinks, listLinks } from '../project/list-rows.ts';
import type { Column } from '../render/render-table.ts';
import type { LinkRow } from '../store/read-side.ts';
import { addReadFlags, type Reading, wantsBom, withReadSide } from './read-command.ts';
import { REFUSED_REDIRECTS } from './refused-redirects.ts';
import { printRows } from './write-output.ts';

const EXAMPLES = `
Examples:
  sumi links --broken                      broken pages, and which pages link to them
  sumi links --broken --format csv > broken.csv
  sumi links --format csv > links.csv      every link
  sumi links https://example.com/about     the links from a page and to it
\`sumi pages --broken\` also lists broken pages that no page links to.`;

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
    .description('list links; with --broken, links to broken pages')
    .argument('[url]', 'the page');
  return addReadFlags(command, true)
    .option(
      '--broken',
      'only links to broken pages (DeadLink, Gone, Failed, Unreachable), also through redirects; with status and reason',
    )
    .addHelpText('after', EXAMPLES)
    .action((url: string | undefined, flags: { broken?: true }) =>
      withReadSide(command, (reading) =>
        flags.broken === true
          ? listBroken(url, reading, wantsBom(command, reading.config.format))
          : printRows({
              rows: listLinks(reading, { url, limit: reading.limit }),
              format: reading.config.format,
              names: LINK_NAMES,
              columns: COLUMNS,
              bom: wantsBom(command, reading.config.format),
            }),
      ),
    );
}

const BROKEN_COLUMNS: readonly Column<BrokenLink>[] = [
  { title: 'state', value: (row) => row.state, colour: () => 'yellow' },
  { title: 'status', value: (row) => row.status_code, align: 'right' },
  { title: 'broken', value: (row) => row.broken_url, shrinksTo: 20, keepsEnd: true },
  { title: 'linked from', value: (row) => row.from_url, shrinksTo: 20, keepsEnd: true },
];
const BY_REDIRECT: Column<BrokenLink> = {
  title: 'by redirect',
  value: (row) => (row.to_url === row.broken_url ? null : row.to_url),
  shrinksTo: 16,
  keepsEnd: true,
};
const ANCHOR: Column<BrokenLink> = { title: 'anchor', value: (row) => row.anchor, shrinksTo: 10 };
const REASON: Column<BrokenLink> = { title: 'reason', value: (row) => row.reason, shrinksTo: 10 };
const PROJECT: Column<BrokenLink> = { title: 'project', value: (row) => row.project, shrinksTo: 10 };

async function listBroken(url: string | undefined, reading: Reading, bom: boolean): Promise<void> {
  const { limit, config } = reading;
  const hasProjects = await hasSeveralProjects(reading);
  let links = 0;
  let anchors = 0;
  let hasRefused = false;
  async function* counted(): AsyncGenerator<BrokenLink> {
    for await (const row of listBrokenLinks(reading, { url, limit })) {
      links++;
      if (row.anchor !== null) anchors++;
      hasRefused ||= isRefused(row);
      yield row;
    }
  }
  await printRows({
    rows: counted(),
    format: config.format,
    names: BROKEN_LINK_NAMES,
    columns: [...BROKEN_COLUMNS, BY_REDIRECT, ANCHOR, REASON, ...(hasProjects ? [PROJECT] : [])],
    bom,
  });
  if (config.format !== 'table') return;
  if (links === 0) process.stdout.write('No link leads to a broken page.\n');
  else if (anchors === 0)
    process.stdout.write('The text of links is kept by crawls with --anchor-text; here there is none.\n');
  if (hasRefused) process.stdout.write(REFUSED_REDIRECTS);
}
