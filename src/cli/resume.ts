/** `sumi resume`: goes on with the last unfinished run, with the start URLs and options that are stored with it. */
import { Command } from 'commander';
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { refuseWithoutCredentials } from '../crawl/run/credentials.ts';
import { sumiError } from '../errors.ts';
import { configOfRun } from '../project/config-of-run.ts';
import { openSideToCrawl } from '../project/open-side-to-crawl.ts';
import { requireProject } from '../project/reading.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { crawlToEnd } from './crawl-to-end.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';

const SECRETS = ['auth', 'cookie', 'header'] as const;

const EXAMPLES = `
Examples:
  sumi resume                       the last unfinished run of ./sumi.db
  sumi resume --project shop        that of one project
  sumi resume --auth USER:PASSWORD  of a run that was begun with a password, which the store does not keep
To go on with other options, give them to the same \`sumi crawl\` command instead.`;

export function resumeCommand(): Command {
  const command = new Command('resume').description('continue the last unfinished crawl');
  addOptionFlags(command, [
    'db',
    'store',
    'project',
    'proxy',
    ...SECRETS,
    'json',
    'quiet',
    'verbose',
    'workers',
  ]);
  return command.addHelpText('after', EXAMPLES).action(async () => {
    const asked = await loadConfig({ env: process.env, flags: flagsGiven(command) });
    const run = await unfinishedRun(asked);
    const config = await configOfRun(run, {
      env: process.env,
      options: { ...ownOptions(asked), project: run.project },
    });
    refuseWithoutCredentials(config, run);
    await crawlToEnd(config, config.startUrls);
  });
}

/** What the run does not keep: how to reach the store and the web, and how to work and talk. */
function ownOptions(asked: Config): ConfigSources['options'] {
  const { json, quiet, verbose, proxy, auth, cookie, header } = asked;
  const { leaseSeconds, drainSeconds, storePatience, metricsPort, metricsHost } = asked;
  return {
    ...(asked.store === null ? { db: asked.db } : { store: asked.store }),
    ...{ json, quiet, verbose, proxy, auth, cookie, header },
    ...{ leaseSeconds, drainSeconds, storePatience, metricsPort, metricsHost },
  };
}

/** Read and closed before the crawl opens the file for writing. */
async function unfinishedRun(config: Config): Promise<StoredRun> {
  const { storeLabel: file, project } = config;
  const side = await openSideToCrawl(config);
  try {
    if (project !== null) await requireProject(side, project, file);
    const run = await lastUnfinished(side, project);
    if (run !== null) return run;
  } finally {
    await side.close();
  }
  throw sumiError('nothing-to-resume', { file, of: project === null ? '' : ` of project "${project}"` });
}

/** Only a project's last run can go on: an older one was closed by what came after. */
async function lastUnfinished(side: ReadSide, project: string | null): Promise<StoredRun | null> {
  let found: StoredRun | null = null;
  for (const row of await side.projects()) {
    if (project !== null && row.project !== project) continue;
    const run = await side.lastRun(row.id);
    if (run === null || !isUnfinished(run)) continue;
    if (found === null || run.run > found.run) found = run;
  }
  return found;
}
