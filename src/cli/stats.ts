/** `sumi stats`: what a file, or one project in it, amounts to. */
import { Command } from 'commander';
import { describeUrls } from '../render/describe-urls.ts';
import { renderCounts } from '../render/render-summary.ts';
import { painterFor, printable, showBytes, showMany } from '../render/terminal-text.ts';
import type { RunRow } from '../store/read-side.ts';
import { addReadFlags, type Reading, wantsJson, withReadSide } from './read-command.ts';

export function statsCommand(): Command {
  const command = new Command('stats').description('print the numbers of a database or project');
  return addReadFlags(command, false).action(() => withReadSide(command, printStats));
}

async function printStats({ config, side, project }: Reading): Promise<void> {
  const isJson = wantsJson(config);
  const totals = await side.totals(project);
  const projects = (await side.projects()).map((row) => row.project);
  let runs = 0;
  let lastRun: RunRow | null = null;
  for await (const run of side.runs({ project })) {
    runs++;
    lastRun = run;
  }
  if (isJson) {
    const stats = {
      file: config.storeLabel,
      projects: project ? [project] : projects,
      runs,
      last_run: lastRun,
      ...totals,
    };
    process.stdout.write(`${JSON.stringify(stats, null, 2)}\n`);
    return;
  }
  const paint = painterFor(process.stdout, process.env);
  const section = (title: string, counts: Record<string, number>) =>
    Object.keys(counts).length === 0 ? [] : ['', paint('bold', title), ...renderCounts(counts)];
  const shown = (project === undefined ? projects : [project]).map(printable);
  const lines = [
    `${paint('bold', config.storeLabel)}: ${showMany(totals.known_urls, 'known URL')} on ${showMany(totals.hosts, 'host')}, ` +
      `${showMany(totals.links, 'link')}, ${showBytes(totals.bytes)} in ${showMany(totals.requests, 'request')}`,
    `${showMany(shown.length, 'project')}: ${shown.join(', ')}`,
    lastRun === null
      ? 'no runs'
      : `${showMany(runs, 'run')}, the last one (${lastRun.run}) ${lastRun.status}`,
    `${describeUrls(totals)}.`,
    ...section('States', totals.by_state),
    ...section('HTTP status', totals.by_status),
    ...section('Content types', totals.by_content_type),
    ...section('Depth', totals.by_depth),
    ...section(
      'Most frequent reasons',
      Object.fromEntries(Object.entries(totals.by_reason).map(([reason, n]) => [printable(reason), n])),
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
