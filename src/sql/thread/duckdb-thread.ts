/**
 * The thread that owns DuckDB: the one instance, its connections, the functions inside it. It answers questions by a table
 * of verbs (verbs.ts) and writes rows of crawls as they come. A statement ends before the thread does: to be ended inside
 * a function of ours would abort the process.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { packError } from '../../primitives/travelling-error.ts';
import { createCheckpointSize } from '../table/checkpoint-size.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import {
  type FromThread,
  type RowTask,
  type RowTaskDone,
  type RowWork,
  SIGNAL,
  type ThreadData,
  type ToThread,
} from './messages.ts';
import { createThreadState } from './thread-state.ts';
import { VERBS } from './verbs.ts';
import { createMainThread } from './wait-for-main.ts';

const { signal: shared, feeds, rows } = workerData as ThreadData;
const signal = new Int32Array(shared);
const say = (message: FromThread) => parentPort!.postMessage(message);

/** Who has told a piece and waits for the next to be asked for. */
const tellers = new Map<number, () => void>();

type RowWorkers = {
  readonly [Verb in keyof RowWork]: (
    crawl: number,
    args: RowWork[Verb]['args'],
  ) => RowWork[Verb]['answer'] | Promise<RowWork[Verb]['answer']>;
};

/** None of it needs the event loop, but for a condition that calls functions of ours. */
const ROW_WORK: RowWorkers = {
  append(crawl, given) {
    const written = state.writerOf(crawl).append(given);
    growCheckpoints(given);
    return written;
  },
  replace: (crawl, given) => state.writerOf(crawl).replace(given),
  touch(crawl, { urls, at }) {
    state.writerOf(crawl).touch(urls, at);
    return null;
  },
  judge: (crawl, urls) => state.crawlOf(crawl).condition!.judge(urls),
};

const checkpoints = createCheckpointSize();

function growCheckpoints(rows: readonly CrawlRow[]): void {
  const bytes = rows.reduce((sum, { body, text }) => sum + (body?.length ?? 0) + (text?.length ?? 0), 0);
  const sizeMb = checkpoints.note(rows.length, bytes);
  // Rows do not wait for it, and with a smaller size they are written all the same.
  if (sizeMb !== null) state.database!.setCheckpoint(`${sizeMb}MB`).catch(() => {});
}

function workOnRows({ task, crawl, verb, args, buffers }: RowTask): void {
  const finish = (answer: unknown) =>
    rows.postMessage({ task, buffers, answer } satisfies RowTaskDone, buffers);
  const fail = (error: unknown) =>
    rows.postMessage({ task, buffers, error: packError(error) } satisfies RowTaskDone, buffers);
  try {
    const answer = ROW_WORK[verb](crawl, args as never);
    if (answer instanceof Promise) answer.then(finish, fail);
    else finish(answer);
  } catch (error) {
    fail(error);
  }
}

/** One task that waits, if there is one. */
function serveRows(): boolean {
  const received = receiveMessageOnPort(rows);
  if (received === undefined) return false;
  workOnRows(received.message as RowTask);
  return true;
}

const state = createThreadState({
  main: createMainThread({ signal, feeds, serveRows }),
  isInterrupted: (statement) => Atomics.load(signal, SIGNAL.interrupted) >= statement,
  begins: (statement) => Atomics.store(signal, SIGNAL.statement, statement),
  onProgress: (progress) => say({ progress }),
});

async function answer(id: number, verb: string, args: unknown): Promise<void> {
  const tell = (piece: unknown) =>
    new Promise<void>((resolve) => {
      tellers.set(id, resolve);
      say({ id, piece });
    });
  try {
    const found = await VERBS[verb as keyof typeof VERBS](args as never, state, tell as never);
    say({ id, answer: found });
  } catch (error) {
    say({ id, error: packError(error) });
  } finally {
    tellers.delete(id);
  }
  if (verb === 'close') {
    rows.close();
    feeds.close();
    parentPort!.close();
  }
}

parentPort!.on('message', (message: ToThread) => {
  if ('verb' in message) return void answer(message.id, message.verb, message.args);
  tellers.get(message.id)?.();
});
rows.on('message', workOnRows);
say({ ready: true });
