/**
 * Starts a process of this program by its file, with a channel for messages: for work that may have to be ended at any
 * moment, or that may take the process with it. The file is found as in start-thread.ts.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ThreadFile } from './start-thread.ts';

/** Its standard output is nobody's: that of this process may carry a protocol. */
export function startProcess(
  { from, source, built }: ThreadFile,
  environment: Readonly<Record<string, string | undefined>>,
): ChildProcess {
  const isSource = from.endsWith('.ts');
  const file = fileURLToPath(new URL(isSource ? source : `./${built}`, from));
  const loader = () => pathToFileURL(createRequire(from).resolve('tsx').replace(/cjs$/, 'mjs')).href;
  return fork(file, {
    execArgv: isSource ? ['--import', loader()] : [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: environment as NodeJS.ProcessEnv,
  });
}
