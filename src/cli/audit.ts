/** `sumi audit [RUN]`: replays the request log and says whether every request was polite. Exit code 1 if one was not. */
import { Command } from 'commander';
import { EXIT_CODES, sumiError } from '../errors.ts';
import { painterFor, printable, showMany } from '../render/terminal-text.ts';
import { type Audited, auditRuns, clearedText, MAX_DETAILS } from './audit-runs.ts';
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
      withReadSide(command, async ({ config, side }) => {
        const isJson = command.getOptionValue('json') === true || wantsJson(config);
        const run = readWholeNumber(command, 'run', text);
        if (run !== undefined && (await side.run(run)) === null)
          throw sumiError('unknown-run', { run, file: config.storeLabel });
        const result = await auditRuns(side, run);
        process.stdout.write(`${isJson ? toJson(result) : toText(result)}\n`);
        if (result.allViolations > 0) process.exitCode = EXIT_CODES.failed;
      }),
    );
}

function toJson(result: Audited): string {
  const { requests, hosts, gaps, details, repeated } = result;
  return JSON.stringify({
    requests,
    hosts,
    violations: result.allViolations,
    gaps,
    cleared_until: result.clearedUntil === null ? null : new Date(result.clearedUntil).toISOString(),
    by_kind: result.allByKind,
    details: [
      ...details.map(({ kind, host, request, run, sentAt, detail }) => ({
        kind,
        host,
        request,
        run,
        sent_at: new Date(sentAt).toISOString(),
        detail,
      })),
      ...repeated.slice(0, MAX_DETAILS).map((row) => ({ kind: 'repeated-url', ...row })),
    ],
  });
}

function toText(result: Audited): string {
  const paint = painterFor(process.stdout, process.env);
  const { allViolations: violations, repeated } = result;
  const verdict = paint(violations === 0 ? 'green' : 'red', showMany(violations, 'violation'));
  const lines = [
    `${showMany(result.requests, 'request')} to ${showMany(result.hosts, 'host')}: ${verdict}` +
      (result.gaps === 0 ? '' : `; ${showMany(result.gaps, 'host')} rested after a restart`),
  ];
  if (result.clearedUntil !== null)
    lines.push(`  ${clearedText(new Date(result.clearedUntil).toISOString())}`);
  for (const { kind, host, request, sentAt, detail } of result.details)
    lines.push(`  ${kind}  ${host}  ${new Date(sentAt).toISOString()}  request ${request}: ${detail}`);
  if (result.violations > result.details.length)
    lines.push(`  … and ${showMany(result.violations - result.details.length, 'more', 'more')}`);
  for (const { project, url, count } of repeated.slice(0, MAX_DETAILS))
    lines.push(`  repeated-url  ${printable(url)} stands ${count} times in project ${printable(project)}`);
  return lines.join('\n');
}
