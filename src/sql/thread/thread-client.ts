/**
 * The DuckDB thread as the main thread sees it: questions with answers, pieces of an answer one at a time, rows of crawls
 * on a channel of their own. When the thread ends, all who wait hear why.
 */
import { MessageChannel } from 'node:worker_threads';
import { sumiError } from '../../errors.ts';
import { startThread } from '../../primitives/start-thread.ts';
import { unpackError } from '../../primitives/travelling-error.ts';
import { type FeedMakers, serveFeeds } from '../feeds/serve-feeds.ts';
import { type FromThread, type RowTaskDone, type RowWork, SIGNAL, type ToThread } from './messages.ts';

const FILE = { from: import.meta.url, source: './duckdb-thread.ts', built: 'duckdb-thread.js' };

/** The package is optional: there is no binary for every machine. */
const withoutDuckDb = ({ message }: Error) =>
  /Cannot find (?:module|package) '@duckdb|Error loading duckdb/.test(message);

function giveUpLater(): Pick<Waiter, 'givenUp' | 'giveUp'> {
  let giveUp = () => {};
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  return { givenUp, giveUp };
}

export interface ThreadClient {
  ask<Answer>(verb: string, args?: unknown): Promise<Answer>;
  /** Each piece is taken before the next one is made. */
  askForPieces<Piece, Answer>(
    verb: string,
    args: unknown,
    take: (piece: Piece) => void | Promise<void>,
  ): Promise<Answer>;
  /** What pages of a crawl wait for: done also while a function holds the thread. Rows are one transaction. */
  workOnRows<Verb extends keyof RowWork>(
    crawl: number,
    verb: Verb,
    args: RowWork[Verb]['args'],
    handOver?: HandOver,
  ): Promise<RowWork[Verb]['answer']>;
  /** Ends what the statement with this number waits for. */
  interrupt(statement: number): void;
  close(): Promise<void>;
}

/** Buffers that go over without a copy, and what becomes of them when they are back. */
export interface HandOver {
  buffers: ArrayBuffer[];
  giveBack: (buffers: ArrayBuffer[]) => void;
}

const NOTHING: HandOver = { buffers: [], giveBack: () => {} };

interface Waiter {
  /** Resolves when the statement is interrupted. */
  givenUp: Promise<void>;
  giveUp: () => void;
  /** What is interrupted when its pieces are no longer wanted. */
  statement: number | null;
  take: (piece: unknown) => void | Promise<void>;
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
}

export interface ThreadRequest {
  makers: FeedMakers;
  onProgress: (percent: number | null) => void;
}

export function startDuckThread({ makers, onProgress }: ThreadRequest): ThreadClient {
  const shared = new SharedArrayBuffer(SIGNAL.length * Int32Array.BYTES_PER_ELEMENT);
  const signal = new Int32Array(shared);
  const feeds = new MessageChannel();
  const rows = new MessageChannel();
  const worker = startThread(
    FILE,
    { signal: shared, feeds: feeds.port2, rows: rows.port2 },
    { transferList: [feeds.port2, rows.port2] },
  );
  const waiting = new Map<number, Waiter>();
  const tasks = new Map<number, Pick<Waiter, 'resolve' | 'reject'> & Pick<HandOver, 'giveBack'>>();
  let last = 0;
  let ended: Error | null = null;
  const serving = serveFeeds(feeds.port1, signal, makers);
  const say = (message: ToThread) => worker.postMessage(message);

  function wake(): void {
    Atomics.add(signal, SIGNAL.wake, 1);
    Atomics.notify(signal, SIGNAL.wake);
  }

  function settle(id: number): Waiter | undefined {
    const waiter = waiting.get(id);
    waiting.delete(id);
    holdProcess();
    return waiter;
  }

  /** A session that nobody asks anything does not keep the process. */
  function holdProcess(): void {
    if (waiting.size + tasks.size > 0) worker.ref();
    else worker.unref();
  }

  async function takePiece(id: number, piece: unknown): Promise<void> {
    const waiter = waiting.get(id);
    if (waiter === undefined) return;
    try {
      // Who does not take it may be told that the statement is to end.
      await Promise.race([waiter.take(piece), waiter.givenUp]);
    } catch (error) {
      // Whoever asked wants no more of it: the statement is ended, and they hear it when it has.
      const { reject, statement } = waiter;
      waiter.take = () => {};
      waiter.resolve = () => reject(error);
      waiter.reject = () => reject(error);
      if (statement !== null) client.interrupt(statement);
    }
    say({ id, more: true });
  }

  function end(error: Error): void {
    ended ??= error;
    for (const { reject } of [...waiting.values(), ...tasks.values()]) reject(ended);
    waiting.clear();
    tasks.clear();
  }

  worker.on('message', (message: FromThread) => {
    if ('ready' in message) return;
    if ('progress' in message) return onProgress(message.progress);
    if ('piece' in message) return void takePiece(message.id, message.piece);
    if ('error' in message) return settle(message.id)?.reject(unpackError(message.error));
    settle(message.id)?.resolve(message.answer as never);
  });
  worker.on('error', (error) => end(withoutDuckDb(error) ? sumiError('sql-no-duckdb', {}, error) : error));
  worker.on('exit', () => end(new Error('the DuckDB thread has ended')));
  rows.port1.on('message', (message: RowTaskDone) => {
    const task = tasks.get(message.task);
    tasks.delete(message.task);
    holdProcess();
    task?.giveBack(message.buffers);
    if ('error' in message) task?.reject(unpackError(message.error));
    else task?.resolve(message.answer as never);
  });
  rows.port1.unref();
  feeds.port1.unref();

  const client: ThreadClient = {
    ask: (verb, args) => client.askForPieces(verb, args, () => {}),
    askForPieces(verb, args, take) {
      if (ended !== null) return Promise.reject(ended);
      const id = ++last;
      return new Promise((resolve, reject) => {
        const { statement = null } = (args ?? {}) as { statement?: number };
        waiting.set(id, {
          statement,
          ...giveUpLater(),
          take: take as Waiter['take'],
          resolve: resolve as Waiter['resolve'],
          reject,
        });
        holdProcess();
        say({ id, verb, args });
      });
    },
    workOnRows(crawl, verb, args, { buffers, giveBack } = NOTHING) {
      if (ended !== null) return Promise.reject(ended);
      const task = ++last;
      return new Promise((resolve, reject) => {
        tasks.set(task, { resolve: resolve as Waiter['resolve'], reject, giveBack });
        holdProcess();
        rows.port1.postMessage({ task, crawl, verb, args, buffers }, buffers);
        wake();
      });
    },
    interrupt(statement) {
      for (const waiter of waiting.values())
        if (waiter.statement !== null && waiter.statement <= statement) waiter.giveUp();
      if (Atomics.load(signal, SIGNAL.interrupted) < statement)
        Atomics.store(signal, SIGNAL.interrupted, statement);
      wake();
    },
    async close() {
      if (ended !== null) return;
      const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      await client.ask('close');
      serving.close();
      rows.port1.close();
      worker.ref();
      await exited;
    },
  };
  return client;
}
