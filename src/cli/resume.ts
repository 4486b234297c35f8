/** `sumi resume`: goes on with the last unfinished run, with the start URLs and options that are stored with it. */
import { Command } from 'commander';
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { OPERATOR_CRAWL_OPTIONS } from '../config/who-may-set.ts';
import { configToResume } from '../project/resume-run.ts';
import { crawlToEnd } from './crawl-to-end.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';

const SECRETS = ['auth', 'cookie', 'header'] as const;

const EXAMPLES = `
Examples:
  sumi resume                       the last unfinished run of ./sumi.db
  sumi resume --project shop        that of one project
  sumi resume --auth USER:PASSWORD  of a run that was begun with a password, which the store does not keep
  sumi resume --bodies files:pages  of a run that keeps bodies: where they go is said anew
To continue with other options, give them to the same \`sumi crawl\` command instead.`;

export function resumeCommand(): Command {
  const command = new Command('resume').description('continue the last unfinished crawl');
  addOptionFlags(command, [
    'db',
    'store',
    'project',
    'proxy',
    ...OPERATOR_CRAWL_OPTIONS,
    ...SECRETS,
    'json',
    'quiet',
    'verbose',
    'workers',
  ]);
  return command.addHelpText('after', EXAMPLES).action(async () => {
    const asked = await loadConfig({ env: process.env, flags: flagsGiven(command) });
    const config = await configToResume(asked, { env: process.env, options: ownOptions(asked) });
    await crawlToEnd(config, config.startUrls);
  });
}

/** What the run does not keep: how to reach the store and the web, and how to work and talk. */
function ownOptions(asked: Config): ConfigSources['options'] {
  const { json, quiet, verbose, proxy, auth, cookie, header } = asked;
  const { leaseSeconds, drainSeconds, storePatience, metricsPort, metricsHost, maxHosts } = asked;
  return {
    ...(asked.store === null ? { db: asked.db } : { store: asked.store }),
    ...{ json, quiet, verbose, proxy, auth, cookie, header },
    ...{ leaseSeconds, drainSeconds, storePatience, metricsPort, metricsHost, maxHosts },
  };
}
