/** `sumi audit [RUN]`: replays the request log and says whether every request was polite. Exit code 1 if one was not. */
import { Command } from 'commander';
import { EXIT_CODES, sumiError } from '../errors.ts';
import { type AuditResult, auditRequests } from '../politeness/audit.ts';
import { painterFor, printable, showMany } from '../report/terminal-text.ts';
import type { ReadSide } from '../store/read-side.ts';
import { addReadFlags, readWholeNumber, wantsJson, withReadSide } from './read-command.ts';
import { floorOfRun } from './stored-config.ts';

const EXAMPLES = `
Examples:
  sumi audit                   all runs
  sumi audit 3                 one run
  sumi audit --json | jq .violations`;

interface Repeated {
  project: string;
  url: string;
  count: number;
}

const MAX_DETAILS = 100;

export function auditCommand(): Command {
  const command = new Command('audit')
    .description('check the request log against the promises of politeness')
    .argument('[run]', 'the number of a run; all without');
  return addReadFlags(command, false)
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES)
    .action((text: string | undefined) =>
      withReadSide(command, async ({ config, side }) => {
        const isJson = command.getOptionValue('json') === true || wantsJson(config);
        const run = readWholeNumber('run', text);
        const floors = await floorsOf(side);
        if (run !== undefined && !floors.has(run)) throw sumiError('unknown-run', { run, file: config.db });
        const result = await auditRequests(side.requests(), {
          run,
          maxDetails: MAX_DETAILS,
          floorOf: (id) => floors.get(id) ?? { delayMs: 0, sinceMs: 0 },
        });
        const repeated: Repeated[] = [];
        for await (const row of side.repeatedUrls()) repeated.push(row);
        process.stdout.write(`${isJson ? toJson(result, repeated) : toText(result, repeated)}\n`);
        if (result.violations + repeated.length > 0) process.exitCode = EXIT_CODES.failed;
      }),
    );
}

async function floorsOf(side: ReadSide): Promise<Map<number, ReturnType<typeof floorOfRun>>> {
  const floors = new Map<number, ReturnType<typeof floorOfRun>>();
  for await (const { run } of side.runs({})) {
    const stored = await side.run(run);
    if (stored !== null) floors.set(run, floorOfRun(stored));
  }
  return floors;
}

function toJson(result: AuditResult, repeated: Repeated[]): string {
  const { requests, hosts, violations, gaps, byKind, details } = result;
  return JSON.stringify({
    requests,
    hosts,
    violations: violations + repeated.length,
    gaps,
    by_kind: repeated.length === 0 ? byKind : { ...byKind, 'repeated-url': repeated.length },
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

function toText(result: AuditResult, repeated: Repeated[]): string {
  const paint = painterFor(process.stdout, process.env);
  const violations = result.violations + repeated.length;
  const verdict = paint(violations === 0 ? 'green' : 'red', showMany(violations, 'violation'));
  const lines = [
    `${showMany(result.requests, 'request')} to ${showMany(result.hosts, 'host')}: ${verdict}` +
      (result.gaps === 0 ? '' : `; ${showMany(result.gaps, 'host')} rested after a restart`),
  ];
  for (const { kind, host, request, sentAt, detail } of result.details)
    lines.push(`  ${kind}  ${host}  ${new Date(sentAt).toISOString()}  request ${request}: ${detail}`);
  if (result.violations > result.details.length)
    lines.push(`  … and ${showMany(result.violations - result.details.length, 'more', 'more')}`);
  for (const { project, url, count } of repeated.slice(0, MAX_DETAILS))
    lines.push(`  repeated-url  ${printable(url)} stands ${count} times in project ${printable(project)}`);
  return lines.join('\n');
}
