// `sumi worker` in a process of its own: takes part in every run of the store, and says when it has joined one.
import { register } from 'node:module';

// The driver of PostgreSQL as the tests have it.
register(new URL('../../scripts/repair-driver-hooks.mjs', import.meta.url));
const { loadConfig } = await import('../../src/config/load-config.ts');
const { joinRuns, openSharedRuns } = await import('../../src/project/join-runs.ts');

const worker = await loadConfig({ env: {}, options: { store: process.env.WORKER_STORE! } });
const runs = (await openSharedRuns(worker))!;
joinRuns({
  ...{ worker, runs, env: {}, isOnce: false, listenTo: () => [] },
  onJoined: ({ runId }) => process.send!({ runId }),
  onLeft() {},
  onRefused: (_, error) => console.error(error),
  onIdle() {},
});
