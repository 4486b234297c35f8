/** `sumi report`: one run as specification 001 wants it told: what it was, what it did, and whether it was polite. */
import { Command } from 'commander';
import { sumiError } from '../errors.ts';
import type { StoredRun } from '../store/read-side.ts';
import { addReadFlags, type Reading, readWholeNumber, wantsJson, withReadSide } from './read-command.ts';
import { renderReport } from './render-report.ts';
import { reportOnRun } from './report-on-run.ts';

const EXAMPLES = `
Examples:
  sumi report                            the last run
  sumi report --run 3                    a certain one
  sumi report --run 3 --json | jq .politeness.violations`;

export function reportCommand(): Command {
  const command = new Command('report').description('tell of one run: figures, hosts, errors, politeness');
  return addReadFlags(command, false)
    .option('--run <ID>', 'the number of a run; the last one without')
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES)
    .action(() =>
      withReadSide(command, async (reading) => {
        const isJson = command.getOptionValue('json') === true || wantsJson(reading.config);
        const id = readWholeNumber('--run', command.getOptionValue('run') as string | undefined);
        const run = id === undefined ? await lastRun(reading) : await reading.side.run(id);
        const isMeant = run !== null && (reading.project ?? run.project) === run.project;
        const report = isMeant ? await reportOnRun(reading.side, run) : null;
        if (report === null)
          throw sumiError('unknown-run', { run: id ?? 'yet', file: reading.config.storeLabel });
        process.stdout.write(`${isJson ? JSON.stringify(report, null, 2) : renderReport(report)}\n`);
      }),
    );
}

async function lastRun({ side, project }: Reading): Promise<StoredRun | null> {
  let last: StoredRun | null = null;
  for (const row of await side.projects()) {
    if (project !== undefined && row.project !== project) continue;
    const run = await side.lastRun(row.id);
    if (run !== null && (last === null || run.run > last.run)) last = run;
  }
  return last;
}
