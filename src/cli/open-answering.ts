/**
 * Composes what answers programs: the engine in its thread, a read side on threads, the records, the bodies, DuckDB. The engine
 * is first, because it makes the store where there is none. Whoever opens it closes it: runs stop where they are and go on at
 * the next start.
 */
import { join } from 'node:path';
import type { Answering } from '../answers/answering.ts';
import type { Config } from '../config/load-config.ts';
import { camelCase, type OptionValue } from '../config/option-spec.ts';
import { OPTION_NAMES, OPTIONS, type OptionName } from '../config/option-table.ts';
import { systemClock } from '../primitives/clock.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import type { EngineOptions } from '../running/engine.ts';

/** Open requests that all runs share, where the operator says nothing: enough for many polite sites at once. */
export const SHARED_CONCURRENCY = 64;

export interface OpenAnswering extends Answering {
  /** Resolves when the engine is gone: null after `close`, else why it ended. */
  readonly ended: Promise<Error | null>;
  close(): Promise<void>;
}

export interface AnsweringPlace {
  /** The port of the service, which is never crawled; null where it has none. */
  ownPort: number | null;
  /** What went wrong in the engine and no caller can be told. */
  onReport: (error: Error) => void;
}

export async function openAnswering(
  config: Config,
  { ownPort, onReport }: AnsweringPlace,
): Promise<OpenAnswering> {
  const { storeAddress, storeLabel } = config;
  const [
    { startEngine },
    { createProjectThreads },
    { openBodies, openReadSide, openRecords },
    { openQueries },
  ] = await Promise.all([
    import('../running/start-engine.ts'),
    import('../answers/ask-project.ts'),
    import('../store/open-store.ts'),
    import('../sql/open-queries.ts'),
  ]);
  const closing: (() => Promise<void>)[] = [];
  /** Last opened, first closed. */
  async function close(): Promise<void> {
    for (let end = closing.pop(); end !== undefined; end = closing.pop()) await end();
  }
  try {
    const engine = await startEngine(engineOptions(config, ownPort), { onReport });
    closing.push(() => engine.close());
    const side = await openReadSide(storeAddress, { thread: true });
    closing.push(() => side.close());
    const records = await openRecords(storeAddress, systemClock);
    closing.push(() => records.close());
    const bodies = await openBodies(config.bodies, { isReadOnly: true });
    const queries = openQueries({ storeAddress });
    closing.push(() => queries.close());
    const { ended } = engine;
    const askProject = createProjectThreads(storeAddress, storeLabel);
    return { engine, side, records, bodies, queries, askProject, storeLabel, ended, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function engineOptions(config: Config, ownPort: number | null): EngineOptions {
  return {
    storeAddress: config.storeAddress,
    concurrency: config.concurrency,
    maxRunning: config.maxRunning,
    onRestart: config.onRestart,
    maxPagesLimit: config.maxPagesLimit,
    egressAllow: config.egressAllow,
    ownPort,
    operator: operatorOptions(config),
    keyFile: keyFileOf(config),
  };
}

/** Where the store is, and what is of the service itself, the engine is told apart. */
const NOT_OF_RUNS: readonly OptionName[] = [
  ...(['db', 'store', 'egress-allow', 'allowed-host', 'require-token', 'max-running'] as const),
  ...(['max-pages-limit', 'on-restart', 'key-file', 'api-rate', 'metrics-port', 'metrics-host'] as const),
];

/** What the operator has set for runs on this machine. */
function operatorOptions(config: Config): Record<string, OptionValue> {
  const given = OPTION_NAMES.filter(
    (name) =>
      OPTIONS[name].setBy === 'operator' &&
      config.sources[name].from !== 'default' &&
      !config.sources[name].from.startsWith('profile') &&
      !NOT_OF_RUNS.includes(name),
  );
  return Object.fromEntries(given.map((name) => [camelCase(name), config.sources[name].value]));
}

export function keyFileOf({ keyFile, storeAddress }: Pick<Config, 'keyFile' | 'storeAddress'>): string {
  if (keyFile !== null) return keyFile;
  return isSharedStore(storeAddress) ? join('.', 'sumi.key') : `${storeAddress}.key`;
}
