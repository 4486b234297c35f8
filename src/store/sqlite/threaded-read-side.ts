/**
 * The read side on threads of its own, so that no question, however heavy, holds up what else this process does. A question
 * has a thread for itself until it is answered or its stream is over; idle threads are kept for the next one.
 *
 * A question that is given up between two batches leaves its thread as it is. One that is at work can only be ended with its
 * thread, because the driver cannot interrupt a statement: the thread ends when the statement returns, and the next
 * question gets another one at once.
 *
 * After `close` no thread is left, and none is started: what is asked, waits or is under way is refused.
 */
import { sumiError } from '../../errors.ts';
import { startThread as startWorker } from '../../primitives/start-thread.ts';
import { unpackError } from '../../primitives/travelling-error.ts';
import { createGivableSide } from '../give-up.ts';
import { ANSWER_NAMES, type QuestionName, type Questions, STREAM_NAMES } from '../question-names.ts';
import type { LinkBetween, LinkFilter } from '../read-rows.ts';
import type { ReadSide } from '../read-side.ts';
import type { FromReader, ToReader } from './read-thread-messages.ts';

/** Threads at once, those that have still to end included. */
const MOST_THREADS = 8;
/** Streams that their readers leave open must not keep out short questions. */
const MOST_STREAMS = MOST_THREADS - 2;
/** A service asks several questions at once all day: a thread costs far more to start than to keep. */
const MOST_IDLE = 6;

interface Thread {
  /** One message, and the answer to it. Rejects when the thread ends before. */
  ask(message: ToReader): Promise<Exclude<FromReader, { error: unknown }>>;
  /** At once, whatever it is doing. */
  end(): void;
  readonly ended: Promise<void>;
}

const FILE = { from: import.meta.url, source: './read-thread.ts', built: 'read-thread.js' };

/** `gone`: what a question hears whose thread has ended. */
async function startThread(path: string, gone: () => Error): Promise<Thread> {
  const worker = startWorker(FILE, { path });
  let waiting: PromiseWithResolvers | null = null;
  const settle = (settled: (waiter: PromiseWithResolvers) => void) => {
    // Nobody waits for an idle thread: it must not keep the process.
    worker.unref();
    const waiter = waiting;
    waiting = null;
    if (waiter !== null) settled(waiter);
  };
  let hasEnded = false;
  worker.on('message', (message: FromReader) =>
    settle(({ resolve, reject }) => {
      if (typeof message === 'object' && 'error' in message) reject(unpackError(message.error));
      else resolve(message);
    }),
  );
  worker.on('error', (error) => settle(({ reject }) => reject(error)));
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      hasEnded = true;
      settle(({ reject }) => reject(gone()));
      resolve();
    });
  });
  const heard = () =>
    new Promise<Exclude<FromReader, { error: unknown }>>((resolve, reject) => {
      waiting = { resolve, reject };
      worker.ref();
    });
  await heard();
  return {
    ask(message) {
      if (hasEnded) return Promise.reject(gone());
      const answer = heard();
      worker.postMessage(message);
      return answer;
    },
    end: () => void worker.terminate(),
    ended,
  };
}

interface PromiseWithResolvers {
  resolve(message: Exclude<FromReader, { error: unknown }>): void;
  reject(error: unknown): void;
}

function createThreads(path: string) {
  const idle: Thread[] = [];
  const waiting: { isStream: boolean; go: () => void }[] = [];
  const all = new Set<Thread>();
  const starting = new Set<Promise<unknown>>();
  let count = 0;
  let streams = 0;
  let isClosed = false;

  const gone = () =>
    isClosed
      ? sumiError('store-closed', { store: path })
      : sumiError('store-failed', { file: path, reason: 'the thread that reads it has ended' });

  const hasRoom = (isStream: boolean) =>
    (idle.length > 0 || count < MOST_THREADS) && !(isStream && streams >= MOST_STREAMS);

  function callNext(): void {
    const next = waiting.findIndex(({ isStream }) => hasRoom(isStream));
    if (next >= 0) waiting.splice(next, 1)[0].go();
  }

  async function start(): Promise<Thread> {
    count++;
    const begun = startThread(path, gone);
    starting.add(begun);
    try {
      const thread = await begun;
      all.add(thread);
      void thread.ended.then(() => {
        count--;
        all.delete(thread);
        const place = idle.indexOf(thread);
        if (place >= 0) idle.splice(place, 1);
        callNext();
      });
      return thread;
    } catch (error) {
      count--;
      callNext();
      throw error;
    } finally {
      starting.delete(begun);
    }
  }

  return {
    async take(isStream: boolean): Promise<Thread> {
      if (!isClosed && !hasRoom(isStream)) await new Promise<void>((go) => waiting.push({ isStream, go }));
      if (isClosed) throw gone();
      if (isStream) streams++;
      try {
        const thread = idle.pop() ?? (await start());
        if (isClosed) throw gone();
        return thread;
      } catch (error) {
        if (isStream) streams--;
        throw error;
      }
    },
    give(thread: Thread, isStream: boolean, isAtWork: boolean): void {
      if (isStream) streams--;
      if (isAtWork || isClosed) thread.end();
      else if (!all.has(thread)) return;
      else if (idle.length < MOST_IDLE) idle.push(thread);
      else void thread.ask('close').catch(() => {});
      callNext();
    },
    async close(): Promise<void> {
      isClosed = true;
      for (const { go } of waiting.splice(0)) go();
      await Promise.allSettled(starting);
      const mine = [...all];
      for (const thread of mine) {
        if (idle.includes(thread)) void thread.ask('close').catch(() => {});
        else thread.end();
      }
      idle.length = 0;
      await Promise.all(mine.map(({ ended }) => ended));
    },
  };
}

type Threads = ReturnType<typeof createThreads>;

/** The answer, or the signal's reason as soon as it is given up. */
async function untilGivenUp<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([answer, left]);
  } catch (error) {
    // What the thread says later is nobody's business.
    answer.catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

async function askOnce(
  threads: Threads,
  ask: QuestionName,
  args: unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const thread = await threads.take(false);
  let isAtWork = false;
  try {
    const answer = await untilGivenUp(thread.ask({ ask, args }), signal);
    return (answer as { answer: unknown }).answer;
  } catch (error) {
    isAtWork = signal.aborted;
    throw error;
  } finally {
    threads.give(thread, false, isAtWork);
  }
}

async function* askRows(
  threads: Threads,
  ask: QuestionName,
  args: unknown[],
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const thread = await threads.take(true);
  let isAtWork = false;
  let isOver = false;
  try {
    for (let message: ToReader = { ask, args }; !isOver; message = 'more') {
      isAtWork = true;
      const found = (await untilGivenUp(thread.ask(message), signal)) as { rows: unknown[]; isLast: boolean };
      isAtWork = false;
      isOver = found.isLast;
      yield* found.rows;
    }
  } catch (error) {
    isAtWork = isAtWork && signal.aborted;
    isOver = !isAtWork;
    throw error;
  } finally {
    // A thread that has ended has nothing to drop.
    if (!isOver && !isAtWork) await thread.ask('drop').catch(() => {});
    threads.give(thread, true, isAtWork);
  }
}

/** Which links are wanted is told by the caller's own object, which stays here. */
async function* linksTo(
  all: AsyncIterable<LinkBetween>,
  targets: { has(id: number): boolean },
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<LinkBetween> {
  let left = limit;
  if (left <= 0) return;
  for await (const link of all) {
    if (!targets.has(link.to_id)) continue;
    yield link;
    if (--left <= 0) return;
  }
}

function questionsOf(threads: Threads, signal: AbortSignal): Questions {
  const questions: Record<string, unknown> = {};
  for (const name of ANSWER_NAMES)
    questions[name] = (...args: unknown[]) => askOnce(threads, name, args, signal);
  for (const name of STREAM_NAMES)
    questions[name] = (...args: unknown[]) => askRows(threads, name, args, signal);
  const asked = questions.linksTo as (...args: unknown[]) => AsyncIterable<LinkBetween>;
  questions.linksTo = (targets: { has(id: number): boolean }, { limit, ...filter }: LinkFilter) =>
    targets instanceof Set
      ? asked(targets, { limit, ...filter })
      : linksTo(asked('all', filter), targets, limit);
  return questions as unknown as Questions;
}

export async function openThreadedReadSide(path: string): Promise<ReadSide> {
  const threads = createThreads(path);
  // The first thread says what is wrong with the file.
  threads.give(await threads.take(false), false, false);
  return createGivableSide((signal) => questionsOf(threads, signal), threads.close);
}
