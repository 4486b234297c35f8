/** Takes part in every run of a shared store, with the options that are stored with each run. */
import type { Config, ConfigSources } from '../config/load-config.ts';
import { refuseWithoutCredentials, wantedHeaders } from '../crawl/run/credentials.ts';
import { startWorker, type Worker, type WorkerRequest } from '../crawl/run/worker.ts';
import { systemClock } from '../primitives/clock.ts';
import { openRunList } from '../store/open-store.ts';
import type { RunList } from '../store/run-list.ts';
import { configOfRun, operatorOptions } from './config-of-run.ts';

export type { Worker } from '../crawl/run/worker.ts';
export type { RunList } from '../store/run-list.ts';

/** Null for a file, which has room for one crawler only. */
export async function openSharedRuns({
  storeAddress,
  storePatience,
}: Pick<Config, 'storeAddress' | 'storePatience'>): Promise<RunList | null> {
  return await openRunList({
    address: storeAddress,
    clock: systemClock,
    patienceMs: storePatience * 1000,
  });
}

export interface JoinRequest extends Omit<WorkerRequest, 'clock' | 'configOf'> {
  /** Names the proxies. */
  env: ConfigSources['env'];
}

export function joinRuns({ env, ...request }: JoinRequest): Worker {
  const options = ownOptions(request.worker);
  const here = operatorOptions(request.worker);
  return startWorker({
    ...request,
    clock: systemClock,
    async configOf(run) {
      const joined = await configOfRun(run, { env, options, here });
      refuseWithoutCredentials(joined, run);
      // A run that was begun without any gets none.
      return { ...joined, requestHeaders: wantedHeaders(joined, run) };
    },
  });
}

/** What a run does not keep: how to reach the store, the bodies and the web, and how to work. */
function ownOptions(config: Config): ConfigSources['options'] {
  const { store, proxy, leaseSeconds, drainSeconds, storePatience, maxHosts, bodies, sources } = config;
  const { auth, cookie, header } = config;
  return {
    ...{ auth, cookie, header },
    ...{ store, proxy, leaseSeconds, drainSeconds, storePatience, maxHosts },
    ...(sources.bodies.from !== 'default' && { bodies }),
  };
}
