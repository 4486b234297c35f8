/** Answers long questions in threads, a few at once. Whoever leaves ends the thread, whatever it is doing. */
import { startThread } from '../primitives/start-thread.ts';
import { createTurns } from '../primitives/take-turns.ts';
import { unpackError } from '../primitives/travelling-error.ts';
import type { AskProject } from './project-questions.ts';
import type { FromProjectThread, ProjectThreadData } from './project-thread-messages.ts';

const FILE = { from: import.meta.url, source: './project-thread.ts', built: 'project-thread.js' };

/** Each may hold the links of a project in memory. */
const MOST_AT_ONCE = 3;

export function createProjectThreads(address: string, storeLabel: string): AskProject {
  const takeTurn = createTurns(MOST_AT_ONCE);
  return async function* ask<Piece>(...[project, question, signal, asker = '']: Parameters<AskProject>) {
    const endTurn = await takeTurn(signal, asker);
    try {
      yield* piecesOf<Piece>({ address, storeLabel, project, question }, signal);
    } finally {
      endTurn();
    }
  } as AskProject;
}

async function* piecesOf<Piece>(data: ProjectThreadData, signal: AbortSignal): AsyncGenerator<Piece> {
  const thread = startThread(FILE, data);
  let hear: (message: FromProjectThread | Error) => void = () => {};
  thread.on('message', (message: FromProjectThread) => hear(message));
  thread.on('error', (error) => hear(error));
  thread.on('exit', () => hear(new Error('the thread that computes the answer has ended')));
  const leave = () => hear(signal.reason as Error);
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const heard = new Promise<FromProjectThread | Error>((resolve) => {
        hear = resolve;
      });
      thread.postMessage('more');
      const message = await heard;
      if (message === 'over') return;
      if (message instanceof Error) throw message;
      if ('error' in message) throw unpackError(message.error);
      yield message.piece as Piece;
    }
  } finally {
    signal.removeEventListener('abort', leave);
    hear = () => {};
    await thread.terminate();
  }
}
