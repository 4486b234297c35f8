/**
 * One process that answers queries, as the service sees it. A question that is given up ends the process: whoever holds it
 * then starts another one. Never rejects with anything but what the question deserves.
 */
import type { ChildProcess } from 'node:child_process';
import { startProcess } from '../../primitives/start-process.ts';
import { unpackError } from '../../primitives/travelling-error.ts';
import type { FromQueryProcess, QueryResult, QueryTask } from './query-messages.ts';

const FILE = { from: import.meta.url, source: './query-process.ts', built: 'query-process.js' };

/** What Node, DuckDB's driver and that of PostgreSQL read of the environment; nothing else is passed on. */
const PASSED = /^(?:PATH|LANG|LC_.*|TMPDIR|TEMP|TMP|SystemRoot|PG.*|SSL_CERT_.*|NODE_EXTRA_CA_CERTS)$/;

export interface QueryChild {
  /** One at a time, and only while it `isReady`. `signal` aborted: the process is ended, and the reason thrown. */
  ask(task: QueryTask, signal: AbortSignal): Promise<QueryResult>;
  /** Resolves when it can be asked again, or never will be. */
  rested(): Promise<void>;
  isEnded(): boolean;
  end(): Promise<void>;
}

export function startQueryChild(): QueryChild {
  const child: ChildProcess = startProcess(
    FILE,
    Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.test(name))),
  );
  let hasEnded = false;
  let isReady = false;
  let waiting: { resolve: (answer: QueryResult) => void; reject: (error: unknown) => void } | null = null;
  const whenReady: (() => void)[] = [];
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  const settleReady = () => {
    for (const resolve of whenReady.splice(0)) resolve();
  };
  function over(error: Error): void {
    hasEnded = true;
    waiting?.reject(error);
    waiting = null;
    settleReady();
  }

  child.on('message', (message: FromQueryProcess) => {
    if (message.kind === 'ready') {
      isReady = true;
      holdProcess(false);
      settleReady();
      return;
    }
    const asked = waiting;
    waiting = null;
    if (message.kind === 'answer') asked?.resolve(message.answer);
    else asked?.reject(unpackError(message.error));
  });
  child.once('error', over);
  child.once('exit', () => over(new Error('the process that answers queries has ended')));

  /** One that nobody asks anything does not keep the service. */
  function holdProcess(isHeld: boolean): void {
    if (isHeld) child.ref();
    else child.unref();
    const channel = child.channel;
    if (isHeld) channel?.ref();
    else channel?.unref();
  }

  const rested = () =>
    isReady || hasEnded ? Promise.resolve() : new Promise<void>((resolve) => whenReady.push(resolve));

  function kill(): void {
    hasEnded = true;
    child.kill('SIGKILL');
  }

  return {
    rested,
    isEnded: () => hasEnded,
    async ask(task, signal) {
      holdProcess(true);
      await raced(rested(), signal, kill);
      if (hasEnded) throw new Error('the process that answers queries has ended');
      isReady = false;
      const answer = new Promise<QueryResult>((resolve, reject) => {
        waiting = { resolve, reject };
        child.send(task, (error) => error !== null && over(error));
      });
      return raced(answer, signal, kill);
    },
    async end() {
      if (!hasEnded) kill();
      holdProcess(true);
      await exited;
    },
  };
}

/** What is waited for, or the reason of the signal, whichever comes first; `giveUp` is called for the latter. */
async function raced<Value>(wanted: Promise<Value>, signal: AbortSignal, giveUp: () => void): Promise<Value> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      giveUp();
      reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  wanted.catch(() => {});
  try {
    return await Promise.race([wanted, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
