/** `sumi map`: from a terrain file to a map: crawled, summed up in Markdown, and drawn. */
import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { Config } from '../config/load-config.ts';
import { loadTerrain, type Terrain } from '../config/load-terrain.ts';
import { PROGRAM_VERSION } from '../config/program.ts';
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import { SumiError, sumiError } from '../errors.ts';
import { type OutputFile, oneOf, whyUnwritable } from '../export/write-files.ts';
import type { LinkGraph } from '../graph/link-graph.ts';
import type { TerrainFigures } from '../graph/terrain-figures.ts';
import { drawMap, readMap } from '../project/draw-map.ts';
import { planSeeds } from '../project/plan-terrain.ts';
import { openReading } from '../project/reading.ts';
import { renderTerrainPlan } from '../render/render-terrain-plan.ts';
import { printable, showMany } from '../render/terminal-text.ts';
import { renderTerrainStats, renderTerrainSummary } from '../render/terrain-summary.ts';
import { type CrawlHooks, crawlToEnd } from './crawl-to-end.ts';
import { addOptionFlags, flagsBesideFile } from './options-to-flags.ts';
import { ANSWER_FORMATS, wantsJson } from './read-command.ts';
import { writeOutputFiles } from './write-output.ts';

const EXAMPLES = `
Examples:
  sumi map terrain.toml                     map, or continue the map; the same as: sumi-ripple terrain.toml
  sumi map terrain.toml --dry-run           check the file, say what would be crawled
  sumi map terrain.toml --html map.html     and draw it, as one page to open in a browser
  sumi map terrain.toml --export-summary    write the summary anew from what is stored
Paths in the file are relative to its folder. examples/terrain.toml shows every key.
All options of \`sumi crawl\` can be given too, for example --store or --delay. They win over the file.
Ctrl-C stops the crawl and writes the summary. The same command continues it later.`;

interface MapOutputs {
  /** Null: not asked for. */
  summaryPath: string | null;
  htmlPath: string | null;
}

interface MapFlags {
  html?: string;
  dryRun?: true;
  stats?: true;
  exportSummary?: true;
}

const SHOWN: readonly string[] = [
  '--db',
  '--store',
  '--project',
  '--json',
  '--format',
  '--quiet',
  '--verbose',
  '--fresh',
];

export function mapCommand(): Command {
  const command = new Command('map')
    .description('map the web around chosen domains (terrain file)')
    .argument('<file>', 'the terrain file, in TOML')
    .option('--html <FILE>', 'draw the map as one page that opens from disk')
    .addOption(
      new Option('--resume', 'continue an unfinished run (this also happens without the flag)').conflicts(
        'fresh',
      ),
    )
    .addOption(
      new Option(
        '--dry-run',
        'check the file and print what would be crawled; no requests, nothing is written',
      ).conflicts(['stats', 'exportSummary', 'html']),
    )
    .addOption(
      new Option('--stats', 'print the numbers of the stored map, without a crawl').conflicts([
        'exportSummary',
        'fresh',
        'resume',
      ]),
    )
    .addOption(
      new Option(
        '--export-summary',
        'write the Markdown summary of the stored map, without a crawl',
      ).conflicts(['fresh', 'resume']),
    );
  addOptionFlags(command, ['scope', 'politeness', 'fetch', 'page', 'run', 'workers'], {
    profile: 'terrain',
    formats: ANSWER_FORMATS,
  });
  for (const option of command.options) {
    // The help is about maps; the rest is that of `sumi crawl`.
    if (option.helpGroupHeading !== undefined && !SHOWN.includes(option.long ?? '')) option.hideHelp();
    if (option.long === '--quiet') option.conflicts('verbose');
    if (option.long === '--project')
      option.description =
        'Name of the map in the database. Without it: terrain, in a shared store the name of the file.';
  }
  return command
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, flags: MapFlags) => runMap(file, flags, flagsBesideFile(command)));
}

async function runMap(file: string, flags: MapFlags, options: Record<string, unknown>): Promise<void> {
  if (flags.html === '-') {
    const reason =
      '--html is "-"; expected a file: standard output has what the crawl tells (`sumi export --format html` prints the page of a stored map)';
    throw sumiError('usage', { reason, command: 'sumi map' });
  }
  if (options.format !== undefined && flags.stats === undefined) {
    const reason =
      '--format is for --stats; expected --json for the events of a crawl, --html FILE for the map';
    throw sumiError('usage', { reason, command: 'sumi map' });
  }
  const terrain = await loadTerrain({ file, env: process.env, flags: options });
  const { config, warnings, summaryPath } = terrain;
  const tell = (line: string) => void (config.quiet || process.stderr.write(`${printable(line)}\n`));
  for (const warning of warnings) tell(`warning: ${warning}`);
  if (flags.dryRun) return config.quiet ? undefined : print(renderTerrainPlan(planOf(file, terrain)));
  const isReading = flags.stats === true || flags.exportSummary === true;
  const outputs: MapOutputs = {
    summaryPath: flags.stats ? null : summaryPath,
    htmlPath: flags.html ?? null,
  };
  await refuseUnwritable(outputs);
  if (isReading) {
    const figures = await writeMap(config, config.project, outputs);
    if (flags.stats) printStats(config, figures);
  } else await crawlMap(file, terrain, outputs, tell);
  for (const [what, path] of [['summary', outputs.summaryPath] as const, ['map', outputs.htmlPath] as const])
    if (path !== null) tell(`${what} written to ${path}`);
}

/** Before hours of crawling, not after them. */
async function refuseUnwritable({ summaryPath, htmlPath }: MapOutputs): Promise<void> {
  for (const file of [summaryPath, htmlPath]) {
    const reason = file === null ? null : await whyUnwritable(file);
    if (reason !== null) throw sumiError('export-unwritable', { file: file!, reason });
  }
}

/** Writes what is asked for, whole or not at all, and gives back the numbers. `graph`: the map's, where it was read already. */
async function writeMap(
  { storeAddress }: Config,
  project: string,
  { summaryPath, htmlPath }: MapOutputs,
  graph?: LinkGraph,
): Promise<TerrainFigures> {
  const reading = await openReading(storeAddress, project);
  try {
    const now = Date.now();
    const { figures, survey } = await readMap(reading, project, now, graph);
    const files: OutputFile[] = [];
    if (summaryPath !== null)
      files.push({ path: summaryPath, pieces: oneOf(renderTerrainSummary(figures, PROGRAM_VERSION)) });
    if (htmlPath !== null)
      files.push({ path: htmlPath, pieces: oneOf((await drawMap(reading, { survey, now })).page) });
    if (files.length > 0) await writeOutputFiles(files);
    return figures;
  } finally {
    await reading.close();
  }
}

/** Errors of a crawl that came to its end. */
const TOLD: ReadonlySet<string> = new Set(['no-answer', 'start-refused']);

/** A map that nobody answered is told too: it is one page of errors. */
async function crawlMap(
  file: string,
  { config }: Terrain,
  outputs: MapOutputs,
  tell: (line: string) => void,
): Promise<void> {
  const { quality, blacklist, stub } = config.terrain;
  const seeds = quality.flatMap((entry) => entry.seeds);
  if (config.verbose > 0) {
    tell(
      `sumi ${PROGRAM_VERSION}: ${file} has ${showMany(quality.length, 'quality domain')}, ` +
        `${showMany(blacklist.length, 'blacklisted', 'blacklisted')}, ${showMany(stub.length, 'stubbed', 'stubbed')}`,
    );
    if (config.store === null)
      tell(`${existsSync(config.db) ? 'database' : 'new database'} ${config.storeLabel}`);
  }
  let project = config.project;
  let crawl: CrawlHandle | null = null;
  const hooks: CrawlHooks = {
    started(handle, isResumed, say) {
      project = handle.project;
      crawl = handle;
      if (config.verbose === 0) return;
      const { waiting } = handle.read();
      say(
        isResumed
          ? `run ${handle.runId} was not finished: ${showMany(waiting, 'URL')} of it wait`
          : `queued ${showMany(seeds.length, 'seed')}`,
      );
    },
  };
  try {
    await crawlToEnd(config, seeds, hooks);
  } catch (error) {
    if (error instanceof SumiError && TOLD.has(error.code)) await writeMap(config, project, outputs);
    throw error;
  }
  await writeMap(config, project, outputs, graphOf(crawl));
}

function graphOf(crawl: CrawlHandle | null): LinkGraph | undefined {
  return crawl?.mapGraph ?? undefined;
}

function printStats(config: Config, figures: TerrainFigures): void {
  if (config.quiet) return;
  if (config.json || wantsJson(config)) print([JSON.stringify(figures, null, 2)]);
  else print(renderTerrainStats(figures));
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function planOf(file: string, { config, summaryPath }: Terrain): Parameters<typeof renderTerrainPlan>[0] {
  const { quality, blacklist, stub } = config.terrain;
  return {
    ...{ file, blacklist, stub, summaryPath },
    seeds: planSeeds(config),
    quality: quality.map(({ domain }) => domain),
    maxDepth: config.maxDepth,
    concurrency: config.concurrency,
    delaySeconds: config.delay,
    maxDomainRequests: config.maxDomainRequests,
    allowHttp: config.allowHttp,
    userAgent: config.userAgent,
    hasContact:
      config.contactUrl !== null ||
      config.contactEmail !== null ||
      config.sources['user-agent'].value !== null,
    store: config.storeLabel,
    storeExists: config.store === null ? existsSync(config.db) : null,
    fresh: config.fresh,
    project: config.project,
  };
}
