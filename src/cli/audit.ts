/** `sumi audit [RUN]`: replays the request log and says whether every request was polite. Exit code 1 if one was not. */
import { Command } from 'commander';
import { EXIT_CODES } from '../errors.ts';
import { auditRuns } from '../project/audit-runs.ts';
import { renderAudit } from '../render/render-audit.ts';
import { painterFor } from '../render/terminal-text.ts';
import { addReadFlags, readWholeNumber, wantsJson, withReadSide } from './read-command.ts';

const EXAMPLES = `
Examples:
  sumi audit                   all runs
  sumi audit 3                 one run
  sumi audit --json | jq .violations`;

export function auditCommand(): Command {
  const command = new Command('audit')
    .description('check that all requests kept the rules of politeness')
    .argument('[run]', 'the number of a run (default: all runs)');
  return addReadFlags(command, false)
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES)
    .action((text: string | undefined) =>
      withReadSide(command, async (reading) => {
        const isJson = command.getOptionValue('json') === true || wantsJson(reading.config);
        const audit = await auditRuns(reading, readWholeNumber(command, 'run', text));
        const answer = isJson
          ? JSON.stringify(audit)
          : renderAudit(audit, painterFor(process.stdout, process.env));
        process.stdout.write(`${answer}\n`);
        if (audit.violations > 0) process.exitCode = EXIT_CODES.failed;
      }),
    );
}
