/**
 * The engine in a thread of its own, for a door: the same verbs as the engine itself. What a caller asked while the thread
 * ends is refused with the reason (`engine-ended`); the thread keeps the process until it is closed.
 *
 * All listeners to one project share one subscription, so that an event crosses the threads once, however many hear it.
 */
import { sumiError } from '../errors.ts';
import { startThread } from '../primitives/start-thread.ts';
import { unpackError } from '../primitives/travelling-error.ts';
import type { Engine, EngineOptions } from './engine.ts';
import {
  ENGINE_VERBS,
  type FromEngine,
  type Heard,
  type ToEngine,
  type VerbGroup,
} from './engine-messages.ts';
import { createSharedListening } from './shared-listening.ts';

const FILE = { from: import.meta.url, source: './engine-thread.ts', built: 'engine-thread.js' };

export interface EngineClient extends Engine {
  /** Resolves when the thread is gone: null after `close`, else why it ended. */
  readonly ended: Promise<Error | null>;
}

export interface EngineClientOptions {
  /** What went wrong in the engine and no caller can be told. */
  onReport?: (error: Error) => void;
}

interface Waiter {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

export async function startEngine(
  options: EngineOptions,
  { onReport = () => {} }: EngineClientOptions = {},
): Promise<EngineClient> {
  const worker = startThread(FILE, { options });
  const waiting = new Map<number, Waiter>();
  let calls = 0;
  let gone: Error | null = null;
  let isClosed = false;
  let ready: Waiter | null = null;

  const ask = (message: (call: number) => ToEngine): Promise<unknown> => {
    if (gone !== null) return Promise.reject(gone);
    const call = ++calls;
    return new Promise((resolve, reject) => {
      waiting.set(call, { resolve, reject });
      worker.postMessage(message(call));
    });
  };
  const listening = createSharedListening({
    subscribe: (listen, id, wanted) =>
      ask((call) => ({ call, listen, id, listening: wanted })) as Promise<Heard>,
    unsubscribe: (listen) => {
      if (gone === null) worker.postMessage({ unlisten: listen } satisfies ToEngine);
    },
  });

  function hear(message: FromEngine): void {
    if (message === 'ready') ready?.resolve(null);
    else if ('event' in message) listening.hear(message.to, message.event);
    else if ('fatal' in message) end(unpackError(message.fatal));
    else if ('report' in message) onReport(unpackError(message.report));
    else {
      const waiter = waiting.get(message.call);
      waiting.delete(message.call);
      if ('error' in message) waiter?.reject(unpackError(message.error));
      else waiter?.resolve(message.answer);
    }
  }

  function end(error: Error): void {
    gone ??= isClosed ? sumiError('engine-ended', { reason: 'it was closed' }) : endedBy(error);
    // Whoever waits for its beginning hears the reason itself.
    ready?.reject(error);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  }

  worker.on('message', hear);
  worker.on('error', end);
  const ended = new Promise<Error | null>((resolve) => {
    worker.on('exit', (code) => {
      end(new Error(`its thread ended with code ${code}`));
      resolve(isClosed ? null : gone);
    });
  });
  await new Promise((resolve, reject) => {
    ready = { resolve, reject };
  });
  ready = null;
  let closing: Promise<unknown> | null = null;

  return {
    ...(groupsOf(ask) as Pick<Engine, Exclude<VerbGroup, ''>>),
    ...(verbsOf('', ask) as Pick<Engine, 'missed' | 'preview' | 'state' | 'metrics'>),
    listen: listening.listen,
    ended,
    async close() {
      isClosed = true;
      if (gone === null) closing ??= ask((call) => ({ call, close: true }));
      await closing;
      await ended;
    },
  };
}

type Ask = (message: (call: number) => ToEngine) => Promise<unknown>;

function verbsOf(group: VerbGroup, ask: Ask): object {
  return Object.fromEntries(
    ENGINE_VERBS[group].map((verb) => [
      verb,
      (...args: unknown[]) => ask((call) => ({ call, group, verb, args })),
    ]),
  );
}

function groupsOf(ask: Ask): object {
  const groups = (Object.keys(ENGINE_VERBS) as VerbGroup[]).filter((group) => group !== '');
  return Object.fromEntries(groups.map((group) => [group, verbsOf(group, ask)]));
}

function endedBy(error: Error): Error {
  return sumiError('engine-ended', { reason: error.message.replace(/\.$/, '') }, error);
}
