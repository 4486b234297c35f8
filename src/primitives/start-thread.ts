/**
 * Starts a thread of this program by its file. Built, the file stands beside the program's own under its built name; in
 * the sources it is TypeScript, which the thread has to be taught to read first.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const FROM_SOURCES = `
const { workerData } = require('node:worker_threads');
require('node:module').register(workerData.repairs);
import(workerData.loader).then(({ register }) => (register(), import(workerData.file)));`;

export interface ThreadFile {
  /** The `import.meta.url` of whoever starts it. */
  from: string;
  /** The thread's file in the sources, relative to `from`. */
  source: string;
  /** Its name in the build. */
  built: string;
}

/** `transferList`: what of the data is handed over. */
export function startThread(
  { from, source, built }: ThreadFile,
  data: object,
  { transferList }: Pick<WorkerOptions, 'transferList'> = {},
): Worker {
  const isSource = from.endsWith('.ts');
  if (!isSource)
    return new Worker(new URL(`./${built}`, from), { workerData: data, transferList, execArgv: [] });
  const api = createRequire(from).resolve('tsx/esm/api');
  const loader = pathToFileURL(api.replace(/cjs$/, 'mjs')).href;
  const file = new URL(source, from).href;
  const repairs = new URL('../../scripts/repair-driver-hooks.mjs', import.meta.url).href;
  const workerData = { ...data, loader, repairs, file };
  return new Worker(FROM_SOURCES, { eval: true, workerData, transferList, execArgv: [] });
}
