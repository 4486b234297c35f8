// `npm run bench [-- scenario… --quick]`: runs the scenarios one after the other, never side by side (two cores), and
// prints one Markdown table with the bars. Exit 1 when a bar was missed, 2 when a scenario's name is unknown.
import { cpus, loadavg } from 'node:os';
import { scenario as broad } from './broad.ts';
import { scenario as corpora } from './corpora.ts';
import { scenario as frontier } from './frontier.ts';
import { scenario as growth } from './growth.ts';
import { scenario as incremental } from './incremental.ts';
import { scenario as limited } from './limited.ts';
import { scenario as lists } from './lists.ts';
import { failed, type Row, type Scenario, toMarkdown } from './scenario.ts';
import { scenario as service } from './serve.ts';
import { scenario as sitemap } from './sitemap.ts';
import { scenario as sqlAttached } from './sql-attached.ts';
import { scenario as sqlCrawl } from './sql-crawl.ts';
import { scenario as sqlWriter } from './sql-writer.ts';
import { scenario as terrain } from './terrain.ts';
import { scenario as torture } from './torture.ts';
import { scenario as projects } from './two-projects.ts';
import { scenario as workers } from './workers.ts';

const scenarios: Scenario[] = [
  corpora,
  growth,
  frontier,
  broad,
  limited,
  torture,
  workers,
  projects,
  terrain,
  sitemap,
  incremental,
  lists,
  sqlWriter,
  sqlAttached,
  sqlCrawl,
  service,
];

async function runOne(scenario: Scenario, quick: boolean): Promise<Row[]> {
  process.stderr.write(`${scenario.name}: ${scenario.about}\n`);
  try {
    return await scenario.run({ quick });
  } catch (error) {
    // One scenario that breaks must not cost the figures of the others; the row makes the whole bench fail.
    process.stderr.write(`${(error as Error).stack}\n`);
    return [failed(scenario.name, (error as Error).message.split('\n')[0])];
  }
}

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const wanted = args.filter((arg) => !arg.startsWith('--'));
const unknown = wanted.filter((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  process.stderr.write(`No scenario is called ${unknown.join(', ')}. There are:\n`);
  for (const { name, about } of scenarios) process.stderr.write(`  ${name.padEnd(10)} ${about}\n`);
  process.exit(2);
}

const results: { scenario: string; rows: Row[] }[] = [];
for (const scenario of scenarios) {
  if (wanted.length > 0 && !wanted.includes(scenario.name)) continue;
  results.push({ scenario: scenario.name, rows: await runOne(scenario, quick) });
}
const load = loadavg()[0].toFixed(1);
console.log(
  `\nNode ${process.version}, ${cpus().length} cores, load ${load}${quick ? ', quick: sizes are not the real ones' : ''}\n`,
);
console.log(toMarkdown(results));
process.exitCode = results.some(({ rows }) => rows.some((row) => row.verdict === 'FAIL')) ? 1 : 0;
