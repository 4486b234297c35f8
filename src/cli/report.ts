/**
 * `sumi report`: one run: what it was told, what it did, and whether it was polite. With
 * --html the history of a project, or of a run, as a page with pictures.
 */
import { Command, Option } from 'commander';
import { drawReport } from '../project/draw-report.ts';
import { type FullReport, findReportedRun, reportOnRun } from '../project/report-on-run.ts';
import { renderReport } from '../render/render-report.ts';
import { printable } from '../render/terminal-text.ts';
import { addReadFlags, type Reading, readWholeNumber, wantsJson, withReadSide } from './read-command.ts';
import { printPieces, screenOf, writeOutputFiles } from './write-output.ts';

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
        if (html !== undefined) return await writePage(reading, id, html);
        const report = await reportOnRun(reading, id);
        process.stdout.write(`${isJson ? JSON.stringify(report, null, 2) : toText(report)}\n`);
      }),
    );
}

function toText(report: FullReport): string {
  const { paint, width } = screenOf();
  return renderReport(report, paint, width);
}

async function writePage(reading: Reading, id: number | undefined, path: string): Promise<void> {
  await findReportedRun(reading, id);
  // Drawn once the file is open: what cannot be written is known before the work is done.
  const draw = async function* () {
    yield await drawReport(reading, id, Date.now());
  };
  if (path === '-') return printPieces(draw());
  await writeOutputFiles([{ path, pieces: draw() }]);
  if (!reading.config.quiet) process.stderr.write(`report written to ${printable(path)}\n`);
}
