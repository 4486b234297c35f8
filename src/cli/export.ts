/** `sumi export`: the link graph of pages or domains, for Gephi, Graphviz, spreadsheets and data tools. */
import { parse } from 'node:path';
import { Command, Option } from 'commander';
import { loadConfig } from '../config/load-config.ts';
import { sumiError } from '../errors.ts';
import { oneOf } from '../export/write-files.ts';
import type { ExportFormat, GraphFile } from '../graph/graph-files.ts';
import { drawMap } from '../project/draw-map.ts';
import {
  EXPORT_FORMATS,
  exportLinkGraph,
  GRAPH_SUBJECTS,
  type GraphExport,
  type GraphSubject,
  onlyProject,
} from '../project/export-link-graph.ts';
import { openReading, type Reading } from '../project/reading.ts';
import { printable, showMany } from '../render/terminal-text.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { BOM_DOC, wantsBom } from './read-command.ts';
import { printPieces, writeOutputFiles } from './write-output.ts';

const EXAMPLES = `
Examples:
  sumi export --of domains --out map.gexf         the domains, for Gephi
  sumi export --format csv --out graph.csv        edges in graph.csv, nodes in graph-nodes.csv
  sumi export --out map.html                      a page to look at: domains, or of one site its sections
  sumi export --of pages --out pages.html         the 3,000 most linked pages, as such a page
  sumi export --format jsonl | jq …               nodes, then edges, one object a line
  sumi export --of domains --format dot | sfdp -Tsvg > map.svg
csv and parquet are tables: nodes go to a second file, NAME-nodes. On standard output csv writes the edges alone.
Without --format the ending of --out decides. docs/decisions/0021-graph-and-exports.md explains the attributes.`;

/** The page to look at is no graph file. */
const FORMATS = [...EXPORT_FORMATS, 'html'] as const;
type Format = ExportFormat | 'html';

interface ExportFlags {
  format?: Format;
  of: GraphSubject;
  out?: string;
}

export function exportCommand(): Command {
  const command = new Command('export')
    .description('write the link graph of pages or domains for other programs')
    .addOption(
      new Option('--format <FORMAT>', 'the format (default: by the ending of --out)').choices(FORMATS),
    )
    .addOption(new Option('--of <WHAT>', 'what to export').choices(GRAPH_SUBJECTS).default('pages'))
    .option('--bom', BOM_DOC)
    .option('--out <FILE>', 'the file to write (default: -, standard output)');
  addOptionFlags(command, ['db', 'store', 'config', 'project']);
  for (const option of command.options) {
    if (option.long === '--project')
      option.description = 'Which project of the database; needed where it holds several.';
  }
  return command.addHelpText('after', EXAMPLES).action((flags: ExportFlags) => runExport(command, flags));
}

async function runExport(command: Command, flags: ExportFlags): Promise<void> {
  const out = flags.out === undefined || flags.out === '-' ? null : flags.out;
  const format = flags.format ?? formatOf(out);
  if (format === 'parquet' && out === null) throw usage('parquet needs a file: give --out FILE');
  const bom = wantsBom(command, format);
  // The formats of lists are an option of the same name.
  const { format: _, ...own } = flagsGiven(command);
  const config = await loadConfig({ env: process.env, flags: own });
  const reading = await openReading(config.storeAddress, config.project);
  try {
    if (format !== 'html') return await writeGraph(reading, { of: flags.of, format, bom }, out);
    // Where nobody said what the dots are, they are what suits the project.
    const subject = command.getOptionValueSource('of') === 'default' ? undefined : flags.of;
    await writePage(reading, subject, out);
  } finally {
    await reading.close();
  }
}

async function writeGraph(reading: Reading, asked: GraphExport, out: string | null): Promise<void> {
  const { nodes, edges, files, originsLeftOut } = await exportLinkGraph(reading, asked);
  if (originsLeftOut !== null)
    process.stderr.write(
      `depth by origin is left out: ${showMany(originsLeftOut, 'origin')} and ${showMany(nodes, 'node')} are too many; the view page_depths has it\n`,
    );
  if (out === null) return await printPieces(files[0].pieces);
  const named = files.map(({ holds, pieces }) => ({ path: pathOf(out, holds), pieces }));
  await writeOutputFiles(named);
  const size = `${showMany(nodes, 'node')} and ${showMany(edges, 'edge')}`;
  process.stdout.write(`${printable(`${size} written to ${named.map(({ path }) => path).join(' and ')}`)}\n`);
}

async function writePage(
  reading: Reading,
  subject: GraphSubject | undefined,
  out: string | null,
): Promise<void> {
  const project = await onlyProject(reading);
  const map = await drawMap({ ...reading, project }, { subject, now: Date.now() });
  const pieces = oneOf(map.page);
  if (out === null) return printPieces(pieces);
  await writeOutputFiles([{ path: out, pieces }]);
  const what = showMany(map.drawn, map.subject.slice(0, -1));
  process.stdout.write(`${printable(`${what} written to ${out}`)}\n`);
}

function formatOf(out: string | null): Format {
  const ending = out === null ? '' : parse(out).ext.slice(1).toLowerCase();
  const format = FORMATS.find((known) => known === ending);
  if (format === undefined) throw usage(`--format is missing, one of ${FORMATS.join(', ')}`);
  return format;
}

function usage(reason: string): Error {
  return sumiError('usage', { reason, command: 'sumi export' });
}

/** The nodes of `graph.csv` are in `graph-nodes.csv`. */
function pathOf(out: string, holds: GraphFile['holds']): string {
  if (holds !== 'nodes') return out;
  const { name, ext } = parse(out);
  return `${out.slice(0, out.length - name.length - ext.length)}${name}-nodes${ext}`;
}
