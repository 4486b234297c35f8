/** The last run that is not finished, with the start URLs and options that are stored with it, ready to go on. */
import type { Config } from '../config/load-config.ts';
import { refuseWithoutCredentials } from '../crawl/run/credentials.ts';
import { sumiError } from '../errors.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { configOfRun, type OwnSources, operatorOptions } from './config-of-run.ts';
import { openSideToCrawl } from './open-side-to-crawl.ts';
import { requireProject } from './reading.ts';

/**
 * `asked` names the store, the project where only that one is meant, and the operator's options of this machine. `own` is what
 * no run keeps: how to reach the store and the web, credentials, and how to work. A run that was begun with credentials
 * needs them again.
 */
export async function configToResume(asked: Config, own: Omit<OwnSources, 'here'>): Promise<Config> {
  const run = await unfinishedRun(asked);
  const options = { ...own.options, project: run.project };
  const config = await configOfRun(run, { env: own.env, options, here: operatorOptions(asked) });
  refuseWithoutCredentials(config, run);
  return config;
}

/** Read and closed before the crawl opens the file for writing. */
async function unfinishedRun(asked: Config): Promise<StoredRun> {
  const { storeLabel: file, project } = asked;
  const side = await openSideToCrawl(asked);
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
    // A deleted one goes on only where it is named: then `begin` says what to do.
    if (project === null ? row.deleted_at !== null : row.project !== project) continue;
    const run = await side.lastRun(row.id);
    if (run === null || !isUnfinished(run)) continue;
    if (found === null || run.run > found.run) found = run;
  }
  return found;
}
