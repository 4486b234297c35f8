/**
 * The thread that reads an SQLite file for others (threaded-read-side.ts): a file of its own, which the build puts beside
 * the rest. It answers one question at a time, rows in batches, each when it is asked for.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../../primitives/travelling-error.ts';
import type { ReadSide } from '../read-side.ts';
import { openSqliteReadSide } from './read-side.ts';
import type { FromReader, ToReader } from './read-thread-messages.ts';

/** Rows of one message; a row that is a batch itself counts as what is in it. */
const ROWS = 256;

const port = parentPort!;
const say = (message: FromReader) => port.postMessage(message);

let side: ReadSide | null = null;
let rows: AsyncIterator<unknown> | null = null;

async function answer(message: ToReader): Promise<void> {
  if (message === 'close') {
    await side?.close();
    port.close();
  } else if (message === 'drop') {
    await rows?.return?.();
    rows = null;
    say('dropped');
  } else if (message === 'more') {
    await sayMore();
  } else {
    const ask = side![message.ask] as (...args: unknown[]) => unknown;
    // A set of the caller's own kind stays with him: he is told of every link.
    if (message.ask === 'linksTo' && message.args[0] === 'all') message.args[0] = { has: () => true };
    const found = ask(...message.args);
    if (typeof found === 'object' && found !== null && Symbol.asyncIterator in found) {
      rows = (found as AsyncIterable<unknown>)[Symbol.asyncIterator]();
      await sayMore();
    } else say({ answer: await found });
  }
}

function weightOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  // A batch of columns.
  return (value as { rows?: unknown }).rows === undefined ? 1 : ROWS;
}

async function sayMore(): Promise<void> {
  const some: unknown[] = [];
  for (let weight = 0; weight < ROWS; ) {
    const { done, value } = await rows!.next();
    if (done) {
      rows = null;
      say({ rows: some, isLast: true });
      return;
    }
    weight += weightOf(value);
    some.push(value);
  }
  say({ rows: some, isLast: false });
}

async function orError(work: () => Promise<void> | void): Promise<void> {
  try {
    await work();
  } catch (error) {
    rows = null;
    say({ error: packError(error) });
  }
}

port.on('message', (message: ToReader) => void orError(() => answer(message)));
void orError(() => {
  side = openSqliteReadSide((workerData as { path: string }).path);
  say('ready');
});
