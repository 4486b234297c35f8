/** `sumi reclassify`: a changed terrain file applied to the stored map, without a crawl. */
import { Command } from 'commander';
import { loadTerrain } from '../config/load-terrain.ts';
import { type Reclassified, reclassify } from '../project/reclassify.ts';
import { type Column, layOutTable } from '../render/render-table.ts';
import { painterFor, printable, showCount, showMany } from '../render/terminal-text.ts';
import { addOptionFlags, flagsBesideFile } from './options-to-flags.ts';
import { ANSWER_FORMATS, wantsJson } from './read-command.ts';

const EXAMPLES = `
Examples:
  sumi reclassify terrain.toml              after its lists or limits were changed
  sumi map terrain.toml                     then asks for what came within reach, and for nothing else
No request is made. Pages keep their content and links, also where their domain is on another list now.`;

export function reclassifyCommand(): Command {
  const command = new Command('reclassify')
    .description('apply a changed terrain file to a stored map')
    .argument('<file>', 'the terrain file, in TOML');
  addOptionFlags(command, ['scope', 'politeness', 'fetch', 'page', 'run', 'workers'], {
    profile: 'terrain',
    formats: ANSWER_FORMATS,
  });
  for (const option of command.options) {
    // What `sumi map` was given belongs here too, else it were another map; the help names what matters.
    if (option.helpGroupHeading !== undefined && !SHOWN.has(option.long ?? '')) option.hideHelp();
    if (option.long === '--project')
      option.description = 'Name of the map in the database, where `sumi map` was given one.';
  }
  return command.addHelpText('after', EXAMPLES).action(async (file: string) => {
    const flags = flagsBesideFile(command);
    const { config, warnings } = await loadTerrain({ file, env: process.env, flags });
    if (!config.quiet)
      for (const warning of warnings) process.stderr.write(`warning: ${printable(warning)}\n`);
    const answer = await reclassify(config);
    if (config.json || wantsJson(config)) process.stdout.write(`${JSON.stringify(answer)}\n`);
    else if (!config.quiet) process.stdout.write(`${toText(answer)}\n`);
  });
}

const SHOWN: ReadonlySet<string> = new Set(['--db', '--store', '--project', '--json', '--format', '--quiet']);

const COLUMNS: readonly Column<Reclassified['moves'][number]>[] = [
  { title: 'from', value: ({ from }) => from },
  { title: 'to', value: ({ to }) => to },
  { title: 'pages', value: ({ pages }) => showCount(pages), align: 'right' },
];

function toText({ pages, moves, waiting, project }: Reclassified): string {
  const head = `${showMany(pages, 'page')} of "${printable(project)}" judged by the new lists.`;
  const { head: titles, line } = layOutTable(COLUMNS, moves, null, painterFor(process.stdout, process.env));
  const table = moves.length === 0 ? ['No state changed.'] : [titles, ...moves.map(line)];
  const foot =
    waiting === 0
      ? 'Nothing waits.'
      : `${showMany(waiting, 'page')} ${waiting === 1 ? 'waits' : 'wait'}: the next \`sumi map\` asks for them.`;
  return [head, ...table, foot].join('\n');
}
