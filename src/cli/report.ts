/**
 * `sumi report`: one run as specification 001 wants it told: what it was, what it did, and whether it was polite. With
 * --html the history of a project, or of a run, as a page with pictures.
 */
import { Command, Option } from 'commander';
import { sumiError } from '../errors.ts';
import { printable } from '../render/terminal-text.ts';
import type { StoredRun } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import { drawReport } from './draw-report.ts';
import { addReadFlags, type Reading, readWholeNumber, wantsJson, withReadSide } from './read-command.ts';
import { renderReport } from './render-report.ts';
import { reportOnRun } from './report-on-run.ts';
import { writeFiles } from './write-files.ts';
import { writePieces } from './write-rows.ts';

const EXAMPLES = `
Examples:
  sumi report                            the last run
  sumi report --run 3                    a certain one
  sumi report --run 3 --json | jq .politeness.violations
  sumi report --html report.html         the project's history in pictures: what changes where, freshness, bandwidth
  sumi report --html run-3.html --run 3  one run, and what led to it; - is standard output`;

export function reportCommand(): Command {
  const command = new Command('report').description('describe one run: numbers, hosts, errors, politeness');
  return addReadFlags(command, false)
    .option('--run <ID>', 'the number of a run (default: the last)')
    .addOption(new Option('--json', 'print one JSON object').conflicts('html'))
    .option('--html <FILE>', 'write a page with pictures of the project’s history (with --run: of one run)')
    .addHelpText('after', EXAMPLES)
    .action(() =>
      withReadSide(command, async (reading) => {
        const html = command.getOptionValue('html') as string | undefined;
        const isJson = command.getOptionValue('json') === true || wantsJson(reading.config);
        const id = readWholeNumber(command, '--run', command.getOptionValue('run') as string | undefined);
        const run = id === undefined ? await lastRun(reading) : await reading.side.run(id);
        const isMeant = run !== null && (reading.project ?? run.project) === run.project;
        const unknown = () => sumiError('unknown-run', { run: id ?? 'yet', file: reading.config.storeLabel });
        if (!isMeant) throw unknown();
        if (html !== undefined) return await writePage(reading, run, id === undefined, html, unknown);
        const report = await reportOnRun(reading.side, run);
        if (report === null) throw unknown();
        process.stdout.write(`${isJson ? JSON.stringify(report, null, 2) : renderReport(report)}\n`);
      }),
    );
}

async function writePage(
  { side, config }: Reading,
  run: StoredRun,
  isWhole: boolean,
  path: string,
  unknown: () => Error,
): Promise<void> {
  // Drawn once the file is open: what cannot be written is known before the work is done.
  const draw = async function* () {
    const page = await drawReport(side, run, isWhole);
    if (page === null) throw unknown();
    yield page;
  };
  if (path === '-') return writePieces(draw());
  await writeFiles([{ path, pieces: draw() }]);
  if (!config.quiet) process.stderr.write(`report written to ${printable(path)}\n`);
}

async function lastRun({ side, project }: Reading): Promise<StoredRun | null> {
  let last: number | null = null;
  let lastCrawl: number | null = null;
  for await (const row of side.runs({ project })) {
    if (row.run > (last ?? 0)) last = row.run;
    if (row.run > (lastCrawl ?? 0) && isCrawl(row)) lastCrawl = row.run;
  }
  const wanted = lastCrawl ?? last;
  return wanted === null ? null : side.run(wanted);
}
